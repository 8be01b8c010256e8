//! A folder of PNG and JPEG pictures of one size: every picture is a point, in the order of the file
//! names; its pixels, row after row, are the features. Colour becomes luminance
//! (0.2126 R + 0.7152 G + 0.0722 B), transparency is ignored, 16 bits are scaled to 0–255.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use super::source::{Source, strip_ending};
use super::values::{Order, dense_text};
use super::{Loaded, Options};
use crate::error::{Error, Place, Result};
use crate::image::{ImageShape, Scan};

/// The name in the table of formats.
pub(super) const NAME: &str = "pictures";
const ENDINGS: [&str; 3] = [".png", ".jpg", ".jpeg"];
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
const JPEG: &[u8] = b"\xff\xd8\xff";
/// Pixels that a byte of a picture file may claim: deflate packs 1032 to one at best.
const MOST_PIXELS_A_BYTE: usize = 1100;

pub(super) fn recognise(head: &[u8], _path: &Path) -> bool {
    head.starts_with(PNG) || head.starts_with(JPEG)
}

struct Picture {
    height: usize,
    width: usize,
    pixels: Vec<f64>,
}

/// Whether a folder holds pictures.
pub(super) fn recognise_folder(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|entries| {
        entries.flatten().any(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            !name.starts_with('.') && ENDINGS.iter().any(|ending| strip_ending(&name, ending).is_some())
        })
    })
}

/// All pictures of a folder.
pub(super) fn read_folder(folder: &Path, options: &Options) -> Result<Loaded> {
    let failed = |source| Error::Io { path: folder.into(), source };
    let wrong =
        |path: &Path, problem: String| Error::File { path: path.into(), place: Place::Whole, problem };
    let mut files: Vec<(String, PathBuf)> = Vec::new();
    let mut others = 0;
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // A pipe would be waited for.
        if name.starts_with('.') || !path.is_file() {
            continue;
        }
        if ENDINGS.iter().any(|ending| strip_ending(&name, ending).is_some()) {
            files.push((name, path));
        } else {
            others += 1;
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(wrong(
            folder,
            "is a folder without PNG or JPEG pictures: name a file, or such a folder".into(),
        ));
    }
    let pictures: Vec<Result<Picture>> = files
        .par_iter()
        .map(|(_, path)| {
            let source = Source::open(path)?;
            decode(&source.whole()?).map_err(|problem| source.fault(Place::Whole, problem))
        })
        .collect();
    let pictures = pictures.into_iter().collect::<Result<Vec<Picture>>>()?;
    let (height, width) = (pictures[0].height, pictures[0].width);
    if let Some(other) =
        pictures.iter().position(|picture| (picture.height, picture.width) != (height, width))
    {
        let Picture { height: h, width: w, .. } = &pictures[other];
        let problem = format!(
            "the picture is {h} x {w} pixels, {} is {height} x {width}: make all one size",
            files[0].0
        );
        return Err(wrong(&files[other].1, problem));
    }
    let mut loaded = from_pictures(&pictures, options);
    loaded.names = Some(files.into_iter().map(|(name, _)| name).collect());
    if others > 0 {
        loaded.notes.push(format!("{others} files of the folder are no pictures and were left out"));
    }
    Ok(loaded)
}

/// A single picture; as a file of its own it says nothing about clusters.
pub(super) fn read(source: &Source, options: &Options) -> Result<Loaded> {
    let picture = decode(&source.whole()?).map_err(|problem| source.fault(Place::Whole, problem))?;
    if source.is_on_disk() {
        return Err(source
            .fault(Place::Whole, "is one picture: name the folder that holds them all, each is a point"));
    }
    Ok(from_pictures(&[picture], options))
}

fn from_pictures(pictures: &[Picture], options: &Options) -> Loaded {
    let (height, width) = (pictures[0].height, pictures[0].width);
    let values = pictures.iter().flat_map(|picture| picture.pixels.iter().copied()).collect();
    let matrix = dense_text(pictures.len(), height * width, values, Order::Rows, options);
    let shape = ImageShape { height, width, scan: Scan::Rows };
    Loaded { feature_image: Some(shape), ..Loaded::new(matrix, NAME) }
}

fn decode(bytes: &[u8]) -> std::result::Result<Picture, String> {
    if bytes.starts_with(PNG) {
        png(bytes)
    } else if bytes.starts_with(JPEG) {
        jpeg(bytes)
    } else {
        Err("is neither a PNG nor a JPEG picture, whatever its name says".into())
    }
}

fn png(bytes: &[u8]) -> std::result::Result<Picture, String> {
    let wrong = |error: png::DecodingError| format!("the PNG picture is broken: {error}");
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(wrong)?;
    let length = reader.output_buffer_size().unwrap_or(usize::MAX);
    if length / MOST_PIXELS_A_BYTE > bytes.len() {
        return Err("the PNG picture claims more pixels than its file can hold".into());
    }
    let mut buffer = vec![0; length];
    let frame = reader.next_frame(&mut buffer).map_err(wrong)?;
    let samples: Vec<f64> = match frame.bit_depth {
        png::BitDepth::Sixteen => {
            let pairs = buffer[..frame.buffer_size()].as_chunks::<2>().0;
            pairs.iter().map(|pair| f64::from(u16::from_be_bytes(*pair)) / 257.0).collect()
        }
        _ => buffer[..frame.buffer_size()].iter().map(|&sample| f64::from(sample)).collect(),
    };
    picture(frame.height as usize, frame.width as usize, frame.color_type.samples(), &samples)
}

fn jpeg(bytes: &[u8]) -> std::result::Result<Picture, String> {
    let wrong = |error: zune_jpeg::errors::DecodeErrors| {
        format!("the JPEG picture is broken: {}", error.to_string().trim_end())
    };
    let options = DecoderOptions::default().set_strict_mode(true).jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = zune_jpeg::JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(wrong)?;
    let (width, height) = decoder.dimensions().ok_or("the JPEG picture has no size")?;
    if width * height / MOST_PIXELS_A_BYTE > bytes.len() {
        return Err("the JPEG picture claims more pixels than its file can hold".into());
    }
    let samples: Vec<f64> = decoder.decode().map_err(wrong)?.into_iter().map(f64::from).collect();
    picture(height, width, 3, &samples)
}

/// Interleaved samples → luminance.
fn picture(
    height: usize,
    width: usize,
    samples: usize,
    values: &[f64],
) -> std::result::Result<Picture, String> {
    let luminance = |pixel: &[f64]| match *pixel {
        [r, g, b, ..] if r != g || g != b => 0.2126 * r + 0.7152 * g + 0.0722 * b,
        _ => pixel[0],
    };
    let pixels: Vec<f64> = values.chunks_exact(samples.max(1)).map(luminance).collect();
    if pixels.len() != height * width || pixels.is_empty() {
        return Err(format!("the picture has {} of {height} x {width} pixels", pixels.len()));
    }
    Ok(Picture { height, width, pixels })
}
