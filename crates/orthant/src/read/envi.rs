//! ENVI: a text header (.hdr) beside a raw file of numbers, an image of lines × samples × bands in
//! one of three interleaves. Points are pixels, row after row; features are bands.
//!
//! Where the header names a `data ignore value`, that value becomes zero: a pixel without data is a
//! zero point, which gets no cluster. Bands that it marks as bad (`bbl`) are left out.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::cube::{ignored, zero_out};
use super::in_place::{Beside, InPlace};
use super::pieces::{Arrangement, Mask, Piece, Pieces, dense_shape};
use super::scenes::Origin;
use super::source::{Source, strip_ending};
use super::stored::Stored;
use super::values::{Element, Layout, Number};
use super::{Loaded, Options, Precision};
use crate::error::{Place, Result};
use crate::image::{ImageShape, Scan};
use crate::matrix::{Dense, Matrix};

/// The name in the table of formats.
pub(super) const NAME: &str = "envi";
/// How the raw file beside NAME.hdr may be called.
const DATA_ENDINGS: [&str; 9] = ["", ".img", ".dat", ".raw", ".bsq", ".bil", ".bip", ".bin", ".cube"];

/// Fields of a header that say where on earth the scene is.
const GEOGRAPHIC: [&str; 7] = [
    "map info",
    "coordinate system string",
    "projection info",
    "pixel size",
    "geo points",
    "x start",
    "y start",
];

/// The header itself, or the raw file that lies beside one.
pub(super) fn recognise(head: &[u8], path: &Path) -> bool {
    is_header(head) || header_of(path).is_some()
}

fn is_header(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    text.starts_with(b"ENVI") && text.get(4).is_none_or(u8::is_ascii_whitespace)
}

fn header_of(data: &Path) -> Option<PathBuf> {
    let name = data.file_name()?.to_str()?;
    let stems = DATA_ENDINGS[1..].iter().filter_map(|ending| strip_ending(name, ending));
    let plain = (!name.contains('.')).then_some(name);
    let raw = stems.chain(plain).next()?;
    [format!("{name}.hdr"), format!("{raw}.hdr"), format!("{raw}.HDR")]
        .into_iter()
        .map(|name| data.with_file_name(name))
        .find(|path| {
            path.is_file()
                && Source::open(path).and_then(|source| source.head()).is_ok_and(|head| is_header(&head))
        })
}

