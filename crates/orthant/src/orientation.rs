//! Which way round a file is: points in its rows or in its columns.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// What the points are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "lowercase"))]
pub enum Orientation {
    /// The rows of the file.
    #[default]
    Rows,
    /// Its columns.
    Columns,
}

impl Orientation {
    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            Orientation::Rows => "rows",
            Orientation::Columns => "columns",
        }
    }

    /// Row and column of an entry in the file, from those among the points; and the other way round.
    pub fn place(self, row: usize, column: usize) -> (usize, usize) {
        match self {
            Orientation::Rows => (row, column),
            Orientation::Columns => (column, row),
        }
    }

    /// An error about an entry of the points as one about the file.
    pub fn locate(self, error: Error) -> Error {
        match error {
            Error::Entry { problem, row, column, advice } => {
                let (row, column) = self.place(row, column);
                Error::Entry { problem, row, column, advice }
            }
            other => other,
        }
    }
}
