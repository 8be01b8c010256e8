//! How good a solution is: every claim recomputed from the data and the factors.
//!
//! No partition into k clusters explains more than it says here, so none has a lower error. The bounds and their
//! proofs are in docs/certificate.md: singular values (cheap, loose), and the dual bound, for every point by itself
//! or for groups of points.

mod dual;
mod groups;
mod positive;
mod reduced;
mod square;
#[cfg(test)]
mod tests;

use crate::bytes::{Bytes, bytes_of};
use crate::error::{Error, Result};
use crate::finish::Solution;
use crate::matrix::passes::{Left, Squares};
use crate::matrix::{Format, Mat, Shape, Slots, rule};
use crate::prepare::Problem;
use crate::run::{Event, Go, Observer, Progress};
use crate::singular::gram;
use positive::ROUNDOFF;
use reduced::Reduced;

/// How much work to put into the lower bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Rigour {
    /// [`Rigour::Quick`] for ONMF where that takes a second or a quarter of the search, else [`Rigour::Singular`].
    Auto,
    /// The singular values alone.
    #[default]
    Singular,
    /// The dual bound, roughly: seconds.
    Quick,
    /// The dual bound: up to minutes.
    Thorough,
}

/// Their names, in order, with what they do.
pub const RIGOURS: &[(&str, &str)] = &[
    ("auto", "for ONMF quick where that takes about a second, or a quarter of the search; else singular"),
    (
        "singular",
        "the bound of the singular values, which holds for any factors of rank k: cheap, loose on images",
    ),
    ("quick", "the dual bound of clusterings, proven: a few seconds"),
    ("thorough", "the same with finer groups and more steps: up to some minutes"),
];

impl Rigour {
    /// A level by its name.
    pub fn named(name: &str) -> Result<Rigour> {
        let levels = [Rigour::Auto, Rigour::Singular, Rigour::Quick, Rigour::Thorough];
        let found = levels.into_iter().find(|level| level.name() == name);
        found.ok_or_else(|| {
            let known: Vec<&str> = RIGOURS.iter().map(|l| l.0).collect();
            let known = known.join(", ");
            Error::parameter("certificate", format!("there is no level '{name}'; there are {known}"))
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        RIGOURS[self as usize].0
    }

    /// What it comes to after a search of so many multiplications. They are counted, not timed: the same everywhere.
    pub(crate) fn after(self, problem: &Problem, onmf: bool, spent: u128) -> Rigour {
        if self != Rigour::Auto {
            return self;
        }
        let cheap = |work: u128| onmf && work <= LITTLE.max(spent / 4);
        if Rigour::Quick.work(problem).is_some_and(cheap) { Rigour::Quick } else { Rigour::Singular }
    }

    /// Memory that the dual bound takes.
    pub(crate) fn bytes(self, shape: &Shape, k: usize) -> u128 {
        let limits = self.limits();
        if shape.points <= limits.points {
            dual::bytes(shape.points)
        } else if shape.features <= limits.features {
            // Their Gram matrix is made anew for every μ.
            2 * dual::bytes(limits.groups.max(4 * k))
        } else {
            0
        }
    }

    /// Multiplications of the dual bound, about; none where the data are too large for it.
    fn work(self, problem: &Problem) -> Option<u128> {
        let (limits, shape) = (self.limits(), problem.data.shape());
        let [points, features, nonzeros] =
            [shape.points, shape.features, shape.nonzeros].map(|count| count as u128);
        let (size, before) = if shape.points <= limits.points {
            (shape.points, nonzeros * points)
        } else if shape.features <= limits.features {
            let groups = limits.groups.max(4 * problem.k);
            (groups, nonzeros * groups as u128 * groups::PASSES + points * features * features)
        } else {
            return None;
        };
        Some(before + limits.steps as u128 * dual::work(size, problem.k) as u128)
    }

    /// Most points (or groups of points) and steps of the dual bound, and most features where points are grouped.
    fn limits(self) -> Limits {
        match self {
            Rigour::Auto | Rigour::Singular => Limits { points: 0, groups: 0, features: 0, steps: 0 },
            Rigour::Quick => Limits { points: 1000, groups: 400, features: 1000, steps: 60 },
            Rigour::Thorough => Limits { points: 10_000, groups: 1600, features: 2000, steps: 300 },
        }
    }
}

/// Multiplications that take about a second.
const LITTLE: u128 = 20_000_000_000;

struct Limits {
    points: usize,
    groups: usize,
    features: usize,
    steps: usize,
}

/// Which bound is the best of those computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Bound {
    /// No factors of rank k have a lower error.
    Singular,
    /// No partition into k clusters has a lower error; every point by itself.
    Dual,
    /// The same, from groups of points.
    DualOfGroups,
}

const BOUNDS: [Bound; 3] = [Bound::Singular, Bound::Dual, Bound::DualOfGroups];

impl Bytes for Bound {
    fn write(&self, to: &mut Vec<u8>) {
        (*self as u8).write(to);
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        BOUNDS.get(usize::from(u8::read(from)?)).copied()
    }
}

impl Bound {
    /// By its name.
    pub fn named(name: &str) -> Result<Bound> {
        let found = BOUNDS.into_iter().find(|bound| bound.name() == name);
        found.ok_or_else(|| Error::parameter("bound", format!("there is no bound '{name}'")))
    }

