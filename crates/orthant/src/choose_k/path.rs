//! EM-ONMF for one k after another, on seeds that are drawn once.

use crate::algorithms::{Algorithm, EmOnmf, method};
use crate::error::Result;
use crate::matrix::passes::Residual;
use crate::matrix::{Data, Mat, rule};
use crate::prepare::Problem;
use crate::resample::{cancelled, step};
use crate::run::Observer;
use crate::start::{Start, Stream, centroids};
use crate::told::told;

/// The best partition for a k.
pub(super) struct Step {
    pub(super) k: usize,
    pub(super) labels: Vec<i32>,
    /// features × k.
    pub(super) directions: Mat,
    /// `Σσ₁²` of the scaled data.
    pub(super) explained: f64,
}

/// Size of the smallest cluster.
pub(super) fn smallest(labels: &[i32], k: usize) -> usize {
    let mut sizes = vec![0; k];
    labels.iter().filter_map(|&l| usize::try_from(l).ok()).for_each(|l| sizes[l] += 1);
    sizes.into_iter().min().unwrap_or(0)
}

/// Walks from the least to the most k; whether the observer stopped it comes second.
pub(super) fn path(
    data: &dyn Data,
    least: usize,
    most: usize,
    runs: usize,
    stream: Stream,
    title: &str,
    observer: &mut dyn Observer,
) -> Result<(Vec<Step>, bool)> {
    let em = method("em-onmf")?;
    let limit = EmOnmf::default().max_iterations(&Start::Residual);
    let widest = Problem::new(data, most, em.needs())?.asking(observer.stop_asked());
    let mut slots = data.slots()?;
    let mut seeds = vec![];
    for run in 0..runs as u64 {
        let mut generator = Stream { run: stream.run + run, ..stream }.generator();
        seeds.push(centroids(&Start::Residual, &widest, &mut *slots, rule::Power.into(), &mut generator)?);
    }
    let mut steps: Vec<Step> = vec![];
    for k in least..=most {
        let problem = Problem::new(data, k, em.needs())?.asking(observer.stop_asked());
        // The first k seeds of a residual start are a residual start.
        let mut starts: Vec<Mat> = seeds.iter().map(|seed| seed.columns(0..k)).collect();
        if let Some(last) = steps.last() {
            starts.push(with_worst_point(data, last)?);
        }
        let count = starts.len();
        let mut state = EmOnmf::from_directions(&problem, starts, stream)?;
        let title = format!("{title}, k = {k} of {least}..{most}");
        let traces = step(&mut *state, count, &problem, em, &title, limit, observer)?;
        let mut conclusions = (0..count).map(|run| state.conclude(run)).collect::<Result<Vec<_>>>()?;
        let mut found = told(&problem, &conclusions, 1e-8)?;
        let best = (1..count).fold(0, |best, run| if found[run].1 > found[best].1 { run } else { best });
        let (directions, explained) = found.swap_remove(best);
        steps.push(Step { k, labels: conclusions.swap_remove(best).labels, directions, explained });
        if traces.iter().any(cancelled) {
            return Ok((steps, true));
        }
    }
    Ok((steps, false))
}

/// The directions found for one cluster less, and the point that they explain least.
fn with_worst_point(data: &dyn Data, last: &Step) -> Result<Mat> {
    let mut slots = data.slots()?;
    slots.set_labels(0, &last.labels)?;
    let worst = slots.tell(&Residual::new(&last.directions, 0))?.worst().unwrap_or(0);
    let point = data.gather(&[worst])?.with_unit_columns();
    Ok(Mat::beside(&[&last.directions, &point]))
}
