//! Texts: a folder of them (plain, Markdown, HTML), one a line, or a column of a table. A text is a point; how
//! texts become counts of words is said by [`crate::texts`].

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::columns::find;
use super::cursor::quoted;
use super::dialect::{delimiter, sample};
use super::source::{Source, bare_name, strip_ending};
use super::text::{Text, head_lines};
use super::{Loaded, Options};
use crate::called::Called;
use crate::error::{Error, Place, Result};

/// The names in the table of formats.
pub(super) const NAME: &str = "texts";
pub(super) const LINES: &str = "lines";
pub(super) const JSON_LINES: &str = "jsonl";
/// Letters kept of every text, for those who want to see what it is about.
const EXCERPT: usize = 300;
/// With more texts than this nothing is kept of them.
const KEPT: usize = 200_000;
/// Files of a folder that are texts.
const ENDINGS: [&str; 6] = [".txt", ".text", ".md", ".markdown", ".html", ".htm"];
/// Words that a text has at least, on average, where texts are looked for.
const SENTENCE: usize = 5;
const TAGGED: [&str; 2] = [".html", ".htm"];

/// Texts with what is known of them.
#[derive(Debug, Default)]
struct Documents {
    texts: Vec<String>,
    names: Option<Vec<String>>,
    truth: Option<Vec<String>>,
    notes: Vec<String>,
}

impl Documents {
    fn counted(self, options: &Options, format: &'static str) -> Result<Loaded> {
        let (matrix, vocabulary) = match &options.vocabulary {
            Some(known) => (known.count(&self.texts)?, known.clone()),
            None => options.texts.count(&self.texts)?,
        };
        let mut notes = self.notes;
        notes.push(format!("{} texts: {}", self.texts.len(), vocabulary.in_words()));
        Ok(Loaded {
            vocabulary: Some(vocabulary.words.clone()),
            texts: Some(vocabulary),
            called: Some(Called::TEXTS),
            names: self.names,
            excerpts: (self.texts.len() <= KEPT)
                .then(|| self.texts.iter().map(|text| beginning(text)).collect()),
            truth: self.truth,
            notes,
            ..Loaded::new(matrix, format)
        })
    }
}

/// The first words of a text, however its lines are broken.
fn beginning(text: &str) -> String {
    let mut told = String::new();
    let (mut letters, mut words) = (0, text.split_whitespace());
    for word in words.by_ref() {
        letters += word.chars().count() + 1;
        if letters > EXCERPT && !told.is_empty() {
            return told + " …";
        }
        if !told.is_empty() {
            told.push(' ');
        }
        told.extend(word.chars().take(EXCERPT));
    }
    told
}

fn is_text(name: &str) -> bool {
    ENDINGS.iter().any(|ending| strip_ending(name, ending).is_some())
}

/// Whether a folder holds texts, itself or in the folders in it.
pub(super) fn recognise_folder(folder: &Path) -> bool {
    files_of(folder).is_ok_and(|files| !files.is_empty())
}

/// All texts of a folder in the order of their names; those in folders of their own have them as classes.
fn files_of(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| Error::Io { path, source }
    };
    let mut files = Vec::new();
    let mut look = |folder: &Path, class: Option<&str>| -> Result<Vec<(String, PathBuf)>> {
        let mut folders = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(failed(folder))? {
            let path = entry.map_err(failed(folder))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with('.') {
                continue;
            }
            if path.is_dir() {
                folders.push((name, path));
            } else if is_text(bare_name(&path)) && path.is_file() {
                files.push((class.map_or(name.clone(), |class| format!("{class}/{name}")), path));
            }
        }
        Ok(folders)
    };
    for (name, path) in look(folder, None)? {
        look(&path, Some(&name))?;
    }
    files.sort();
    Ok(files)
}

/// A folder of texts.
pub(super) fn read_folder(folder: &Path, options: &Options) -> Result<Loaded> {
    let files = files_of(folder)?;
    let texts: Vec<Result<String>> = files
        .par_iter()
        .map(|(name, path)| {
            let source = Source::open(path)?;
            let text = decoded(&source.whole()?);
            let tagged = TAGGED.iter().any(|ending| strip_ending(name, ending).is_some());
            Ok(if tagged { without_tags(&text) } else { text })
        })
        .collect();
    let texts = texts.into_iter().collect::<Result<Vec<String>>>()?;
    let names: Vec<String> = files.into_iter().map(|(name, _)| name).collect();
    let classes: Option<Vec<String>> =
        names.iter().map(|name| name.split_once('/').map(|(class, _)| class.to_owned())).collect();
    let several = |classes: &Vec<String>| classes.iter().any(|class| *class != classes[0]);
    let truth = classes.filter(several);
    let mut notes = vec![];
    if truth.is_some() {
        notes.push("the folders in it are taken for the classes of the texts".into());
    }
    let documents = Documents { texts, names: Some(names), truth, notes };
    documents.counted(options, NAME).map_err(|error| of_file(error, folder))
}

