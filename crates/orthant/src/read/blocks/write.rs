//! Writes a block folder: points come a few at a time, blocks are put on disk as they fill, and the files get their place
//! when all of them are there.
//!
//! Until then they lie in a hidden folder inside their own, `.unfinished`, with a journal of the blocks that are complete.
//! A run that fails removes it; one that was killed leaves it, and the same work again goes on from there. At the end they
//! are moved by way of [`Stage`], as all files that belong together are: what was there before stands until they do.
//!
//! ```text
//! lock        held as long as the run lives
//! journal     what is being written, and the blocks that are complete
//! files/      the files of the new folder
//! scratch/    whatever else the work needs
//! ```

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::numpy::{put_header, write_list};
use super::super::output::{Stage, Traces, is_part, make_folders, settle};
use super::super::stored::checksum;
use super::super::values::Number;
use super::{Block, INDEX, Image, Index, KIND, Part, VERSION};
use crate::error::{Error, Place, Result};
use crate::image::ImageShape;
use crate::matrix::{AnyPoints, Csr, Dense, Format};

/// Bytes of a block, about: read and written in one go, small beside any budget.
const BLOCK: usize = 32 << 20;
/// The folder in the making, inside the one that is made.
pub(super) const UNFINISHED: &str = ".unfinished";
const JOURNAL: &str = "journal";
const FILES: &str = "files";
const SCRATCH: &str = "scratch";
const LOCK: &str = "lock";
const TRUTH: &str = "truth.txt";
const NAMES: &str = "names.txt";
const FEATURES: &str = "feature_names.txt";

/// What comes with the numbers, told at the end.
#[derive(Debug, Clone, Default)]
pub struct With {
    /// A weight for every point.
    pub weights: Option<Vec<f64>>,
    /// The name of every feature.
    pub vocabulary: Option<Vec<String>>,
    /// Points are the pixels of a picture of this shape.
    pub image: Option<ImageShape>,
    /// Every point is a picture of this shape.
    pub feature_image: Option<ImageShape>,
    /// The wavelength of every feature.
    pub wavelengths: Option<Vec<f64>>,
    /// What a reader should know, a line each.
    pub notes: Vec<String>,
}

/// A line of the journal: a block that is complete, and how long the lists were with it.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    block: Block,
    truth: u64,
    names: u64,
}

/// The first line of the journal.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Work {
    identity: String,
    sparse: bool,
    single: bool,
    bytes: usize,
}

/// A block folder in the making. Dropped without [`Writer::finish`], it leaves nothing.
pub struct Writer {
    place: PathBuf,
    unfinished: Unfinished,
    force: bool,
    sparse: bool,
    format: Format,
    /// Bytes at which a block is full.
    full: usize,
    features: Option<usize>,
    /// Whether classes or names were given with the points so far.
    lists: [Option<File>; 2],
    blocks: Vec<Block>,
    /// The block that is being filled: how many points, and its arrays as bytes.
    points: usize,
    data: Vec<u8>,
    indices: Vec<u8>,
    indptr: Vec<u8>,
    journal: File,
}

impl Writer {
    /// Begins a folder for points of a kind. `identity` says what is being written, in words: what an interrupted run
    /// with the same identity has left is taken over, see [`Writer::written`]; empty, nothing is ever taken over. With
    /// `force` a block folder that stands there is replaced at the end.
    pub fn begin(place: &Path, sparse: bool, format: Format, identity: &str, force: bool) -> Result<Writer> {
        Writer::within(place, sparse, format, identity, force, usize::MAX)
    }

