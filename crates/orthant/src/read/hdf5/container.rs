//! Groups, arrays, lists and attributes of an HDF5 file, by their paths.

use hdf5_reader::{ByteOrder, Dataset, Datatype, Hdf5File, OpenOptions};

use super::super::source::Source;
use super::super::values::{Element, Layout, Number};
use super::super::{Options, Precision};
use crate::error::{Error, Place, Result};

/// Numbers that a byte of the file may claim: deflate packs 1032 to one at best.
const MOST_A_BYTE: u64 = 1100;

/// A file that was opened.
pub(super) struct Container<'s> {
    pub source: &'s Source<'s>,
    pub options: &'s Options,
    file: Hdf5File,
}

/// What is in a group.
#[derive(Debug, Default)]
pub(super) struct Members {
    pub groups: Vec<String>,
    pub arrays: Vec<String>,
}

impl Members {
    pub fn has_group(&self, name: &str) -> bool {
        self.groups.iter().any(|own| own == name)
    }

    pub fn has_array(&self, name: &str) -> bool {
        self.arrays.iter().any(|own| own == name)
    }
}

impl<'s> Container<'s> {
    pub fn open(source: &'s Source<'s>, options: &'s Options) -> Result<Self> {
        let most = source.plain_size().unwrap_or(u64::MAX / MOST_A_BYTE).saturating_mul(MOST_A_BYTE);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        // Arrays are read whole, each of them once: nothing is worth keeping.
        let limits = OpenOptions::default()
            .with_chunk_cache_bytes(0)
            .with_max_read_bytes(most)
            .with_max_chunk_bytes(most.min(hdf5_reader::DEFAULT_MAX_CHUNK_BYTES))
            .with_max_object_header_bytes(most.min(hdf5_reader::DEFAULT_MAX_OBJECT_HEADER_BYTES));
        let opened = match source.is_on_disk() && source.plain_size().is_some() {
            true => Hdf5File::open_with_options(source.path(), limits),
            false => Hdf5File::from_vec_with_options(source.whole()?.into_owned(), limits),
        };
        let broken =
            |error| source.fault(Place::Whole, format!("the HDF5 file is broken or truncated: {error}"));
        Ok(Container { source, options, file: opened.map_err(broken)? })
    }

    /// A complaint about the file.
    pub fn fault(&self, problem: impl Into<String>) -> Error {
        self.source.fault(Place::Whole, problem)
    }

    fn broken(&self, path: &str) -> impl Fn(hdf5_reader::error::Error) -> Error {
        move |error| self.fault(format!("{path} cannot be read: {error}"))
    }

    /// What is in a group; nothing if there is no such group.
    pub fn members(&self, path: &str) -> Members {
        let names = self.file.group(path).and_then(|group| group.member_names());
        names.map_or(Members::default(), |(groups, arrays)| Members { groups, arrays })
    }

    /// An attribute of a group (or of the file itself) that is a word.
    pub fn word(&self, path: &str, name: &str) -> Option<String> {
        self.file.group(path).ok()?.attribute(name).ok()?.read_string().ok()
    }

    /// An attribute of a group that is a list of whole numbers.
    pub fn sizes(&self, path: &str, name: &str) -> Option<Vec<i64>> {
        let attribute = self.file.group(path).ok()?.attribute(name).ok()?;
        Some(layout(&attribute.datatype)?.integers(&attribute.raw_data))
    }

    /// An array that is there.
    pub fn array(&self, path: &str) -> Result<Dataset> {
        self.file.dataset(path).map_err(self.broken(path))
    }

    /// The layout of an array of numbers, or what it is instead.
    pub fn layout(&self, path: &str, array: &Dataset) -> Result<Layout> {
        let what = match array.dtype() {
            Datatype::Compound { .. } => "complex numbers or records",
            Datatype::String { .. } | Datatype::VarLen { .. } => "text",
            _ => "no numbers",
        };
        layout(array.dtype()).ok_or_else(|| self.fault(format!("{path} holds {what}: numbers are wanted")))
    }

    /// The precision in which an array is wanted.
    pub fn precision(&self, layout: Layout) -> Precision {
        layout.element.precision(self.options)
    }

    /// All numbers of an array, in the order of the file.
    pub fn numbers<T: Number>(&self, path: &str, array: &Dataset) -> Result<Vec<T>> {
        let layout = self.layout(path, array)?;
        let bytes = self.bytes(path, array)?;
        let mut values = Vec::with_capacity(bytes.len() / layout.element.size());
        layout.decode(&bytes, &mut values);
        Ok(values)
    }

    /// A list of whole numbers.
    pub fn integers(&self, path: &str) -> Result<Vec<i64>> {
        let array = self.array(path)?;
        Ok(self.layout(path, &array)?.integers(&self.bytes(path, &array)?))
    }

    fn bytes(&self, path: &str, array: &Dataset) -> Result<Vec<u8>> {
        let claimed = array.raw_byte_len().map_err(self.broken(path))?;
        // As they stand in the file, and what becomes of them.
        self.source.check_room(3 * claimed as u128, self.options)?;
        array.read_raw_bytes().map_err(self.broken(path))
    }

    /// A list of words; numbers are spelled out.
    pub fn words(&self, path: &str) -> Result<Vec<String>> {
        let array = self.array(path)?;
        if layout(array.dtype()).is_some() {
            return Ok(self.numbers::<f64>(path, &array)?.iter().map(f64::to_string).collect());
        }
        array.read_strings().map_err(self.broken(path))
    }
}

/// Numbers as they lie in the file; yes and no are numbers too.
fn layout(datatype: &Datatype) -> Option<Layout> {
    let (element, order) = match datatype {
        Datatype::FixedPoint { size, signed, byte_order } => {
            let element = match (size, signed) {
                (1, true) => Element::I8,
                (1, false) => Element::U8,
                (2, true) => Element::I16,
                (2, false) => Element::U16,
                (4, true) => Element::I32,
                (4, false) => Element::U32,
                (8, true) => Element::I64,
                (8, false) => Element::U64,
                _ => return None,
            };
            (element, byte_order)
        }
        Datatype::FloatingPoint { size: 2, byte_order } => (Element::F16, byte_order),
        Datatype::FloatingPoint { size: 4, byte_order } => (Element::F32, byte_order),
        Datatype::FloatingPoint { size: 8, byte_order } => (Element::F64, byte_order),
        Datatype::Enum { base, .. } => return layout(base),
        _ => return None,
    };
    Some(Layout { element, big_endian: *order == ByteOrder::BigEndian })
}
