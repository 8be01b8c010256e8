//! TIFF, as cameras, microscopes and GIS write it: points are pixels, row after row; features are its samples, or
//! the pages of one size. What GDAL marks as "no data" becomes zero, as in ENVI files.

use std::io::{Read, SeekFrom};

use tiff::decoder::{Decoder, DecodingResult, Limits};
use tiff::tags::Tag;
use tiff::{TiffError, TiffResult};

use super::cube::{ignored, zero_out};
use super::scenes::{GeoTags, Origin};
use super::source::{Seekable, Source};
use super::values::{Number, Order, dense};
use super::{Loaded, Options, Precision};
use crate::error::{Place, Result};
use crate::image::{ImageShape, Scan};
use crate::matrix::Matrix;

/// The name in the table of formats.
pub(super) const NAME: &str = "tiff";
/// Numbers that a byte of the file may claim: deflate packs 1032 to one at best.
const MOST_A_BYTE: u64 = 1100;

/// Both byte orders, classic and big.
pub(super) fn recognise(head: &[u8], _path: &std::path::Path) -> bool {
    matches!(head.get(..4), Some(b"II*\0" | b"MM\0*" | b"II+\0" | b"MM\0+"))
}

/// A page: its numbers, and whether all bands of a pixel stand together.
struct Page {
    values: DecodingResult,
    bands: usize,
    order: Order,
}

pub(super) fn read(source: &Source, options: &Options) -> Result<Loaded> {
    let broken = |error: TiffError| {
        let problem = match error {
            TiffError::IoError(_) => "the TIFF file is truncated".to_string(),
            error => format!("the TIFF file cannot be read: {error}"),
        };
        source.fault(Place::Whole, problem)
    };
    let size = source.plain_size().unwrap_or(u64::MAX / MOST_A_BYTE);
    let mut limits = Limits::default();
    let most = usize::try_from(size.saturating_mul(MOST_A_BYTE)).unwrap_or(usize::MAX);
    limits.decoding_buffer_size = most;
    limits.intermediate_buffer_size = most;
    // No list of a directory is longer than the file.
    limits.ifd_value_size = usize::try_from(size).unwrap_or(usize::MAX).min(64 << 20);
    let mut file = source.seekable()?;
    let believable = believable(&mut *file).map_err(|error| broken(error.into()))?;
    if !believable {
        return Err(source.fault(Place::Whole, "its directory claims more entries than the file has bytes"));
    }
    let mut decoder = Decoder::new(file).map_err(broken)?.with_limits(limits);
    let (width, height) = decoder.dimensions().map_err(broken)?;
    let pixels = u64::from(width) * u64::from(height);
    if pixels == 0 || pixels > size.saturating_mul(MOST_A_BYTE) {
        return Err(
            source.fault(Place::Whole, format!("claims {height} x {width} pixels, more than it can hold"))
        );
    }
    // A byte each at least; how much it really is shows when it has been unpacked.
    source.check_room(u128::from(pixels), options)?;
    let nodata = nodata(&mut decoder);
    let origin = Origin::Tiff(place(&mut decoder));
    let mut pages = Vec::new();
    let mut others = 0;
    loop {
        if decoder.dimensions().map_err(broken)? == (width, height) {
            let most = size.saturating_mul(MOST_A_BYTE);
            pages.push(page(&mut decoder, pixels as usize, most).map_err(broken)?);
        } else {
            others += 1;
        }
        if !decoder.more_images() {
            break;
        }
        decoder.next_image().map_err(broken)?;
    }
    let single = pages.iter().all(|page| matches!(page.values, DecodingResult::F32(_)));
    let (points, bands) = (pixels as usize, pages.iter().map(|page| page.bands).sum::<usize>());
    source.check_room(2 * 8 * u128::from(pixels) * bands as u128, options)?;
    let precision = options.precision.unwrap_or(if single { Precision::F32 } else { Precision::F64 });
    let (matrix, hits) = match precision {
        Precision::F32 => assemble::<f32>(points, &pages, nodata),
        Precision::F64 => assemble::<f64>(points, &pages, nodata),
    };
    let mut loaded = Loaded::new(matrix, NAME);
    loaded.image = Some(ImageShape { height: height as usize, width: width as usize, scan: Scan::Rows });
    loaded.notes.push(format!("read as an image of {height} x {width} pixels with {bands} bands"));
    if others > 0 {
        loaded.notes.push(format!("{others} pages of another size (overviews?) were left out"));
    }
    loaded.notes.extend(nodata.and_then(|value| ignored(value, hits)));
    loaded.origin = Some(origin);
    Ok(loaded)
}

/// The tags of GeoTIFF that say where on earth the pixels are.
fn place(decoder: &mut Decoder<Box<dyn Seekable + '_>>) -> GeoTags {
    let doubles = [
        Tag::ModelPixelScaleTag,
        Tag::ModelTiepointTag,
        Tag::ModelTransformationTag,
        Tag::GeoDoubleParamsTag,
    ];
    let list = |tag: Tag| Some((tag.to_u16(), decoder.get_tag_f64_vec(tag).ok()?));
    GeoTags {
        doubles: doubles.into_iter().filter_map(list).collect(),
        keys: decoder.get_tag_u16_vec(Tag::GeoKeyDirectoryTag).unwrap_or_default(),
        text: decoder.get_tag_ascii_string(Tag::GeoAsciiParamsTag).ok(),
    }
}

