//! The passes: each a value that says what is computed of every strip of points, whoever holds them. A new one is a file
//! here and a line in the table below. See CONTRIBUTING.md.

macro_rules! passes {
    ($($file:ident: $($pass:ident),+;)*) => {
        $(mod $file;)*
        $(pub use $file::{$($pass),+};)*

        /// The pass that some bytes are of.
        pub(crate) fn read(mut bytes: &[u8]) -> Option<Box<dyn AnyPass>> {
            let name = String::read(&mut bytes)?;
            $($(if name == <$pass as Pass>::NAME {
                return Some(Box::new(<$pass>::from_bytes(bytes)?));
            })+)*
            None
        }

        /// How parts of the pass with this name are read.
        pub(crate) fn part_reader(name: &str) -> Option<fn(&mut &[u8]) -> Option<Box<dyn AnyPart>>> {
            $($(if name == <$pass as Pass>::NAME {
                return Some(|from| Some(Box::new(<<$pass as Pass>::Part as Bytes>::read(from)?)));
            })+)*
            None
        }
    };
}

passes! {
    look: Look, Norms;
    assign: Assign;
    rough: Roughly, Sharpen, RoughSums;
    power: Power;
    forms: Forms;
    sums: SumOfLabels, Normal, Products;
    factors: Scores, Transform, Signs, TakePositive, FillRandom, Indicate, LabelByV;
    onp: Step, Trial, Accept;
    multiply: Multiply;
    seed: Unsettle, Settle, Explain, Replace;
    soften: Soften;
    moves: Moves;
    information: Information;
    residual: Residual, Strengths, Squares;
    standing: Standings;
    group: Shares, Group;
    points_side: Directions, Own;
    exact: ExactScores;
}

pub use assign::{Assigned, Bounds};
pub use look::{Looked, Normed};
pub use moves::{Move, change};
pub use multiply::Multiplied;
pub use onp::Stepped;
pub use residual::Left;
pub use rough::Columns;
pub use standing::{Standing, Stood};

use super::seam::{AnyPart, AnyPass, Pass};
use crate::bytes::Bytes;

/// A point that adds to no column.
pub(crate) use super::kernels::dense::NOWHERE;

/// The column of a label, counted from the first column of its run.
fn column(label: i32, first: usize) -> u32 {
    usize::try_from(label).map_or(NOWHERE, |label| (first + label) as u32)
}
