//! Any file → a block folder, within a budget of memory. What can be read where it lies is copied window by window; text
//! is parsed a few pieces at a time; entries in any order are sorted through disk, and rows become columns through disk.
//!
//! A run that was killed is gone on with by the same command: blocks that are complete stay, and so do sorted runs.

mod sort;
mod turn;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

pub(crate) use sort::Entry;
use sort::{Rows as Rowed, Sorter, entries_of};
use turn::Turner;

use super::blocks::{With, Writer};
use super::in_place::{InPlace, open_in_place};
use super::rows::{Rows, assemble};
use super::source::Source;
use super::text::Position;
use super::triples::plausible;
use super::values::Number;
use super::{
    Options, Precision, bag_of_words, cluto, csv, matrix_market, named_format, read, recognise, sidecars,
    svmlight, tenx,
};
use crate::error::{Error, Place, Result};
use crate::matrix::{AnyPoints, Csr, Dense, Format, Matrix, Shape, seam};

/// Gets some entries, how many the file gave for them, and the place to go on from where there is one.
pub(crate) type Take<'t> = dyn FnMut(&[Entry], u64, Option<Position>) -> Result<()> + 't;

/// A text that gives entries in any order.
pub(crate) trait Entries<'a> {
    /// Rows and columns.
    fn shape(&self) -> (usize, usize);
    /// Hands all entries on, from a place up to which `given` entries were read before.
    fn pour(self: Box<Self>, from: Position, given: u64, take: &mut Take) -> Result<()>;
    /// The error for a place (row and column from 0) that is given twice.
    fn twice(&self) -> Box<dyn Fn(usize, usize) -> Error + 'a>;
}

/// A text that gives rows in order.
pub(crate) trait Pour {
    /// Whether only some entries of a row are given.
    fn sparse(&self) -> bool;
    fn features(&self) -> usize;
    fn vocabulary(&self) -> Option<Vec<String>> {
        None
    }
    fn notes(&self) -> Vec<String> {
        vec![]
    }
    /// Hands all rows on.
    fn pour(self: Box<Self>, take: &mut dyn FnMut(Poured) -> Result<()>) -> Result<()>;
}

/// Some rows, with the class and the name of each where the text has them.
pub(crate) struct Poured {
    pub rows: PouredRows,
    pub truth: Vec<String>,
    pub names: Vec<String>,
}

pub(crate) enum PouredRows {
    /// All values.
    Dense(Vec<f64>),
    /// Columns count from the second.
    Sparse(Rows, i32),
}

impl Poured {
    pub fn sparse(rows: Rows, base: i32) -> PouredRows {
        PouredRows::Sparse(rows, base)
    }
}

/// What is to be converted, and how.
pub struct Conversion<'a> {
    /// The file or folder to read.
    pub from: &'a Path,
    /// The block folder to write.
    pub to: &'a Path,
    /// How to read it.
    pub options: &'a Options,
    /// Rows become columns.
    pub turned: bool,
    /// Bytes that may be used.
    pub memory: usize,
    /// Whether a block folder that is there is replaced.
    pub force: bool,
}

/// Less would be spent on buffers alone.
const LEAST: usize = 16 << 20;
/// Pieces of a file that are shorter than this are not worth a read each.
const WORTH_A_READ: usize = 64 << 10;

/// Writes a block folder; `tell` is called now and then with how far it is. Gives the shape of what was written.
///
/// # Errors
/// Whatever is wrong with the file; a disk that is full; a budget that is too small. Nothing is left then.
pub fn convert(work: &Conversion, tell: &mut dyn FnMut(&str)) -> Result<Shape> {
    if work.memory < LEAST {
        let problem = format!("{} bytes are too few to convert anything: give at least 16M", work.memory);
        return Err(Error::parameter("memory", problem));
    }
    if work.to.canonicalize().is_ok_and(|to| work.from.canonicalize().is_ok_and(|from| from == to)) {
        return Err(Error::Data(format!(
            "{}: is both read and written: choose another name",
            work.to.display()
        )));
    }
    Converting { work, tell }.run()
}

struct Converting<'a, 't> {
    work: &'a Conversion<'a>,
    tell: &'t mut dyn FnMut(&str),
}

