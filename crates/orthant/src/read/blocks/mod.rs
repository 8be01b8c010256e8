//! A block folder: data of any size as plain .npy files that numpy reads without us, and one JSON file that says what
//! they are. Blocks hold points that follow each other: dense rows (`data`), or compressed rows as scipy.sparse has them
//! (`data`, `indices`, and `indptr` with 64-bit offsets). docs/scale.md shows the few lines of Python that read one.
//!
//! ```text
//! big.blocks/
//!   blocks.json           sizes, the blocks in order, a checksum (CRC-32) for every file
//!   000000.data.npy       the first block; sparse also 000000.indices.npy and 000000.indptr.npy
//!   weights.npy           weights of the points, if they have any
//!   truth.txt names.txt feature_names.txt      a line each, if there are any
//! ```
//!
//! A folder appears whole or not at all. What an interrupted run has written lies in `big.blocks/.unfinished`, and the
//! same run again goes on from there.

mod write;

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use write::{With, Writer};

use super::in_place::Beside;
use super::numpy::Header;
use super::output::{BLOCKS_SEAL, settle};
use super::pieces::{Arrangement, Piece, Pieces};
use super::stored::Stored;
use super::triples::plausible;
use super::values::{Element, Layout};
use super::{Loaded, Options, Precision, lists};
use crate::error::{Error, Place, Result};
use crate::image::{ImageShape, Scan};
use crate::matrix::seam::Source;
use crate::matrix::{AnyPoints, Format, Matrix, Shape};

/// The name in the table of formats.
pub(super) const NAME: &str = "blocks";
/// How such folders are called.
pub const ENDING: &str = ".blocks";
/// The file that says what a folder holds.
pub const INDEX: &str = BLOCKS_SEAL;
const KIND: &str = "orthant blocks";
const VERSION: u32 = 1;

/// A file of the folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Part {
    name: String,
    bytes: u64,
    /// CRC-32 of the whole file.
    crc32: u32,
}

impl Part {
    /// Whether it is a file of the folder: nothing outside is ever read or removed.
    fn is_plain(&self) -> bool {
        Path::new(&self.name).file_name() == Some(self.name.as_ref())
    }
}

/// Points that follow each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Block {
    points: usize,
    nonzeros: usize,
    data: Part,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    indices: Option<Part>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    indptr: Option<Part>,
}

/// An image whose pixels are points or features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Image {
    height: usize,
    width: usize,
    /// "rows" or "columns": which pixel follows which.
    scan: OfScan,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum OfScan {
    Rows,
    Columns,
}

impl From<ImageShape> for Image {
    fn from(ImageShape { height, width, scan }: ImageShape) -> Image {
        Image { height, width, scan: if scan == Scan::Rows { OfScan::Rows } else { OfScan::Columns } }
    }
}

impl From<Image> for ImageShape {
    fn from(Image { height, width, scan }: Image) -> ImageShape {
        ImageShape { height, width, scan: if scan == OfScan::Rows { Scan::Rows } else { Scan::Columns } }
    }
}

/// All that `blocks.json` says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Index {
    format: String,
    version: u32,
    points: usize,
    features: usize,
    nonzeros: usize,
    sparse: bool,
    /// "float32" or "float64".
    dtype: String,
    blocks: Vec<Block>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weights: Option<Part>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    truth: Option<Part>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    names: Option<Part>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    feature_names: Option<Part>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    image: Option<Image>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    feature_image: Option<Image>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wavelengths: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// A block folder, ready to be read a range of points at a time.
pub struct Blocks {
    folder: PathBuf,
    index: Index,
    pieces: Pieces,
}

impl Blocks {
    /// Opens a folder: its index and the headers of its files are looked at, their numbers are not. Checksums are compared
    /// when a file is first read.
    pub fn open(folder: &Path) -> Result<Blocks> {
        Blocks::open_as(folder, None)
    }

