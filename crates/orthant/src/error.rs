//! The one error type: grouped by what the caller can do, each naming the culprit.

use std::borrow::Cow;
use std::path::PathBuf;

/// `Result` with the crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, where, and what to do about it; `Display` is one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// One entry of the data cannot be used. Rows and columns count from 0.
    #[error("{problem} at row {row}, column {column} (counted from 0): {advice}")]
    Entry {
        /// What is wrong with the entry.
        problem: String,
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
        /// What to do.
        advice: &'static str,
    },
    /// The data as a whole cannot be used.
    #[error("{0}")]
    Data(String),
    /// A parameter is out of its range.
    #[error("{name}: {problem}")]
    Parameter {
        /// The parameter's name, as in the table of methods.
        name: String,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// A file's content is not what it should be.
    #[error("{}{place}: {}", path.display(), one_line(problem))]
    File {
        /// The file.
        path: PathBuf,
        /// Where in the file.
        place: Place,
        /// What is wrong and what to do.
        problem: String,
    },
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// The computation failed on data and parameters that looked right.
    #[error("{0}")]
    Computation(String),
    /// The observer asked to stop before there was anything to return.
    #[error("stopped before {0}")]
    Stopped(&'static str),
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    Whole,
    /// A line, counted from 1.
    Line(u64),
    /// A byte offset, counted from 0.
    Byte(u64),
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Whole => Ok(()),
            Place::Line(line) => write!(f, ", line {line}"),
            Place::Byte(byte) => write!(f, ", byte {byte}"),
        }
    }
}

impl Error {
    /// Whether better input would help (as opposed to a failed computation).
    pub fn is_bad_input(&self) -> bool {
        !matches!(self, Error::Computation(_) | Error::Stopped(_))
    }

    pub(crate) fn parameter(name: impl Into<String>, problem: impl Into<String>) -> Self {
        Error::Parameter { name: name.into(), problem: problem.into() }
    }
}

/// A number in a message: as it is usually written, very large and very small ones with an exponent.
pub(crate) struct Short(pub f64);

impl std::fmt::Display for Short {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.abs() {
            x if x != 0.0 && !(1e-4..1e16).contains(&x) => write!(f, "{:e}", self.0),
            _ => write!(f, "{}", self.0),
        }
    }
}

/// Names that come from a file neither break the line nor make it longer than a few lines of a terminal.
fn one_line(problem: &str) -> Cow<'_, str> {
    const LONGEST: usize = 600;
    let plain = match problem.contains(char::is_control) {
        true => Cow::Owned(problem.escape_debug().to_string()),
        false => Cow::Borrowed(problem),
    };
    match plain.char_indices().nth(LONGEST) {
        Some((end, _)) => Cow::Owned(format!("{}…", &plain[..end])),
        None => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_a_file_neither_breaks_the_line_nor_fills_the_screen() {
        let shown = |problem: &str| {
            let problem = problem.into();
            Error::File { path: "x.npy".into(), place: Place::Line(3), problem }.to_string()
        };
        assert_eq!(shown("type\n\u{1b}[2J"), "x.npy, line 3: type\\n\\u{1b}[2J");
        assert_eq!(shown("Zürich's"), "x.npy, line 3: Zürich's");
        assert!(shown(&"ü".repeat(10_000)).chars().count() < 700);
    }
}
