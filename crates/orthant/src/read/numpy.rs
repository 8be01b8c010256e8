//! NumPy .npy: a magic, a header that is a Python dictionary, then the numbers in C or Fortran order.

use std::io::{Read, Write};

use super::cursor::Fault;
use super::in_place::{Beside, InPlace};
use super::output::visit_rows;
use super::pieces::{Arrangement, Piece, Pieces, dense_shape};
use super::source::Source;
use super::stored::Stored;
use super::values::{Element, Layout, Number, Order, Short, dense};
use super::{Loaded, Options, Precision};
use crate::error::{Error, Place, Result};
use crate::image::{ImageShape, Scan};
use crate::matrix::{AnyPoints, Matrix};

/// The name in the table of formats.
pub(super) const NAME: &str = "npy";
const MAGIC: &[u8] = b"\x93NUMPY";
/// Real headers have about a hundred bytes; numpy itself refuses ones above this by default.
const LONGEST_HEADER: usize = 10_000;

pub(super) fn recognise(head: &[u8], _path: &std::path::Path) -> bool {
    head.starts_with(MAGIC)
}

/// What an .npy header says.
#[derive(Debug)]
pub(super) struct Header {
    kind: String,
    columns_first: bool,
    pub shape: Vec<u64>,
    /// Where the numbers begin.
    data_at: usize,
}

impl Header {
    pub fn read(reader: &mut dyn Read) -> std::result::Result<Header, Fault> {
        let fault = |at: usize, problem: &str| Fault { at, problem: problem.into() };
        let mut take = |count: usize, at: usize| {
            let mut bytes = Vec::new();
            match reader.take(count as u64).read_to_end(&mut bytes) {
                Ok(read) if read == count => Ok(bytes),
                Ok(read) => Err(fault(at + read, "the file ends inside its header: it is truncated")),
                Err(error) => Err(fault(at, &format!("the header cannot be read: {error}"))),
            }
        };
        if take(6, 0)? != MAGIC {
            return Err(fault(0, "this is no .npy file: its first bytes are not \\x93NUMPY"));
        }
        let start = take(4, 6)?;
        let (mut at, mut length) = (10, usize::from(u16::from_le_bytes([start[2], start[3]])));
        match start[0] {
            1 => {}
            2 | 3 => {
                let more = take(2, at)?;
                length |= usize::from(u16::from_le_bytes([more[0], more[1]])) << 16;
                at += 2;
            }
            version => return Err(fault(6, &format!("version {version} of .npy is not known: 1 to 3 are"))),
        }
        if length > LONGEST_HEADER {
            return Err(fault(8, &format!("a header of {length} bytes is hardly meant")));
        }
        let text = take(length, at)?;
        let dictionary = String::from_utf8_lossy(&text);
        let mut header = parse_dictionary(&dictionary)
            .ok_or_else(|| fault(at, "the header is no dictionary of descr, fortran_order and shape"))?;
        header.data_at = at + length;
        Ok(header)
    }

    /// Where the numbers begin.
    pub fn data_at(&self) -> usize {
        self.data_at
    }

    /// Whether it is an array of this shape, the last index fastest.
    pub fn is_plain(&self, shape: &[u64]) -> bool {
        self.shape == shape && (!self.columns_first || shape.len() == 1)
    }

    /// The element type, or why there is none that could be clustered.
    pub fn layout(&self) -> std::result::Result<Layout, String> {
        let refuse = |what: &str, advice: &str| Err(format!("an array of {what} ({}): {advice}", self.kind));
        let (order, code) = match self.kind.as_bytes() {
            [b'[', ..] => return refuse("records", "save the numeric fields as a plain array"),
            [order @ (b'<' | b'>' | b'|' | b'='), code @ ..] => (*order, code),
            code => (b'=', code),
        };
        let element = match code {
            b"b1" | b"u1" | b"?" | b"B" => Element::U8,
            b"i1" => Element::I8,
            b"i2" => Element::I16,
            b"u2" => Element::U16,
            b"i4" => Element::I32,
            b"u4" => Element::U32,
            b"i8" => Element::I64,
            b"u8" => Element::U64,
            b"f2" => Element::F16,
            b"f4" => Element::F32,
            b"f8" => Element::F64,
            [b'f', ..] => return refuse("long doubles", "save it with .astype('float64')"),
            [b'c', ..] => return refuse("complex numbers", "save its moduli, np.abs(x)"),
            [b'O', ..] => return refuse("Python objects", "save it with .astype('float64')"),
            [b'U' | b'S' | b'a', ..] => return refuse("strings", "save numbers, .astype('float64')"),
            _ => return refuse("an unknown type", "save it with .astype('float64')"),
        };
        Ok(Layout { element, big_endian: order == b'>' })
    }

