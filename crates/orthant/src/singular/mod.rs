//! Singular vectors: the k largest of the whole data, and the largest of every cluster.
//!
//! Both work on `MMᵀ` through passes over the data and never form it. For a matrix that is at hand, `Subspace`.

mod clusters;
mod gram;
mod locally_optimal;
mod subspace;
mod top;

pub use clusters::{Dominant, dominant, dominant_within};
pub(crate) use clusters::{TOLERANCE, dominant_of_strengths};
pub use gram::gram;
pub(crate) use locally_optimal::Stopping;
pub(crate) use subspace::{Subspace, Symmetric};
pub(crate) use top::orthonormalize_rows;
pub use top::{Singular, right_vectors, top, top_until};
