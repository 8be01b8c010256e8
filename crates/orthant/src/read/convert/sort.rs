//! Entries in any order → rows, with as much memory as is allowed and the rest on disk: runs of entries are sorted and
//! written, then read again side by side. What has been written is kept when the work is interrupted.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::super::text::Position;
use super::super::values::Number;
use crate::error::{Error, Result};
use crate::matrix::{Csr, Index};

/// An entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Entry {
    pub row: u32,
    pub column: u32,
    pub value: f64,
}

/// An entry as it lies in memory and in scratch files: its place, by which it is sorted, and the bits of its value.
type Packed = [u64; 2];

fn pack(entry: &Entry) -> Packed {
    [u64::from(entry.row) << 32 | u64::from(entry.column), entry.value.to_bits()]
}

fn unpack(&[place, value]: &Packed) -> Entry {
    Entry { row: (place >> 32) as u32, column: place as u32, value: f64::from_bits(value) }
}

fn place(entry: &Packed) -> u64 {
    entry[0]
}

const SIZE: usize = size_of::<Packed>();
/// Bytes of every run that are read at a time, at the least.
const LEAST: usize = 1 << 16;

/// A run that is complete, and how far the text had been read with it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Run {
    entries: usize,
    at: Position,
    given: u64,
}

/// Entries in the making.
pub(super) struct Sorter {
    folder: PathBuf,
    /// Entries in memory at most.
    most: usize,
    entries: Vec<Packed>,
    runs: Vec<Run>,
    journal: File,
    /// Entries of the file so far, explicit zeros included.
    given: u64,
    /// How far the text had been read when the entries in memory ended.
    next: Position,
    ended: bool,
}

const JOURNAL: &str = "runs";
const ENDED: &str = "sorted";

impl Sorter {
    /// In a scratch folder, which may hold what an interrupted run has sorted.
    pub fn open(folder: &Path, memory: usize) -> Result<Sorter> {
        let failed = |source| Error::Io { path: folder.into(), source };
        let known = fs::read_to_string(folder.join(JOURNAL)).unwrap_or_default();
        let known = known.lines().map_while(|line| serde_json::from_str::<Run>(line).ok());
        let whole = |(at, run): &(usize, Run)| {
            let about = folder.join(format!("run-{at}")).metadata();
            about.is_ok_and(|about| about.len() == (run.entries * SIZE) as u64)
        };
        let runs: Vec<Run> = known.enumerate().take_while(whole).map(|(_, run)| run).collect();
        let ended = folder.join(ENDED).is_file();
        let mut journal = File::create(folder.join(JOURNAL)).map_err(failed)?;
        for run in &runs {
            put(&mut journal, run).map_err(failed)?;
        }
        let most = (memory / 2 / SIZE).max(LEAST);
        let given = runs.last().map_or(0, |run| run.given);
        let next = Position::default();
        Ok(Sorter { folder: folder.into(), most, entries: vec![], runs, journal, given, next, ended })
    }

    /// Whether all entries are sorted already.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// How far the text has been read.
    pub fn position(&self) -> Position {
        self.runs.last().map_or(Position::default(), |run| run.at)
    }

    /// Entries of the file so far.
    pub fn given(&self) -> u64 {
        self.given
    }

