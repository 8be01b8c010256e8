//! Writing: a file appears whole or not at all.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::source::{bare_name, strip_ending};
use super::{FORMATS, Format, Loaded};
use crate::error::{Error, Place, Result};
use crate::matrix::Matrix;

/// Writes the matrix, and of labels and names what the format can carry, in the format that the
/// ending of `path` says; a text format followed by `.gz` or `.zst` is compressed.
pub fn write(path: &Path, loaded: &Loaded) -> Result<()> {
    let format = format_for_writing(path)?;
    let write = format.write.expect("only formats that can be written are chosen");
    let companions = format.companions.iter().map(|(ending, list)| {
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(ending);
        (path.with_file_name(name), list(loaded))
    });
    let companions: Vec<_> = companions.collect();
    if let Some((old, _)) = companions.iter().find(|(path, list)| list.is_none() && path.exists()) {
        let problem =
            format!("{} lies beside and would be taken for a part of it: remove it first", old.display());
        return Err(Error::File { path: path.into(), place: Place::Whole, problem });
    }
    for (path, list) in companions {
        if let Some(list) = list {
            write_whole(&path, |out| list.iter().try_for_each(|line| writeln!(out, "{line}")))?;
        }
    }
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
    write_whole(path, |out| {
        if strip_ending(name, ".gz").is_some() {
            let mut packed = flate2::write::GzEncoder::new(out, flate2::Compression::default());
            write(loaded, &mut packed)?;
            packed.finish()?;
        } else if strip_ending(name, ".zst").is_some() {
            let mut packed = zstd::stream::write::Encoder::new(out, 0)?;
            write(loaded, &mut packed)?;
            packed.finish()?;
        } else {
            write(loaded, out)?;
        }
        Ok(())
    })
}

fn format_for_writing(path: &Path) -> Result<&'static Format> {
    let refuse = |problem: String| Err(Error::File { path: path.into(), place: Place::Whole, problem });
    let name = bare_name(path);
    let packed = path.file_name().and_then(|name| name.to_str()) != Some(name);
    let writable = || FORMATS.iter().filter(|format| format.write.is_some());
    match writable().find(|format| format.endings.iter().any(|ending| strip_ending(name, ending).is_some())) {
        Some(format) if packed && format.binary => refuse(format!(
            "{} files are not compressed from outside: leave the last ending out",
            format.name
        )),
        Some(format) => Ok(format),
        None => {
            let endings: Vec<&str> = writable().flat_map(|format| format.endings).copied().collect();
            refuse(format!("the ending does not say which format to write: use one of {}", endings.join(" ")))
        }
    }
}

/// Writes to a file of another name in the same folder and renames it at the end, so that nobody
/// ever sees half a file; after a failure nothing is left.
pub fn write_whole(path: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let failed = |source| Error::Io { path: path.into(), source };
    // A terminal or a pipe cannot be replaced.
    if path.metadata().is_ok_and(|about| !about.is_file() && !about.is_dir()) {
        let mut out = BufWriter::new(File::options().write(true).open(path).map_err(failed)?);
        return write(&mut out).and_then(|()| out.flush()).map_err(failed);
    }
    let Some(name) = path.file_name().filter(|_| !path.is_dir()) else {
        return Err(Error::File {
            path: path.into(),
            place: Place::Whole,
            problem: "is a folder, a file name is wanted".into(),
        });
    };
    let mut attempt = 0;
    let (part, file) = loop {
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}-{attempt}.part", std::process::id()));
        let part = path.with_file_name(hidden);
        match File::create_new(&part) {
            Ok(file) => break (part, file),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && attempt < 1000 => attempt += 1,
            Err(error) => return Err(failed(error)),
        }
    };
    let mut out = BufWriter::with_capacity(1 << 18, file);
    let written = write(&mut out).and_then(|()| out.flush());
    drop(out);
    let renamed = written.and_then(|()| std::fs::rename(&part, path));
    if renamed.is_err() {
        // The first error is the one to tell; the part is removed as well as can be.
        let _ = std::fs::remove_file(&part);
    }
    renamed.map_err(failed)
}

/// Row after row as (column, value): every place if `zeros`, only those that are not zero otherwise.
pub(super) fn visit_rows(
    matrix: &Matrix,
    zeros: bool,
    mut visit: impl FnMut(usize, &[(usize, f64)]) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let mut row: Vec<(usize, f64)> = Vec::new();
    for j in 0..matrix.points() {
        row.clear();
        match matrix {
            Matrix::DenseF32(x) => row.extend(x.point(j).iter().map(|&x| f64::from(x)).enumerate()),
            Matrix::DenseF64(x) => row.extend(x.point(j).iter().copied().enumerate()),
            _ if zeros => row.extend(matrix.point(j).into_iter().enumerate()),
            Matrix::SparseF32(x) => {
                row.extend(x.point(j).0.iter().zip(x.point(j).1).map(|(&c, &x)| (c as usize, f64::from(x))))
            }
            Matrix::SparseF64(x) => {
                row.extend(x.point(j).0.iter().zip(x.point(j).1).map(|(&c, &x)| (c as usize, x)))
            }
        }
        if !zeros {
            row.retain(|&(_, x)| x != 0.0);
        }
        visit(j, &row)?;
    }
    Ok(())
}

/// Whether the matrix is float32, whose numbers need fewer digits.
pub(super) fn single(matrix: &Matrix) -> bool {
    matches!(matrix, Matrix::DenseF32(_) | Matrix::SparseF32(_))
}

/// The shortest digits that read back as the same number.
pub(super) fn put_number(out: &mut dyn Write, x: f64, single: bool) -> std::io::Result<()> {
    if x.is_nan() {
        out.write_all(b"nan")
    } else if x.fract() == 0.0 && x.abs() < 1e15 {
        write!(out, "{}", x as i64)
    } else {
        match ((1e-5..1e15).contains(&x.abs()) || x.is_infinite(), single) {
            (true, true) => write!(out, "{}", x as f32),
            (true, false) => write!(out, "{x}"),
            (false, true) => write!(out, "{:e}", x as f32),
            (false, false) => write!(out, "{x:e}"),
        }
    }
}

/// How many entries are not zero.
pub(super) fn nonzeros(matrix: &Matrix) -> usize {
    fn count<T: Copy + Into<f64>>(values: &[T]) -> usize {
        values.iter().filter(|&&x| x.into() != 0.0).count()
    }
    match matrix {
        Matrix::DenseF32(x) => count(x.data()),
        Matrix::DenseF64(x) => count(x.data()),
        Matrix::SparseF32(x) => count(x.values()),
        Matrix::SparseF64(x) => count(x.values()),
    }
}