impl Converting<'_, '_> {
    fn run(mut self) -> Result<Shape> {
        let Conversion { from, options, turned, memory, .. } = *self.work;
        if let Some(found) = open_in_place(from, options, turned)? {
            let shape = found.source.shape();
            let together = memory / 3 / (shape.features * 8).max(1);
            let other = || open_in_place(from, options, !turned);
            return match found.contiguous || together * 4 >= WORTH_A_READ {
                true => self.copy(found),
                false => match other()?.filter(|other| other.contiguous) {
                    Some(other) => self.turn(other, found),
                    None => self.copy(found),
                },
            };
        }
        // Compressed columns of an .npz that is not compressed are its rows the other way round.
        if let Some(found) = open_in_place(from, options, !turned)? {
            return match found.source.shape().sparse {
                true => self.sort_source(found),
                false => self.turn_source(found),
            };
        }
        if from.is_dir() {
            return match tenx::recognise_folder(from) {
                true => {
                    let parts = tenx::parts(from)?;
                    let source = Source::open(&parts.matrix)?;
                    match matrix_market::pour(&source)? {
                        Some(entries) => {
                            let (genes, cells) = Entries::shape(&entries);
                            let (cells, genes) = parts.names(cells, genes)?;
                            // Points are cells: the columns of the file.
                            let names = Some(Listed::Here(cells));
                            let names = Names { names, vocabulary: Some(genes), ..Names::default() };
                            self.sort(Box::new(entries), !turned, if turned { names.turned() } else { names })
                        }
                        None => self.held(),
                    }
                }
                false => self.held(),
            };
        }
        let source = Source::open(from)?;
        let format = match named_format(options)? {
            Some(format) => format,
            None => recognise(&source)?,
        };
        let beside = Names { truth: sidecars::labels(from), ..Names::default() };
        match format.name {
            matrix_market::NAME => match matrix_market::pour(&source)? {
                Some(entries) => self.sort(Box::new(entries), turned, beside),
                None => self.held(),
            },
            bag_of_words::NAME => {
                let entries = bag_of_words::pour(&source)?;
                let vocabulary = bag_of_words::vocabulary(&source, Entries::shape(&entries).1)?;
                let names = Names { vocabulary, ..beside };
                self.sort(Box::new(entries), turned, if turned { names.turned() } else { names })
            }
            svmlight::NAME => self.pour(Box::new(svmlight::pour(&source)?), Names::default()),
            cluto::NAME => {
                let beside = cluto::lists(&source, beside.truth);
                self.pour(Box::new(cluto::pour(&source)?), beside)
            }
            csv::NAME | "tsv" => match csv::pour(&source, options)? {
                Some(rows) => self.pour(Box::new(rows), beside),
                None => self.held(),
            },
            _ => self.held(),
        }
    }

    fn writer(&self, sparse: bool, format: Format) -> Result<Writer> {
        let Conversion { from, to, options, turned, memory, force } = *self.work;
        // What says that it is the same work: the file as it is, and how it is read. (Not the memory: without a limit it is
        // what the system has at the moment. How large blocks are is compared by the writer.)
        let about = std::fs::metadata(from).map_err(|source| Error::Io { path: from.into(), source })?;
        let options =
            (&options.format, &options.variable, options.precision, options.header, &options.columns);
        let place = from.canonicalize().unwrap_or(from.into());
        let identity =
            format!("{} {} {:?} {options:?} {turned}", place.display(), about.len(), about.modified().ok());
        Writer::within(to, sparse, format, &identity, force, memory)
    }

    fn precision(&self) -> Format {
        match self.work.options.precision {
            Some(Precision::F32) => Format::F32,
            _ => Format::F64,
        }
    }

    /// Points that can be read where they lie.
    fn copy(&mut self, found: InPlace) -> Result<Shape> {
        let InPlace { source, beside, .. } = found;
        let shape = source.shape();
        let mut writer = self.writer(shape.sparse, shape.format)?;
        let mut lists = Lists::open(beside.truth.as_deref(), beside.names.as_deref(), shape.points)?;
        let each = (shape.nonzeros / shape.points.max(1)).max(1) * 12 + 8;
        let together = (self.work.memory / 4 / each).max(1);
        let first = writer.written();
        lists.skip(first)?;
        for from in (first..shape.points).step_by(together) {
            let rows = from..(from + together).min(shape.points);
            let points = source.points(rows.clone())?;
            let (truth, names) = lists.next(rows.len())?;
            writer.push(&points, truth.as_deref(), names.as_deref())?;
            source.take_back(points);
            (self.tell)(&format!("{} of {} points", rows.end, shape.points));
        }
        let with = With {
            weights: source.weights(),
            vocabulary: beside.vocabulary,
            image: beside.image,
            feature_image: beside.feature_image,
            wavelengths: beside.wavelengths,
            notes: beside.notes,
        };
        self.finish(writer, shape.features, &with, shape.format)
    }

