//! A model's clusters for one k after another.

use std::sync::Arc;

use crate::algorithms::{Method, Values};
use crate::error::{Error, Result};
use crate::finish::{Solution, finish};
use crate::matrix::Data;
use crate::matrix::passes::Residual;
use crate::prepare::Problem;
use crate::resample::{best_of, cancelled, step};
use crate::run::{Conclusion, Observer};
use crate::start::{Start, Stream};

const STOPPED: Error = Error::Stopped("clusters were found for any k: there is nothing to choose from");

/// Walks from the least to the most k; whether the observer stopped it comes second.
pub(super) fn path(
    data: &dyn Data,
    method: &'static Method,
    [least, most]: [usize; 2],
    runs: usize,
    stream: Stream,
    title: &str,
    observer: &mut dyn Observer,
) -> Result<(Vec<Solution>, bool)> {
    let algorithm = method.with(&Values::new())?;
    let mut found: Vec<Solution> = vec![];
    for k in least..=most {
        let problem = Problem::new(data, k, method.needs())?.asking(observer.stop_asked());
        let title = format!("{title}, k = {k} of {least}..{most}");
        // What the last k found and the point it explains least, and starts of its own.
        let mut starts = vec![(Start::Residual, runs)];
        if let Some(last) = found.last() {
            starts.push((Start::Labels(Arc::new(with_worst_point(data, last)?)), 1));
        }
        let mut best: Option<(f64, Conclusion)> = None;
        for (start, runs) in starts {
            let streams: Vec<Stream> =
                (0..runs as u64).map(|run| Stream { run: stream.run + run, ..stream }).collect();
            let mut state = algorithm.begin(&problem, &start, &streams)?;
            let limit = algorithm.max_iterations(&start);
            let traces = step(&mut *state, runs, &problem, method, &title, limit, observer)?;
            if traces.iter().any(cancelled) {
                // What was cut short does not compare with the others.
                return if found.is_empty() { Err(STOPPED) } else { Ok((found, true)) };
            }
            best = best_of(&mut *state, &traces, method, best)?;
        }
        let (_, reached) = best.expect("there is at least one run");
        let mut slots = data.slots()?;
        found.push(finish(&problem, &mut *slots, &reached.labels, &reached.directions, method.rule)?.0);
    }
    Ok((found, false))
}

/// The labels found for one cluster less, and the point that those explain least in a cluster of its own.
fn with_worst_point(data: &dyn Data, last: &Solution) -> Result<Vec<i32>> {
    let mut labels = last.labels.clone();
    let mut slots = data.slots()?;
    slots.set_labels(0, &labels)?;
    let worst = slots.tell(&Residual::new(&last.directions, 0))?.worst().unwrap_or(0);
    labels[worst] = last.sizes.len() as i32;
    Ok(labels)
}
