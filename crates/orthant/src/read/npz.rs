//! NumPy .npz: a zip of .npy arrays. scipy.sparse writes its matrices as several arrays of fixed
//! names; otherwise the one matrix in it is read, or the one that is named.

use std::io::{Read, Write};

use zip::ZipArchive;
use zip::write::SimpleFileOptions;

use super::compressed::{Compressed, from_columns, from_rows};
use super::in_place::{Beside, InPlace};
use super::numpy::{Header, put_header};
use super::output::{nonzeros, single, visit_rows};
use super::pieces::{Piece, Pieces};
use super::source::{Seekable, Source};
use super::stored::Stored;
use super::triples::{Bands, Triples, assemble, plausible};
use super::values::{Layout, Number, Short};
use super::{Loaded, Options, Precision};
use crate::error::{Place, Result};
use crate::matrix::{Format, Matrix, Shape};

/// The name in the table of formats.
pub(super) const NAME: &str = "npz";

pub(super) fn recognise(head: &[u8], _path: &std::path::Path) -> bool {
    head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
}

/// What a byte of a compressed file can stand for at most.
const DEFLATED: u128 = 1032;

type Answer<T> = std::result::Result<T, String>;

/// The arrays of the archive by name.
struct Arrays<'a> {
    archive: ZipArchive<Box<dyn Seekable + 'a>>,
    names: Vec<String>,
}

pub(super) fn read(source: &Source, options: &Options) -> Result<Loaded> {
    let fault = |problem: String| source.fault(Place::Whole, problem);
    let mut arrays = open_archive(source)?;
    let is_sparse = arrays.is_sparse(options);
    if let Some(entries) = arrays.header("data").ok().filter(|_| is_sparse).and_then(|header| header.count())
    {
        // Indices come as 64 bits. No archive holds more than so much in a byte, whatever it claims.
        let claimed = u128::from(entries) * (size_of::<i64>() + size_of::<f32>()) as u128;
        source.check_room(claimed.min(u128::from(source.plain_size().unwrap_or(0)) * DEFLATED), options)?;
    }
    let loaded = if is_sparse {
        sparse(&mut arrays, options).map(|matrix| Loaded::new(matrix, NAME))
    } else {
        choose(&mut arrays, options).and_then(|name| one(&mut arrays, &name, options))
    };
    loaded.map_err(fault)
}

/// The arrays as they lie in an archive that is not compressed.
pub(super) fn in_place(source: &Source, options: &Options, turned: bool) -> Result<Option<InPlace>> {
    let fault = |problem: String| source.fault(Place::Whole, problem);
    let mut arrays = open_archive(source)?;
    if !arrays.is_sparse(options) {
        let name = choose(&mut arrays, options).map_err(fault)?;
        let Some((header, layout, stored)) = arrays.stored(source, &name)? else { return Ok(None) };
        let shape = header.matrix_shape().map_err(|problem| fault(format!("array {name}: {problem}")))?;
        return Ok(Some(shape.in_place(stored, layout.element.precision(options), turned, NAME)));
    }
    let format = arrays.format().map_err(fault)?;
    let shape = arrays.integers("shape").map_err(fault)?;
    // Compressed columns are the rows of the other way round.
    let (points, features) = match (format.as_str(), turned, &shape[..]) {
        ("csr", false, &[rows, columns]) => (rows, columns),
        ("csc", true, &[rows, columns]) => (columns, rows),
        _ => return Ok(None),
    };
    let (Ok(points), Ok(features)) = (usize::try_from(points), i32::try_from(features)) else {
        return Ok(None);
    };
    let parts =
        (arrays.stored(source, "indptr")?, arrays.stored(source, "indices")?, arrays.stored(source, "data")?);
    let (Some((_, _, offsets)), Some((_, _, columns)), Some((_, layout, values))) = parts else {
        return Ok(None);
    };
    if offsets.count() != points as u64 + 1 {
        return Ok(None);
    }
    let entries = offsets.integers(points as u64..points as u64 + 1)?[0];
    if entries < 0 || entries as u64 != values.count() || entries as u64 != columns.count() {
        return Ok(None);
    }
    let zeros = values.zeros()?;
    let precision = layout.element.precision(options);
    let shape = Shape {
        points,
        features: features as usize,
        nonzeros: (entries as u64 - zeros) as usize,
        format: if precision == Precision::F32 { Format::F32 } else { Format::F64 },
        sparse: true,
    };
    let piece = Piece::Sparse { offsets, columns, values };
    let pieces = Pieces::new(shape, vec![(points, piece)], None, zeros > 0);
    let beside = Beside { format: NAME, ..Beside::default() };
    Ok(Some(InPlace { source: Box::new(pieces), beside, contiguous: true }))
}