    /// The same in another precision than that of the files.
    pub fn open_as(folder: &Path, precision: Option<Precision>) -> Result<Blocks> {
        settle(folder)?;
        let path = folder.join(INDEX);
        if !path.exists() && folder.join(write::UNFINISHED).is_dir() {
            let problem =
                "is not finished: the same command that wrote it goes on from where it was interrupted"
                    .into();
            return Err(Error::File { path: folder.into(), place: Place::Whole, problem });
        }
        let fault = |problem: String| Error::File { path: path.clone(), place: Place::Whole, problem };
        let text =
            std::fs::read_to_string(&path).map_err(|source| Error::Io { path: path.clone(), source })?;
        let index: Index = serde_json::from_str(&text)
            .map_err(|error| fault(format!("is not the index of a block folder: {error}")))?;
        if index.format != KIND || index.version != VERSION {
            let found = format!("{} {}", index.format, index.version);
            return Err(fault(format!("is of {found:?}, {KIND:?} {VERSION} can be read")));
        }
        let own = match index.dtype.as_str() {
            "float32" => Format::F32,
            "float64" => Format::F64,
            other => return Err(fault(format!("numbers of type {other:?}: float32 or float64 are read"))),
        };
        let points = index.blocks.iter().try_fold(0usize, |sum, block| sum.checked_add(block.points));
        let nonzeros = index.blocks.iter().try_fold(0usize, |sum, block| sum.checked_add(block.nonzeros));
        if (points, nonzeros) != (Some(index.points), Some(index.nonzeros))
            || index.features > i32::MAX as usize
        {
            return Err(fault("its blocks do not add up to the points and entries that it promises".into()));
        }
        let sides = [index.points, index.features].map(|side| side as u64);
        if index.sparse && !sides.iter().all(|&side| plausible(side, index.nonzeros as u64)) {
            let [points, features] = sides;
            let problem =
                format!("{points} x {features} for so few entries ({}) is hardly meant", index.nonzeros);
            return Err(fault(problem));
        }
        let opened = Opening { folder, index: &index };
        for list in [&index.truth, &index.names, &index.feature_names].into_iter().flatten() {
            opened.file(list)?;
        }
        let pieces = index.blocks.iter().map(|block| Ok((block.points, opened.piece(block)?)));
        let pieces = pieces.collect::<Result<Vec<_>>>()?;
        let weights = index.weights.as_ref().map(|part| opened.weights(part)).transpose()?;
        let format = match precision {
            None => own,
            Some(Precision::F32) => Format::F32,
            Some(Precision::F64) => Format::F64,
        };
        let shape = Shape {
            points: index.points,
            features: index.features,
            nonzeros: index.nonzeros,
            format,
            sparse: index.sparse,
        };
        let pieces = Pieces::new(shape, pieces, weights, false);
        Ok(Blocks { folder: folder.into(), index, pieces })
    }

    /// What came with the numbers. Lists with an entry for each point stay in their files, `points` says which.
    pub(super) fn beside(&self) -> Result<Beside> {
        let file = |part: &Option<Part>| part.as_ref().map(|part| self.folder.join(&part.name));
        let vocabulary = file(&self.index.feature_names)
            .map(|path| lists::counted(&path, self.index.features, "features"))
            .transpose()?;
        Ok(Beside {
            truth: file(&self.index.truth),
            names: file(&self.index.names),
            vocabulary,
            image: self.index.image.map(ImageShape::from),
            feature_image: self.index.feature_image.map(ImageShape::from),
            wavelengths: self.index.wavelengths.clone(),
            format: NAME,
            notes: self.index.notes.clone(),
        })
    }

    /// Everything at once, in memory.
    fn whole(&self) -> Result<Matrix> {
        Matrix::of(self.pieces.points(0..self.index.points)?)
    }
}

impl Source for Blocks {
    fn shape(&self) -> Shape {
        self.pieces.shape()
    }
    fn points(&self, rows: Range<usize>) -> Result<AnyPoints<'_>> {
        self.pieces.points(rows)
    }
    fn weights(&self) -> Option<Vec<f64>> {
        self.pieces.weights()
    }
    fn take_back(&self, points: AnyPoints<'_>) {
        self.pieces.take_back(points);
    }
}

/// Makes sure that the files are what the index says.
struct Opening<'a> {
    folder: &'a Path,
    index: &'a Index,
}