fn data_of(header: &Path) -> Option<PathBuf> {
    let name = header.file_name()?.to_str()?;
    let stem = strip_ending(name, ".hdr")?;
    let upper = |ending: &&str| ending.to_uppercase();
    let names = DATA_ENDINGS.iter().map(|e| e.to_string()).chain(DATA_ENDINGS.iter().map(upper));
    names.map(|ending| header.with_file_name(format!("{stem}{ending}"))).find(|path| path.is_file())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Interleave {
    Bsq,
    Bil,
    Bip,
}

#[derive(Debug)]
struct Header {
    lines: usize,
    samples: usize,
    bands: usize,
    offset: usize,
    layout: Layout,
    interleave: Interleave,
    ignore: Option<f64>,
    wavelengths: Option<Vec<f64>>,
    names: Option<Vec<String>>,
    /// Bands that are marked as bad.
    bad: BTreeSet<usize>,
    /// What it says of the place on earth, as it stands.
    place: Vec<(String, String)>,
    notes: Vec<String>,
}

pub(super) fn read(source: &Source, options: &Options) -> Result<Loaded> {
    let text = source.whole()?;
    if is_header(&text) {
        // Bytes in memory have no file beside them: there the numbers follow after a zero byte.
        let (text, inline) = match text.iter().position(|&b| b == 0) {
            Some(end) => (&text[..end], Some(&text[end + 1..])),
            None => (&text[..], None),
        };
        let header =
            parse_header(text).map_err(|(line, problem)| source.fault(Place::Line(line), problem))?;
        if let Some(data) = inline {
            return load(source, header, data, options);
        }
        let Some(path) = data_of(source.path()) else {
            let problem =
                "no data file lies beside the header: the same name without .hdr, or with .img, .dat, .raw";
            return Err(source.fault(Place::Whole, problem));
        };
        let data = Source::open(&path)?;
        return load(&data, header, &data.whole()?, options);
    }
    let Some(path) = header_of(source.path()) else {
        return Err(source.fault(Place::Line(1), "this is no ENVI header: its first line is not ENVI"));
    };
    let beside = Source::open(&path)?;
    let header =
        parse_header(&beside.whole()?).map_err(|(line, problem)| beside.fault(Place::Line(line), problem))?;
    load(source, header, &text, options)
}

/// The raw file as it lies, in whichever interleave. Values that mean "no data" become zero as they are read.
pub(super) fn in_place(source: &Source, options: &Options, turned: bool) -> Result<Option<InPlace>> {
    let header_at =
        if is_header(&source.head()?) { Some(source.path().to_path_buf()) } else { header_of(source.path()) };
    let Some(header_at) = header_at else { return Ok(None) };
    let beside = Source::open(&header_at)?;
    let text = beside.whole()?;
    let header = parse_header(&text).map_err(|(line, problem)| beside.fault(Place::Line(line), problem))?;
    let data =
        if header_at == source.path() { data_of(&header_at) } else { Some(source.path().to_path_buf()) };
    let Some(data) = data else { return Ok(None) };
    let Header { lines, samples, bands, offset, layout, interleave, .. } = header;
    let count = [samples, bands].iter().try_fold(lines, |n, &size| n.checked_mul(size));
    let expected =
        count.and_then(|n| n.checked_mul(layout.element.size())).and_then(|n| n.checked_add(offset));
    let data = Source::open(&data)?;
    // Its reader says best what is wrong; bands that are left out, and lines, are not turned here.
    let masked = !header.bad.is_empty() || header.ignore.is_some();
    if data.plain_size() != expected.map(|bytes| bytes as u64)
        || turned && (masked || interleave == Interleave::Bil)
    {
        return Ok(None);
    }
    let pixels = lines * samples;
    let arrangement = match (interleave, turned) {
        (Interleave::Bip, false) | (Interleave::Bsq, true) => Arrangement::Points,
        (Interleave::Bsq, false) => Arrangement::Features(pixels),
        (Interleave::Bip, true) => Arrangement::Features(bands),
        (Interleave::Bil, _) => Arrangement::Lines(samples),
    };
    let kept: Vec<usize> = (0..bands).filter(|band| !header.bad.contains(band)).collect();
    let (points, features) = if turned { (bands, pixels) } else { (pixels, kept.len()) };
    let stored = Stored::new(data.path(), offset as u64, count.unwrap_or(0) as u64, layout)?;
    let shape = dense_shape(points, features, layout.element.precision(options));
    let mask = masked.then_some(Mask { width: bands, kept, ignore: header.ignore });
    let pieces =
        Pieces::new(shape, vec![(points, Piece::Dense(stored, arrangement))], None, false).with_mask(mask);
    let image = Some(ImageShape { height: lines, width: samples, scan: Scan::Rows });
    let mut beside = Beside { format: NAME, notes: header.notes, ..Beside::default() };
    if turned {
        beside.feature_image = image;
    } else {
        beside.image = image;
        beside.wavelengths = header.wavelengths.map(|all| of_good(all, &header.bad));
        beside.vocabulary = header.names.map(|all| of_good(all, &header.bad));
        if let Some(value) = header.ignore {
            beside.notes.push(format!("the data ignore value {value} is read as 0"));
        }
    }
    let contiguous = !matches!(arrangement, Arrangement::Features(_));
    Ok(Some(InPlace { source: Box::new(pieces), beside, contiguous }))
}

/// `key = value` a line, where a value in braces may take several.
fn parse_header(text: &[u8]) -> std::result::Result<Header, (u64, String)> {
    let text = String::from_utf8_lossy(text);
    let mut fields: HashMap<String, (u64, String)> = HashMap::new();
    let mut lines = text.lines().zip(1..).skip(1);
    while let Some((line, number)) = lines.next() {
        let Some((key, value)) = line.split_once('=').filter(|_| !line.trim_start().starts_with(';')) else {
            continue;
        };
        let mut value = value.trim().to_owned();
        if value.starts_with('{') {
            while !value.contains('}') {
                let Some((more, _)) = lines.next() else {
                    return Err((number, format!("the brace of {:?} is never closed", key.trim())));
                };
                value.push(' ');
                value.push_str(more.trim());
            }
            value = value.trim_matches(['{', '}', ' ']).to_owned();
        }
        fields.insert(key.trim().to_ascii_lowercase(), (number, value));
    }
    let whole = |key: &str, default: Option<u64>| match (fields.get(key), default) {
        (Some((line, value)), _) => value
            .parse::<u64>()
            .map_err(|_| (*line, format!("{key} should be a whole number, not {value:?}"))),
        (None, Some(default)) => Ok(default),
        (None, None) => Err((1, format!("the header does not say {key:?}"))),
    };
    let size = |key: &str| match whole(key, None)? {
        0 => Err((fields[key].0, format!("{key} is 0"))),
        size => usize::try_from(size).map_err(|_| (fields[key].0, format!("{key} is too large"))),
    };
    let line_of = |key: &str| fields.get(key).map_or(1, |(line, _)| *line);
    let element = match whole("data type", None)? {
        1 => Element::U8,
        2 => Element::I16,
        3 => Element::I32,
        4 => Element::F32,
        5 => Element::F64,
        12 => Element::U16,
        13 => Element::U32,
        14 => Element::I64,
        15 => Element::U64,
        6 | 9 => {
            return Err((
                line_of("data type"),
                "complex numbers cannot be clustered: save their moduli".into(),
            ));
        }
        other => return Err((line_of("data type"), format!("data type {other} is not known"))),
    };
    let big_endian = match whole("byte order", Some(0))? {
        0 => false,
        1 => true,
        other => return Err((line_of("byte order"), format!("byte order is 0 or 1, not {other}"))),
    };
    let interleave = match fields.get("interleave").map(|(_, value)| value.to_ascii_lowercase()).as_deref() {
        None | Some("bsq") => Interleave::Bsq,
        Some("bil") => Interleave::Bil,
        Some("bip") => Interleave::Bip,
        Some(other) => {
            return Err((line_of("interleave"), format!("interleave is bsq, bil or bip, not {other:?}")));
        }
    };
    let ignore = match fields.get("data ignore value") {
        None => None,
        Some((line, value)) => match fast_float2::parse(value) {
            Ok(value) => Some(value),
            Err(_) => return Err((*line, format!("data ignore value should be a number, not {value:?}"))),
        },
    };
    let bands = size("bands")?;
    let mut notes = Vec::new();
    let list = |key: &str| -> Option<Vec<&str>> {
        let (_, value) = fields.get(key)?;
        Some(value.split(',').map(str::trim).collect())
    };
    let mut counted = |key: &str| {
        let list = list(key)?;
        if list.len() != bands {
            notes.push(format!("the header lists {} {key} for {bands} bands: they are ignored", list.len()));
            return None;
        }
        Some(list)
    };
    // Only what is listed: nobody knows yet whether there are as many bands as are claimed.
    let bad: BTreeSet<usize> = counted("bbl").map_or(BTreeSet::new(), |list| {
        list.iter().enumerate().filter(|(_, flag)| flag.parse() == Ok(0.0)).map(|(band, _)| band).collect()
    });
    let wavelengths: Option<Vec<f64>> =
        counted("wavelength").and_then(|list| list.iter().map(|word| word.parse().ok()).collect());
    let names = counted("band names").map(|list| list.into_iter().map(str::to_owned).collect());
    if bad.len() == bands {
        return Err((line_of("bbl"), "the header marks all bands as bad (bbl)".into()));
    }
    if !bad.is_empty() {
        notes.push(format!("{} bands that the header marks as bad (bbl) are left out", bad.len()));
    }
    // In nanometres, whatever the header has them in.
    let nanometres =
        match fields.get("wavelength units").map(|(_, unit)| unit.to_ascii_lowercase()).as_deref() {
            Some("micrometers" | "micrometer" | "microns" | "um" | "µm") => 1000.0,
            Some("meters" | "m") => 1e9,
            _ => 1.0,
        };
    let wavelengths = wavelengths.map(|all| all.iter().map(|length| length * nanometres).collect());
    Ok(Header {
        lines: size("lines")?,
        samples: size("samples")?,
        bands,
        offset: usize::try_from(whole("header offset", Some(0))?).unwrap_or(usize::MAX),
        layout: Layout { element, big_endian },
        interleave,
        ignore,
        wavelengths,
        names,
        bad,
        place: GEOGRAPHIC
            .iter()
            .filter_map(|key| Some((key.to_string(), fields.get(*key)?.1.clone())))
            .collect(),
        notes,
    })
}

fn load(source: &Source, header: Header, data: &[u8], options: &Options) -> Result<Loaded> {
    let Header { lines, samples, bands, offset, layout, .. } = header;
    let numbers =
        [samples, bands, layout.element.size()].iter().try_fold(lines, |n, &size| n.checked_mul(size));
    let expected = numbers.and_then(|bytes| bytes.checked_add(offset));
    if expected != Some(data.len()) {
        let promised = expected.map_or("far more".into(), |bytes| bytes.to_string());
        let problem = format!(
            "{lines} x {samples} x {bands} (lines x samples x bands) take {promised} bytes, the file has {}: is the header right?",
            data.len()
        );
        return Err(source.fault(Place::Byte(expected.unwrap_or(usize::MAX).min(data.len()) as u64), problem));
    }
    let data = &data[offset..];
    source.check_room(u128::from(lines as u64) * (samples * bands * 8) as u128, options)?;
    let (matrix, hits) = match layout.element.precision(options) {
        Precision::F32 => pixels::<f32>(&header, data),
        Precision::F64 => pixels::<f64>(&header, data),
    };
    let mut loaded = Loaded::new(matrix, NAME);
    loaded.image = Some(ImageShape { height: lines, width: samples, scan: Scan::Rows });
    loaded.wavelengths = header.wavelengths.map(|all| of_good(all, &header.bad));
    loaded.vocabulary = header.names.map(|all| of_good(all, &header.bad));
    loaded.notes = header.notes;
    loaded.origin = Some(Origin::Envi(header.place));
    loaded.notes.extend(header.ignore.and_then(|value| ignored(value, hits)));
    Ok(loaded)
}

fn of_good<T>(all: Vec<T>, bad: &BTreeSet<usize>) -> Vec<T> {
    all.into_iter().enumerate().filter(|(band, _)| !bad.contains(band)).map(|(_, of)| of).collect()
}

/// The matrix of the good bands, and where it held the value to be ignored.
fn pixels<T: Number>(header: &Header, data: &[u8]) -> (Matrix, (usize, usize)) {
    let &Header { lines, samples, bands, layout, interleave, .. } = header;
    let size = layout.element.size();
    let kept: Vec<usize> = (0..bands).filter(|band| !header.bad.contains(band)).collect();
    let mut values = vec![T::default(); lines * samples * kept.len()];
    let hits = values
        .par_chunks_mut(samples * kept.len())
        .enumerate()
        .map(|(line, row)| {
            let mut decoded: Vec<T> = Vec::with_capacity(samples * bands);
            let mut take = |from: usize, count: usize| {
                layout.decode(&data[from * size..(from + count) * size], &mut decoded)
            };
            match interleave {
                Interleave::Bip | Interleave::Bil => take(line * samples * bands, samples * bands),
                Interleave::Bsq => (0..bands).for_each(|band| take((band * lines + line) * samples, samples)),
            }
            for (sample, pixel) in row.chunks_exact_mut(kept.len()).enumerate() {
                for (to, &band) in pixel.iter_mut().zip(&kept) {
                    *to = match interleave {
                        Interleave::Bip => decoded[sample * bands + band],
                        _ => decoded[band * samples + sample],
                    };
                }
            }
            header.ignore.map_or((0, 0), |ignore| zero_out(row, kept.len(), T::from_f64(ignore)))
        })
        .reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    let matrix =
        Dense::new(lines * samples, kept.len(), values).expect("the count was checked against the file");
    (T::dense(matrix), hits)
}
