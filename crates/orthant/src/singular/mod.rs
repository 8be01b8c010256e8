//! Singular vectors: the k largest of the whole data, and the largest of every cluster.
//!
//! Both work on `MMᵀ` through passes over the data and never form it.

mod clusters;
mod top;

pub use clusters::{Dominant, dominant, dominant_within};
pub(crate) use top::orthonormalize_rows;
pub use top::{Singular, right_vectors, top};
