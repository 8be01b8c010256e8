//! How good a solution is: every claim recomputed from the data and the factors.

use crate::error::Result;
use crate::finish::Solution;
use crate::matrix::Store;
use crate::prepare::Problem;

/// What can be said of a feasible solution. Errors are unsquared and relative to ‖M‖.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// `‖M − UV‖/‖M‖`, summed point by point.
    pub relative_error: f64,
    /// No U and V of rank k do better, feasible or not: `√(1 − Σ_{i≤k}σᵢ²/‖M‖²)`.
    pub lower_bound: f64,
    /// What the solution explains of what the best rank-k factors explain.
    pub energy_share: f64,
    /// `‖VVᵀ − I‖`, largest entry.
    pub orthogonality_residual: f64,
    /// The smallest entry of U and V, relative to the largest of each: negative if infeasible.
    pub smallest_entry: f64,
    /// The k largest singular values of M, in the data's own units.
    pub singular_values: Vec<f64>,
}

/// Recomputes everything about a solution whose labels the store holds under `run`.
pub fn certify(
    problem: &Problem,
    store: &mut dyn Store,
    run: usize,
    solution: &Solution,
) -> Result<Certificate> {
    let facts = problem.facts();
    let residual = store.residual(&solution.directions, run)?;
    let top = problem.singular()?;
    let singular = &top.values;
    // What the iteration may have missed counts against us.
    let best: f64 = singular.iter().map(|s| s * s).sum::<f64>() + top.slack;
    let share = |x: f64| if facts.norm2 > 0.0 { x / facts.norm2 } else { 0.0 };
    let relative_error = share(residual.total).sqrt();
    let lower_bound = share(facts.norm2 - best).max(0.0).sqrt();

    // VVᵀ is diagonal because a point has one label: only the diagonal can be off. (A cluster of k-means that holds
    // zero points alone has no direction, and no row of V to speak of.)
    let squares = store.weighted_squares(&solution.v, problem.k, run)?;
    let rows = squares.iter().zip(&residual.energy).filter(|(_, energy)| **energy > 0.0);
    let orthogonality_residual = rows.map(|(s, _)| (s - 1.0).abs()).fold(0.0, f64::max);
    let smallest = |x: &[f64]| {
        let largest = x.iter().fold(0.0f64, |a, b| a.max(b.abs()));
        x.iter().fold(f64::INFINITY, |a, b| a.min(*b)) / if largest > 0.0 { largest } else { 1.0 }
    };
    Ok(Certificate {
        relative_error,
        // Rounding must not put the bound above what was reached.
        lower_bound: lower_bound.min(relative_error),
        energy_share: if best > 0.0 { (residual.energy.iter().sum::<f64>() / best).min(1.0) } else { 1.0 },
        orthogonality_residual,
        smallest_entry: smallest(&solution.u.data).min(smallest(&solution.v)),
        singular_values: singular.iter().map(|s| s / facts.scale).collect(),
    })
}
