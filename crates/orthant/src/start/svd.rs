//! The k largest right singular vectors as V. [P, Sec. 3 and its footnote on signs]

use crate::error::Result;
use crate::matrix::passes::{Signs, Transform};
use crate::matrix::{Mat, Slots};
use crate::prepare::Problem;
use crate::singular::{Singular, right_vectors};

/// Singular vectors into V, each with the sign that makes its positive part the larger one.
pub(super) fn signed(problem: &Problem, slots: &mut dyn Slots) -> Result<Singular> {
    let mut singular = right_vectors(slots, problem.singular()?, problem.k, &|| problem.stop_is_asked())?;
    let k = problem.k;
    let parts = slots.tell(&Signs { k })?.0;
    let signs: Vec<f64> = (0..k).map(|i| if parts[k + i] > parts[i] { -1.0 } else { 1.0 }).collect();
    slots.tell(&Transform { a: Mat::from_fn(k, k, |i, j| if i == j { signs[i] } else { 0.0 }) })?;
    singular.left.scale_columns(&signs);
    Ok(singular)
}
