//! MATLAB 5 .mat (also versions 6 and 7): a header of 128 bytes, then tagged elements, each one a
//! variable or a zlib stream with a variable in it. Everything that is no numeric matrix (structs,
//! cells, characters, objects) is stepped over by its length.
//!
//! Without a name the only matrix is taken: scalars and vectors beside it do not count. A
//! three-dimensional array is a cube of height × width × bands, as hyperspectral scenes circulate:
//! its pixels become points, column after column.

use std::io::Read;

use super::compressed::{Compressed, from_columns};
use super::cursor::Fault;
use super::source::Source;
use super::values::{Element, Layout, Number, Order, dense};
use super::{Loaded, Options, Precision};
use crate::error::{Place, Result};
use crate::image::{ImageShape, Scan};
use crate::matrix::Matrix;

/// The name in the table of formats.
pub(super) const NAME: &str = "matlab";
const HEADER: usize = 128;
/// Enough of a variable to see its name and shape.
const PREFIX: u64 = 4096;

const MI_MATRIX: u32 = 14;
const MI_COMPRESSED: u32 = 15;
const CLASS_SPARSE: u8 = 5;
const CLASS_SINGLE: u8 = 7;

pub(super) fn recognise(head: &[u8], path: &std::path::Path) -> bool {
    head.starts_with(b"MATLAB 5.0 MAT-file")
        || (head.len() >= HEADER && matches!(&head[124..HEADER], b"\0\x01IM" | b"\x01\0MI"))
        || (super::strip_ending(super::bare_name(path), ".mat").is_some() && is_version_4(head))
}

/// The first number of a version 4 file is a small code of decimal digits.
fn is_version_4(head: &[u8]) -> bool {
    let Some(&[a, b, c, d]) = head.first_chunk() else { return false };
    let code = |bytes| i32::from_be_bytes(bytes);
    head.len() >= 20
        && [code([a, b, c, d]), code([d, c, b, a])]
            .iter()
            .any(|code| (0..5000).contains(code) && code % 10 <= 2)
}

/// The length and kind of a piece of the file, and where its content lies.
#[derive(Debug, Clone, Copy)]
struct Tag {
    kind: u32,
    start: usize,
    end: usize,
    /// Where the next one begins.
    next: usize,
}

/// What a variable says of itself.
#[derive(Debug, Clone)]
struct Variable {
    name: String,
    class: u8,
    complex: bool,
    logical: bool,
    shape: Vec<u64>,
    /// Where its numbers begin, counted from the begin of its content.
    data_at: usize,
    /// Its element in the file.
    tag: Tag,
}

pub(super) fn read(source: &Source, options: &Options) -> Result<Loaded> {
    let bytes = source.whole()?;
    let fault = |fault: Fault| source.fault(Place::Byte(fault.at as u64), fault.problem);
    let file = File::new(&bytes).map_err(fault)?;
    let variables = file.variables().map_err(fault)?;
    let chosen = choose(&variables, options).map_err(|problem| source.fault(Place::Whole, problem))?;
    let precision = match chosen.class {
        CLASS_SINGLE => Precision::F32,
        _ => Precision::F64,
    };
    let (matrix, image) = match options.precision.unwrap_or(precision) {
        Precision::F32 => file.matrix::<f32>(chosen),
        Precision::F64 => file.matrix::<f64>(chosen),
    }
    .map_err(fault)?;
    let mut loaded = Loaded { image, ..Loaded::new(matrix, NAME) };
    if let Some(shape) = image {
        loaded.notes.push(format!(
            "{} is read as an image of {} x {} pixels with {} bands",
            chosen.name,
            shape.height,
            shape.width,
            loaded.matrix.features()
        ));
    }
    Ok(loaded)
}

/// The variable that was named, or the only matrix.
fn choose<'v>(variables: &'v [Variable], options: &Options) -> std::result::Result<&'v Variable, String> {
    let list = |of: &[&Variable]| of.iter().map(|v| v.describe()).collect::<Vec<_>>().join(", ");
    let all: Vec<&Variable> = variables.iter().filter(|v| !v.name.is_empty()).collect();
    if let Some(name) = &options.variable {
        let found = all.iter().find(|v| v.name == *name);
        let found =
            found.ok_or_else(|| format!("no variable is called {name:?}: there are {}", list(&all)))?;
        return match found.why_not() {
            None => Ok(found),
            Some(why) => Err(format!("variable {}: {why}", found.describe())),
        };
    }
    let matrices: Vec<&Variable> = all.iter().copied().filter(|v| v.why_not().is_none()).collect();
    let wide = |v: &&Variable| v.shape.iter().all(|&size| size > 1);
    let candidates: Vec<&Variable> = matrices.iter().copied().filter(wide).collect();
    match (&candidates[..], &matrices[..]) {
        ([one], _) | ([], [one]) => Ok(one),
        ([], []) => match &all[..] {
            [] => Err("the file holds no variable".into()),
            [one] => Err(format!("variable {}: {}", one.describe(), one.why_not().unwrap_or_default())),
            _ => Err(format!("none of its variables is a matrix of real numbers: there are {}", list(&all))),
        },
        ([], several) | (several, _) => {
            Err(format!("several matrices: say which variable is meant, {}", list(several)))
        }
    }
}

