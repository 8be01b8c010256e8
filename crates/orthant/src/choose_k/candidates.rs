//! From the levels to one to three candidates, each with its reasons, and what to beware of.
//!
//! - complete: the first k that explains everything.
//! - end: the first k whose last cluster describes points that were held out better by 4 times what all further ones
//!   together do. Where clusters are really there, this is their number; what comes after are crumbs of them.
//! - stable: the largest k that two halves of the data agree on about as well as on any, if they agree well. Not beyond the
//!   end: halves also agree on crumbs, which hold few points.
//! - knee: the k whose last cluster explains 4 times what one more would. Of ONMF alone, whose error this is: under other
//!   models a few long points decide when it falls.
//! - peak: the k that halves agree on clearly better than on any larger one, if they do not disagree.
//! - rank: the k after which the singular values fall off by a factor of 5: points that are mixtures of k directions
//!   have clusters between these, but k singular values all the same. Not of sparse data, where long points are directions.
//! - elbow: the ks up to which clusters gain most, of what is held out, for their number. A wide range is looked at in its
//!   first part and as a whole: what a cluster has to gain depends on how many others there are to compare it with.

use super::KResult;
use crate::model::Model;

/// A number of clusters with what speaks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The number.
    pub k: usize,
    /// Why, a phrase each.
    pub reasons: Vec<String>,
}

/// An error of rounding.
const NOTHING: f64 = 1e-6;
/// Halves that agree this well say the same; so much less than the best agreement is still as good.
const STABLE: (f64, f64) = (0.9, 0.03);
/// A peak of the agreement is above that of all larger numbers by so much.
const PEAK: f64 = 0.15;
/// An end or a knee is where a cluster tells so many times what further ones do.
const KNEE: f64 = 4.0;
/// Singular values fall off where one explains so many times what the next does.
const FALL: f64 = 5.0;
/// The first part of a range: up to this k.
const NARROW: usize = 12;
/// Halves that agree less than this disagree.
const UNSTABLE: f64 = 0.5;
/// Below this they agree in part only, which is worth a word.
const DOUBTFUL: f64 = 0.75;
/// A cluster that gains so many times the largest gain after it stands out.
const STANDS_OUT: f64 = 3.0;
/// At most so many are named.
const MOST: usize = 3;

/// What is known beside the levels.
pub(super) struct Beside<'a> {
    pub model: Model,
    /// The shares of the data that the first, second, … singular value explains; none of sparse data.
    pub energies: &'a [f64],
    /// What points that were held out are worth as one cluster.
    pub one: &'a [f64],
}

/// One to three candidates, the most convincing first, and warnings.
pub(super) fn candidates(levels: &[KResult], beside: &Beside) -> (Vec<Candidate>, Vec<String>) {
    let one = beside.one;
    // Beyond the k that explains everything there is nothing to find.
    let complete = levels.iter().position(|l| l.relative_error <= NOTHING);
    let levels = &levels[..complete.map_or(levels.len(), |at| at + 1)];
    let mut votes: Vec<(usize, String)> = vec![];
    if let Some(at) = complete {
        votes.push((levels[at].k, "it is the first that explains everything".into()));
    }
    let end = end(levels, one);
    votes.extend(end.map(|k| {
        (k, "further clusters describe points that were held out hardly better, or worse: the clusters end here".into())
    }));
    let (stable, knee) = (stable(levels, end), knee(levels).filter(|_| beside.model == Model::Onmf));
    let clear = complete.is_some() || end.is_some() || stable.is_some() || knee.is_some();
    votes.extend(stable);
    votes.extend(knee);
    votes.extend(peak(levels));
    let elbows = elbows(levels, one);
    votes.extend(elbows.first().cloned());
    votes.extend(rank(levels, beside.energies));
    votes.extend(elbows.iter().skip(1).cloned());
    if votes.is_empty() {
        let last = &levels[levels.len() - 1];
        votes.push((last.k, "nothing stands out in this range; this is the largest looked at".into()));
    }
    let mut found: Vec<Candidate> = vec![];
    for (k, reason) in votes {
        match found.iter().position(|c| c.k == k) {
            Some(at) => found[at].reasons.push(reason),
            None if found.len() < MOST => found.push(Candidate { k, reasons: vec![reason] }),
            None => {}
        }
    }
    let warnings = warnings(levels, &found, clear, one);
    (found, warnings)
}