    /// Dense points that would have to be picked together from all over the file: the other way round it is read in
    /// order, and turned.
    fn turn(&mut self, other: InPlace, found: InPlace) -> Result<Shape> {
        let beside = found.beside;
        let with = With {
            vocabulary: beside.vocabulary,
            image: beside.image,
            feature_image: beside.feature_image,
            wavelengths: beside.wavelengths,
            notes: beside.notes,
            weights: None,
        };
        match other.source.shape().format {
            Format::F32 => self.turn_dense::<f32>(&*other.source, &with),
            Format::F64 => self.turn_dense::<f64>(&*other.source, &with),
        }
    }

    fn turn_source(&mut self, other: InPlace) -> Result<Shape> {
        let mut with =
            With { image: other.beside.feature_image, feature_image: other.beside.image, ..With::default() };
        with.notes = other.beside.notes.clone();
        match other.source.shape().format {
            Format::F32 => self.turn_dense::<f32>(&*other.source, &with),
            Format::F64 => self.turn_dense::<f64>(&*other.source, &with),
        }
    }

    fn turn_dense<T: Number>(&mut self, source: &dyn seam::Source, with: &With) -> Result<Shape>
    where
        for<'x> AnyPoints<'x>: From<Dense<'x, T>>,
    {
        let shape = source.shape();
        let mut writer = self.writer(false, shape.format)?;
        let mut turner = Turner::<T>::new(&writer.scratch()?, shape.features, self.work.memory)?;
        let together = (self.work.memory / 8 / (shape.features * size_of::<T>()).max(1)).max(1);
        for from in (0..shape.points).step_by(together) {
            let rows = from..(from + together).min(shape.points);
            let points = source.points(rows.clone())?;
            turner.push(T::numbers(&points))?;
            source.take_back(points);
            (self.tell)(&format!("{} of {} rows turned", rows.end, shape.points));
        }
        let first = writer.written();
        turner.give(first, &mut |rows| {
            writer.push(&rows.into(), None, None)?;
            (self.tell)(&format!("{} of {} points", writer.written(), shape.features));
            Ok(())
        })?;
        self.finish(writer, shape.points, with, shape.format)
    }

    /// Sparse points the other way round.
    fn sort_source(&mut self, other: InPlace) -> Result<Shape> {
        let shape = other.source.shape();
        let with = With { notes: other.beside.notes.clone(), ..With::default() };
        let mut writer = self.writer(true, shape.format)?;
        let mut sorter = Sorter::open(&writer.scratch()?, self.work.memory)?;
        let each = (shape.nonzeros / shape.points.max(1)).max(1);
        let together = (self.work.memory / 16 / (each * 16)).max(1);
        let mut entries = vec![];
        // Rows take the place of lines.
        let first = sorter.position().lines as usize;
        for from in (first..if sorter.ended() { first } else { shape.points }).step_by(together) {
            let rows = from..(from + together).min(shape.points);
            let points = other.source.points(rows.clone())?;
            entries.clear();
            match &points {
                AnyPoints::SparseF32(x) => entries_of(x, from, true, &mut entries),
                AnyPoints::SparseF64(x) => entries_of(x, from, true, &mut entries),
                _ => unreachable!("files have 32-bit columns in memory"),
            }
            other.source.take_back(points);
            let at = Position { bytes: 1, lines: rows.end as u64 };
            sorter.push(&entries, entries.len() as u64, Some(at))?;
            (self.tell)(&format!("{} of {} rows sorted", rows.end, shape.points));
        }
        let twice =
            |row: usize, column: usize| Error::Data(format!("row {column}, column {row} is given twice"));
        self.write_sorted(&mut writer, sorter, (shape.features, shape.points), shape.format, &twice, None)?;
        self.finish(writer, shape.points, &with, shape.format)
    }

