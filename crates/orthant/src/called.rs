//! What points and features are called, where the data say it: cells and genes, texts and words.

/// Something in one and in many: "gene", "genes".
pub type Noun = (&'static str, &'static str);

/// The words for what is clustered, and for what it is described by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Called {
    /// The points.
    pub points: Noun,
    /// The features.
    pub features: Noun,
}

impl Called {
    /// Single cells and what was counted in them.
    pub const CELLS: Called = Called { points: ("cell", "cells"), features: ("gene", "genes") };
    /// Texts and what they consist of.
    pub const TEXTS: Called = Called { points: ("text", "texts"), features: ("word", "words") };

    /// The same for the features as points.
    pub fn turned(self) -> Called {
        Called { points: self.features, features: self.points }
    }
}