/// What to beware of.
fn warnings(levels: &[KResult], found: &[Candidate], clear: bool, one: &[f64]) -> Vec<String> {
    let of = |k: usize| levels.iter().find(|l| l.k == k);
    let mut warnings = vec![];
    let gains = gains(levels, one);
    let after = |k: usize| gains.iter().filter(|g| g.0 > k).map(|g| g.1).fold(0.0, f64::max);
    let stands_out =
        gains.iter().any(|g| found.first().is_some_and(|c| c.k == g.0) && g.1 >= STANDS_OUT * after(g.0));
    let unstable = |c: &Candidate| of(c.k).and_then(KResult::stability).is_some_and(|s| s < UNSTABLE);
    if !clear && (!stands_out || found.first().is_some_and(unstable)) {
        warnings.push(
            "The data do not single out a number of clusters: these are where more clusters begin to gain little, and others may serve as well.".into(),
        );
    }
    for candidate in found {
        let Some(level) = of(candidate.k) else { continue };
        if levels.len() > 1 && candidate.k == levels[levels.len() - 1].k && !clear {
            warnings.push(format!("k = {} is the largest looked at: look further.", candidate.k));
        }
        if let Some(stability) = level.stability().filter(|s| *s < DOUBTFUL) {
            let change = if stability < UNSTABLE { "change" } else { "change in part" };
            warnings.push(format!(
                "The clusters of k = {} {change} from one half of the data to the other (agreement {stability:.2}; 1: equal, 0: chance).",
                candidate.k
            ));
        }
    }
    warnings
}

/// By how much each k describes points that were held out better than all fewer clusters did, in nats a point.
fn gains(levels: &[KResult], one: &[f64]) -> Vec<(usize, f64)> {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let mut best = if levels[0].k == 2 { mean(one) } else { f64::INFINITY };
    let mut gains = vec![];
    for level in levels.iter().filter(|l| !l.held_outs.is_empty()) {
        let value = mean(&level.held_outs);
        if best.is_finite() {
            gains.push((level.k, (value - best).max(0.0)));
        }
        best = if best.is_finite() { best.max(value) } else { value };
    }
    gains
}

/// The first k whose own gain is so many times what all that follow gain over it, and that two halves of the data do not
/// contradict.
fn end(levels: &[KResult], one: &[f64]) -> Option<usize> {
    let gains = gains(levels, one);
    let ends = |level: &&KResult| {
        let own = gains.iter().find(|g| g.0 == level.k).map_or(0.0, |g| g.1);
        let after = || levels.iter().filter(|l| l.k > level.k);
        let further = after().map(|l| l.held_out() - level.held_out()).fold(0.0, f64::max);
        let steady = level.stability().is_none_or(|s| s >= UNSTABLE);
        steady && after().count() >= 2 && own > 0.0 && own >= KNEE * further
    };
    levels.iter().find(ends).map(|level| level.k)
}

/// The largest k, up to the end where there is one, that is about as stable as any.
fn stable(levels: &[KResult], end: Option<usize>) -> Option<(usize, String)> {
    let possible = levels.iter().filter(|l| end.is_none_or(|end| l.k <= end));
    let known: Vec<(usize, f64)> = possible.filter_map(|l| Some((l.k, l.stability()?))).collect();
    let best = known.iter().map(|l| l.1).fold(0.0, f64::max);
    let (k, agreement) = known.into_iter().rev().find(|(_, s)| *s >= best - STABLE.1)?;
    (agreement >= STABLE.0).then(|| {
        (k, format!("the largest number of clusters that two halves of the data agree on (agreement {agreement:.2})"))
    })
}