impl Opening<'_> {
    fn piece(&self, block: &Block) -> Result<Piece> {
        let (points, features) = (block.points as u64, self.index.features as u64);
        let number = match self.index.dtype.as_str() {
            "float32" => Element::F32,
            _ => Element::F64,
        };
        if !self.index.sparse {
            let stored = self.array(&block.data, number, &[points, features])?;
            return Ok(Piece::Dense(stored, Arrangement::Points));
        }
        let (Some(indices), Some(indptr)) = (&block.indices, &block.indptr) else {
            return Err(self.wrong(&block.data, "has no indices or indptr beside it in the index".into()));
        };
        let entries = block.nonzeros as u64;
        Ok(Piece::Sparse {
            offsets: self.array(indptr, Element::I64, &[points.saturating_add(1)])?,
            columns: self.array(indices, Element::I32, &[entries])?,
            values: self.array(&block.data, number, &[entries])?,
        })
    }

    fn weights(&self, part: &Part) -> Result<Vec<f64>> {
        let stored = self.array(part, Element::F64, &[self.index.points as u64])?;
        let mut weights = vec![0.0; self.index.points];
        stored.read(0..stored.count(), &mut weights)?;
        Ok(weights)
    }

    /// An array of this element and shape.
    fn array(&self, part: &Part, element: Element, shape: &[u64]) -> Result<Stored> {
        let path = self.file(part)?;
        let mut file = File::open(&path).map_err(|source| Error::Io { path: path.clone(), source })?;
        let header = Header::read(&mut file).map_err(|fault| self.wrong(part, fault.problem))?;
        let layout = header.layout().map_err(|problem| self.wrong(part, problem))?;
        if layout != (Layout { element, big_endian: false }) || !header.is_plain(shape) {
            return Err(self.wrong(
                part,
                format!("is an array of {}, which is not what the index says", header.shape_text()),
            ));
        }
        let count = shape.iter().try_fold(1u64, |count, &side| count.checked_mul(side));
        let Some(count) = count else {
            return Err(self.wrong(part, "claims to hold more than any file can".into()));
        };
        let stored = Stored::new(&path, header.data_at() as u64, count, layout)?;
        Ok(stored.with_checksum(part.crc32))
    }

    /// A file that is there and as long as the index says. (A pipe would be waited for.)
    fn file(&self, part: &Part) -> Result<PathBuf> {
        if !part.is_plain() {
            return Err(self.wrong(part, "is not the name of a file in the folder".into()));
        }
        let path = self.folder.join(&part.name);
        let about = path.metadata().map_err(|source| Error::Io { path: path.clone(), source })?;
        match about.len() {
            _ if !about.is_file() => Err(self.wrong(part, "is not a file".into())),
            bytes if bytes != part.bytes => Err(self.wrong(
                part,
                format!("has {bytes} bytes, the index says {}: it was changed or cut", part.bytes),
            )),
            _ => Ok(path),
        }
    }

    fn wrong(&self, part: &Part, problem: String) -> Error {
        Error::File { path: self.folder.join(&part.name), place: Place::Whole, problem }
    }
}

/// Whether a folder is one, or will be: what a killed run had completed is put in its place first.
pub(super) fn recognise_folder(path: &Path) -> bool {
    // Where that fails, opening it says why.
    let _ = settle(path);
    path.join(INDEX).is_file() || path.join(write::UNFINISHED).is_dir()
}

/// All of a folder, in memory.
pub(super) fn read_folder(path: &Path, options: &Options) -> Result<Loaded> {
    let blocks = Blocks::open_as(path, options.precision)?;
    let beside = blocks.beside()?;
    let points = blocks.index.points;
    let list = |path: Option<PathBuf>| path.map(|path| lists::counted(&path, points, "points")).transpose();
    Ok(Loaded {
        truth: list(beside.truth)?,
        names: list(beside.names)?,
        vocabulary: beside.vocabulary,
        image: beside.image,
        feature_image: beside.feature_image,
        wavelengths: beside.wavelengths,
        notes: beside.notes,
        ..Loaded::new(blocks.whole()?, NAME)
    })
}
