//! How a table in text is written: what separates its fields, whether it has a header, and what each of its
//! columns is. All of it is read off the first lines, unless the caller says otherwise.

use super::Options;
use super::columns::{Columns, counts, find, is_name_of_id, tells_apart};
use super::cursor::Cursor;
use super::text::head_lines;
use crate::error::{Error, Result};

/// Of equal claims the first wins: a comma may be a decimal point, a blank part of a name.
const DELIMITERS: [u8; 4] = *b"\t;, ";
/// Rows that tell what a column is.
pub(super) const SAMPLE: usize = 50;

/// What the fields of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Feature,
    Name,
    Class,
    Dropped,
}

#[derive(Debug)]
pub(super) struct Dialect {
    pub delimiter: u8,
    pub header: bool,
    /// Every field of a row; empty if there is no table.
    pub roles: Vec<Role>,
    /// How many of them are numbers to cluster.
    pub features: usize,
    /// What the reader should know of the choice.
    pub notes: Vec<String>,
}

impl Dialect {
    /// Whether rows have a name in front and numbers after it, or numbers only.
    pub fn is_plain(&self) -> bool {
        self.features + usize::from(self.names()) == self.roles.len()
    }

    /// Whether the first field of a plain row is its name.
    pub fn names(&self) -> bool {
        self.roles.first() == Some(&Role::Name)
    }
}

/// Whether a line is neither blank nor a comment.
pub(super) fn is_content(line: &[u8]) -> bool {
    !line.trim_ascii().is_empty() && !line.starts_with(b"#")
}

/// The first lines that hold something.
pub(super) fn sample(head: &[u8]) -> Vec<&[u8]> {
    head_lines(head).into_iter().filter(|line| is_content(line)).take(SAMPLE).collect()
}

/// The one that cuts all lines into the same number of fields (a header may lack one, as R writes
/// it); otherwise the one that cuts the first line most often.
pub(super) fn delimiter(sample: &[&[u8]]) -> u8 {
    let even = |&delimiter: &u8| {
        let counts: Vec<usize> = sample.iter().map(|line| split(line, delimiter).len()).collect();
        let last = counts.last().copied().unwrap_or(0);
        last > 1
            && counts.iter().skip(1).all(|&count| count == last)
            && (counts[0] == last || counts[0] + 1 == last)
    };
    let first = |&&delimiter: &&u8| sample.first().map_or(0, |line| split(line, delimiter).len());
    let even = DELIMITERS.iter().find(|delimiter| even(delimiter));
    // Reversed, because the last of several maxima is taken.
    even.or_else(|| DELIMITERS.iter().rev().max_by_key(first)).copied().unwrap_or(b',')
}

/// The dialect that the first lines are written in.
pub(super) fn detect(head: &[u8], options: &Options) -> Result<Dialect> {
    let sample = sample(head);
    let delimiter = delimiter(&sample);
    let rows: Vec<Vec<Vec<u8>>> = sample.iter().map(|line| split(line, delimiter)).collect();
    let is_text = |field: &Vec<u8>| !is_number(field);
    let is_value = |field: &Vec<u8>| !field.is_empty() && is_number(field);
    let Some((first, body)) = rows.split_first().filter(|_| rows.iter().flatten().any(is_value)) else {
        return Ok(Dialect { delimiter, header: false, roles: vec![], features: 0, notes: vec![] });
    };
    let width = width(first, body, first.iter().all(is_text));
    let starts_with_text = |row: &Vec<Vec<u8>>| row.first().is_some_and(is_text);
    // A header as R writes it; where all are numbers the line is just short.
    let words =
        first.iter().any(is_text) || body.iter().all(starts_with_text) || options.header == Some(true);
    let short = first.len() + 1 == width && words;
    let named = short || body.iter().any(starts_with_text) || (body.is_empty() && starts_with_text(first));
    // Columns of words: where the first line has a word too, it need not be a header.
    let wordy =
        |column: usize| !body.is_empty() && body.iter().all(|row| row.get(column).is_some_and(is_text));
    let header = options.header.unwrap_or_else(|| {
        let skip = usize::from(named && !short);
        short
            || first.iter().enumerate().skip(skip).any(|(i, field)| is_text(field) && !wordy(i))
            || (skip == 0 && first.iter().all(is_text))
    });
    // pandas writes its index without a name.
    let names = named || (header && first.first().is_some_and(Vec::is_empty) && width > 1);
    let mut titles: Vec<String> = vec![String::new(); width];
    if header {
        let given = first.iter().map(|field| String::from_utf8_lossy(field).into_owned());
        titles.splice(usize::from(short).min(width).., given);
        titles.resize(width, String::new());
    }
    let body = if header { body } else { &rows[..] };
    let wordy =
        |column: usize| !body.is_empty() && body.iter().all(|row| row.get(column).is_some_and(is_text));
    let column = |at: usize| body.iter().map(move |row| row.get(at).map_or(&b""[..], |field| &field[..]));
    assign(&titles, names, column, wordy, &options.columns).map(|(roles, notes)| {
        let features = roles.iter().filter(|role| **role == Role::Feature).count();
        Dialect { delimiter, header, roles, features, notes }
    })
}