/// The most stable k, if it is so clearly more stable than all larger ones.
fn peak(levels: &[KResult]) -> Option<(usize, String)> {
    let known: Vec<(usize, f64)> = levels.iter().filter_map(|l| Some((l.k, l.stability()?))).collect();
    let best = known.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a })?;
    let next = known.iter().filter(|l| l.0 > best.0).map(|l| l.1).reduce(f64::max)?;
    (best.1 >= UNSTABLE && best.1 - next >= PEAK).then(|| {
        (
            best.0,
            format!(
                "two halves of the data agree on it (agreement {:.2}) clearly better than on more clusters",
                best.1
            ),
        )
    })
}

/// The k whose last cluster explains most times what any further one does.
fn knee(levels: &[KResult]) -> Option<(usize, String)> {
    let gains: Vec<(usize, f64)> = levels.iter().filter_map(|l| Some((l.k, l.gain?))).collect();
    let times = |at: usize| {
        let after = gains[at + 1..].iter().map(|g| g.1).fold(NOTHING * NOTHING, f64::max);
        if gains[at].1 > NOTHING * NOTHING { gains[at].1 / after } else { 0.0 }
    };
    // The last ones have too few after them to stand out from.
    let known = 0..gains.len().saturating_sub(3);
    let best = known.reduce(|a, b| if times(b) > times(a) { b } else { a })?;
    (times(best) >= KNEE).then(|| {
        (
            gains[best].0,
            format!("its last cluster explains {} times what any further one does", printed(times(best))),
        )
    })
}

fn printed(times: f64) -> String {
    if times > 100.0 { "more than 100".into() } else { format!("{times:.1}") }
}

/// Where singular values fall off most.
fn rank(levels: &[KResult], energies: &[f64]) -> Option<(usize, String)> {
    let (first, last) = (levels[0].k, levels[levels.len() - 1].k);
    let ratio = |k: usize| energies[k - 1] / energies[k].max(NOTHING * NOTHING);
    let usable = (first..=last).filter(|&k| k < energies.len() && energies[k - 1] > NOTHING * NOTHING);
    let best = usable.reduce(|a, b| if ratio(b) > ratio(a) { b } else { a })?;
    let times = ratio(best);
    (times >= FALL).then(|| {
        (best, format!("the data span about so many directions (the last singular value explains {} times what the next does)", printed(times)))
    })
}

/// The ks whose share of all gains is the furthest above their share of the range, the best first.
fn elbows(levels: &[KResult], one: &[f64]) -> Vec<(usize, String)> {
    let all = gains(levels, one);
    let ranked = |gains: &[(usize, f64)]| {
        let total: f64 = gains.iter().map(|g| g.1).sum();
        if total <= 0.0 || gains.len() < 3 {
            return vec![];
        }
        let (mut sum, mut ranked) = (0.0, vec![]);
        for (at, (k, gain)) in gains.iter().enumerate() {
            sum += gain;
            ranked.push((sum / total - (at + 1) as f64 / gains.len() as f64, *k, sum / total));
        }
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        ranked
    };
    let first = ranked(&all.iter().copied().filter(|g| g.0 <= NARROW).collect::<Vec<_>>());
    let whole = if all.last().is_some_and(|g| g.0 > NARROW) { ranked(&all) } else { vec![] };
    // Of a wide range its own elbow comes third.
    let others = whole.iter().filter(|w| !first.iter().take(2).any(|f| f.1 == w.1)).take(1);
    let order = first.iter().take(2).chain(others).chain(first.iter().skip(2).take(1));
    let reason = |share: f64| {
        format!(
            "so many clusters reach {:.0} % of what all in the range gain on points that were held out, and further ones gain less than their number",
            100.0 * share
        )
    };
    order.map(|&(_, k, share)| (k, reason(share))).collect()
}