fn open_archive<'a>(source: &'a Source) -> Result<Arrays<'a>> {
    let archive = ZipArchive::new(source.seekable()?).map_err(|error| {
        source.fault(Place::Whole, format!("the zip archive is broken or truncated: {error}"))
    })?;
    let names = archive.file_names_raw().filter_map(|name| std::str::from_utf8(name).ok());
    let names = names.filter_map(|name| name.strip_suffix(".npy")).map(str::to_owned).collect();
    Ok(Arrays { archive, names })
}

impl Arrays<'_> {
    /// Whether it is what scipy.sparse writes.
    fn is_sparse(&self, options: &Options) -> bool {
        let has = |name: &str| self.names.iter().any(|own| own == name);
        options.variable.is_none() && has("format") && has("shape") && has("data")
    }

    /// Where an array lies in the file; none if it is compressed.
    fn stored(&mut self, source: &Source, name: &str) -> Result<Option<(Header, Layout, Stored)>> {
        let fault = |problem: String| source.fault(Place::Whole, format!("array {name}: {problem}"));
        let mut entry =
            self.archive.by_name(&format!("{name}.npy")).map_err(|error| fault(error.to_string()))?;
        let (at, size) = (entry.data_start(), entry.size());
        if entry.compression() != zip::CompressionMethod::Stored || !source.is_on_disk() {
            return Ok(None);
        }
        let Some(at) = at else { return Ok(None) };
        let header = Header::read(&mut entry).map_err(|wrong| fault(wrong.problem))?;
        let layout = header.layout().map_err(fault)?;
        let bytes = header.count().and_then(|count| count.checked_mul(layout.element.size() as u64));
        if bytes.and_then(|bytes| bytes.checked_add(header.data_at() as u64)) != Some(size) {
            return Ok(None);
        }
        let first = at + header.data_at() as u64;
        let stored = Stored::new(source.path(), first, header.count().unwrap_or(0), layout)?;
        Ok(Some((header, layout, stored)))
    }

    /// The name of a sparse format.
    fn format(&mut self) -> Answer<String> {
        self.open("format", |_, reader| {
            let mut text = Vec::new();
            reader.take(16).read_to_end(&mut text).map_err(|error| error.to_string())?;
            // Bytes, or the UTF-32 of a Python string.
            text.retain(|&b| b != 0);
            Ok(String::from_utf8_lossy(&text).into_owned())
        })
    }

    /// Hands the array's header and its numbers, still to be read, to `take`.
    fn open<T>(&mut self, name: &str, take: impl FnOnce(Header, &mut dyn Read) -> Answer<T>) -> Answer<T> {
        let wrong = |problem: String| format!("array {name}: {problem}");
        let entry = self.archive.by_name(&format!("{name}.npy"));
        let mut entry = entry.map_err(|error| wrong(error.to_string()))?;
        let header = Header::read(&mut entry).map_err(|fault| wrong(fault.problem))?;
        take(header, &mut entry).map_err(wrong)
    }

    fn header(&mut self, name: &str) -> Answer<Header> {
        self.open(name, |header, _| Ok(header))
    }

    fn values<T: Number>(&mut self, name: &str) -> Answer<Vec<T>> {
        self.open(name, |header, reader| take_all(&header, header.layout()?, reader))
    }

    /// Indices: whole numbers of a one-dimensional array.
    fn integers(&mut self, name: &str) -> Answer<Vec<i64>> {
        self.open(name, |header, reader| {
            let layout = header.layout()?;
            if header.shape.len() != 1 {
                return Err(format!("{} where a list is wanted", header.shape_text()));
            }
            let count = header.count().ok_or("its size overflows")?;
            let mut bytes = Vec::new();
            let size = layout.element.size() as u64;
            let wanted = count.checked_mul(size).ok_or("its size overflows")?;
            reader.take(wanted).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
            if (bytes.len() as u64) < wanted {
                return Err(format!("ends after {} of {wanted} bytes: it is truncated", bytes.len()));
            }
            at_end(reader)?;
            Ok(layout.integers(&bytes))
        })
    }
}

