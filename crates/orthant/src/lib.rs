//! Orthogonal nonnegative matrix factorization and clustering of nonnegative data.

pub mod error;
pub mod evaluate;
pub mod generate;
pub mod image;
pub mod matrix;
mod random;

pub use error::{Error, Place, Result};
pub use matrix::Matrix;