    /// The same in about so many bytes of memory.
    pub fn within(
        place: &Path,
        sparse: bool,
        format: Format,
        identity: &str,
        force: bool,
        memory: usize,
    ) -> Result<Writer> {
        let refuse = |problem: &str| {
            Err(Error::File { path: place.into(), place: Place::Whole, problem: problem.into() })
        };
        if place.file_name().is_none() {
            return refuse("a folder needs a name");
        }
        settle(place)?;
        if place.symlink_metadata().is_ok() {
            let ours = place.is_dir() && place.join(INDEX).is_file();
            if !ours && !is_vacant(place) {
                return refuse("exists and is no block folder: choose another name");
            }
            if ours && !force {
                return refuse("exists already: choose another name, or --force to overwrite it");
            }
        }
        let failed = |source| Error::Io { path: place.into(), source };
        let Some(unfinished) = Unfinished::begin(place).map_err(failed)? else {
            return refuse("another run is writing it: wait for it, or choose another name");
        };
        let full = BLOCK.min((memory / 16).max(1 << 16));
        let work = Work { identity: identity.into(), sparse, single: format == Format::F32, bytes: full };
        let taken = if identity.is_empty() { None } else { unfinished.take_over(&work) };
        let taken = match taken {
            Some(taken) => taken,
            None => {
                unfinished.clear().map_err(failed)?;
                vec![]
            }
        };
        let begun = || -> io::Result<(File, [Option<File>; 2])> {
            let open = |name: &str, length: u64| -> io::Result<Option<File>> {
                if length == 0 {
                    let _ = fs::remove_file(unfinished.file(name));
                    return Ok(None);
                }
                let file = File::options().append(true).open(unfinished.file(name))?;
                file.set_len(length)?;
                Ok(Some(file))
            };
            let (truth, names) = taken.last().map_or((0, 0), |entry: &Entry| (entry.truth, entry.names));
            let lists = [open(TRUTH, truth)?, open(NAMES, names)?];
            let mut journal = File::create(unfinished.path.join(JOURNAL))?;
            put_line(&mut journal, &work)?;
            taken.iter().try_for_each(|entry| put_line(&mut journal, entry))?;
            Ok((journal, lists))
        };
        let (journal, lists) = begun().map_err(failed)?;
        Ok(Writer {
            place: place.into(),
            unfinished,
            force,
            sparse,
            format,
            full,
            features: None,
            lists,
            blocks: taken.into_iter().map(|entry| entry.block).collect(),
            points: 0,
            data: vec![],
            indices: vec![],
            indptr: vec![],
            journal,
        })
    }

    /// How many points are there, those that were taken over included.
    pub fn written(&self) -> usize {
        self.blocks.iter().map(|block| block.points).sum::<usize>() + self.points
    }

    /// Stored entries so far.
    pub fn nonzeros(&self) -> usize {
        let size = if self.format == Format::F32 { 4 } else { 8 };
        self.blocks.iter().map(|block| block.nonzeros).sum::<usize>() + self.data.len() / size
    }

    /// What is to be removed if the program ends without dropping this, and nobody is to go on from it.
    pub fn traces(&self) -> Traces {
        Traces::new(&self.unfinished.path, &self.unfinished.made)
    }

    /// Whether its points are sparse.
    pub fn is_sparse(&self) -> bool {
        self.sparse
    }

    /// A folder for whatever else the work needs; it goes away with the unfinished folder.
    pub fn scratch(&self) -> Result<PathBuf> {
        let path = self.unfinished.path.join(SCRATCH);
        fs::create_dir_all(&path).map_err(|source| self.failed(source))?;
        Ok(path)
    }

    /// The next points, with the class and the name of each where they have any.
    pub fn push(
        &mut self,
        points: &AnyPoints,
        truth: Option<&[String]>,
        names: Option<&[String]>,
    ) -> Result<()> {
        let shape = points.shape();
        if (shape.sparse, shape.format) != (self.sparse, self.format) {
            return Err(Error::Data(
                "blocks of one folder are all dense or all sparse, and of one precision".into(),
            ));
        }
        let features = *self.features.get_or_insert(shape.features);
        // Of sparse points the number of features may only be known at the end.
        if features != shape.features && !self.sparse {
            return Err(Error::Data(format!(
                "a block has {} features, those before it {features}",
                shape.features
            )));
        }
        self.features = Some(features.max(shape.features));
        for (list, name) in [(truth, TRUTH), (names, NAMES)] {
            let Some(list) = list else { continue };
            if list.len() != shape.points {
                return Err(Error::Data(format!("{} lines for {} points", list.len(), shape.points)));
            }
            refuse_line_breaks(list, name)?;
        }
        let lists =
            |from: usize, to: usize| [truth.map(|list| &list[from..to]), names.map(|list| &list[from..to])];
        let mut from = 0;
        while from < shape.points {
            let taken = match points {
                AnyPoints::DenseF32(x) => take_dense(x, from, self.full, &mut self.data),
                AnyPoints::DenseF64(x) => take_dense(x, from, self.full, &mut self.data),
                AnyPoints::SparseF32(x) => self.take_sparse(x, from),
                AnyPoints::SparseF64(x) => self.take_sparse(x, from),
                AnyPoints::SparseF32I64(x) => self.take_sparse(x, from),
                AnyPoints::SparseF64I64(x) => self.take_sparse(x, from),
            };
            self.points += taken;
            self.put_lists(lists(from, from + taken))?;
            from += taken;
            if self.filled() >= self.full {
                self.close_block()?;
            }
        }
        Ok(())
    }