impl Variable {
    fn describe(&self) -> String {
        let sizes: Vec<String> = self.shape.iter().map(u64::to_string).collect();
        format!("{} ({} {})", self.name, sizes.join(" x "), self.class_name())
    }

    fn class_name(&self) -> &'static str {
        const NAMES: [&str; 18] = [
            "unknown", "cell", "struct", "object", "char", "sparse", "double", "single", "int8", "uint8",
            "int16", "uint16", "int32", "uint32", "int64", "uint64", "function", "object",
        ];
        if self.logical && self.class != CLASS_SPARSE {
            return "logical";
        }
        NAMES.get(usize::from(self.class)).copied().unwrap_or("unknown")
    }

    /// Why it cannot be read as a matrix.
    fn why_not(&self) -> Option<String> {
        match () {
            () if !(CLASS_SPARSE..=15).contains(&self.class) => Some("a numeric matrix is wanted".into()),
            () if self.complex => Some("its numbers are complex, save their moduli: abs(x)".into()),
            () if !(2..=3).contains(&self.shape.len()) => Some("reshape it to points x features".into()),
            () if self.shape.contains(&0) => Some("it is empty".into()),
            () => None,
        }
    }
}

/// A file whose header was checked.
struct File<'a> {
    bytes: &'a [u8],
    big_endian: bool,
}

fn fault(at: usize, problem: impl Into<String>) -> Fault {
    Fault { at, problem: problem.into() }
}

impl<'a> File<'a> {
    fn new(bytes: &'a [u8]) -> std::result::Result<Self, Fault> {
        match bytes.get(126..HEADER) {
            Some(b"IM") => Ok(File { bytes, big_endian: false }),
            Some(b"MI") => Ok(File { bytes, big_endian: true }),
            _ if is_version_4(bytes) => Err(fault(
                0,
                "a MATLAB 4 file, which is not read here: save it in MATLAB with save(file, '-v7')",
            )),
            None => Err(fault(bytes.len(), "the file ends inside its header: it is truncated")),
            _ => Err(fault(126, "this is no MATLAB 5 file: the mark of its byte order is missing")),
        }
    }

    /// All variables, by their first bytes only.
    fn variables(&self) -> std::result::Result<Vec<Variable>, Fault> {
        let mut found = Vec::new();
        let mut at = HEADER;
        while at < self.bytes.len() {
            let tag = self.tag(self.bytes, at)?;
            // An element is padded to eight bytes, but a compressed one is not.
            at = if tag.kind == MI_COMPRESSED { tag.end } else { tag.next };
            let content = &self.bytes[tag.start..tag.end];
            match tag.kind {
                MI_MATRIX => found.push(self.variable(content, tag).map_err(|f| f.after(tag.start))?),
                MI_COMPRESSED => {
                    let mut prefix = Vec::new();
                    let read = flate2::read::ZlibDecoder::new(content).take(PREFIX).read_to_end(&mut prefix);
                    if let Err(error) = read {
                        return Err(fault(tag.start, format!("the compressed variable is broken: {error}")));
                    }
                    if prefix.len() < 8 || self.number(&prefix) != MI_MATRIX {
                        continue;
                    }
                    found.push(self.variable(&prefix[8..], tag).map_err(|f| fault(tag.start, f.problem))?);
                }
                _ => {}
            }
        }
        Ok(found)
    }

    fn number(&self, bytes: &[u8]) -> u32 {
        let bytes = bytes.first_chunk().copied().unwrap_or_default();
        if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    fn tag(&self, bytes: &[u8], at: usize) -> std::result::Result<Tag, Fault> {
        let Some(raw) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) else {
            return Err(fault(at, "the file ends inside a tag: it is truncated"));
        };
        let first = self.number(raw);
        // Up to four bytes of content fit into the tag itself.
        if first >> 16 != 0 {
            let length = (first >> 16) as usize;
            if length > 4 {
                return Err(fault(at, format!("a small element claims {length} bytes: the file is broken")));
            }
            return Ok(Tag { kind: first & 0xffff, start: at + 4, end: at + 4 + length, next: at + 8 });
        }
        let length = self.number(&raw[4..]) as usize;
        let start = at + 8;
        let there = bytes.len() - start;
        if length > there {
            let problem =
                format!("an element of {length} bytes is promised, {there} are left: the file is truncated");
            return Err(fault(at, problem));
        }
        let end = start + length;
        Ok(Tag { kind: first, start, end, next: end.next_multiple_of(8).min(bytes.len()) })
    }

