//! The synthetic sets of Section 2.3, level by level of noise.

use std::sync::Arc;

use anyhow::Result;
use orthant::generate::{Generator, Synthetic};

use super::{Set, Shared};

/// Levels of noise; the paper has them in [0, 1].
pub const NOISE: [f64; 8] = [0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0];
/// Beyond this level all methods are near chance: nothing is decided there.
const TELLING_UP_TO: f64 = 0.3;

/// A set on which rounding decides what ONP-MF finds: everything, or five clusters of six.
pub const ON_THE_EDGE: &str = "noise 0 set 37";

/// The set of that name.
pub fn on_the_edge(seed: u64) -> Result<Shared> {
    set(0.0, seed.wrapping_add(37), 37)
}

/// The sets of a level.
pub struct NoiseLevel {
    pub noise: f64,
    pub sets: Vec<Shared>,
}

impl NoiseLevel {
    /// Whether methods can be told apart at this level; models are compared in pairs there.
    pub fn tells(&self) -> bool {
        self.noise <= TELLING_UP_TO
    }

    /// The file that keeps its cells.
    pub fn file(&self) -> String {
        format!("synthetic/noise-{}", self.noise)
    }
}

/// `sets` for each level, `paired` where models are compared in pairs; the first are the same sets.
pub fn levels(seed: u64, sets: usize, paired: usize) -> Result<Vec<NoiseLevel>> {
    let level = |noise: f64| -> Result<NoiseLevel> {
        let count = if noise <= TELLING_UP_TO { sets.max(paired) } else { sets };
        let sets = (0..count).map(|number| set(noise, seed.wrapping_add(number as u64), number));
        Ok(NoiseLevel { noise, sets: sets.collect::<Result<_>>()? })
    };
    NOISE.iter().map(|&noise| level(noise)).collect()
}

fn set(noise: f64, seed: u64, number: usize) -> Result<Shared> {
    let made = Synthetic { noise, seed, ..Synthetic::default() }.generate()?;
    Ok(Arc::new(Set {
        name: format!("noise {noise} set {number}"),
        k: made.k(),
        matrix: made.matrix,
        truth: Some(made.truth),
        classes: made.classes,
        image: None,
        pixels: None,
    }))
}
