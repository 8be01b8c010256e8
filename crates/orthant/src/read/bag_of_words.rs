//! UCI bag of words: three lines with the numbers of documents, words and entries, then lines
//! `document word count`, counted from 1; the words are in vocab.NAME.txt beside docword.NAME.txt.

use super::cursor::{Cursor, Fault, quoted};
use super::source::Source;
use super::text::{Text, count_lines, find_line};
use super::triples::{Bands, Triples, assemble, plausible};
use super::{Loaded, Options, Precision, lists};
use crate::error::{Place, Result};

/// The name in the table of formats.
pub(super) const NAME: &str = "bag-of-words";

/// Three lines of one whole number each, then one of three.
pub(super) fn recognise(head: &[u8], _path: &std::path::Path) -> bool {
    let mut lines = head.split(|&b| b == b'\n');
    [1, 1, 1, 3].iter().all(|&count| {
        let words = lines.next().unwrap_or_default().split(|b| b.is_ascii_whitespace());
        let mut words = words.filter(|word| !word.is_empty()).peekable();
        words.peek().is_some()
            && words.try_fold(0, |n, word| word.iter().all(u8::is_ascii_digit).then_some(n + 1))
                == Some(count)
    })
}

pub(super) fn read(source: &Source, options: &Options) -> Result<Loaded> {
    let mut text = Text::new(source)?;
    let mut sizes = [0u64; 3];
    for (size, what) in sizes.iter_mut().zip(["documents", "words", "entries"]) {
        let line = text.next_line()?.unwrap_or_default();
        let mut cursor = Cursor::new(line);
        cursor.skip_blanks();
        let number = cursor.unsigned().filter(|_| cursor.end_of_line());
        let problem = format!("the number of {what} is expected, not {}", quoted(line));
        *size = number.ok_or_else(|| source.fault(Place::Line(text.lines().max(1)), problem))?;
    }
    let [documents, words, entries] = sizes;
    let refuse = |line, problem: String| Err(source.fault(Place::Line(line), problem));
    if words > i32::MAX as u64 {
        return refuse(2, format!("{words} words are more than the {} that fit", i32::MAX));
    }
    // The shortest line is "1 1 1".
    if source.plain_size().is_some_and(|size| entries > size / 6 + 1) {
        return refuse(
            3,
            format!("promises {entries} entries, more than the file can hold: it is truncated"),
        );
    }
    if !plausible(documents, entries) {
        return refuse(
            1,
            format!(
                "so many documents ({documents}) for so few entries ({entries}) are hardly meant: check the first lines"
            ),
        );
    }
    let bands = Bands::new(documents as usize);
    let (pieces, lines) = text.parse(|piece| {
        let entries = parse_entries(piece, documents, words)?;
        Ok((entries.len() as u64, entries.into_bands(bands)))
    })?;
    let found: u64 = pieces.iter().map(|(count, _)| count).sum();
    if found != entries {
        return refuse(lines, format!("entries promised in line 3: {entries}, found: {found}"));
    }
    let pieces: Vec<Triples> = pieces.into_iter().map(|(_, piece)| piece).collect();
    let precision = options.precision.unwrap_or(Precision::F64);
    let matrix = match assemble(documents as usize, words as usize, &pieces, precision) {
        Ok(matrix) => matrix,
        Err(twice) => {
            let (document, word) = (twice.row as u64 + 1, twice.column as u64 + 1);
            let mut seen = false;
            let place = find_line(source, 3, |line| {
                let mut cursor = Cursor::new(line);
                cursor.skip_blanks();
                let first = cursor.unsigned();
                cursor.skip_blanks();
                let hit = (first, cursor.unsigned()) == (Some(document), Some(word));
                hit && std::mem::replace(&mut seen, true)
            })?;
            let problem = format!(
                "word {word} of document {document} is given for the second time: sum or drop one of the two"
            );
            return Err(source.fault(place, problem));
        }
    };
    let mut loaded = Loaded::new(matrix, NAME);
    if let Some(path) = vocabulary_name(source.name()).and_then(|name| source.beside(&name)) {
        loaded.vocabulary = Some(lists::counted(&path, words as usize, "words")?);
    }
    Ok(loaded)
}

/// docword.kos.txt → vocab.kos.txt
fn vocabulary_name(name: &str) -> Option<String> {
    name.contains("docword").then(|| name.replacen("docword", "vocab", 1))
}

fn parse_entries(text: &[u8], documents: u64, words: u64) -> std::result::Result<Triples, Fault> {
    let mut entries = Triples::with_capacity(count_lines(text) as usize);
    let mut cursor = Cursor::new(text);
    while !cursor.done() {
        if cursor.end_of_line() {
            continue;
        }
        let document = cursor.index(documents, "document")?;
        cursor.skip_blanks();
        let word = cursor.index(words, "word")?;
        cursor.skip_blanks();
        match cursor.number() {
            Some(count) if cursor.at_break() => entries.push(document, word, count),
            _ => return Err(cursor.expected("a count")),
        }
        if !cursor.end_of_line() {
            return Err(cursor.expected("the end of the line"));
        }
    }
    Ok(entries)
}
