//! What partitions explain, where their runs have not told it: all of them in the same passes.

use crate::error::Result;
use crate::matrix::Mat;
use crate::prepare::Problem;
use crate::run::Conclusion;
use crate::singular::dominant_within;

/// Directions and `Σσ₁²` of every conclusion: its own where it knows what it explains, which are taken out of it, else the dominant
/// vectors of its clusters, as exact as asked for.
pub(crate) fn told(
    problem: &Problem,
    conclusions: &mut [Conclusion],
    tolerance: f64,
) -> Result<Vec<(Mat, f64)>> {
    let unknown: Vec<&Conclusion> = conclusions.iter().filter(|c| c.explained.is_none()).collect();
    let mut slots = problem.data.slots()?;
    for (run, conclusion) in unknown.iter().enumerate() {
        slots.set_labels(run, &conclusion.labels)?;
    }
    let runs: Vec<usize> = (0..unknown.len()).collect();
    let guesses: Vec<&Mat> = unknown.iter().map(|c| &c.directions).collect();
    let found = if runs.is_empty() {
        vec![]
    } else {
        dominant_within(problem.data, &mut *slots, &runs, &guesses, tolerance, &|| problem.is_to_stop())?
    };
    let mut found = found.into_iter();
    let own = |conclusion: &mut Conclusion| {
        let directions = std::mem::replace(&mut conclusion.directions, Mat::zeros(0, 0));
        match conclusion.explained {
            Some(explained) => (directions, explained),
            None => found.next().map_or((directions, 0.0), |f| (f.u, f.sigma2.iter().sum())),
        }
    };
    Ok(conclusions.iter_mut().map(own).collect())
}