    /// Entries in any order.
    fn sort<'e>(&mut self, entries: Box<dyn Entries<'e> + 'e>, turned: bool, names: Names) -> Result<Shape> {
        let (rows, columns) = entries.shape();
        let (points, features) = if turned { (columns, rows) } else { (rows, columns) };
        let format = self.precision();
        let mut writer = self.writer(true, format)?;
        let mut sorter = Sorter::open(&writer.scratch()?, self.work.memory)?;
        let twice = entries.twice();
        let twice = |row: usize, column: usize| if turned { twice(column, row) } else { twice(row, column) };
        if !sorter.ended() {
            let (from, given) = (sorter.position(), sorter.given());
            let mut swapped = vec![];
            entries.pour(from, given, &mut |entries, given, at| {
                if turned {
                    swapped.clear();
                    swapped.extend(entries.iter().map(|e| Entry {
                        row: e.column,
                        column: e.row,
                        value: e.value,
                    }));
                    sorter.push(&swapped, given, at)?;
                } else {
                    sorter.push(entries, given, at)?;
                }
                if at.is_some() {
                    (self.tell)(&format!("{} entries read", sorter.given()));
                }
                Ok(())
            })?;
        }
        let vocabulary = names.vocabulary.clone();
        self.write_sorted(&mut writer, sorter, (points, features), format, &twice, Some(names))?;
        self.finish(writer, features, &With { vocabulary, ..With::default() }, format)
    }

    /// All rows of sorted entries.
    fn write_sorted(
        &mut self,
        writer: &mut Writer,
        sorter: Sorter,
        (points, features): (usize, usize),
        format: Format,
        twice: &dyn Fn(usize, usize) -> Error,
        names: Option<Names>,
    ) -> Result<()> {
        let mut lists = names.unwrap_or_default().open(points)?;
        match format {
            Format::F32 => self.write_rows::<f32>(writer, sorter, (points, features), twice, &mut lists),
            Format::F64 => self.write_rows::<f64>(writer, sorter, (points, features), twice, &mut lists),
        }
    }

    fn write_rows<T: Number>(
        &mut self,
        writer: &mut Writer,
        sorter: Sorter,
        (points, features): (usize, usize),
        twice: &dyn Fn(usize, usize) -> Error,
        lists: &mut Lists,
    ) -> Result<()>
    where
        for<'x> AnyPoints<'x>: From<Csr<'x, T, i32>>,
    {
        self.check_claims(points, features, sorter.given())?;
        let first = writer.written();
        lists.skip(first)?;
        let mut rows = Rowed::<T>::new(first, features);
        let tell = &mut self.tell;
        let push = &mut |rows: Csr<'_, T, i32>| -> Result<()> {
            let (truth, names) = lists.next(rows.points())?;
            writer.push(&rows.into(), truth.as_deref(), names.as_deref())?;
            tell(&format!("{} of {points} points", writer.written()));
            Ok(())
        };
        sorter.merged(first, self.work.memory, twice, &mut |entries| rows.add(entries, push))?;
        rows.up_to(points, push)?;
        rows.send(push)
    }

    /// Rows in order.
    fn pour(&mut self, rows: Box<dyn Pour + '_>, beside: Names) -> Result<Shape> {
        match self.precision() {
            Format::F32 => self.pour_as::<f32>(rows, beside),
            Format::F64 => self.pour_as::<f64>(rows, beside),
        }
    }

    fn pour_as<T: Number>(&mut self, rows: Box<dyn Pour + '_>, beside: Names) -> Result<Shape>
    where
        for<'x> AnyPoints<'x>: From<Dense<'x, T>>,
    {
        let (sparse, features, format) = (rows.sparse(), rows.features(), self.precision());
        let precision = if format == Format::F32 { Precision::F32 } else { Precision::F64 };
        let mut writer = self.writer(sparse, format)?;
        let mut with = With {
            vocabulary: rows.vocabulary().or(beside.vocabulary.clone()),
            notes: rows.notes(),
            ..With::default()
        };
        let turned = self.work.turned;
        let (mut sorter, mut turner) = (None, None);
        if turned && sparse {
            sorter = Some(Sorter::open(&writer.scratch()?, self.work.memory)?);
        } else if turned {
            turner = Some(Turner::<T>::new(&writer.scratch()?, features, self.work.memory)?);
        }
        // Blocks that are there already are parsed again, but not written.
        let skip = if turned { 0 } else { writer.written() };
        let (mut seen, mut kept) = (0, vec![]);
        let mut lists = beside.open(usize::MAX)?;
        let tell = &mut self.tell;
        let mut entries = vec![];
        rows.pour(&mut |Poured { rows, truth, names }| {
            let points: AnyPoints = match rows {
                PouredRows::Dense(values) => {
                    let numbers: Vec<T> = values.into_iter().map(T::from_f64).collect();
                    Dense::new(numbers.len() / features.max(1), features, numbers)?.into()
                }
                PouredRows::Sparse(rows, base) => match assemble(features, base, &[rows], precision) {
                    Matrix::SparseF32(x) => x.into(),
                    Matrix::SparseF64(x) => x.into(),
                    _ => unreachable!("sparse rows stay sparse"),
                },
            };
            let count = points.shape().points;
            let (listed_truth, listed_names) = lists.next(count)?;
            let truth = if truth.is_empty() { listed_truth } else { Some(truth) };
            let names = if names.is_empty() { listed_names } else { Some(names) };
            if let Some(turner) = &mut turner {
                turner.push(T::numbers(&points))?;
                kept.extend(names.unwrap_or_default());
            } else if let Some(sorter) = &mut sorter {
                entries.clear();
                match &points {
                    AnyPoints::SparseF32(x) => entries_of(x, seen, true, &mut entries),
                    AnyPoints::SparseF64(x) => entries_of(x, seen, true, &mut entries),
                    _ => unreachable!("sparse rows stay sparse"),
                }
                sorter.push(&entries, entries.len() as u64, None)?;
                kept.extend(names.unwrap_or_default());
            } else {
                let from = skip.saturating_sub(seen).min(count);
                let part = |list: Option<Vec<String>>| list.map(|list| list[from..].to_vec());
                if from < count {
                    let (truth, names) = (part(truth), part(names));
                    writer.push(&points.range(from..count), truth.as_deref(), names.as_deref())?;
                }
            }
            seen += count;
            tell(&format!("{seen} rows read"));
            Ok(())
        })?;
        if turned {
            // Names of the features are those of the new points, and the other way round.
            let names = with.vocabulary.take();
            with.vocabulary = (!kept.is_empty()).then_some(kept);
            let mut lists = Names { names: names.map(Listed::Here), ..Names::default() }.open(features)?;
            if let Some(turner) = turner {
                let first = writer.written();
                lists.skip(first)?;
                turner.give(first, &mut |rows| {
                    let (_, names) = lists.next(rows.points())?;
                    writer.push(&rows.into(), None, names.as_deref())
                })?;
            } else if let Some(sorter) = sorter {
                let twice = |row: usize, column: usize| {
                    Error::Data(format!("row {column}, column {row} (from 0) is given twice"))
                };
                match format {
                    Format::F32 => {
                        self.write_rows::<f32>(&mut writer, sorter, (features, seen), &twice, &mut lists)?
                    }
                    Format::F64 => {
                        self.write_rows::<f64>(&mut writer, sorter, (features, seen), &twice, &mut lists)?
                    }
                }
            }
            return self.finish(writer, seen, &with, format);
        }
        self.finish(writer, features, &with, format)
    }

    /// Puts the folder in its place.
    fn finish(&self, writer: Writer, features: usize, with: &With, format: Format) -> Result<Shape> {
        let (points, nonzeros, sparse) = (writer.written(), writer.nonzeros(), writer.is_sparse());
        if sparse {
            self.check_claims(points, features, nonzeros as u64)?;
        }
        writer.finish(Some(features), with)?;
        Ok(Shape { points, features, nonzeros, format, sparse })
    }

    /// As when a file is read into memory: a few entries do not fill a disk with empty rows.
    fn check_claims(&self, points: usize, features: usize, entries: u64) -> Result<()> {
        let lines = if self.work.turned { ["columns", "rows"] } else { ["rows", "columns"] };
        match [points, features].into_iter().zip(lines).find(|(count, _)| !plausible(*count as u64, entries))
        {
            None => Ok(()),
            Some((count, lines)) => {
                let problem =
                    format!("so many {lines} ({count}) for so few entries ({entries}) are hardly meant");
                Err(Error::File { path: self.work.from.into(), place: Place::Whole, problem })
            }
        }
    }

    /// Formats that are only read whole: they must fit the budget.
    fn held(&mut self) -> Result<Shape> {
        let Conversion { from, options, turned, memory, .. } = *self.work;
        let options = Options { memory: Some(memory as u64), ..options.clone() };
        let loaded = read(from, &options)?;
        let orientation = if turned {
            crate::orientation::Orientation::Columns
        } else {
            crate::orientation::Orientation::Rows
        };
        let loaded = loaded.with_points(orientation);
        let points = AnyPoints::from(&loaded.matrix);
        let shape = points.shape();
        let mut writer = self.writer(shape.sparse, shape.format)?;
        for from in (writer.written()..shape.points).step_by(4096) {
            let rows = from..(from + 4096).min(shape.points);
            let part = |list: &Option<Vec<String>>| list.as_ref().map(|list| list[rows.clone()].to_vec());
            let (truth, names) = (part(&loaded.truth), part(&loaded.names));
            writer.push(&points.range(rows), truth.as_deref(), names.as_deref())?;
        }
        let with = With {
            weights: None,
            vocabulary: loaded.vocabulary.clone(),
            image: loaded.image,
            feature_image: loaded.feature_image,
            wavelengths: loaded.wavelengths.clone(),
            notes: loaded.notes.clone(),
        };
        self.finish(writer, shape.features, &with, shape.format)
    }
}