/// What every column is, and what should be said about it.
pub(super) fn assign<'s, I: Iterator<Item = &'s [u8]>>(
    titles: &[String],
    names: bool,
    column: impl Fn(usize) -> I,
    wordy: impl Fn(usize) -> bool,
    wanted: &Columns,
) -> Result<(Vec<Role>, Vec<String>)> {
    let mut roles = vec![Role::Feature; titles.len()];
    let mut notes = vec![];
    if names {
        roles[0] = Role::Name;
    }
    let called = |at: usize| match titles[at].as_str() {
        "" => format!("{}", at + 1),
        title => format!("{title:?}"),
    };
    for name in &wanted.drop {
        roles[find(titles, name, "drop")?] = Role::Dropped;
    }
    if let Some(name) = &wanted.truth {
        roles[find(titles, name, "truth-column")?] = Role::Class;
    }
    if let Some(name) = wanted.id.as_ref().filter(|name| *name != "none") {
        let at = find(titles, name, "id")?;
        roles.iter_mut().filter(|role| **role == Role::Name).for_each(|role| *role = Role::Dropped);
        roles[at] = Role::Name;
    }
    // A column of numbers that only tell the rows apart would outweigh all others.
    if wanted.id.is_none() && !names {
        let is_id = |at: &usize| {
            roles[*at] == Role::Feature && is_name_of_id(&titles[*at]) && tells_apart(column(*at))
        };
        if let Some(at) = (0..roles.len()).find(is_id) {
            roles[at] = Role::Name;
            notes.push(format!(
                "column {} numbers the rows: it names the points and is no feature (--id none keeps it)",
                called(at)
            ));
        }
        if roles[0] == Role::Feature && counts(column(0)) {
            notes.push(format!(
                "column {} counts the rows: if it is no feature, leave it out with --id 1 or --drop 1",
                called(0)
            ));
        }
    }
    let words: Vec<usize> = (0..roles.len()).filter(|&at| roles[at] == Role::Feature && wordy(at)).collect();
    match words[..] {
        [at] if !roles.contains(&Role::Class) && roles.len() > 1 => {
            roles[at] = Role::Class;
            notes.push(format!(
                "column {} holds words: they are taken for the classes of the points",
                called(at)
            ));
        }
        [first, ..] => {
            let list: Vec<String> = words.iter().map(|&at| called(at)).collect();
            return Err(Error::Data(format!(
                "columns {} hold words: say what they are with --truth-column, --id or --text, or leave them out \
                 with --drop {}",
                list.join(", "),
                called(first)
            )));
        }
        [] => {}
    }
    Ok((roles, notes))
}

/// How many fields most of the first lines have, so that an error names the line that differs; of equally many lines,
/// those like the first are right. A line of nothing but words is a header, which may lack a field.
fn width(first: &[Vec<u8>], body: &[Vec<Vec<u8>>], words: bool) -> usize {
    let mut widths: Vec<usize> = body.iter().map(Vec::len).collect();
    if !words || widths.is_empty() {
        widths.insert(0, first.len());
    }
    let lines = |width: usize| widths.iter().filter(|w| **w == width).count();
    // Reversed, because the last of several maxima is taken.
    widths.iter().rev().copied().max_by_key(|&w| (lines(w), w == first.len())).unwrap_or(0)
}

/// The fields of a line, quotes removed.
pub(super) fn split(line: &[u8], delimiter: u8) -> Vec<Vec<u8>> {
    let mut fields = Vec::new();
    let mut rest = line.trim_ascii_end();
    if delimiter == b'\t' {
        rest = line.strip_suffix(b"\r").unwrap_or(line);
    }
    loop {
        rest = skip_blanks(rest, delimiter);
        if rest.is_empty() && delimiter == b' ' {
            return fields;
        }
        let (field, after) = field(rest, delimiter);
        fields.push(field);
        match after {
            Some(after) => rest = after,
            None => return fields,
        }
    }
}

pub(super) fn skip_blanks(text: &[u8], delimiter: u8) -> &[u8] {
    let blank = |b: &u8| *b == b' ' || (*b == b'\t' && delimiter != b'\t');
    &text[text.iter().position(|b| !blank(b)).unwrap_or(text.len())..]
}

pub(super) fn is_delimiter(byte: u8, delimiter: u8) -> bool {
    byte == delimiter || (delimiter == b' ' && byte == b'\t')
}

/// One field without its quotes, and what follows its delimiter, if there is one.
pub(super) fn field(text: &[u8], delimiter: u8) -> (Vec<u8>, Option<&[u8]>) {
    let mut content = Vec::new();
    let mut at = 0;
    if text.first() == Some(&b'"') {
        at = 1;
        while at < text.len() {
            if text[at] == b'"' {
                at += 1;
                // Twice stands for itself.
                if text.get(at) != Some(&b'"') {
                    break;
                }
            }
            content.push(text[at]);
            at += 1;
        }
    }
    let end = text[at..].iter().position(|&b| is_delimiter(b, delimiter)).map_or(text.len(), |end| at + end);
    content.extend_from_slice(text[at..end].trim_ascii_end());
    (content, text.get(end + 1..).filter(|_| end < text.len()))
}

/// A field's value if it is one; an absent one is NaN.
pub(super) fn value(field: &[u8]) -> Option<f64> {
    let field = field.trim_ascii();
    if field.is_empty() || [&b"NA"[..], b"N/A", b"null", b"NULL", b"?"].contains(&field) {
        return Some(f64::NAN);
    }
    let mut cursor = Cursor::new(field);
    if let Some(number) = cursor.number().filter(|_| cursor.done()) {
        return Some(number);
    }
    let mut point = field.to_vec();
    *point.iter_mut().find(|b| **b == b',')? = b'.';
    fast_float2::parse(&point).ok()
}

pub(super) fn is_number(field: &[u8]) -> bool {
    value(field).is_some()
}