    /// How many numbers there are, unless the product of the shape overflows.
    pub fn count(&self) -> Option<u64> {
        self.shape.iter().try_fold(1u64, |product, &size| product.checked_mul(size))
    }

    pub fn shape_text(&self) -> String {
        self.shape.iter().map(u64::to_string).collect::<Vec<_>>().join(" x ")
    }

    /// What the array is as points and features, or why it is no matrix.
    pub fn matrix_shape(&self) -> std::result::Result<Shape, String> {
        Shape::of(&self.shape, self.columns_first)
    }
}

/// An array as points and features.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    points: usize,
    features: usize,
    order: Order,
    image: Option<ImageShape>,
    /// Every point is such a picture.
    each: Option<ImageShape>,
}

impl Shape {
    /// What an array is as points and features, or why it is no matrix. Three dimensions are a cube of
    /// height x width x bands; if only the last two are equal, pictures one after the other.
    pub fn of(sizes: &[u64], columns_first: bool) -> std::result::Result<Shape, String> {
        let (order, scan) =
            if columns_first { (Order::Columns, Scan::Columns) } else { (Order::Rows, Scan::Rows) };
        let image =
            |height: u64, width: u64| ImageShape { height: height as usize, width: width as usize, scan };
        let matrix = |points: Option<u64>, features: Option<u64>| {
            let (points, features) =
                (points.ok_or("its size overflows")?, features.ok_or("its size overflows")?);
            Ok(Shape { points: points as usize, features: features as usize, order, image: None, each: None })
        };
        match *sizes {
            [rows, columns] => matrix(Some(rows), Some(columns)),
            [] => Err("a single number, where points in rows and features in columns are wanted".into()),
            [n] => Err(format!("a one-dimensional array of {n} numbers: reshape it to points x features")),
            [count, height, width] if height == width && count != height => {
                let shape = matrix(Some(count), height.checked_mul(width))?;
                Ok(Shape { each: Some(image(height, width)), ..shape })
            }
            [height, width, bands] => {
                let shape = matrix(height.checked_mul(width), Some(bands))?;
                Ok(Shape { image: Some(image(height, width)), ..shape })
            }
            _ => Err(format!("an array of {} dimensions: reshape it to points x features", sizes.len())),
        }
    }

    /// Its numbers as they stand in the file.
    pub fn matrix<T: Number>(&self, values: Vec<T>) -> Matrix {
        dense(self.points, self.features, values, self.order)
    }

    /// The numbers where they lie, with what the shape says about them.
    pub fn in_place(
        &self,
        stored: Stored,
        precision: Precision,
        turned: bool,
        format: &'static str,
    ) -> InPlace {
        let (points, features) =
            if turned { (self.features, self.points) } else { (self.points, self.features) };
        let by_points = (self.order == Order::Rows) != turned;
        let arrangement = if by_points { Arrangement::Points } else { Arrangement::Features(points) };
        let shape = dense_shape(points, features, precision);
        let source = Pieces::new(shape, vec![(points, Piece::Dense(stored, arrangement))], None, false);
        let mut beside = Beside { format, notes: self.notes(), ..Beside::default() };
        (beside.image, beside.feature_image) =
            if turned { (self.each, self.image) } else { (self.image, self.each) };
        InPlace { source: Box::new(source), beside, contiguous: by_points }
    }

    /// What a reader should know.
    fn notes(&self) -> Vec<String> {
        let (points, features) = (self.points, self.features);
        let cube = |ImageShape { height, width, .. }: ImageShape| {
            format!("read as an image of {height} x {width} pixels with {features} bands")
        };
        let pictures = |ImageShape { height, width, .. }: ImageShape| {
            format!("read as {points} pictures of {height} x {width} pixels")
        };
        self.image.map(cube).into_iter().chain(self.each.map(pictures)).collect()
    }

    /// The matrix with what the shape says about it.
    pub fn loaded(&self, matrix: Matrix, format: &'static str) -> Loaded {
        let (image, feature_image, notes) = (self.image, self.each, self.notes());
        Loaded { image, feature_image, notes, ..Loaded::new(matrix, format) }
    }
}

