//! Writing: a file appears whole or not at all, and files that belong together appear together.

mod kept;
mod stage;

use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

pub use kept::Kept;
pub(super) use stage::{BLOCKS_SEAL, make_folders};
pub use stage::{SEAL, Stage, Traces, is_part, settle};

use super::source::{bare_name, strip_ending};
use super::{FORMATS, Format, Loaded};
use crate::error::{Error, Place, Result};
use crate::matrix::Matrix;

/// Bytes that are written at once.
const BUFFER: usize = 1 << 18;

/// Writes the matrix, and of labels and names what the format can carry, in the format that the
/// ending of `path` says; a text format followed by `.gz` or `.zst` is compressed. What was there is replaced.
pub fn write(path: &Path, loaded: &Loaded) -> Result<()> {
    if is_special(path) {
        let format = format_for_writing(path)?;
        return write_whole(path, |out| encode(format, path, loaded, out));
    }
    let name = file_name(path)?;
    let stage = Stage::open(folder_of(path), &[name], false)?;
    write_staged(&stage, path, loaded)?;
    stage.commit(true)
}

/// The same into a stage, which is of the folder of `path`.
pub fn write_staged(stage: &Stage, path: &Path, loaded: &Loaded) -> Result<()> {
    let format = format_for_writing(path)?;
    let refuse = |problem: String| Err(Error::File { path: path.into(), place: Place::Whole, problem });
    for (beside, (ending, list)) in companions(path)?.into_iter().zip(format.companions) {
        match list(loaded) {
            Some(list) => {
                if let Some(at) = list.iter().position(|line| line.contains(['\n', '\r'])) {
                    let place = at + 1;
                    return refuse(format!("name {place} has a line break, which {ending} cannot hold"));
                }
                let name = beside.file_name().unwrap_or_default();
                stage.write(name, |out| list.iter().try_for_each(|line| writeln!(out, "{line}")))?;
            }
            None if beside.exists() => {
                let beside = beside.display();
                return refuse(format!(
                    "{beside} lies beside and would be taken for a part of it: remove it first"
                ));
            }
            None => {}
        }
    }
    stage.write(file_name(path)?, |out| encode(format, path, loaded, out))
}

/// Files beside `path` that belong to it in its format, whether or not they are there.
pub fn companions(path: &Path) -> Result<Vec<PathBuf>> {
    let own = file_name(path)?;
    let beside = |ending: &&str| {
        let mut name = own.to_os_string();
        name.push(ending);
        path.with_file_name(name)
    };
    Ok(format_for_writing(path)?.companions.iter().map(|(ending, _)| beside(ending)).collect())
}

fn encode(format: &Format, path: &Path, loaded: &Loaded, out: &mut dyn Write) -> std::io::Result<()> {
    let write = format.write.expect("only formats that can be written are chosen");
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
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

/// A terminal or a pipe: it is written to, not replaced.
pub fn is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| !about.is_file() && !about.is_dir())
}

/// The folder in which a file is to stand.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn file_name(path: &Path) -> Result<&OsStr> {
    path.file_name().filter(|_| !path.is_dir()).ok_or_else(|| Error::File {
        path: path.into(),
        place: Place::Whole,
        problem: "is a folder, a file name is wanted".into(),
    })
}

/// Writes to a file of another name in the same folder and renames it at the end, so that nobody
/// ever sees half a file; after a failure nothing is left. What was there is replaced.
///
/// The system may still have to put it on its disk: after a loss of power the file may be the old one or none.
pub fn write_whole(path: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let failed = |source| Error::Io { path: path.into(), source };
    if is_special(path) {
        let mut out = BufWriter::new(File::options().write(true).open(path).map_err(failed)?);
        return write(&mut out).and_then(|()| out.flush()).map_err(failed);
    }
    file_name(path)?;
    let (part, file) = begin_part(folder_of(path)).map_err(failed)?;
    let mut out = BufWriter::with_capacity(BUFFER, file);
    let written = write(&mut out).and_then(|()| out.flush());
    // The lock is held until the file has its name: nobody takes it for a leftover.
    let renamed = written.and_then(|()| std::fs::rename(&part, path));
    if renamed.is_err() {
        // The first error is the one to tell; the part is removed as well as can be.
        let _ = std::fs::remove_file(&part);
    }
    renamed.map_err(failed)
}

/// A file in the making, locked as long as it is open.
fn begin_part(folder: &Path) -> std::io::Result<(PathBuf, File)> {
    loop {
        let part = folder.join(stage::unique_name());
        let file = match File::create_new(&part) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            other => other?,
        };
        // Another run may have been faster and taken it for a leftover. Where there are no locks, none does.
        if !matches!(file.try_lock(), Err(TryLockError::WouldBlock)) && part.exists() {
            return Ok((part, file));
        }
    }
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