/// A single text says nothing about clusters; in memory it stands for a folder of one.
pub(super) fn read(source: &Source, options: &Options) -> Result<Loaded> {
    if source.is_on_disk() {
        let problem = "is one text: name the folder that holds them all, or --format lines for a text a line";
        return Err(source.fault(Place::Whole, problem));
    }
    let text = without_tags(&decoded(&source.whole()?));
    Documents { texts: vec![text], ..Documents::default() }
        .counted(options, NAME)
        .map_err(|error| of_file(error, source.path()))
}

/// Complaints about what the texts are like name the file.
fn of_file(error: Error, path: &Path) -> Error {
    match error {
        Error::Data(problem) => Error::File { path: path.into(), place: Place::Whole, problem },
        other => other,
    }
}

/// UTF-8, or Latin-1, which old texts are in.
fn decoded(bytes: &[u8]) -> String {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|&byte| byte as char).collect(),
    }
}

/// What a reader of the page would see: no tags, scripts, styles or comments; the commonest entities resolved.
fn without_tags(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        seen.push_str(&rest[..open]);
        rest = &rest[open..];
        let name: String = rest[1..].chars().take_while(char::is_ascii_alphanumeric).collect();
        let hidden = ["script", "style"].iter().find(|tag| name.eq_ignore_ascii_case(tag));
        let end = match hidden {
            _ if rest.starts_with("<!--") => rest.find("-->").map(|end| end + 3),
            Some(tag) => {
                let closing = format!("</{tag}");
                let at = rest
                    .as_bytes()
                    .windows(closing.len())
                    .position(|w| w.eq_ignore_ascii_case(closing.as_bytes()));
                at.and_then(|at| Some(at + rest.get(at..)?.find('>')? + 1))
            }
            // A lone sign is no tag.
            None if !rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c)) => {
                seen.push('<');
                Some(1)
            }
            None => rest.find('>').map(|end| end + 1),
        };
        // Tags part words.
        seen.push(' ');
        rest = end.map_or("", |end| &rest[end..]);
    }
    seen.push_str(rest);
    let entities = [
        ("&nbsp;", " "),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&apos;", "'"),
        ("&amp;", "&"),
    ];
    entities.iter().fold(seen, |text, (entity, letter)| text.replace(entity, letter))
}

/// Lines of words, hardly any number among them.
pub(super) fn recognise_lines(head: &[u8], path: &Path) -> bool {
    let name = bare_name(path);
    let called = name.contains('.') && !is_text(name);
    let lines: Vec<&[u8]> =
        head_lines(head).into_iter().filter(|line| !line.trim_ascii().is_empty()).take(50).collect();
    let is_word = |word: &&str| word.chars().filter(|c| c.is_alphabetic()).count() > 1;
    let mut words = 0;
    let mut others = 0;
    for line in &lines {
        let Ok(line) = std::str::from_utf8(line) else { return false };
        let found = line.split_whitespace().filter(is_word).count();
        words += found;
        others += line.split_whitespace().count() - found;
    }
    !called && lines.len() > 1 && words >= 4 * lines.len() && words > 2 * others && !head.contains(&0)
}

/// One text a line; blank lines are no texts.
pub(super) fn read_lines(source: &Source, options: &Options) -> Result<Loaded> {
    let mut text = Text::new(source)?;
    let mut documents = Documents::default();
    while let Some(line) = text.next_line()? {
        if !line.trim_ascii().is_empty() {
            documents.texts.push(decoded(line));
        }
    }
    documents.notes.push("read as one text a line".into());
    documents.counted(options, LINES).map_err(|error| of_file(error, source.path()))
}

/// An object in the first line, or a list that begins with one.
pub(super) fn recognise_json(head: &[u8], _path: &Path) -> bool {
    let first = head_lines(head).first().copied().unwrap_or_default().trim_ascii();
    is_list(head)
        || (first.starts_with(b"{")
            && serde_json::from_slice::<serde_json::Map<_, serde_json::Value>>(first).is_ok())
}

fn is_list(head: &[u8]) -> bool {
    head.trim_ascii_start().strip_prefix(b"[").is_some_and(|rest| rest.trim_ascii_start().starts_with(b"{"))
}

type Object = serde_json::Map<String, serde_json::Value>;