/// `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`
fn parse_dictionary(text: &str) -> Option<Header> {
    let value = |key: &str| {
        let at = [format!("'{key}'"), format!("\"{key}\"")]
            .iter()
            .find_map(|key| Some(text.find(key)? + key.len()))?;
        Some(text[at..].trim_start().strip_prefix(':')?.trim_start())
    };
    let descr = value("descr")?;
    let kind = match descr.chars().next()? {
        quote @ ('\'' | '"') => descr[1..].split(quote).next()?.to_owned(),
        '[' => "[...]".to_owned(),
        _ => return None,
    };
    let columns_first = match value("fortran_order")? {
        order if order.starts_with("True") => true,
        order if order.starts_with("False") => false,
        _ => return None,
    };
    let shape = value("shape")?.strip_prefix('(')?.split(')').next()?;
    let sizes =
        shape.split(',').map(|size| size.trim().trim_end_matches('L')).filter(|size| !size.is_empty());
    let shape = sizes.map(|size| size.parse().ok()).collect::<Option<Vec<u64>>>()?;
    Some(Header { kind, columns_first, shape, data_at: 0 })
}

pub(super) fn read(source: &Source, options: &Options) -> Result<Loaded> {
    let mut reader = source.reader()?;
    let header = read_header(source, &mut reader)?;
    let fault = |problem: String| source.fault(Place::Byte(10), problem);
    let layout = header.layout().map_err(fault)?;
    let shape = header.matrix_shape().map_err(fault)?;
    let matrix = match layout.element.precision(options) {
        Precision::F32 => shape.matrix(values::<f32>(source, reader, &header, layout, options)?),
        Precision::F64 => shape.matrix(values::<f64>(source, reader, &header, layout, options)?),
    };
    Ok(shape.loaded(matrix, NAME))
}

/// The file as it lies: any order of its numbers will do.
pub(super) fn in_place(source: &Source, options: &Options, turned: bool) -> Result<Option<InPlace>> {
    let header = read_header(source, &mut source.reader()?)?;
    let fault = |problem: String| source.fault(Place::Byte(10), problem);
    let layout = header.layout().map_err(fault)?;
    let shape = header.matrix_shape().map_err(fault)?;
    let there = source.plain_size().unwrap_or(0).saturating_sub(header.data_at as u64);
    let bytes = header.count().and_then(|count| count.checked_mul(layout.element.size() as u64));
    if bytes != Some(there) {
        // Its reader says best what is wrong.
        return Ok(None);
    }
    let stored = Stored::new(source.path(), header.data_at as u64, header.count().unwrap_or(0), layout)?;
    Ok(Some(shape.in_place(stored, layout.element.precision(options), turned, NAME)))
}

/// Rows of numbers (of numpy's kind, `<f4` say) from a byte of a file on, where they lie: what a map of a file shows.
pub fn open_raw(
    path: &std::path::Path,
    at: u64,
    kind: &str,
    [points, features]: [usize; 2],
) -> Result<Box<dyn crate::matrix::Source>> {
    let shape = vec![points as u64, features as u64];
    let header = Header { kind: kind.into(), columns_first: false, shape, data_at: 0 };
    let fault = |problem: String| Error::File { path: path.into(), place: Place::Whole, problem };
    let layout = header.layout().map_err(fault)?;
    let count = header.count().ok_or_else(|| fault("its size overflows".into()))?;
    let shape = header.matrix_shape().map_err(fault)?;
    let stored = Stored::new(path, at, count, layout)?;
    Ok(shape.in_place(stored, layout.element.precision(&Options::default()), false, NAME).source)
}

/// A list of numbers: a one-dimensional array, or a single row or column.
pub(super) fn read_list(source: &Source) -> Result<Vec<f64>> {
    let mut reader = source.reader()?;
    let header = read_header(source, &mut reader)?;
    let layout = header.layout().map_err(|problem| source.fault(Place::Byte(10), problem))?;
    if header.shape.iter().filter(|&&size| size != 1).count() > 1 {
        let problem = format!("an array of {}: a list with one number each is wanted", header.shape_text());
        return Err(source.fault(Place::Byte(10), problem));
    }
    values(source, reader, &header, layout, &Options::default())
}

fn read_header(source: &Source, reader: &mut dyn Read) -> Result<Header> {
    Header::read(reader).map_err(|fault| source.fault(Place::Byte(fault.at as u64), fault.problem))
}