    /// Bytes of the block that is being filled.
    fn filled(&self) -> usize {
        self.data.len() + self.indices.len() + self.indptr.len()
    }

    /// Rows up to the one with which the block is full: where blocks end does not depend on how points come.
    fn take_sparse<T: Number, I: crate::matrix::Index>(&mut self, x: &Csr<'_, T, I>, from: usize) -> usize {
        if self.indptr.is_empty() {
            self.indptr.extend_from_slice(&0i64.to_le_bytes());
        }
        for row in from..x.points() {
            let (columns, values) = x.point(row);
            for (column, &value) in columns.iter().zip(values) {
                // Explicit zeros are no entries, here as in every file that is read.
                if value != T::default() {
                    self.indices.extend_from_slice(&(column.at() as i32).to_le_bytes());
                    self.data.extend_from_slice(bytemuck::bytes_of(&value));
                }
            }
            self.indptr.extend_from_slice(&((self.indices.len() / 4) as i64).to_le_bytes());
            if self.filled() >= self.full {
                return row + 1 - from;
            }
        }
        x.points() - from
    }

    fn put_lists(&mut self, lists: [Option<&[String]>; 2]) -> Result<()> {
        for ((list, file), name) in lists.into_iter().zip(&mut self.lists).zip([TRUTH, NAMES]) {
            let Some(list) = list else { continue };
            let mut text = String::new();
            for line in list {
                text.push_str(line);
                text.push('\n');
            }
            let path = self.unfinished.file(name);
            let mut put = || -> io::Result<()> {
                if file.is_none() {
                    *file = Some(File::options().create(true).append(true).open(&path)?);
                }
                file.as_mut().map_or(Ok(()), |file| file.write_all(text.as_bytes()))
            };
            put().map_err(|source| Error::Io { path: self.place.join(name), source })?;
        }
        Ok(())
    }

    /// The block that was filled goes to disk.
    fn close_block(&mut self) -> Result<()> {
        if self.points == 0 {
            return Ok(());
        }
        let number = format!("{:06}", self.blocks.len());
        let (size, kind) = if self.format == Format::F32 { (4, "<f4") } else { (8, "<f8") };
        let entries = self.data.len() / size;
        let points = self.points;
        let block = if self.sparse {
            let data = self.put(&format!("{number}.data.npy"), kind, &format!("({entries},)"), &self.data)?;
            let indices =
                self.put(&format!("{number}.indices.npy"), "<i4", &format!("({entries},)"), &self.indices)?;
            let indptr = self.put(
                &format!("{number}.indptr.npy"),
                "<i8",
                &format!("({},)", points + 1),
                &self.indptr,
            )?;
            Block { points, nonzeros: entries, data, indices: Some(indices), indptr: Some(indptr) }
        } else {
            let shape = format!("({points}, {})", self.features.unwrap_or(0));
            let data = self.put(&format!("{number}.data.npy"), kind, &shape, &self.data)?;
            Block { points, nonzeros: entries, data, indices: None, indptr: None }
        };
        let length = |list: &Option<File>| -> io::Result<u64> {
            list.as_ref().map_or(Ok(0), |file| Ok(file.metadata()?.len()))
        };
        let put = || -> io::Result<()> {
            let [truth, names] = &self.lists;
            let entry = Entry { block: block.clone(), truth: length(truth)?, names: length(names)? };
            put_line(&mut &self.journal, &entry)
        };
        put().map_err(|source| self.failed(source))?;
        self.blocks.push(block);
        self.points = 0;
        self.data.clear();
        self.indices.clear();
        self.indptr.clear();
        Ok(())
    }

    fn put(&self, name: &str, kind: &str, shape: &str, numbers: &[u8]) -> Result<Part> {
        let mut header = vec![];
        let mut put = || -> io::Result<Part> {
            put_header(&mut header, kind, shape)?;
            let mut sum = flate2::Crc::new();
            sum.update(&header);
            sum.update(numbers);
            let mut file = File::create(self.unfinished.file(name))?;
            file.write_all(&header)?;
            file.write_all(numbers)?;
            Ok(Part { name: name.into(), bytes: (header.len() + numbers.len()) as u64, crc32: sum.sum() })
        };
        // The place that the user knows.
        put().map_err(|source| Error::Io { path: self.place.join(name), source })
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Io { path: self.place.clone(), source }
    }