    /// The beginning of a variable's content, which may be cut off after that.
    fn variable(&self, content: &[u8], tag: Tag) -> std::result::Result<Variable, Fault> {
        let mut variable = Variable {
            name: String::new(),
            class: 0,
            complex: false,
            logical: false,
            shape: Vec::new(),
            data_at: 0,
            tag,
        };
        if content.is_empty() {
            return Ok(variable);
        }
        let flags = self.tag(content, 0)?;
        let word = self.number(&content[flags.start..flags.end]);
        variable.class = word as u8;
        variable.complex = word & 0x800 != 0;
        variable.logical = word & 0x200 != 0;
        if !(1..=16).contains(&variable.class) {
            // Opaque objects have no shape; all that matters is that they are not numbers.
            return Ok(variable);
        }
        let shape = self.tag(content, flags.next)?;
        let sizes = self.integers(content, shape)?;
        variable.shape = sizes.iter().map(|&size| u64::try_from(size).unwrap_or(u64::MAX)).collect();
        let name = self.tag(content, shape.next)?;
        variable.name = String::from_utf8_lossy(&content[name.start..name.end]).into_owned();
        variable.data_at = name.next;
        Ok(variable)
    }

    fn layout(&self, tag: Tag) -> std::result::Result<Layout, Fault> {
        let element = match tag.kind {
            1 => Element::I8,
            2 => Element::U8,
            3 => Element::I16,
            4 => Element::U16,
            5 => Element::I32,
            6 => Element::U32,
            7 => Element::F32,
            9 => Element::F64,
            12 => Element::I64,
            13 => Element::U64,
            kind => {
                return Err(fault(
                    tag.start,
                    format!("numbers of kind {kind} are not known: the file is broken"),
                ));
            }
        };
        Ok(Layout { element, big_endian: self.big_endian })
    }

    fn integers(&self, content: &[u8], tag: Tag) -> std::result::Result<Vec<i64>, Fault> {
        Ok(self.layout(tag)?.integers(&content[tag.start..tag.end]))
    }

    fn values<T: Number>(&self, content: &[u8], tag: Tag) -> std::result::Result<Vec<T>, Fault> {
        let layout = self.layout(tag)?;
        let mut values = Vec::with_capacity((tag.end - tag.start) / layout.element.size());
        layout.decode(&content[tag.start..tag.end], &mut values);
        Ok(values)
    }

    fn matrix<T: Number>(
        &self,
        variable: &Variable,
    ) -> std::result::Result<(Matrix, Option<ImageShape>), Fault> {
        let tag = variable.tag;
        let content = &self.bytes[tag.start..tag.end];
        if tag.kind != MI_COMPRESSED {
            return self.decode::<T>(content, variable).map_err(|f| f.after(tag.start));
        }
        let mut decoder = flate2::read::ZlibDecoder::new(content);
        let broken =
            |error: std::io::Error| fault(tag.start, format!("the compressed variable is broken: {error}"));
        let mut inner = Vec::new();
        decoder.by_ref().take(8).read_to_end(&mut inner).map_err(broken)?;
        let length = self.number(inner.get(4..).unwrap_or_default());
        inner.clear();
        decoder.by_ref().take(u64::from(length)).read_to_end(&mut inner).map_err(broken)?;
        // To its end, so that the checksum is verified.
        std::io::copy(&mut decoder.take(8), &mut std::io::sink()).map_err(broken)?;
        self.decode::<T>(&inner, variable).map_err(|f| fault(tag.start, f.problem))
    }

    fn decode<T: Number>(
        &self,
        content: &[u8],
        variable: &Variable,
    ) -> std::result::Result<(Matrix, Option<ImageShape>), Fault> {
        let first = self.tag(content, variable.data_at)?;
        if variable.class == CLASS_SPARSE {
            let second = self.tag(content, first.next)?;
            let third = self.tag(content, second.next)?;
            let &[rows, columns] = &variable.shape[..] else {
                return Err(fault(
                    first.start,
                    "a sparse variable has rows and columns only: the file is broken",
                ));
            };
            let offsets = self.integers(content, second)?;
            if (offsets.len() as u64).checked_sub(1) != Some(columns) {
                let problem = format!("{} column offsets are given for {columns} columns", offsets.len());
                return Err(fault(second.start, problem));
            }
            let indices = self.integers(content, first)?;
            let given = Compressed { offsets, indices, values: self.values::<T>(content, third)? };
            let matrix = from_columns(given, rows).map_err(|problem| fault(first.start, problem))?;
            return Ok((matrix, None));
        }
        let values = self.values::<T>(content, first)?;
        let (points, features, image) = match variable.shape[..] {
            [rows, columns] => (Some(rows), columns, None),
            [height, width, bands] => {
                let shape =
                    ImageShape { height: height as usize, width: width as usize, scan: Scan::Columns };
                (height.checked_mul(width), bands, Some(shape))
            }
            _ => (None, 0, None),
        };
        match points {
            Some(points) if points.checked_mul(features) == Some(values.len() as u64) => {
                Ok((dense(points as usize, features as usize, values, Order::Columns), image))
            }
            _ => {
                let problem = format!(
                    "variable {} holds {} numbers: the file is broken",
                    variable.describe(),
                    values.len()
                );
                Err(fault(first.start, problem))
            }
        }
    }
}

impl Fault {
    /// The same in something that begins later.
    fn after(self, start: usize) -> Fault {
        Fault { at: self.at + start, ..self }
    }
}