/// A list with a line for each point: in a file, or here.
pub(crate) enum Listed {
    File(PathBuf),
    Here(Vec<String>),
}

/// What the points and features are called, and the points' classes.
#[derive(Default)]
pub(crate) struct Names {
    pub truth: Option<PathBuf>,
    pub names: Option<Listed>,
    pub vocabulary: Option<Vec<String>>,
}

impl Names {
    /// The same for columns as points.
    fn turned(self) -> Names {
        let vocabulary = match self.names {
            Some(Listed::Here(names)) => Some(names),
            _ => None,
        };
        Names { truth: None, names: self.vocabulary.map(Listed::Here), vocabulary }
    }

    fn open(&self, points: usize) -> Result<Lists> {
        let truth = self.truth.as_deref().map(Lines::open).transpose()?;
        let names = match &self.names {
            Some(Listed::File(path)) => Some(Lines::open(path)?),
            Some(Listed::Here(names)) => Some(Lines::Here(names.clone(), 0)),
            None => None,
        };
        let _ = points;
        Ok(Lists { truth, names })
    }
}

/// Lines of a list, some at a time.
enum Lines {
    File(PathBuf, BufReader<File>),
    Here(Vec<String>, usize),
}

impl Lines {
    fn open(path: &Path) -> Result<Lines> {
        let file = File::open(path).map_err(|source| Error::Io { path: path.into(), source })?;
        Ok(Lines::File(path.into(), BufReader::new(file)))
    }