    /// A word for machines.
    pub fn name(self) -> &'static str {
        match self {
            Bound::Singular => "singular",
            Bound::Dual => "dual",
            Bound::DualOfGroups => "dual-of-groups",
        }
    }
}

/// The name under which observers hear of the work on the bound.
pub const CERTIFICATE: &str = "certificate";

/// What can be said of a feasible solution. Errors are unsquared and relative to ‖M‖.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Certificate {
    /// `‖M − UV‖/‖M‖`, summed point by point.
    pub relative_error: f64,
    /// No partition into k clusters has a lower error; 0 says nothing.
    pub lower_bound: f64,
    /// Where that comes from.
    pub bound: Bound,
    /// What the solution explains of what the best rank-k factors explain; of all that there is, where that is not known.
    pub energy_share: f64,
    /// `‖VVᵀ − I‖`, largest entry.
    pub orthogonality_residual: f64,
    /// The smallest entry of U and V, relative to the largest of each: negative if infeasible.
    pub smallest_entry: f64,
    /// The k largest singular values of M, in the data's own units; none where the work was stopped before.
    pub singular_values: Vec<f64>,
}

bytes_of!(Certificate {
    relative_error,
    lower_bound,
    bound,
    energy_share,
    orthogonality_residual,
    smallest_entry,
    singular_values,
});

impl Certificate {
    /// By what share of the best possible error the error exceeds it at most; `None` where there is no bound.
    pub fn at_most_above_best(&self) -> Option<f64> {
        (self.lower_bound > 0.0).then(|| (self.relative_error / self.lower_bound - 1.0).max(0.0))
    }
}

