//! Lists beside the data: labels, names and words one a line, weights one a line or as a .npy array.

use std::path::Path;

use super::columns::find;
use super::cursor::{Cursor, quoted};
use super::dialect::{delimiter, sample, split};
use super::documents::records;
use super::source::Source;
use super::text::Text;
use super::{Loaded, Options, envi, numpy};
use crate::error::{Error, Place, Result};
use crate::image::ImageShape;

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

/// A word or number for each of so many points (or features), from a file that may be: a line each, with or without a title above
/// them; a column of a table with titles, which is named; an array (.npy, .mat and the like), also of the shape of
/// the image whose pixels the points are.
///
/// # Errors
/// When there are not as many, or it is not said which column is meant.
pub fn list(
    path: &Path,
    column: Option<&str>,
    (count, what): (usize, &str),
    image: Option<ImageShape>,
) -> Result<Vec<String>> {
    let source = Source::open(path)?;
    let head = source.head()?;
    let counted = |list: Vec<String>, found: &str| {
        if list.len() == count {
            return Ok(list);
        }
        let problem = format!("has {} {found} for {count} {what}: one each is needed", list.len());
        Err(source.fault(Place::Whole, problem))
    };
    // A map of classes in ENVI is a text with the numbers beside it.
    if head.contains(&0) || envi::recognise(&head, path) {
        return counted(array(path, column, count, image)?, "numbers");
    }
    let sample = sample(&head);
    let delimiter = delimiter(&sample);
    let width = sample.first().map_or(0, |line| split(line, delimiter).len());
    if let Some(name) = column {
        let (titles, rows) = records(&source, delimiter)?;
        let at = find(&titles, name, "truth-column")?;
        return counted(rows.into_iter().map(|(_, mut row)| row.swap_remove(at)).collect(), "rows");
    }
    let mut lines = lines(path)?;
    if lines.len() == count + 1 {
        // Blanks may stand in a title.
        if width > 1 && delimiter != b' ' {
            let titles = split(sample[0], delimiter);
            // What pandas and R write of one column: the names of the rows, without a title, and it.
            if titles.len() == 2 && titles[0].is_empty() {
                let (_, rows) = records(&source, delimiter)?;
                return counted(rows.into_iter().map(|(_, mut row)| row.swap_remove(1)).collect(), "rows");
            }
            let titles: Vec<String> = titles.iter().map(|title| quoted(title)).collect();
            let problem =
                format!("has {width} columns: say which one with --truth-column, {}", titles.join(", "));
            return Err(source.fault(Place::Line(1), problem));
        }
        lines.remove(0);
    }
    counted(lines.iter().map(|line| unquoted(line)).collect(), "lines")
}

/// A line of a table with one column may stand in quotes.
fn unquoted(line: &str) -> String {
    let inner =
        line.strip_prefix('"').and_then(|line| line.strip_suffix('"')).filter(|line| !line.is_empty());
    inner.map_or(line.to_owned(), |inner| inner.replace("\"\"", "\""))
}

/// The numbers of an array, in the order of the pixels if it has the shape of the image.
fn array(path: &Path, name: Option<&str>, count: usize, image: Option<ImageShape>) -> Result<Vec<String>> {
    let source = Source::open(path)?;
    if numpy::recognise(&source.head()?, path)
        && let Ok(list) = numpy::read_list(&source)
    {
        return Ok(list.iter().map(f64::to_string).collect());
    }
    let options = Options { variable: name.map(str::to_owned), ..Options::default() };
    let Loaded { matrix, image: own, .. } = super::read(path, &options).map_err(|error| match error {
        // Which of several is asked by the flag of the list, not of the data.
        Error::File { path, place, problem } => {
            Error::File { path, place, problem: problem.replace("--variable", "--truth-column") }
        }
        other => other,
    })?;
    let (rows, columns) = (matrix.points(), matrix.features());
    let entry = |row: usize, column: usize| matrix.point(row)[column].to_string();
    match (own, image) {
        // A picture with one band: pixel by pixel.
        (Some(own), Some(image))
            if columns == 1 && (own.height, own.width) == (image.height, image.width) =>
        {
            Ok((0..rows).map(|p| entry(own.pixel(image.row(p), image.column(p)), 0)).collect())
        }
        (None, Some(image)) if (rows, columns) == (image.height, image.width) && rows * columns == count => {
            Ok((0..count).map(|p| entry(image.row(p), image.column(p))).collect())
        }
        _ if rows == 1 || columns == 1 => {
            Ok((0..rows).flat_map(|row| matrix.point(row)).map(|x| x.to_string()).collect())
        }
        _ => {
            let advice = match image {
                None if rows * columns == count => {
                    format!(
                        ": if the points are the pixels of an image, say --image {rows}x{columns}, and --scan rows if \
                         they follow each other row after row"
                    )
                }
                _ => String::new(),
            };
            let problem =
                format!("is {rows} x {columns}, neither a list nor of the shape of the image{advice}");
            Err(source.fault(Place::Whole, problem))
        }
    }
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