    /// The last block, what came with the points, the index; then the folder gets its name. `features` where the points
    /// themselves did not say.
    pub fn finish(mut self, features: Option<usize>, with: &With) -> Result<()> {
        self.close_block()?;
        let points = self.written();
        let features = features.or(self.features).unwrap_or(0);
        if points == 0 || features == 0 {
            return Err(Error::Data(format!("the matrix is empty: {points} rows, {features} columns")));
        }
        let count = |found: usize, wanted: usize, what: &str| match found == wanted {
            true => Ok(()),
            false => Err(Error::Data(format!("{found} {what} for {wanted}: one each is needed"))),
        };
        let mut index = Index {
            format: KIND.into(),
            version: VERSION,
            points,
            features,
            nonzeros: self.nonzeros(),
            sparse: self.sparse,
            dtype: if self.format == Format::F32 { "float32".into() } else { "float64".into() },
            blocks: std::mem::take(&mut self.blocks),
            weights: None,
            truth: None,
            names: None,
            feature_names: None,
            image: with.image.map(Image::from),
            feature_image: with.feature_image.map(Image::from),
            wavelengths: with.wavelengths.clone(),
            notes: with.notes.clone(),
        };
        if let Some(weights) = &with.weights {
            count(weights.len(), points, "weights")?;
            index.weights = Some(self.beside("weights.npy", |out| write_list(weights, out))?);
        }
        if let Some(names) = &with.vocabulary {
            count(names.len(), features, "names of features")?;
            refuse_line_breaks(names, FEATURES)?;
            index.feature_names =
                Some(self.beside(FEATURES, |out| names.iter().try_for_each(|name| writeln!(out, "{name}")))?);
        }
        let [truth, names] = std::mem::take(&mut self.lists);
        index.truth = truth.map(|_| self.part_of(TRUTH)).transpose()?;
        index.names = names.map(|_| self.part_of(NAMES)).transpose()?;
        let text = serde_json::to_string_pretty(&index).expect("an index is plain data");
        self.beside(INDEX, |out| out.write_all(text.as_bytes()))?;
        self.put_in_place()
    }

    /// The files to where they belong, all or none; those of the folder that was there go away.
    fn put_in_place(self) -> Result<()> {
        let files = self.unfinished.path.join(FILES);
        // On the disk before anything is given up that the work could go on from.
        let on_disk = || -> io::Result<()> {
            fs::read_dir(&files)?.try_for_each(|entry| File::open(entry?.path())?.sync_all())
        };
        on_disk().map_err(|source| self.failed(source))?;
        let stage = Stage::open(&self.place, &[INDEX.as_ref()], false)?;
        for old in files_of(&self.place) {
            stage.drop_old(old)?;
        }
        stage.adopt(&files).map_err(|source| self.failed(source))?;
        let (force, unfinished) = (self.force, self.unfinished);
        unfinished.end();
        stage.commit(force)
    }

    fn beside(&self, name: &str, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<Part> {
        let put = || -> io::Result<()> {
            let mut out = io::BufWriter::new(File::create(self.unfinished.file(name))?);
            write(&mut out)?;
            out.flush()
        };
        put().map_err(|source| Error::Io { path: self.place.join(name), source })?;
        self.part_of(name)
    }

    fn part_of(&self, name: &str) -> Result<Part> {
        let about = || -> io::Result<Part> {
            let mut file = File::open(self.unfinished.file(name))?;
            Ok(Part { name: name.into(), bytes: file.metadata()?.len(), crc32: checksum(&mut file)? })
        };
        about().map_err(|source| Error::Io { path: self.place.join(name), source })
    }
}

/// What a run has written so far. Dropped without [`Unfinished::end`], it leaves nothing.
struct Unfinished {
    path: PathBuf,
    /// Folders that had to be made for it, innermost first.
    made: Vec<PathBuf>,
    _lock: File,
}

impl Unfinished {
    /// Inside its place, with the lock; none where another run has that.
    fn begin(place: &Path) -> io::Result<Option<Unfinished>> {
        let path = place.join(UNFINISHED);
        // Of what a killed run left its folder is part, if there is nothing else in it.
        let left = path.is_dir() && !place.join(INDEX).exists() && is_vacant(place);
        let mut made = make_folders(place)?;
        made.extend(left.then(|| place.to_path_buf()));
        fs::create_dir_all(path.join(FILES))?;
        let lock = File::options().create(true).truncate(false).write(true).open(path.join(LOCK))?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => Ok(None),
            _ => Ok(Some(Unfinished { path, made, _lock: lock })),
        }
    }

