//! What the entries of data are like, before anything is fitted.

use crate::error::Result;
use crate::matrix::Data;

/// Kinds of numbers, and how many of them are 0.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Entries {
    /// Whether every entry is a whole number, and some are above 1.
    pub whole: bool,
    /// The share of them that are 0.
    pub zeros: f64,
    /// Whether nearly all entries of many features are 0, as in texts.
    pub sparse: bool,
}

/// Data are sparse from this share of zeros on, and from so many features.
const SPARSE: (f64, usize) = (0.9, 100);

impl Entries {
    /// Looks at every entry.
    pub(crate) fn of(data: &dyn Data) -> Result<Entries> {
        let (shape, facts) = (data.shape(), data.facts());
        let (mut whole, mut nonzeros) = (facts.largest >= 2.0, 0usize);
        for j in 0..shape.points {
            data.entries(j, &mut |_, m| {
                whole = whole && (m / facts.scale).fract() == 0.0;
                nonzeros += usize::from(m != 0.0);
            })?;
        }
        let zeros = 1.0 - nonzeros as f64 / (shape.points as f64 * shape.features as f64);
        Ok(Entries { whole, zeros, sparse: zeros >= SPARSE.0 && shape.features >= SPARSE.1 })
    }
}
