//! How much of a batch is done, as far as that can be known while it is under way.
//!
//! Methods that end when nothing changes do not know when that will be, and few come near their limit of iterations. But what
//! their stopping rule looks at falls by about the same factor from one iteration to the next: its logarithm says how far they are.

use super::{Race, Trace};

/// About this share of the work is done when a race is first decided: the half that goes on has about twice as many
/// iterations before it as it has made.
const RACED: f64 = 0.5;

/// How far a run is whose residual falls until it is `end`, by what it did after so many iterations.
pub(crate) fn fallen(trace: &Trace, after: usize, end: f64) -> f64 {
    if trace.stop.is_some() {
        return 1.0;
    }
    let mut residuals = trace.history.iter().skip(after.saturating_sub(1)).map(|progress| progress.residual);
    let first = residuals.next().unwrap_or(f64::NAN);
    let least = residuals.fold(first, f64::min).max(end);
    let share = (first / least).ln() / (first / end).ln();
    // Also where the first is there already, or is none.
    if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
}

fn mean(shares: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = shares.fold((0.0, 0usize), |(sum, count), share| (sum + share, count + 1));
    sum / count.max(1) as f64
}

/// Of runs whose residuals fall until they are `end`.
pub(crate) fn by_residual(traces: &[Trace], end: f64) -> f64 {
    mean(traces.iter().map(|trace| fallen(trace, 0, end)))
}

/// Of the same runs in a race, before and after it is decided who goes on.
pub(crate) fn in_race(traces: &[Trace], end: f64, race: Race, decided: bool) -> f64 {
    let after = race.after.max(1);
    if !decided {
        let run = |trace: &Trace| match trace.stop {
            Some(_) => 1.0,
            None => (trace.history.len() as f64 / after as f64).min(1.0),
        };
        return RACED * mean(traces.iter().map(run));
    }
    let on = traces.iter().filter(|trace| trace.stop != Some(super::Stop::LeftBehind));
    RACED + (1.0 - RACED) * mean(on.map(|trace| fallen(trace, after, end)))
}

/// By the limit of iterations, where there is one.
pub(super) fn by_limit(traces: &[Trace], limit: usize) -> Option<f64> {
    let run = |trace: &Trace| match trace.stop {
        Some(_) => 1.0,
        None => trace.history.len() as f64 / limit.max(1) as f64,
    };
    (limit < usize::MAX).then(|| mean(traces.iter().map(run)))
}

#[cfg(test)]
mod tests {
    use super::super::{Progress, Stop};
    use super::*;

    fn trace(residuals: &[f64], stop: Option<Stop>) -> Trace {
        let progress = |&residual| Progress { objective: 0.0, residual, converged: false };
        Trace { history: residuals.iter().map(progress).collect(), stop }
    }

    #[test]
    fn what_falls_by_a_factor_is_as_far_as_its_iterations() {
        let whole: Vec<f64> = (0..=40).map(|t| 0.7f64.powi(t)).collect();
        let end = whole[40];
        for t in 1..=40 {
            let share = by_residual(&[trace(&whole[..=t], None)], end);
            assert!((share - t as f64 / 40.0).abs() < 1e-12, "{t}: {share}");
        }
    }

    #[test]
    fn the_share_is_one_at_the_end_and_never_falls_with_residuals_that_rise() {
        let end = 1e-3;
        let up_and_down = [1.0, 0.3, 0.1, 0.4, 0.05, 0.2, 0.0, 0.02];
        let mut last = 0.0;
        for t in 0..=up_and_down.len() {
            let share = by_residual(&[trace(&up_and_down[..t], None)], end);
            assert!((last..=1.0).contains(&share), "{t}: {share}");
            last = share;
        }
        assert_eq!(last, 1.0);
        assert_eq!(by_residual(&[trace(&[1.0, 0.5], Some(Stop::Converged))], end), 1.0);
        // Nothing known is nothing done.
        for odd in [&[][..], &[f64::NAN, 0.1], &[0.0], &[1e-9]] {
            assert!((0.0..=1.0).contains(&by_residual(&[trace(odd, None)], end)));
        }
    }

    #[test]
    fn many_runs_are_as_far_as_the_mean_of_them() {
        let ended = || trace(&[1.0], Some(Stop::Converged));
        let half = || trace(&[1.0, 0.1], None);
        assert!((by_residual(&[ended(), half(), half(), half()], 0.01) - 0.625).abs() < 1e-12);
    }

    #[test]
    fn a_race_that_is_decided_does_not_make_the_share_jump() {
        let race = Race::default();
        let course: Vec<f64> = (0..60).map(|t| 0.8f64.powi(t)).collect();
        let of = |t: usize, decided: bool| {
            let run = |at: usize| match decided && at >= 4 {
                true => trace(&course[..11], Some(Stop::LeftBehind)),
                false => trace(&course[..t], None),
            };
            in_race(&(0..12).map(run).collect::<Vec<_>>(), course[59], race, decided)
        };
        let shares = (1..=11).map(|t| of(t, false)).chain((11..=60).map(|t| of(t, true)));
        let shares: Vec<f64> = shares.collect();
        for pair in shares.windows(2) {
            assert!((0.0..0.1).contains(&(pair[1] - pair[0])), "{pair:?}");
        }
        assert!((shares.last().unwrap() - 1.0).abs() < 1e-12);
    }
}
