//! The k largest right singular vectors as V. [P, Sec. 3 and its footnote on signs]

use crate::error::Result;
use crate::matrix::{Mat, Store};
use crate::prepare::Problem;
use crate::singular::{Singular, right_vectors};

/// Singular vectors into the store, each with the sign that makes its positive part the larger one.
pub(super) fn signed(problem: &Problem, store: &mut dyn Store) -> Result<Singular> {
    let mut singular = right_vectors(store, problem.singular()?, problem.k)?;
    let signs: Vec<f64> = store
        .signs()?
        .iter()
        .map(|(positive, negative)| if negative > positive { -1.0 } else { 1.0 })
        .collect();
    store.transform(&Mat::from_fn(problem.k, problem.k, |i, j| if i == j { signs[i] } else { 0.0 }))?;
    singular.left.scale_columns(&signs);
    Ok(singular)
}