    /// More entries, of which the file gave so many; then it had been read up to `at`.
    pub fn push(&mut self, entries: &[Entry], given: u64, at: Option<Position>) -> Result<()> {
        if self.entries.capacity() == 0 {
            // Entries come in batches, after which there is a place to go on from.
            self.entries.reserve_exact(self.most + self.most / 8);
        }
        // Explicit zeros are no entries, but a place that is given twice is wrong all the same.
        self.entries.extend(entries.iter().map(pack));
        self.given += given;
        self.next = at.unwrap_or(self.next);
        if self.entries.len() > self.most && (at.is_some() || self.entries.len() > self.most + self.most / 9)
        {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        if self.entries.is_empty() {
            return Ok(());
        }
        sort(&mut self.entries);
        let path = self.folder.join(format!("run-{}", self.runs.len()));
        let failed = |source| Error::Io { path: path.clone(), source };
        let mut file = File::create(&path).map_err(failed)?;
        file.write_all(bytemuck::cast_slice(&self.entries)).map_err(failed)?;
        let run = Run { entries: self.entries.len(), at: self.next, given: self.given };
        put(&mut self.journal, &run).map_err(failed)?;
        self.runs.push(run);
        self.entries.clear();
        Ok(())
    }

    /// Goes through all entries in order, in pieces; the error of a place that is given twice is up to `twice`.
    pub fn merged(
        mut self,
        first_row: usize,
        memory: usize,
        twice: &dyn Fn(usize, usize) -> Error,
        take: &mut dyn FnMut(&[Packed]) -> Result<()>,
    ) -> Result<()> {
        let mut last = None;
        let mut seen = |entries: &[Packed]| -> Result<()> {
            for entry in entries {
                if last == Some(place(entry)) {
                    let Entry { row, column, .. } = unpack(entry);
                    return Err(twice(row as usize, column as usize));
                }
                last = Some(place(entry));
            }
            Ok(())
        };
        if self.runs.is_empty() {
            sort(&mut self.entries);
            let from = self.entries.partition_point(|entry| (place(entry) >> 32) < first_row as u64);
            for piece in self.entries[from..].chunks(LEAST) {
                seen(piece)?;
                take(piece)?;
            }
            return Ok(());
        }
        self.flush()?;
        self.entries = vec![];
        let done = File::create(self.folder.join(ENDED));
        done.map_err(|source| Error::Io { path: self.folder.join(ENDED), source })?;
        let each = (memory / 6 / self.runs.len()).max(LEAST) / SIZE;
        let mut readers = vec![];
        for (number, run) in self.runs.iter().enumerate() {
            readers.push(Reader::open(
                self.folder.join(format!("run-{number}")),
                run.entries,
                first_row,
                each,
            )?);
        }
        let mut together: Vec<Packed> = vec![];
        loop {
            // All that is not behind the end of what is known of every run.
            let mut bound = u64::MAX;
            for reader in &mut readers {
                reader.fill()?;
                if reader.left > 0 {
                    bound = bound.min(reader.buffer.last().map_or(u64::MAX, place));
                }
            }
            together.clear();
            for reader in &mut readers {
                let own = reader.buffer[reader.at..].partition_point(|entry| place(entry) <= bound);
                together.extend_from_slice(&reader.buffer[reader.at..reader.at + own]);
                reader.at += own;
            }
            if together.is_empty() {
                return Ok(());
            }
            sort(&mut together);
            seen(&together)?;
            take(&together)?;
        }
    }
}

fn sort(entries: &mut [Packed]) {
    if !entries.is_sorted_by_key(place) {
        entries.par_sort_unstable_by_key(place);
    }
}

fn put(to: &mut File, run: &Run) -> io::Result<()> {
    let mut line = serde_json::to_string(run).expect("plain data");
    line.push('\n');
    to.write_all(line.as_bytes())
}

/// A sorted run, read piece by piece.
struct Reader {
    path: PathBuf,
    file: File,
    /// Entries that were not read yet.
    left: usize,
    buffer: Vec<Packed>,
    at: usize,
    each: usize,
}

impl Reader {
    fn open(path: PathBuf, entries: usize, first_row: usize, each: usize) -> Result<Reader> {
        let begun = || -> io::Result<(File, usize)> {
            use std::io::{Read, Seek, SeekFrom};
            let mut file = File::open(&path)?;
            // The first entry of a row that is still wanted, by halves.
            let (mut low, mut high) = (0, entries);
            while low < high {
                let middle = (low + high) / 2;
                let mut entry = [0; 2];
                file.seek(SeekFrom::Start((middle * SIZE) as u64))?;
                file.read_exact(bytemuck::bytes_of_mut(&mut entry))?;
                if (place(&entry) >> 32) < first_row as u64 { low = middle + 1 } else { high = middle }
            }
            file.seek(SeekFrom::Start((low * SIZE) as u64))?;
            Ok((file, low))
        };
        let (file, skipped) = begun().map_err(|source| Error::Io { path: path.clone(), source })?;
        Ok(Reader { path, file, left: entries - skipped, buffer: vec![], at: 0, each })
    }

    /// Reads on where everything was taken.
    fn fill(&mut self) -> Result<()> {
        if self.at < self.buffer.len() || self.left == 0 {
            return Ok(());
        }
        use std::io::Read;
        let count = self.each.min(self.left);
        self.buffer.resize(count, [0; 2]);
        let read = self.file.read_exact(bytemuck::cast_slice_mut(&mut self.buffer));
        read.map_err(|source| Error::Io { path: self.path.clone(), source })?;
        (self.at, self.left) = (0, self.left - count);
        Ok(())
    }
}

/// Entries in order → compressed rows, complete ones as soon as they are.
pub(super) struct Rows<T> {
    features: usize,
    /// The row that is being filled.
    row: usize,
    offsets: Vec<usize>,
    columns: Vec<i32>,
    values: Vec<T>,
}

impl<T: Number> Rows<T> {
    pub fn new(first: usize, features: usize) -> Self {
        Rows { features, row: first, offsets: vec![0], columns: vec![], values: vec![] }
    }

    /// More entries; `push` gets rows that are complete.
    pub fn add(
        &mut self,
        entries: &[Packed],
        push: &mut dyn FnMut(Csr<'_, T, i32>) -> Result<()>,
    ) -> Result<()> {
        for entry in entries.iter().map(unpack) {
            self.up_to(entry.row as usize, push)?;
            let value = T::from_f64(entry.value);
            if value != T::default() {
                self.columns.push(entry.column as i32);
                self.values.push(value);
            }
        }
        Ok(())
    }

    /// Ends all rows before this one.
    pub fn up_to(&mut self, row: usize, push: &mut dyn FnMut(Csr<'_, T, i32>) -> Result<()>) -> Result<()> {
        while self.row < row {
            self.offsets.push(self.values.len());
            self.row += 1;
            if self.offsets.len() + self.values.len() > LEAST {
                self.send(push)?;
            }
        }
        Ok(())
    }

    /// Gives what is complete.
    pub fn send(&mut self, push: &mut dyn FnMut(Csr<'_, T, i32>) -> Result<()>) -> Result<()> {
        push(Csr::new(self.features, &self.offsets[..], &self.columns[..], &self.values[..])?)?;
        self.offsets.truncate(1);
        self.columns.clear();
        self.values.clear();
        Ok(())
    }
}

/// The entries of rows, turned or not.
pub(super) fn entries_of<T: Number, I: Index>(
    x: &Csr<'_, T, I>,
    first: usize,
    turned: bool,
    to: &mut Vec<Entry>,
) {
    for j in 0..x.points() {
        let (columns, values) = x.point(j);
        for (column, &value) in columns.iter().zip(values) {
            let (row, column) = ((first + j) as u32, column.at() as u32);
            let (row, column) = if turned { (column, row) } else { (row, column) };
            to.push(Entry { row, column, value: value.into() });
        }
    }
}