    /// A file that is being written.
    fn file(&self, name: &str) -> PathBuf {
        self.path.join(FILES).join(name)
    }

    /// Removes everything but the lock.
    fn clear(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            if entry.file_name() == LOCK {
                continue;
            }
            if entry.file_type()?.is_dir() {
                fs::remove_dir_all(entry.path())?;
            } else {
                fs::remove_file(entry.path())?;
            }
        }
        fs::create_dir(self.path.join(FILES))
    }

    /// The files have been moved: the folders that were made for them stay.
    fn end(mut self) {
        self.made.clear();
    }

    /// The blocks that the same work has completed before it was interrupted: as far as they are sound.
    fn take_over(&self, work: &Work) -> Option<Vec<Entry>> {
        let text = fs::read_to_string(self.path.join(JOURNAL)).ok()?;
        let mut lines = text.lines();
        let before: Work = serde_json::from_str(lines.next()?).ok()?;
        if before != *work {
            return None;
        }
        let sound = |file: &Part| {
            let path = self.file(&file.name);
            path.metadata().is_ok_and(|about| about.is_file() && about.len() == file.bytes)
                && File::open(path)
                    .and_then(|mut file| checksum(&mut file))
                    .is_ok_and(|sum| sum == file.crc32)
        };
        let long_enough = |name: &str, length: u64| {
            length == 0
                || self.file(name).metadata().is_ok_and(|about| about.is_file() && about.len() >= length)
        };
        // The last line may be cut.
        let entries = lines.map_while(|line| serde_json::from_str::<Entry>(line).ok());
        let whole = |entry: &Entry| {
            let Entry { block, truth, names } = entry;
            [Some(&block.data), block.indices.as_ref(), block.indptr.as_ref()]
                .into_iter()
                .flatten()
                .all(sound)
                && long_enough(TRUTH, *truth)
                && long_enough(NAMES, *names)
        };
        Some(entries.take_while(whole).collect())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
        for folder in &self.made {
            // Only where it is empty.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Whether there is nothing in a folder but what is in the making.
fn is_vacant(folder: &Path) -> bool {
    let in_the_making = |entry: fs::DirEntry| entry.file_name() == UNFINISHED || is_part(&entry.file_name());
    fs::read_dir(folder).is_ok_and(|entries| entries.flatten().all(in_the_making))
}

/// The files of a block folder, by its index: plain names only.
fn files_of(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join(INDEX)).unwrap_or_default();
    let Ok(index) = serde_json::from_str::<Index>(&text) else { return vec![] };
    let of_blocks = index.blocks.iter().flat_map(|block| {
        [Some(&block.data), block.indices.as_ref(), block.indptr.as_ref()].into_iter().flatten()
    });
    let lists = [&index.weights, &index.truth, &index.names, &index.feature_names].into_iter().flatten();
    of_blocks.chain(lists).filter(|part| part.is_plain()).map(|part| part.name.clone()).collect()
}

/// A list with a name a line cannot hold names of several.
fn refuse_line_breaks(list: &[String], file: &str) -> Result<()> {
    match list.iter().find(|line| line.contains(['\n', '\r'])) {
        Some(line) => {
            Err(Error::Data(format!("the name {line:?} has a line break, which {file} cannot hold")))
        }
        None => Ok(()),
    }
}

/// Rows up to the one with which the block is full.
fn take_dense<T: Number>(x: &Dense<'_, T>, from: usize, full: usize, data: &mut Vec<u8>) -> usize {
    let each = (x.features() * size_of::<T>()).max(1);
    let count = full.saturating_sub(data.len()).div_ceil(each).max(1).min(x.points() - from);
    let rows = x.slice(from..from + count);
    if cfg!(target_endian = "little") {
        data.extend_from_slice(bytemuck::cast_slice(rows));
    } else {
        rows.iter().for_each(|x| {
            let mut bytes = bytemuck::bytes_of(x).to_vec();
            bytes.reverse();
            data.extend(bytes);
        });
    }
    count
}

fn put_line(to: &mut impl Write, line: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_string(line).expect("plain data");
    text.push('\n');
    to.write_all(text.as_bytes())
}
