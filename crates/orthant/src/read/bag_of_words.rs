//! UCI bag of words: three lines with the numbers of documents, words and entries, then lines
//! `document word count`, counted from 1; the words are in vocab.NAME.txt beside docword.NAME.txt.

use super::convert::{Entries, Take};
use super::cursor::{Cursor, Fault, quoted};
use super::source::Source;
use super::text::{Position, Text, count_lines, find_line};
use super::triples::{Bands, Triples, assemble, plausible, room};
use super::{Loaded, Options, Precision, lists};
use crate::error::{Error, Place, Result};

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

/// The numbers of documents, words and entries, and the text behind them.
struct Begun<'a> {
    text: Text<'a>,
    sizes: [u64; 3],
}

fn begin<'a>(source: &'a Source) -> Result<Begun<'a>> {
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
    Ok(Begun { text, sizes })
}

fn check_count(source: &Source, lines: u64, found: u64, entries: u64) -> Result<()> {
    match found == entries {
        true => Ok(()),
        false => Err(source
            .fault(Place::Line(lines), format!("entries promised in line 3: {entries}, found: {found}"))),
    }
}

fn given_twice(source: &Source, document: u64, word: u64) -> Error {
    let mut seen = false;
    let place = find_line(source, 3, |line| {
        let mut cursor = Cursor::new(line);
        cursor.skip_blanks();
        let first = cursor.unsigned();
        cursor.skip_blanks();
        let hit = (first, cursor.unsigned()) == (Some(document), Some(word));
        hit && std::mem::replace(&mut seen, true)
    });
    let problem = format!(
        "word {word} of document {document} is given for the second time: sum or drop one of the two"
    );
    match place {
        Ok(place) => source.fault(place, problem),
        Err(error) => error,
    }
}

pub(super) fn read(source: &Source, options: &Options) -> Result<Loaded> {
    let Begun { text, sizes: [documents, words, entries] } = begin(source)?;
    source.check_room(room(documents, entries), options)?;
    let bands = Bands::new(documents as usize);
    let (pieces, lines) = text.parse(|piece| {
        let entries = parse_entries(piece, documents, words)?;
        Ok((entries.len() as u64, entries.into_bands(bands)))
    })?;
    check_count(source, lines, pieces.iter().map(|(count, _)| count).sum(), entries)?;
    let pieces: Vec<Triples> = pieces.into_iter().map(|(_, piece)| piece).collect();
    let precision = options.precision.unwrap_or(Precision::F64);
    let matrix = assemble(documents as usize, words as usize, &pieces, precision)
        .map_err(|twice| given_twice(source, twice.row as u64 + 1, twice.column as u64 + 1))?;
    Ok(Loaded { vocabulary: vocabulary(source, words as usize)?, ..Loaded::new(matrix, NAME) })
}

/// The words, where they lie beside the file.
pub(super) fn vocabulary(source: &Source, words: usize) -> Result<Option<Vec<String>>> {
    let path = vocabulary_name(source.name()).and_then(|name| source.beside(&name));
    path.map(|path| lists::counted(&path, words, "words")).transpose()
}

/// The entries of the file, piece by piece.
pub(super) struct Pouring<'a> {
    source: &'a Source<'a>,
    begun: Begun<'a>,
}

pub(super) fn pour<'a>(source: &'a Source) -> Result<Pouring<'a>> {
    Ok(Pouring { source, begun: begin(source)? })
}

impl<'a> Entries<'a> for Pouring<'a> {
    fn shape(&self) -> (usize, usize) {
        (self.begun.sizes[0] as usize, self.begun.sizes[1] as usize)
    }

    fn pour(self: Box<Self>, from: Position, given: u64, take: &mut Take) -> Result<()> {
        let Begun { mut text, sizes: [documents, words, entries] } = self.begun;
        text.skip_to(from)?;
        let mut found = given;
        let lines = text.parse_each(
            |piece| parse_entries(piece, documents, words),
            |triples, at| {
                found += triples.len() as u64;
                take(&triples.plain(), triples.len() as u64, at)
            },
        )?;
        check_count(self.source, lines, found, entries)
    }

    fn twice(&self) -> Box<dyn Fn(usize, usize) -> Error + 'a> {
        let source = self.source;
        Box::new(move |document, word| given_twice(source, document as u64 + 1, word as u64 + 1))
    }
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
