//! Files whose points can be read a range at a time where they lie, without converting them first: block folders, .npy,
//! ENVI cubes, .npz that is not compressed.

use std::path::{Path, PathBuf};

use super::blocks::{self, Blocks};
use super::source::Source;
use super::{Options, envi, matrix_market, named_format, npz, numpy, recognise, sidecars};
use crate::error::Result;
use crate::image::ImageShape;
use crate::matrix::{Format, Shape, seam};

/// What came with data that are read a block at a time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Beside {
    /// A file with the class of every point.
    pub truth: Option<PathBuf>,
    /// A file with the name of every point.
    pub names: Option<PathBuf>,
    /// The name of every feature.
    pub vocabulary: Option<Vec<String>>,
    /// Points are the pixels of a picture of this shape.
    pub image: Option<ImageShape>,
    /// Every point is a picture of this shape.
    pub feature_image: Option<ImageShape>,
    /// The wavelength of every feature.
    pub wavelengths: Option<Vec<f64>>,
    /// The format's name.
    pub format: &'static str,
    /// What a reader should know, a line each.
    pub notes: Vec<String>,
}

/// Data that need not be in memory.
pub struct InPlace {
    /// The points.
    pub source: Box<dyn seam::Source>,
    /// What came with them.
    pub beside: Beside,
    /// Whether points that follow each other do so in the file too.
    pub contiguous: bool,
}

/// One line for each format: how to open a file of it, unless it cannot be read in place after all.
type Open = fn(&Source, &Options, bool) -> Result<Option<InPlace>>;
const FILES: &[(&str, Open)] =
    &[(numpy::NAME, numpy::in_place), (npz::NAME, npz::in_place), (envi::NAME, envi::in_place)];

/// Opens a file or folder whose points can be read where they lie; none where its format does not allow that. With
/// `turned`, the points are the columns.
pub fn open_in_place(path: &Path, options: &Options, turned: bool) -> Result<Option<InPlace>> {
    if path.is_dir() {
        if turned || !blocks::recognise_folder(path) {
            return Ok(None);
        }
        let blocks = Blocks::open_as(path, options.precision)?;
        let beside = blocks.beside()?;
        return Ok(Some(InPlace { source: Box::new(blocks), beside, contiguous: true }));
    }
    if !path.is_file() {
        return Ok(None);
    }
    let source = Source::open(path)?;
    let format = match named_format(options)? {
        Some(format) => format,
        None => recognise(&source)?,
    };
    let Some((_, open)) = FILES.iter().find(|(name, _)| *name == format.name) else { return Ok(None) };
    let mut found = open(&source, options, turned)?;
    if let Some(InPlace { source, beside, .. }) = &mut found {
        sidecars::add_to(beside, path, source.shape());
    }
    Ok(found)
}

/// Bytes that reading a file into memory takes, about, where its size tells; it cannot be read in place.
pub fn estimate(path: &Path, options: &Options) -> Result<Option<u64>> {
    if !path.is_file() {
        return Ok(None);
    }
    let source = Source::open(path)?;
    let format = match named_format(options)? {
        Some(format) => format,
        None => recognise(&source)?,
    };
    if format.name == matrix_market::NAME
        && let Some([rows, _, entries]) = matrix_market::sizes(&source)?
    {
        // Once as they are parsed, once as compressed rows.
        return Ok(Some(entries.saturating_mul(28).saturating_add(rows.saturating_mul(8))));
    }
    // A number takes about as many bytes in memory as in text, and is there twice for a while; text that is compressed is a
    // quarter of what it was.
    let factor = if source.plain_size().is_some() { 2 } else { 8 };
    let size = std::fs::metadata(path).map_or(0, |about| about.len());
    Ok(Some(size.saturating_mul(factor)))
}

/// Bytes that points of a shape take in memory, with what belongs to each.
pub fn bytes_held(shape: &Shape) -> u64 {
    let number = if shape.format == Format::F32 { 4 } else { 8 };
    let (entries, points) = (shape.nonzeros as u64, shape.points as u64);
    // Sparse entries have a column; where they are few, a transposed copy, and both once more in float32 for many starts.
    let each = if shape.sparse { number + 4 } else { number };
    let copied = shape.sparse && entries.saturating_mul(12) <= 256 << 20;
    let copies = if copied { entries * (12 + 2 * 8) } else { 0 };
    entries.saturating_mul(each).saturating_add(copies).saturating_add(points * 24)
}
