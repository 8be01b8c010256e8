//! Lists beside the data: labels, names and words one a line, weights one a line or as a .npy array.

use std::path::Path;

use super::cursor::Cursor;
use super::numpy;
use super::source::Source;
use super::text::Text;
use crate::error::{Error, Place, Result};

/// The lines of a text file (gzip and Zstandard too), blanks around them removed. A line without
/// content is refused: every line belongs to a point or a feature.
pub fn lines(path: &Path) -> Result<Vec<String>> {
    let source = Source::open(path)?;
    let mut text = Text::new(&source)?;
    let mut lines: Vec<String> = Vec::new();
    let mut blank = None;
    while let Some(line) = text.next_line()? {
        let Ok(line) = std::str::from_utf8(line) else {
            let place = Place::Line(text.lines());
            return Err(source.fault(place, "the line is not UTF-8: convert the file"));
        };
        match line.trim() {
            "" => blank = blank.or(Some(lines.len() as u64 + 1)),
            _ if blank.is_some() => {
                // Blank lines at the end do no harm.
                let place = Place::Line(blank.unwrap_or(0));
                return Err(source.fault(place, "the line is empty, and others follow"));
            }
            line => lines.push(line.to_owned()),
        }
    }
    Ok(lines)
}

/// The lines of a companion file, one for each of the `count` rows or columns.
pub(super) fn counted(path: &Path, count: usize, what: &str) -> Result<Vec<String>> {
    let lines = lines(path)?;
    if lines.len() != count {
        let problem = format!(
            "has a different number of lines ({}) than the data beside it have {what} ({count})",
            lines.len()
        );
        return Err(Error::File { path: path.into(), place: Place::Whole, problem });
    }
    Ok(lines)
}

/// One number a line, or a one-dimensional .npy array.
pub fn numbers(path: &Path) -> Result<Vec<f64>> {
    let source = Source::open(path)?;
    if numpy::recognise(&source.head()?, path) {
        return numpy::read_list(&source);
    }
    let parse = |(i, line): (usize, &String)| {
        let mut cursor = Cursor::new(line.as_bytes());
        match cursor.number() {
            Some(number) if cursor.done() => Ok(number),
            _ => Err(source.fault(Place::Line(i as u64 + 1), cursor.expected("a number").problem)),
        }
    };
    lines(path)?.iter().enumerate().map(parse).collect()
}