    fn next(&mut self, count: usize) -> Result<Vec<String>> {
        match self {
            Lines::Here(list, at) => {
                let end = (*at + count).min(list.len());
                let part = list[*at..end].to_vec();
                *at = end;
                Ok(part)
            }
            Lines::File(path, reader) => {
                let mut list = Vec::with_capacity(count);
                for _ in 0..count {
                    let mut line = String::new();
                    let read = reader.read_line(&mut line);
                    if read.map_err(|source| Error::Io { path: path.clone(), source })? == 0 {
                        let problem = "has fewer lines than there are points: remove it, or mend it".into();
                        return Err(Error::File { path: path.clone(), place: Place::Whole, problem });
                    }
                    list.push(line.trim_end_matches(['\n', '\r']).to_string());
                }
                Ok(list)
            }
        }
    }
}

struct Lists {
    truth: Option<Lines>,
    names: Option<Lines>,
}

impl Lists {
    fn open(truth: Option<&Path>, names: Option<&Path>, points: usize) -> Result<Lists> {
        let names = names.map(|path| Listed::File(path.into()));
        Names { truth: truth.map(Path::to_path_buf), names, vocabulary: None }.open(points)
    }

    fn skip(&mut self, count: usize) -> Result<()> {
        let mut left = count;
        while left > 0 {
            let now = left.min(1 << 16);
            self.next(now)?;
            left -= now;
        }
        Ok(())
    }

    #[allow(clippy::type_complexity)]
    fn next(&mut self, count: usize) -> Result<(Option<Vec<String>>, Option<Vec<String>>)> {
        let truth = self.truth.as_mut().map(|lines| lines.next(count)).transpose()?;
        let names = self.names.as_mut().map(|lines| lines.next(count)).transpose()?;
        Ok((truth, names))
    }
}