fn take_all<T: Number>(header: &Header, layout: Layout, reader: &mut dyn Read) -> Answer<Vec<T>> {
    let count = header.count().ok_or("its size overflows")?;
    let values = layout.read(&mut *reader, count, false).map_err(|Short { bytes, error }| match error {
        Some(error) => error.to_string(),
        None => format!(
            "{} numbers are promised, it ends after {bytes} bytes: it is truncated",
            header.shape_text()
        ),
    })?;
    at_end(reader)?;
    Ok(values)
}

/// Nothing may follow; reading the end also verifies the checksum.
fn at_end(reader: &mut dyn Read) -> Answer<()> {
    match reader.read(&mut [0]) {
        Ok(0) => Ok(()),
        Ok(_) => Err("something follows its numbers".into()),
        Err(error) => Err(error.to_string()),
    }
}

/// The array that was named, or the only matrix.
fn choose(arrays: &mut Arrays, options: &Options) -> Answer<String> {
    let names = arrays.names.clone();
    if let Some(name) = &options.variable {
        let listed = || format!("no array is called {name:?}: there are {}", names.join(", "));
        return names.iter().find(|own| *own == name).cloned().ok_or_else(listed);
    }
    let mut matrices = Vec::new();
    for name in &names {
        let header = arrays.header(name)?;
        if matches!(header.shape.len(), 2 | 3) && header.layout().is_ok() {
            matrices.push((name.clone(), header.shape_text()));
        }
    }
    match &matrices[..] {
        [(name, _)] => Ok(name.clone()),
        // Its reader says best why it is no matrix.
        [] if names.len() == 1 => Ok(names[0].clone()),
        [] => Err(format!("none of its arrays is a matrix of numbers ({})", names.join(", "))),
        several => {
            let list: Vec<String> = several.iter().map(|(name, shape)| format!("{name} ({shape})")).collect();
            Err(format!("several matrices: say which variable is meant, {}", list.join(", ")))
        }
    }
}

fn one(arrays: &mut Arrays, name: &str, options: &Options) -> Answer<Loaded> {
    arrays.open(name, |header, reader| {
        let layout = header.layout()?;
        let shape = header.matrix_shape()?;
        let matrix = match layout.element.precision(options) {
            Precision::F32 => shape.matrix(take_all::<f32>(&header, layout, reader)?),
            Precision::F64 => shape.matrix(take_all::<f64>(&header, layout, reader)?),
        };
        Ok(shape.loaded(matrix, NAME))
    })
}

fn sparse(arrays: &mut Arrays, options: &Options) -> Answer<Matrix> {
    let format = arrays.format()?;
    let shape = arrays.integers("shape")?;
    let &[rows, columns] = &shape[..] else {
        return Err(format!("a sparse array of {} dimensions: a matrix is wanted", shape.len()));
    };
    let (Ok(rows), Ok(columns)) = (u64::try_from(rows), u64::try_from(columns)) else {
        return Err(format!("a shape of {rows} x {columns}"));
    };
    let layout = arrays.header("data")?.layout().map_err(|problem| format!("array data: {problem}"))?;
    let precision = layout.element.precision(options);
    match format.as_str() {
        "csr" | "csc" => {
            let lines = if format == "csr" { rows } else { columns };
            match precision {
                Precision::F32 => lines_of::<f32>(arrays, &format, lines, rows, columns),
                Precision::F64 => lines_of::<f64>(arrays, &format, lines, rows, columns),
            }
        }
        "coo" => coordinates(arrays, rows, columns, precision),
        other => Err(format!("a sparse matrix in format {other:?}: save it with x.tocsr()")),
    }
}

fn lines_of<T: Number>(
    arrays: &mut Arrays,
    format: &str,
    lines: u64,
    rows: u64,
    columns: u64,
) -> Answer<Matrix> {
    let offsets = arrays.integers("indptr")?;
    if (offsets.len() as u64).checked_sub(1) != Some(lines) {
        return Err(format!("array indptr has {} numbers, shape promises {lines} + 1", offsets.len()));
    }
    let given =
        Compressed { offsets, indices: arrays.integers("indices")?, values: arrays.values::<T>("data")? };
    if format == "csr" { from_rows(given, columns) } else { from_columns(given, rows) }
}