/// Recomputes everything about a solution whose labels are those of run 0; `left` is what it leaves of the data.
pub fn certify(
    problem: &Problem,
    slots: &mut dyn Slots,
    solution: &Solution,
    left: &Left,
    level: Rigour,
    observer: &mut dyn Observer,
) -> Result<Certificate> {
    let facts = problem.facts();
    let (singular, best) = match problem.singular() {
        // No factors explain more than there is.
        Err(Error::Stopped(_)) => (&[][..], facts.norm2),
        // What the iteration may have missed counts against us.
        known => {
            known.map(|top| (&top.values[..], top.values.iter().map(|s| s * s).sum::<f64>() + top.slack))?
        }
    };
    let share = |x: f64| if facts.norm2 > 0.0 { x / facts.norm2 } else { 0.0 };
    let relative_error = share(left.total()).sqrt();
    let allowance = rounding(problem) + singular_rounding(problem);
    let mut bound2 = (1.0 - share(best) - allowance).max(0.0);
    let mut bound = Bound::Singular;
    if level.limits().steps > 0 && facts.norm2 > 0.0 {
        let watch = &mut |iteration: usize, most: usize, seems: f64| {
            // What is shown is the bound as it seems to be: proven is what it ends with.
            let objective = facts.norm2 * seems.max(0.0);
            let progress = Progress { objective, residual: 0.0, converged: false };
            observer.iteration(&Event {
                method: CERTIFICATE,
                stage: None,
                rule: rule::Power.into(),
                run: 0,
                runs: 1,
                ended: 0,
                iteration,
                max_iterations: most,
                progress,
                share: Some(iteration as f64 / most.max(1) as f64),
                norm2: facts.norm2,
            })
        };
        if let Some((explained, which)) = dual_bound(problem, solution, level, watch)? {
            let dual = 1.0 - explained - rounding(problem);
            if dual > bound2 {
                (bound2, bound) = (dual, which);
            }
        }
    }

    // VVᵀ is diagonal because a point has one label: only the diagonal can be off. (A cluster of k-means that holds
    // zero points alone has no direction, and no row of V to speak of.)
    let squares = slots.tell(&Squares { v: solution.v.clone(), k: problem.k, run: 0 })?.0;
    let rows = squares.iter().zip(&left.energy).filter(|(_, energy)| **energy > 0.0);
    let orthogonality_residual = rows.map(|(s, _)| (s - 1.0).abs()).fold(0.0, f64::max);
    let smallest = |x: &[f64]| {
        let largest = x.iter().fold(0.0f64, |a, b| a.max(b.abs()));
        x.iter().fold(f64::INFINITY, |a, b| a.min(*b)) / if largest > 0.0 { largest } else { 1.0 }
    };
    Ok(Certificate {
        relative_error,
        // Rounding must not put the bound above what was reached.
        lower_bound: bound2.sqrt().min(relative_error),
        bound,
        energy_share: if best > 0.0 { (left.energy.iter().sum::<f64>() / best).min(1.0) } else { 1.0 },
        orthogonality_residual,
        smallest_entry: smallest(&solution.u.data).min(smallest(&solution.v)),
        singular_values: singular.iter().map(|s| s / facts.scale).collect(),
    })
}

/// What rounding may have done to ‖M‖², relative to it: sums over features, then over points, and weights.
fn rounding(problem: &Problem) -> f64 {
    let shape = problem.data.shape();
    2.0 * ROUNDOFF * (shape.features + shape.points + 20) as f64
}

/// The same for the sum of squared singular values, from products in the data's own format. In float32 errors
/// are taken to add up as if by chance, with a factor of 8 for safety: the one place where that is not proven.
fn singular_rounding(problem: &Problem) -> f64 {
    let shape = problem.data.shape();
    let k = problem.k as f64;
    match shape.format {
        Format::F64 => k * rounding(problem),
        Format::F32 => {
            8.0 * f64::from(f32::EPSILON / 2.0) * k.sqrt() * ((shape.features + 256) as f64).sqrt()
        }
    }
}

/// The share of ‖M‖² that a partition explains at most, by the dual bound; `None` where it says nothing, or the data
/// are too large in both directions.
fn dual_bound(
    problem: &Problem,
    solution: &Solution,
    level: Rigour,
    watch: &mut dyn FnMut(usize, usize, f64) -> Go,
) -> Result<Option<(f64, Bound)>> {
    let (data, facts, k) = (problem.data, problem.facts(), problem.k);
    let shape = data.shape();
    let limits = level.limits();
    // So that a Ctrl-C before it is not followed by long work.
    if watch(0, limits.steps, 0.0) == Go::Stop {
        return Ok(None);
    }
    let (reduced, bound) = if shape.points <= limits.points {
        let mut gram = gram(data)?;
        let used: Vec<usize> = (0..gram.rows).filter(|&j| gram[(j, j)] > 0.0).collect();
        if used.len() < gram.rows {
            gram = Mat::from_fn(used.len(), used.len(), |i, j| gram[(used[i], used[j])]);
        }
        (Reduced::points(gram, facts.norm2, shape.features), Bound::Dual)
    } else if shape.features <= limits.features {
        let mut slots = data.slots()?;
        let u = groups::group(data, &mut *slots, &solution.labels, limits.groups.max(4 * k))?;
        let grouped = groups::grouped(data, &mut *slots, &u)?;
        (Reduced::groups(grouped, facts.norm2, shape.points), Bound::DualOfGroups)
    } else {
        return Ok(None);
    };
    let explained = dual::explained_at_most(reduced, k, limits.steps, &mut |step, seems| {
        watch(step, limits.steps, seems)
    });
    Ok(explained.map(|explained| (explained, bound)))
}
