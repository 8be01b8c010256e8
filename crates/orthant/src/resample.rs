//! Fits without a certificate, and how stable they are: what `advise` and `choose_k` share.

use crate::algorithms::{Method, Values};
use crate::error::Result;
use crate::evaluate::{Confusion, ari};
use crate::finish::{Solution, finish, predict};
use crate::matrix::Data;
use crate::prepare::Problem;
use crate::random;
use crate::run::{Conclusion, Observer, Running, State, Stop, Trace, Unsaved, iterate};
use crate::start::{Start, Stream};

/// Fits a method from residual starts, all runs in the same passes: the best of them. None if the observer asked to stop:
/// what hangs on how fits compare has no use for one that was cut short.
pub(crate) fn fit(
    data: &dyn Data,
    method: &Method,
    k: usize,
    runs: usize,
    seed: u64,
    title: &str,
    observer: &mut dyn Observer,
) -> Result<Option<Solution>> {
    let problem = Problem::new(data, k, method.needs())?.asking(observer.stop_asked());
    let algorithm = method.with(&Values::new())?;
    let streams: Vec<Stream> = (0..runs as u64).map(|run| Stream { seed, run }).collect();
    let mut state = algorithm.begin(&problem, &Start::Residual, &streams)?;
    let limit = algorithm.max_iterations(&Start::Residual);
    let traces = step(&mut *state, runs, &problem, method, title, limit, observer)?;
    if traces.iter().any(cancelled) {
        return Ok(None);
    }
    let (_, reached) = best_of(&mut *state, &traces, method, None)?.expect("there is at least one run");
    let mut slots = data.slots()?;
    Ok(Some(finish(&problem, &mut *slots, &reached.labels, &reached.directions, method.rule)?.0))
}

/// The best of the runs that were stepped, and of one that was found before, with its objective.
pub(crate) fn best_of(
    state: &mut dyn State,
    traces: &[Trace],
    method: &Method,
    mut best: Option<(f64, Conclusion)>,
) -> Result<Option<(f64, Conclusion)>> {
    for (run, trace) in traces.iter().enumerate() {
        let conclusion = state.conclude(run)?;
        let last = trace.history.last().map_or(f64::NAN, |p| p.objective);
        let objective = conclusion.objective.unwrap_or(last);
        if best.as_ref().is_none_or(|b| method.better(objective, b.0)) {
            best = Some((objective, conclusion));
        }
    }
    Ok(best)
}

/// Steps a batch to its end.
pub(crate) fn step(
    state: &mut dyn State,
    runs: usize,
    problem: &Problem,
    method: &Method,
    title: &str,
    max_iterations: usize,
    observer: &mut dyn Observer,
) -> Result<Vec<Trace>> {
    let running = Running {
        method: title,
        rule: method.rule,
        first: 0,
        runs,
        max_iterations,
        norm2: problem.facts().norm2,
        deadline: None,
    };
    // These fits are short: nothing is saved.
    Ok(iterate(state, vec![Trace::default(); runs], running, &mut Unsaved(observer), &|_, _| None)?.0)
}

pub(crate) fn cancelled(trace: &Trace) -> bool {
    trace.stop == Some(Stop::Cancelled)
}

/// Numbers of the points that have a direction and a weight.
pub(crate) fn usable(data: &dyn Data) -> Vec<usize> {
    let (facts, n) = (data.facts(), data.shape().points);
    let mut out = vec![false; n];
    facts.zero_points.iter().chain(&facts.weightless_points).for_each(|&j| out[j] = true);
    (0..n).filter(|&j| !out[j]).collect()
}

/// At most so many of some points, drawn without replacement, in increasing order.
pub(crate) fn sample(points: &[usize], most: usize, stream: Stream) -> Vec<usize> {
    if points.len() <= most {
        return points.to_vec();
    }
    let mut chosen: Vec<usize> =
        random::sample(&mut stream.generator(), points.len(), most).into_iter().map(|i| points[i]).collect();
    chosen.sort_unstable();
    chosen
}

/// Two halves of `n` points.
pub(crate) fn halves(n: usize, stream: Stream) -> [Vec<usize>; 2] {
    let first = sample(&(0..n).collect::<Vec<_>>(), n / 2, stream);
    let mut in_first = vec![false; n];
    first.iter().for_each(|&j| in_first[j] = true);
    let second = (0..n).filter(|&j| !in_first[j]).collect();
    [first, second]
}

/// Agreement of two partitions of the same points (adjusted Rand index), points without a cluster left out.
pub(crate) fn agreement(a: &[i32], b: &[i32]) -> Result<f64> {
    let pairs: Vec<(i32, usize)> =
        a.iter().zip(b).filter_map(|(&x, &y)| Some((x, usize::try_from(y).ok()?))).collect();
    if pairs.iter().all(|(x, _)| *x < 0) {
        return Ok(1.0);
    }
    let (labels, classes): (Vec<i32>, Vec<usize>) = pairs.into_iter().unzip();
    Ok(ari(&Confusion::new(&labels, &classes)?))
}

/// Agreement of what two halves of the data say of all points, for several divisions into halves.
pub(crate) fn stability(
    data: &dyn Data,
    method: &Method,
    k: usize,
    divisions: usize,
    runs: usize,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<(Vec<f64>, bool)> {
    let n = data.shape().points;
    let mut agreements = vec![];
    for division in 0..divisions {
        let title = format!("{}, halves {} of {divisions}", method.title, division + 1);
        let mut said = vec![];
        for half in halves(n, Stream { seed, run: 1 << 50 | division as u64 }) {
            let part = data.select(&half)?;
            // A half may be too small for k clusters.
            if crate::resample::usable(&*part).len() < k {
                return Ok((agreements, false));
            }
            let Some(solution) = fit(&*part, method, k, runs, seed, &title, observer)? else {
                return Ok((agreements, true));
            };
            said.push(predict(data, &solution.centroids, method.rule)?);
        }
        agreements.push(agreement(&said[0], &said[1])?);
    }
    Ok((agreements, false))
}
