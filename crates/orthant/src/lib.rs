//! Orthogonal nonnegative matrix factorization and clustering of nonnegative data.

pub mod error;
pub mod image;
pub mod matrix;
#[cfg(feature = "read")]
pub mod read;

pub use self::image::{ImageShape, Scan};
pub use error::{Error, Place, Result};
pub use matrix::Matrix;