/// The numbers behind the header, and nothing behind them.
fn values<T: Number>(
    source: &Source,
    mut reader: impl Read,
    header: &Header,
    layout: Layout,
    options: &Options,
) -> Result<Vec<T>> {
    let size = layout.element.size() as u64;
    let bytes = header.count().and_then(|count| count.checked_mul(size));
    let there = source.plain_size().map(|size| size.saturating_sub(header.data_at as u64));
    let wrong = |at: u64, there: u64| -> Error {
        let promised = bytes.map_or("far more bytes".into(), |bytes| format!("{bytes} bytes"));
        let problem = format!("{} numbers take {promised}, {there} are there", header.shape_text());
        let advice = if bytes.is_some_and(|bytes| bytes < there) {
            "something follows them"
        } else {
            "the file is truncated"
        };
        source.fault(Place::Byte(at), format!("{problem}: {advice}"))
    };
    if let Some(there) = there.filter(|&there| Some(there) != bytes) {
        return Err(wrong(header.data_at as u64 + bytes.unwrap_or(there).min(there), there));
    }
    let count = header.count().unwrap_or(u64::MAX);
    if there.is_some() {
        source.check_room(u128::from(count) * size_of::<T>() as u128, options)?;
    }
    let values =
        layout.read(&mut reader, count, there.is_some()).map_err(|Short { bytes, error }| match error {
            Some(error) => source.failed(error),
            None => wrong(header.data_at as u64 + bytes, bytes),
        })?;
    match reader.read(&mut [0]) {
        Ok(0) => Ok(values),
        Ok(_) => Err(wrong(header.data_at as u64 + bytes.unwrap_or(0), bytes.unwrap_or(0).saturating_add(1))),
        Err(error) => Err(source.failed(error)),
    }
}

/// A header for numbers in C order, padded so that they begin at a multiple of 64 bytes.
pub(super) fn put_header(out: &mut dyn Write, kind: &str, shape: &str) -> std::io::Result<()> {
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    while !(MAGIC.len() + 4 + text.len() + 1).is_multiple_of(64) {
        text.push(' ');
    }
    text.push('\n');
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&(text.len() as u16).to_le_bytes())?;
    out.write_all(text.as_bytes())
}

/// A list of numbers as a one-dimensional array.
pub fn write_list(numbers: &[f64], out: &mut dyn Write) -> std::io::Result<()> {
    put_header(out, "<f8", &format!("({},)", numbers.len()))?;
    numbers.iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))
}

/// Dense points as they come, a few at a time; `before` is called with the number of the first of them.
pub fn write_points(
    source: &dyn crate::matrix::Source,
    out: &mut dyn Write,
    before: &mut dyn FnMut(usize),
) -> std::io::Result<()> {
    let shape = source.shape();
    let single = shape.format == crate::matrix::Format::F32;
    put_header(out, if single { "<f4" } else { "<f8" }, &format!("({}, {})", shape.points, shape.features))?;
    let together = ((16 << 20) / (shape.features * 8).max(1)).max(1);
    for from in (0..shape.points).step_by(together) {
        before(from);
        let points =
            source.points(from..(from + together).min(shape.points)).map_err(std::io::Error::other)?;
        match &points {
            AnyPoints::DenseF32(x) if cfg!(target_endian = "little") => {
                out.write_all(bytemuck::cast_slice(x.data()))?
            }
            AnyPoints::DenseF64(x) if cfg!(target_endian = "little") => {
                out.write_all(bytemuck::cast_slice(x.data()))?
            }
            AnyPoints::DenseF32(x) => x.data().iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))?,
            AnyPoints::DenseF64(x) => x.data().iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))?,
            _ => return Err(std::io::Error::other("sparse points are written into a block folder")),
        }
        source.take_back(points);
    }
    Ok(())
}

/// Dense, C order, float32 or float64; a sparse matrix is written with its zeros.
pub(super) fn write(loaded: &Loaded, out: &mut dyn Write) -> std::io::Result<()> {
    let matrix = &loaded.matrix;
    let single = matches!(matrix, Matrix::DenseF32(_) | Matrix::SparseF32(_));
    let shape = format!("({}, {})", matrix.points(), matrix.features());
    put_header(out, if single { "<f4" } else { "<f8" }, &shape)?;
    visit_rows(matrix, true, |_, row| {
        row.iter().try_for_each(|&(_, x)| match single {
            true => out.write_all(&(x as f32).to_le_bytes()),
            false => out.write_all(&x.to_le_bytes()),
        })
    })
}