/// Whether no list of the first directory is longer than the file: the decoder reads that one before it can be given
/// limits. The file is left at its beginning.
fn believable(file: &mut dyn Seekable) -> std::io::Result<bool> {
    let length = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    let mut head = [0; 16];
    let whole = file.read_exact(&mut head).is_ok();
    let little = head[0] == b'I';
    let number = |bytes: &[u8]| {
        let add = |sum: u64, &byte: &u8| sum << 8 | u64::from(byte);
        if little { bytes.iter().rev().fold(0, add) } else { bytes.iter().fold(0, add) }
    };
    // Where the directory is, and how long are its count, an entry, and the end of how many values that has.
    let big = number(&head[2..4]) == 43;
    let (place, width, size, end) = if big { (&head[8..], 8, 20, 12) } else { (&head[4..8], 2, 12, 8) };
    let mut directory = vec![];
    if whole {
        file.seek(SeekFrom::Start(number(place).min(length)))?;
        // No sound one is longer; what is missing of a broken one is the decoder's to say.
        file.take(1 << 20).read_to_end(&mut directory)?;
    }
    file.rewind()?;
    let Some((count, entries)) = directory.split_at_checked(width) else { return Ok(true) };
    let count = usize::try_from(number(count)).unwrap_or(usize::MAX);
    Ok(entries.chunks_exact(size).take(count).all(|entry| number(&entry[4..end]) <= length))
}

/// The value that means "no data", as GDAL writes it.
fn nodata(decoder: &mut Decoder<Box<dyn Seekable + '_>>) -> Option<f64> {
    let text = decoder.get_tag_ascii_string(Tag::GdalNodata).ok()?;
    fast_float2::parse(text.trim_matches(['\0', ' '])).ok()
}

fn page(decoder: &mut Decoder<Box<dyn Seekable + '_>>, pixels: usize, most: u64) -> TiffResult<Page> {
    let samples: u64 = decoder.find_tag_unsigned(Tag::SamplesPerPixel)?.unwrap_or(1);
    // The decoder's limits do not hold for a row of a tile.
    let (wide, _) = decoder.chunk_dimensions();
    if u64::from(wide).saturating_mul(samples) > most {
        return Err(TiffError::LimitsExceeded);
    }
    let mut values = DecodingResult::U8(vec![]);
    let layout = decoder.read_image_to_buffer(&mut values)?;
    let order = if layout.planes > 1 { Order::Columns } else { Order::Rows };
    let count = count(&values);
    // Fewer come where the decoder drops samples that it takes for something else than colours.
    if count as u64 != samples * pixels as u64 {
        return Err(TiffError::UnsupportedError(tiff::TiffUnsupportedError::UnknownInterpretation));
    }
    Ok(Page { values, bands: count / pixels, order })
}

fn count(values: &DecodingResult) -> usize {
    match values {
        DecodingResult::U8(x) => x.len(),
        DecodingResult::U16(x) => x.len(),
        DecodingResult::U32(x) => x.len(),
        DecodingResult::U64(x) => x.len(),
        DecodingResult::F16(x) => x.len(),
        DecodingResult::F32(x) => x.len(),
        DecodingResult::F64(x) => x.len(),
        DecodingResult::I8(x) => x.len(),
        DecodingResult::I16(x) => x.len(),
        DecodingResult::I32(x) => x.len(),
        DecodingResult::I64(x) => x.len(),
    }
}

fn numbers<T: Number>(values: &DecodingResult) -> Vec<T> {
    macro_rules! each {
        ($x:expr, $to:expr) => {
            $x.iter().map(|&x| T::from_f64($to(x))).collect()
        };
    }
    match values {
        DecodingResult::U8(x) => each!(x, f64::from),
        DecodingResult::U16(x) => each!(x, f64::from),
        DecodingResult::U32(x) => each!(x, f64::from),
        DecodingResult::U64(x) => each!(x, |x| x as f64),
        DecodingResult::F16(x) => each!(x, f64::from),
        DecodingResult::F32(x) => each!(x, f64::from),
        DecodingResult::F64(x) => each!(x, |x| x),
        DecodingResult::I8(x) => each!(x, f64::from),
        DecodingResult::I16(x) => each!(x, f64::from),
        DecodingResult::I32(x) => each!(x, f64::from),
        DecodingResult::I64(x) => each!(x, |x| x as f64),
    }
}

/// All bands side by side, and where there were no data.
fn assemble<T: Number>(points: usize, pages: &[Page], nodata: Option<f64>) -> (Matrix, (usize, usize)) {
    let bands: usize = pages.iter().map(|page| page.bands).sum();
    let mut all = vec![T::default(); points * bands];
    let mut first = 0;
    for page in pages {
        let values: Vec<T> = numbers(&page.values);
        for (at, &value) in values.iter().enumerate() {
            let (pixel, band) = match page.order {
                Order::Rows => (at / page.bands, at % page.bands),
                Order::Columns => (at % points, at / points),
            };
            all[pixel * bands + first + band] = value;
        }
        first += page.bands;
    }
    let hits = nodata.map_or((0, 0), |value| zero_out(&mut all, bands, T::from_f64(value)));
    (dense(points, bands, all, Order::Rows), hits)
}