fn coordinates(arrays: &mut Arrays, rows: u64, columns: u64, precision: Precision) -> Answer<Matrix> {
    let (i, j, values) = (arrays.integers("row")?, arrays.integers("col")?, arrays.values::<f64>("data")?);
    if i.len() != values.len() || j.len() != values.len() {
        return Err(format!("{} rows and {} columns for {} values", i.len(), j.len(), values.len()));
    }
    if columns > i32::MAX as u64 || !plausible(rows, values.len() as u64) {
        return Err(format!("a shape of {rows} x {columns} for {} entries is hardly meant", values.len()));
    }
    let mut entries = Triples::with_capacity(values.len());
    for ((&row, &column), value) in i.iter().zip(&j).zip(values) {
        if row < 0 || row as u64 >= rows || column < 0 || column as u64 >= columns {
            return Err(format!("row {row}, column {column} (from 0) lies outside {rows} x {columns}"));
        }
        entries.push(row as u32, column as u32, value);
    }
    let entries = entries.into_bands(Bands::new(rows as usize));
    assemble(rows as usize, columns as usize, &[entries], precision).map_err(|twice| {
        let (row, column) = (twice.row, twice.column);
        format!("row {row}, column {column} (from 0) is given twice: call sum_duplicates() before saving")
    })
}

/// Takes everything after its first failure: an archive that is given up is finished when it is dropped, and the library would
/// print that it could not be.
struct FailsOnce<'a> {
    out: &'a mut dyn Write,
    failed: bool,
}

impl FailsOnce<'_> {
    fn once<T>(
        &mut self,
        done: T,
        act: impl FnOnce(&mut dyn Write) -> std::io::Result<T>,
    ) -> std::io::Result<T> {
        if self.failed {
            return Ok(done);
        }
        let result = act(self.out);
        self.failed = result.as_ref().is_err_and(|error| error.kind() != std::io::ErrorKind::Interrupted);
        result
    }
}

impl Write for FailsOnce<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.once(bytes.len(), |out| out.write(bytes))
    }
    fn flush(&mut self) -> std::io::Result<()> {
        self.once((), |out| out.flush())
    }
}

/// As scipy.sparse.save_npz writes compressed rows.
pub(super) fn write(loaded: &Loaded, out: &mut dyn Write) -> std::io::Result<()> {
    let matrix = &loaded.matrix;
    let (n, m, single, entries) = (matrix.points(), matrix.features(), single(matrix), nonzeros(matrix));
    let mut zip = zip::ZipWriter::new_stream(FailsOnce { out, failed: false });
    // Large: the size of an entry is only known once it was written.
    let options =
        SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated).large_file(true);

    let wide = entries > i32::MAX as usize;
    let index =
        |x: usize| if wide { (x as i64).to_le_bytes().to_vec() } else { (x as i32).to_le_bytes().to_vec() };
    let index_kind = if wide { "<i8" } else { "<i4" };
    let list = |count: usize| format!("({count},)");

    zip.start_file("indices.npy", options)?;
    put_header(&mut zip, index_kind, &list(entries))?;
    visit_rows(matrix, false, |_, row| {
        row.iter().try_for_each(|&(column, _)| zip.write_all(&index(column)))
    })?;
    zip.start_file("indptr.npy", options)?;
    put_header(&mut zip, index_kind, &list(n + 1))?;
    let mut end = 0;
    zip.write_all(&index(0))?;
    visit_rows(matrix, false, |_, row| {
        end += row.len();
        zip.write_all(&index(end))
    })?;
    zip.start_file("format.npy", options)?;
    put_header(&mut zip, "|S3", "()")?;
    zip.write_all(b"csr")?;
    zip.start_file("shape.npy", options)?;
    put_header(&mut zip, "<i8", "(2,)")?;
    zip.write_all(&(n as i64).to_le_bytes())?;
    zip.write_all(&(m as i64).to_le_bytes())?;
    zip.start_file("data.npy", options)?;
    put_header(&mut zip, if single { "<f4" } else { "<f8" }, &list(entries))?;
    visit_rows(matrix, false, |_, row| {
        row.iter().try_for_each(|&(_, x)| match single {
            true => zip.write_all(&(x as f32).to_le_bytes()),
            false => zip.write_all(&x.to_le_bytes()),
        })
    })?;
    zip.finish()?;
    Ok(())
}
