//! Where the bytes come from: a file or memory, plain, gzip or Zstandard.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};

use super::Options;
use crate::error::{Error, Place, Result};
use crate::matrix::kernels::check_room;

/// How much of a file the recognition of its format looks at, unless its lines are longer.
const HEAD: usize = 64 * 1024;
/// Of text at least so many lines are looked at (a header and two rows), up to a limit.
const HEAD_LINES: usize = 3;
const LONGEST_HEAD: usize = 256 << 20;
const COMPRESSED_BUFFER: usize = 256 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    Plain,
    Gzip,
    Zstd,
}

/// What an archive needs.
pub(crate) trait Seekable: Read + Seek + Send {}
impl<R: Read + Seek + Send> Seekable for R {}

/// Something that can be read from its beginning, as often as needed.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    path: PathBuf,
    memory: Option<Cow<'a, [u8]>>,
    packing: Packing,
    /// Bytes on disk or in memory, before decompression.
    size: u64,
}

impl<'a> Source<'a> {
    /// A file. What can be read only once (a pipe) is read into memory here.
    pub fn open(path: &Path) -> Result<Source<'static>> {
        let failed = |source| Error::Io { path: path.into(), source };
        let about = std::fs::metadata(path).map_err(failed)?;
        if about.is_dir() {
            return Err(Error::File {
                path: path.into(),
                place: Place::Whole,
                problem: "is a folder, a file is wanted".into(),
            });
        }
        let mut file = File::open(path).map_err(failed)?;
        let mut source =
            Source { path: path.into(), memory: None, packing: Packing::Plain, size: about.len() };
        let mut magic = Vec::new();
        if about.is_file() {
            file.take(8).read_to_end(&mut magic).map_err(failed)?;
        } else {
            file.read_to_end(&mut magic).map_err(failed)?;
            source.size = magic.len() as u64;
            source.memory = Some(Cow::Owned(magic.clone()));
        }
        source.packing = source.packing_of(&magic)?;
        Ok(source)
    }

    /// Bytes in memory; `path` only appears in messages.
    pub fn memory(path: &Path, bytes: &'a [u8]) -> Result<Source<'a>> {
        let mut source = Source {
            path: path.into(),
            memory: Some(Cow::Borrowed(bytes)),
            packing: Packing::Plain,
            size: bytes.len() as u64,
        };
        source.packing = source.packing_of(bytes)?;
        Ok(source)
    }

    /// A folder, for what is to be said of it.
    pub fn folder(path: &Path) -> Source<'static> {
        Source { path: path.into(), memory: Some(Cow::Borrowed(&[])), packing: Packing::Plain, size: 0 }
    }

    fn packing_of(&self, magic: &[u8]) -> Result<Packing> {
        let refuse = |what| Err(self.fault(Place::Byte(0), format!("{what}: decompress the file first")));
        match magic {
            [0x1f, 0x8b, ..] => Ok(Packing::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Ok(Packing::Zstd),
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, ..] => {
                refuse("compressed by bzip2, which is not read here")
            }
            [0xfd, b'7', b'z', b'X', b'Z', ..] => refuse("compressed by xz, which is not read here"),
            _ => Ok(Packing::Plain),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is a file, with others beside it.
    pub fn is_on_disk(&self) -> bool {
        self.memory.is_none()
    }

    /// The content from its beginning, decompressed.
    pub fn reader(&self) -> Result<Box<dyn Read + Send + '_>> {
        let raw: Box<dyn Read + Send + '_> = match &self.memory {
            Some(bytes) => Box::new(&bytes[..]),
            None => Box::new(
                File::open(&self.path).map_err(|source| Error::Io { path: self.path.clone(), source })?,
            ),
        };
        let buffered = |raw| BufReader::with_capacity(COMPRESSED_BUFFER, raw);
        Ok(match self.packing {
            Packing::Plain => raw,
            Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(buffered(raw))),
            Packing::Zstd => {
                let decoder = zstd::stream::read::Decoder::with_buffer(buffered(raw));
                Box::new(decoder.map_err(|error| self.failed(error))?)
            }
        })
    }

    /// The size of the content where it is known without reading it.
    pub fn plain_size(&self) -> Option<u64> {
        (self.packing == Packing::Plain).then_some(self.size)
    }

    /// The first bytes of the content: of text whole lines, and as many of them as it takes to know a table.
    pub fn head(&self) -> Result<Vec<u8>> {
        let mut reader = self.reader()?;
        let mut head = Vec::new();
        let mut wanted = HEAD;
        loop {
            let more = (wanted - head.len()) as u64;
            reader.by_ref().take(more).read_to_end(&mut head).map_err(|error| self.failed(error))?;
            if head.len() < wanted || memchr::memchr(0, &head).is_some() {
                return Ok(head);
            }
            let lines = memchr::memchr_iter(b'\n', &head).take(HEAD_LINES).count();
            if lines == HEAD_LINES || wanted >= LONGEST_HEAD {
                // What follows the last line end is cut off.
                head.truncate(memchr::memrchr(b'\n', &head).map_or(head.len(), |end| end + 1));
                return Ok(head);
            }
            wanted *= 2;
        }
    }

    /// All of the content at once.
    pub fn whole(&self) -> Result<Cow<'_, [u8]>> {
        if let (Packing::Plain, Some(bytes)) = (self.packing, &self.memory) {
            return Ok(Cow::Borrowed(bytes));
        }
        let mut bytes = Vec::with_capacity(self.plain_size().unwrap_or(0) as usize);
        self.reader()?.read_to_end(&mut bytes).map_err(|error| self.failed(error))?;
        Ok(Cow::Owned(bytes))
    }

    /// The content with access to any place.
    pub fn seekable(&self) -> Result<Box<dyn Seekable + '_>> {
        if let (Packing::Plain, None) = (self.packing, &self.memory) {
            let file = File::open(&self.path).map_err(|error| self.failed(error))?;
            return Ok(Box::new(BufReader::new(file)));
        }
        Ok(Box::new(Cursor::new(self.whole()?)))
    }

    /// Refuses, before anything is reserved, what would not fit into memory.
    pub fn check_room(&self, bytes: u128, options: &Options) -> Result<()> {
        let path = format!("{}:", self.path.display());
        let advice = "--precision f32 needs less, and a sparse format holds no zeros";
        check_room(&path, bytes, options.memory, advice)
    }

    /// A companion file in the same folder, if it is there; bytes in memory have none.
    pub fn beside(&self, name: &str) -> Option<PathBuf> {
        let path = self.path.with_file_name(name);
        (self.is_on_disk() && path.is_file()).then_some(path)
    }

    /// The file's name without the endings of compression.
    pub fn name(&self) -> &str {
        bare_name(&self.path)
    }

    /// A complaint about the content.
    pub fn fault(&self, place: Place, problem: impl Into<String>) -> Error {
        Error::File { path: self.path.clone(), place, problem: problem.into() }
    }

    /// A failed read: the system's fault, or that of a broken compressed stream.
    pub fn failed(&self, error: std::io::Error) -> Error {
        let packing = match self.packing {
            Packing::Gzip => "gzip",
            Packing::Zstd => "Zstandard",
            Packing::Plain => return Error::Io { path: self.path.clone(), source: error },
        };
        if error.raw_os_error().is_some() {
            return Error::Io { path: self.path.clone(), source: error };
        }
        self.fault(
            Place::Whole,
            format!("the {packing} stream is broken or truncated ({error}): fetch the file again"),
        )
    }
}

/// The file's name without `.gz` or `.zst`.
pub(crate) fn bare_name(path: &Path) -> &str {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
    let packed = [".gz", ".zst"];
    packed.iter().find_map(|ending| strip_ending(name, ending)).unwrap_or(name)
}

/// `name` without `ending`, in whatever case.
pub(crate) fn strip_ending<'n>(name: &'n str, ending: &str) -> Option<&'n str> {
    let cut = name.len().checked_sub(ending.len())?;
    (cut > 0 && name.is_char_boundary(cut) && name[cut..].eq_ignore_ascii_case(ending)).then(|| &name[..cut])
}