/// The objects of a file with their places: one a line, or all of them in a list.
fn objects(source: &Source) -> Result<Vec<(Place, Object)>> {
    if is_list(&source.head()?) {
        let broken =
            |error| source.fault(Place::Whole, format!("the list of JSON objects cannot be read: {error}"));
        let list: Vec<Object> = serde_json::from_slice(&source.whole()?).map_err(broken)?;
        return Ok(list.into_iter().map(|object| (Place::Whole, object)).collect());
    }
    let mut text = Text::new(source)?;
    let mut rows: Vec<(Place, Object)> = Vec::new();
    while let Some(line) = text.next_line()? {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let parsed = serde_json::from_slice(line);
        let place = Place::Line(text.lines());
        let expected = "a JSON object is expected in every line";
        rows.push((place, parsed.map_err(|_| source.fault(place, expected))?));
    }
    Ok(rows)
}

/// JSON objects, one of whose fields is the text.
pub(super) fn read_json(source: &Source, options: &Options) -> Result<Loaded> {
    let rows = objects(source)?;
    let Some((_, first)) = rows.first() else {
        return Err(source.fault(Place::Whole, "the file holds no JSON object"));
    };
    if rows.len() == 1 && first.values().all(|value| value.is_object() || value.is_array()) {
        let problem = "holds columns instead of rows: in pandas write it with orient='records', lines=True";
        return Err(source.fault(Place::Whole, problem));
    }
    let titles: Vec<String> = first.keys().cloned().collect();
    let words = |title: &String| {
        let word =
            |value: &serde_json::Value| value.as_str().map_or(0, |text| text.split_whitespace().count());
        rows.iter().map(|(_, row)| row.get(title).map_or(0, word)).sum::<usize>()
    };
    let column = column_of_texts(&titles, &titles.iter().map(words).collect::<Vec<_>>(), rows.len(), options)
        .map_err(|error| of_file(error, source.path()))?;
    let (names, truth) =
        (given(&titles, &options.columns.id, "id")?, given(&titles, &options.columns.truth, "truth-column")?);
    let list = |column: usize, may_lack: bool| {
        let field = |&(place, ref row): &(Place, Object)| match row.get(&titles[column]) {
            Some(serde_json::Value::String(text)) => Ok(text.clone()),
            Some(value @ (serde_json::Value::Number(_) | serde_json::Value::Bool(_))) => {
                Ok(value.to_string())
            }
            Some(serde_json::Value::Null) | None if may_lack => Ok(String::new()),
            _ => {
                let problem = format!("{:?} is missing or no text", titles[column]);
                Err(source.fault(place, problem))
            }
        };
        rows.iter().map(field).collect::<Result<Vec<String>>>()
    };
    let documents = Documents {
        texts: list(column, true)?,
        names: names.map(|column| list(column, false)).transpose()?,
        truth: truth.map(|column| list(column, false)).transpose()?,
        notes: vec![format!("the texts are in {:?}", titles[column])],
    };
    documents.counted(options, JSON_LINES).map_err(|error| of_file(error, source.path()))
}

/// Texts in a column of a table; fields in quotes may go over several lines.
pub(super) fn read_table(source: &Source, text: &str, options: &Options) -> Result<Loaded> {
    let head = source.head()?;
    let (titles, rows) = records(source, delimiter(&sample(&head)))?;
    let list = |at: usize| Ok(rows.iter().map(|(_, row)| row[at].clone()).collect());
    of_columns(source, super::csv::NAME, &titles, text, list, options)
}

/// The only column with sentences in it, by the first rows of all.
#[cfg(feature = "parquet")]
pub(super) fn among(
    source: &Source,
    titles: &[String],
    sample: &[Vec<Vec<u8>>],
    options: &Options,
) -> Result<usize> {
    let words = |column: &Vec<Vec<u8>>| -> usize {
        column.iter().map(|text| decoded(text).split_whitespace().count()).sum()
    };
    let words: Vec<usize> = sample.iter().map(words).collect();
    let rows = sample.iter().map(Vec::len).max().unwrap_or(0);
    column_of_texts(titles, &words, rows, options).map_err(|error| of_file(error, source.path()))
}

/// Texts in the only column of a table with sentences in it, if there is such a column.
pub(super) fn read_sentences(source: &Source, options: &Options) -> Result<Option<Loaded>> {
    let head = source.head()?;
    let Ok((titles, rows)) = records(source, delimiter(&sample(&head))) else { return Ok(None) };
    let words = |at: usize| rows.iter().map(|(_, row)| row[at].split_whitespace().count()).sum::<usize>();
    let words: Vec<usize> = (0..titles.len()).map(words).collect();
    if rows.len() < 2 || !words.iter().any(|&words| words >= SENTENCE * rows.len()) {
        return Ok(None);
    }
    let column = column_of_texts(&titles, &words, rows.len(), options)
        .map_err(|error| of_file(error, source.path()))?;
    let list = |at: usize| Ok(rows.iter().map(|(_, row)| row[at].clone()).collect());
    of_columns(source, super::csv::NAME, &titles, &titles[column], list, options).map(Some)
}

