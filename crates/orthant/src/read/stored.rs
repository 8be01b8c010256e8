//! An array of numbers as it lies in a file, read a range at a time by plain reads: pages that are mapped would count as
//! used memory where jobs are limited. A file that changes while it is in use is found out and refused.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use super::values::{Layout, Number};
use crate::error::{Error, Place, Result};

/// Bytes that are read at a time where numbers must be converted.
const PIECE: usize = 1 << 20;

/// What tells that a file is no longer the one that was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    changed: Option<SystemTime>,
}

impl Stamp {
    fn of(about: &Metadata) -> Stamp {
        Stamp { bytes: about.len(), changed: about.modified().ok() }
    }
}

/// Numbers in a file, one after the other.
#[derive(Debug)]
pub(crate) struct Stored {
    path: PathBuf,
    /// Where the first one begins.
    at: u64,
    count: u64,
    layout: Layout,
    stamp: Stamp,
    /// The checksum of the whole file, until it was found to be right.
    checksum: Option<u32>,
    checked: AtomicBool,
}

impl Stored {
    /// `count` numbers from byte `at` on, which must be there.
    pub fn new(path: &Path, at: u64, count: u64, layout: Layout) -> Result<Stored> {
        let about = std::fs::metadata(path).map_err(|source| Error::Io { path: path.into(), source })?;
        let stamp = Stamp::of(&about);
        let end = count.checked_mul(layout.element.size() as u64).and_then(|bytes| bytes.checked_add(at));
        if !about.is_file() || end.is_none_or(|end| end > stamp.bytes) {
            let problem =
                format!("{} bytes are fewer than its header promises: it is truncated", stamp.bytes);
            return Err(Error::File { path: path.into(), place: Place::Whole, problem });
        }
        let checked = AtomicBool::new(true);
        Ok(Stored { path: path.into(), at, count, layout, stamp, checksum: None, checked })
    }

    /// The same, to be compared with a checksum (CRC-32) of the whole file before its first use.
    pub fn with_checksum(self, checksum: u32) -> Stored {
        Stored { checksum: Some(checksum), checked: AtomicBool::new(false), ..self }
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    fn changed(&self) -> Error {
        let problem = "has changed or shrunk since it was opened: begin again when nobody writes it".into();
        Error::File { path: self.path.clone(), place: Place::Whole, problem }
    }

    fn failed(&self, error: io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => self.changed(),
            _ => Error::Io { path: self.path.clone(), source: error },
        }
    }

    fn open(&self) -> Result<File> {
        let file = File::open(&self.path).map_err(|error| self.failed(error))?;
        if let Some(wanted) = self.checksum
            && !self.checked.load(Ordering::Relaxed)
        {
            let found = checksum(&mut &file).map_err(|error| self.failed(error))?;
            if found != wanted {
                let problem = format!(
                    "its checksum is {found:08x}, not {wanted:08x}: it was damaged or replaced; write the folder again"
                );
                return Err(Error::File { path: self.path.clone(), place: Place::Whole, problem });
            }
            self.checked.store(true, Ordering::Relaxed);
        }
        Ok(file)
    }

    /// Whether the file is still the one that was opened; asked after reading.
    fn unchanged(&self, file: &File) -> Result<()> {
        let now = file.metadata().map_err(|error| self.failed(error))?;
        if Stamp::of(&now) == self.stamp { Ok(()) } else { Err(self.changed()) }
    }

    /// Some of the numbers, into `to`, which has as many.
    pub fn read<T: Number>(&self, range: Range<u64>, to: &mut [T]) -> Result<()> {
        let file = self.open()?;
        let size = self.layout.element.size();
        let mut at = self.at + range.start * size as u64;
        if self.layout == T::NATIVE && cfg!(target_endian = "little") {
            read_at(&file, bytemuck::cast_slice_mut(to), at).map_err(|error| self.failed(error))?;
        } else {
            let mut bytes = vec![0; PIECE.min(to.len() * size)];
            let mut decoded: Vec<T> = vec![];
            for piece in to.chunks_mut(PIECE / size) {
                let bytes = &mut bytes[..piece.len() * size];
                read_at(&file, bytes, at).map_err(|error| self.failed(error))?;
                at += bytes.len() as u64;
                decoded.clear();
                self.layout.decode(bytes, &mut decoded);
                piece.copy_from_slice(&decoded);
            }
        }
        self.unchanged(&file)
    }

    /// How many of them are zero.
    pub fn zeros(&self) -> Result<u64> {
        let mut numbers = vec![0f64; PIECE];
        let mut zeros = 0;
        for start in (0..self.count).step_by(PIECE) {
            let count = (self.count - start).min(PIECE as u64);
            let numbers = &mut numbers[..count as usize];
            self.read(start..start + count, numbers)?;
            zeros += numbers.iter().filter(|x| **x == 0.0).count() as u64;
        }
        Ok(zeros)
    }

    /// Some of the numbers as whole ones.
    pub fn integers(&self, range: Range<u64>) -> Result<Vec<i64>> {
        let file = self.open()?;
        let size = self.layout.element.size() as u64;
        let mut bytes = vec![0; ((range.end - range.start) * size) as usize];
        read_at(&file, &mut bytes, self.at + range.start * size).map_err(|error| self.failed(error))?;
        self.unchanged(&file)?;
        Ok(self.layout.integers(&bytes))
    }
}

/// The CRC-32 of what is left to read, as zlib and zip have it.
pub(crate) fn checksum(from: &mut dyn Read) -> io::Result<u32> {
    let mut sum = flate2::Crc::new();
    let mut buffer = vec![0; PIECE];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(sum.sum()),
            count => sum.update(&buffer[..count]),
        }
    }
}

#[cfg(unix)]
fn read_at(file: &File, to: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, to, at)
}

#[cfg(not(unix))]
fn read_at(mut file: &File, to: &mut [u8], at: u64) -> io::Result<()> {
    use std::io::Seek;
    file.seek(io::SeekFrom::Start(at))?;
    file.read_exact(to)
}