/// Texts in the column that was named, with names and classes in others.
pub(super) fn of_columns(
    source: &Source,
    format: &'static str,
    titles: &[String],
    text: &str,
    list: impl Fn(usize) -> Result<Vec<String>>,
    options: &Options,
) -> Result<Loaded> {
    let column = find(titles, text, "text")?;
    let other = |name, parameter| given(titles, name, parameter)?.map(&list).transpose();
    let documents = Documents {
        texts: list(column)?,
        names: other(&options.columns.id, "id")?,
        truth: other(&options.columns.truth, "truth-column")?,
        notes: vec![format!("the texts are in column {:?}", titles[column])],
    };
    documents.counted(options, format).map_err(|error| of_file(error, source.path()))
}

/// Rows of a table with the lines where they begin.
type Rows = Vec<(u64, Vec<String>)>;

/// A table of any content with a header: its titles and rows.
pub(super) fn records(source: &Source, delimiter: u8) -> Result<(Vec<String>, Rows)> {
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(source.reader()?);
    let broken = |error: csv::Error| match error.into_kind() {
        csv::ErrorKind::Io(error) => source.failed(error),
        _ => source.fault(Place::Whole, "the table cannot be read"),
    };
    let fields =
        |record: &csv::ByteRecord| record.iter().map(|field| decoded(field).trim().to_owned()).collect();
    let titles: Vec<String> = fields(reader.byte_headers().map_err(broken)?);
    let mut rows: Rows = Vec::new();
    for record in reader.byte_records() {
        let record = record.map_err(broken)?;
        let line = record.position().map_or(0, csv::Position::line);
        if record.len() != titles.len() {
            let problem = format!(
                "the row has a different number of fields ({}) than the header ({})",
                record.len(),
                titles.len()
            );
            return Err(source.fault(Place::Line(line), problem));
        }
        rows.push((line, fields(&record)));
    }
    Ok((titles, rows))
}

fn given(titles: &[String], name: &Option<String>, parameter: &str) -> Result<Option<usize>> {
    let name = name.as_ref().filter(|name| *name != "none");
    name.map(|name| find(titles, name, parameter)).transpose()
}

/// The column that was named, else the only one with sentences in it.
fn column_of_texts(titles: &[String], words: &[usize], rows: usize, options: &Options) -> Result<usize> {
    if let Some(name) = &options.columns.text {
        return find(titles, name, "text");
    }
    let taken: Vec<&String> = [&options.columns.id, &options.columns.truth].into_iter().flatten().collect();
    let long: Vec<usize> = (0..titles.len())
        .filter(|&at| words[at] >= SENTENCE * rows.max(1) && !taken.contains(&&titles[at]))
        .collect();
    match long[..] {
        [one] => Ok(one),
        _ => {
            let titles: Vec<String> = titles.iter().take(12).map(|title| quoted(title.as_bytes())).collect();
            Err(Error::Data(format!("say which column holds the texts with --text: {}", titles.join(", "))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_become_what_a_reader_sees() {
        let page = "<html><head><title>A page</title><style>p { color: red }</style><SCRIPT>var x = '<p>';</SCRIPT></head>\
                    <body><!-- hidden <b> --><p>Tom &amp; Jerry, 3 < 4</p>wine<br/>bread &lt;good&gt;</body></html>";
        let words: Vec<String> = without_tags(page).split_whitespace().map(str::to_owned).collect();
        assert_eq!(words.join(" "), "A page Tom & Jerry, 3 < 4 wine bread <good>");
        for broken in ["<", "<p", "<script>", "<!--", "a <script>é</scrip", "</"] {
            without_tags(broken);
        }
    }

    #[test]
    fn the_beginning_of_a_text_ends_after_a_word() {
        assert_eq!(beginning("  two\n words\t"), "two words");
        assert_eq!(beginning(""), "");
        let long = beginning(&"word ".repeat(1000));
        assert!(long.ends_with("word …") && long.chars().count() <= EXCERPT + 2, "{long}");
        assert_eq!(beginning(&"é".repeat(1000)).chars().count(), EXCERPT);
    }

    #[test]
    fn old_texts_are_latin() {
        assert_eq!(decoded(b"M\xfcller"), "Müller");
        assert_eq!(decoded("\u{feff}Müller".as_bytes()), "Müller");
    }
}
