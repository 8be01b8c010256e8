//! Files → matrices: one file per format, one line of [`FORMATS`] each.
//!
//! A format is recognised by what a file holds; its ending only breaks ties. Text may be gzip or
//! Zstandard. float32 stays float32, everything else becomes float64. Explicit zeros of sparse files
//! are dropped; negative numbers, infinities and NaN pass (preparing the data refuses them, by row
//! and column). Whatever else is wrong with a file is an [`Error::File`] that names the place.
//! No size in a header is believed before the file has proved to be as long.

mod bag_of_words;
pub mod blocks;
mod cluto;
mod columns;
mod compressed;
mod convert;
mod csv;
mod cube;
mod cursor;
mod dialect;
mod documents;
mod envi;
#[cfg(any(feature = "parquet", test))]
mod foreign;
mod geotiff;
mod hdf5;
mod in_place;
mod lists;
mod matlab;
mod matrix_market;
mod memory;
mod npz;
mod numpy;
mod output;
mod parquet;
mod pictures;
mod pieces;
mod rows;
mod scenes;
mod sidecars;
mod source;
mod stored;
mod svmlight;
mod tenx;
mod text;
mod triples;
mod values;

use std::path::Path;

pub use columns::Columns;
pub use convert::{Conversion, convert};
pub use in_place::{Beside, InPlace, bytes_held, estimate, open_in_place};
pub use lists::{lines, list, numbers};
pub use memory::available_memory;
pub use numpy::{open_raw, write_list, write_points};
pub use output::{
    Kept, SEAL, Stage, Traces, companions, folder_of, is_part, is_special, settle, write, write_staged,
    write_whole,
};

pub use scenes::{GeoTags, Origin, Segmented};

use source::{Source, bare_name, strip_ending};
use triples::plausible;

use crate::called::Called;
use crate::error::{Error, Place, Result};
use crate::image::ImageShape;
use crate::matrix::Matrix;
use crate::orientation::Orientation;
use crate::texts::{self, Vocabulary};

/// Single or double precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// float32.
    F32,
    /// float64.
    F64,
}

/// What the caller may decide about reading.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// The format's name in [`FORMATS`], where recognition is not wanted.
    pub format: Option<String>,
    /// Which variable of a file that holds several (.mat, .npz).
    pub variable: Option<String>,
    /// The precision in memory; by default float32 files stay float32 and others become float64.
    pub precision: Option<Precision>,
    /// Whether the first line of a CSV file names the columns; by default that is looked at.
    pub header: Option<bool>,
    /// Columns of a table that are no features.
    pub columns: Columns,
    /// How texts become counts of words.
    pub texts: texts::Settings,
    /// The words that are counted, where they were chosen before; otherwise the settings choose them.
    pub vocabulary: Option<Vocabulary>,
    /// Bytes that may be used; a file that needs more is refused before it is read. By default the system decides.
    pub memory: Option<u64>,
}

/// What a file held: the matrix, points in rows, and whatever came with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The numbers.
    pub matrix: Matrix,
    /// The class of every point.
    pub truth: Option<Vec<String>>,
    /// The class of every feature, for those who cluster columns.
    pub feature_truth: Option<Vec<String>>,
    /// The name of every feature.
    pub vocabulary: Option<Vec<String>>,
    /// The name of every point.
    pub names: Option<Vec<String>>,
    /// The beginning of every text.
    pub excerpts: Option<Vec<String>>,
    /// Points are the pixels of a picture of this shape.
    pub image: Option<ImageShape>,
    /// Every point is a picture of this shape: features are its pixels.
    pub feature_image: Option<ImageShape>,
    /// The wavelength of every feature.
    pub wavelengths: Option<Vec<f64>>,
    /// How texts became counts of words.
    pub texts: Option<Vocabulary>,
    /// What points and features are called, where the format knows.
    pub called: Option<Called>,
    /// Where on earth the pixels are, and in which kind of file that was said.
    pub origin: Option<Origin>,
    /// The format's name in [`FORMATS`]; empty for a matrix that came from elsewhere.
    pub format: &'static str,
    /// What a reader should know, a line each.
    pub notes: Vec<String>,
}

impl Loaded {
    fn new(matrix: Matrix, format: &'static str) -> Self {
        Loaded {
            matrix,
            truth: None,
            feature_truth: None,
            vocabulary: None,
            names: None,
            excerpts: None,
            image: None,
            feature_image: None,
            wavelengths: None,
            texts: None,
            called: None,
            origin: None,
            format,
            notes: Vec::new(),
        }
    }

    /// With rows or columns as points: what belonged to the others changes places or is no more.
    pub fn with_points(self, orientation: Orientation) -> Self {
        match orientation {
            Orientation::Rows => self,
            Orientation::Columns => Loaded {
                matrix: self.matrix.transposed(),
                truth: self.feature_truth,
                feature_truth: self.truth,
                vocabulary: self.names,
                names: self.vocabulary,
                excerpts: None,
                image: self.feature_image,
                feature_image: self.image,
                wavelengths: None,
                texts: None,
                called: self.called.map(Called::turned),
                origin: None,
                ..self
            },
        }
    }
}

impl From<Matrix> for Loaded {
    fn from(matrix: Matrix) -> Self {
        Loaded::new(matrix, "")
    }
}

/// A list that lies beside the data file: the ending of its name, and where its lines belong.
type Companion = (&'static str, fn(&Loaded) -> Option<&Vec<String>>);

type Writer = fn(&Loaded, &mut dyn std::io::Write) -> std::io::Result<()>;

/// One format: how to know it, read it, and write it.
pub struct Format {
    /// Its name, as in [`Options::format`].
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// How files of it are usually called; the first is the preferred one.
    pub endings: &'static [&'static str],
    /// Whether it is not text (then it is not compressed from outside either).
    pub binary: bool,
    /// Whether the first bytes (decompressed) of this path look like it.
    recognise: fn(&[u8], &Path) -> bool,
    /// Whether recognising it settles the matter; otherwise an ending of another format outweighs it.
    certain: bool,
    read: fn(&Source, &Options) -> Result<Loaded>,
    /// How to know and read a folder of it.
    folder: Option<Folder>,
    write: Option<Writer>,
    companions: &'static [Companion],
}

/// A format that is a folder.
struct Folder {
    recognise: fn(&Path) -> bool,
    read: fn(&Path, &Options) -> Result<Loaded>,
}

impl Format {
    /// Whether [`write()`] can write it.
    pub fn is_writable(&self) -> bool {
        self.write.is_some()
    }
}

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Format").field("name", &self.name).field("endings", &self.endings).finish()
    }
}

/// All formats, those that are the surest to recognise first.
pub static FORMATS: &[Format] = &[
    Format {
        name: matrix_market::NAME,
        about: "Matrix Market, coordinate or array",
        endings: &[".mtx", ".mm"],
        binary: false,
        recognise: matrix_market::recognise,
        certain: true,
        read: matrix_market::read,
        folder: None,
        write: Some(matrix_market::write),
        companions: &[],
    },
    Format {
        name: numpy::NAME,
        about: "NumPy array",
        endings: &[".npy"],
        binary: true,
        recognise: numpy::recognise,
        certain: true,
        read: numpy::read,
        folder: None,
        write: Some(numpy::write),
        companions: &[],
    },
    Format {
        name: npz::NAME,
        about: "NumPy archive: a dense array, or scipy.sparse's CSR, CSC or COO",
        endings: &[".npz"],
        binary: true,
        recognise: npz::recognise,
        certain: true,
        read: npz::read,
        folder: None,
        write: Some(npz::write),
        companions: &[],
    },
    Format {
        name: hdf5::NAME,
        about: "HDF5: AnnData (.h5ad), 10x .h5, loom, MATLAB 7.3, or an array in any other",
        endings: &[".h5", ".hdf5", ".h5ad", ".loom"],
        binary: true,
        recognise: hdf5::recognise,
        certain: true,
        read: hdf5::read,
        folder: None,
        write: None,
        companions: &[],
    },
    Format {
        name: parquet::NAME,
        about: "Parquet, a table of numbers or with a column of texts (feature \"parquet\")",
        endings: &[".parquet"],
        binary: true,
        recognise: parquet::recognise,
        certain: true,
        read: parquet::read,
        folder: None,
        write: None,
        companions: &[],
    },
    Format {
        name: matlab::NAME,
        about: "MATLAB 5 to 7, dense or sparse",
        endings: &[".mat"],
        binary: true,
        recognise: matlab::recognise,
        certain: true,
        read: matlab::read,
        folder: None,
        write: None,
        companions: &[],
    },
    Format {
        name: geotiff::NAME,
        about: "TIFF image (GeoTIFF), points are pixels",
        endings: &[".tif", ".tiff"],
        binary: true,
        recognise: geotiff::recognise,
        certain: true,
        read: geotiff::read,
        folder: None,
        write: None,
        companions: &[],
    },
    Format {
        name: blocks::NAME,
        about: "a block folder: .npy files and blocks.json, for data larger than memory",
        endings: &[],
        binary: true,
        recognise: |_, _| false,
        certain: false,
        read: |source, _| Err(source.fault(Place::Whole, "is a file, a block folder is wanted")),
        folder: Some(Folder { recognise: blocks::recognise_folder, read: blocks::read_folder }),
        write: None,
        companions: &[],
    },
    Format {
        name: tenx::NAME,
        about: "a folder of 10x Genomics: matrix.mtx, barcodes.tsv and features.tsv, points are cells",
        endings: &[],
        binary: false,
        // A file of it is Matrix Market.
        recognise: |_, _| false,
        certain: false,
        read: matrix_market::read,
        folder: Some(Folder { recognise: tenx::recognise_folder, read: tenx::read_folder }),
        write: None,
        companions: &[],
    },
    Format {
        name: pictures::NAME,
        about: "a folder of PNG or JPEG pictures of one size, each a point",
        endings: &[],
        binary: true,
        recognise: pictures::recognise,
        certain: true,
        read: pictures::read,
        folder: Some(Folder { recognise: pictures::recognise_folder, read: pictures::read_folder }),
        write: None,
        companions: &[],
    },
    Format {
        name: envi::NAME,
        about: "ENVI image: a .hdr header beside a raw file, points are pixels",
        endings: &[".hdr"],
        binary: false,
        recognise: envi::recognise,
        certain: true,
        read: envi::read,
        folder: None,
        write: None,
        companions: &[],
    },
    Format {
        name: bag_of_words::NAME,
        about: "UCI bag of words (docword.*.txt, with vocab.*.txt beside it)",
        endings: &[],
        binary: false,
        recognise: bag_of_words::recognise,
        certain: true,
        read: bag_of_words::read,
        folder: None,
        write: None,
        companions: &[],
    },
    Format {
        name: cluto::NAME,
        about: "CLUTO text, sparse or dense, with .rclass, .rlabel and .clabel beside it",
        endings: &[".mat", ".cluto"],
        binary: false,
        recognise: cluto::recognise,
        certain: true,
        read: cluto::read,
        folder: None,
        write: Some(cluto::write),
        companions: cluto::COMPANIONS,
    },
    Format {
        name: svmlight::NAME,
        about: "svmlight / libsvm, its labels are the truth",
        endings: &[".svmlight", ".svm", ".libsvm"],
        binary: false,
        recognise: svmlight::recognise,
        certain: true,
        read: svmlight::read,
        folder: None,
        write: Some(svmlight::write),
        companions: &[],
    },
    Format {
        name: documents::JSON_LINES,
        about: "JSON objects, one a line or in a list, a field of which is a text",
        endings: &[".jsonl", ".ndjson"],
        binary: false,
        recognise: documents::recognise_json,
        certain: true,
        read: documents::read_json,
        folder: None,
        write: None,
        companions: &[],
    },
    Format {
        name: documents::LINES,
        about: "one text a line",
        endings: &[],
        binary: false,
        recognise: documents::recognise_lines,
        certain: true,
        read: documents::read_lines,
        folder: None,
        write: None,
        companions: &[],
    },
    Format {
        name: documents::NAME,
        about: "a folder of texts (.txt, .md, .html); folders in it are classes",
        endings: &[".html", ".htm", ".md"],
        binary: false,
        recognise: |_, _| false,
        certain: false,
        read: documents::read,
        folder: Some(Folder { recognise: documents::recognise_folder, read: documents::read_folder }),
        write: None,
        companions: &[],
    },
    Format {
        name: csv::NAME,
        about: "table in text: comma, semicolon or blanks; header and row names if there are any",
        endings: &[".csv", ".txt", ".dat", ".data"],
        binary: false,
        recognise: csv::recognise,
        certain: false,
        read: csv::read,
        folder: None,
        write: Some(csv::write),
        companions: &[],
    },
    Format {
        name: "tsv",
        about: "the same with tabs",
        endings: &[".tsv", ".tab"],
        binary: false,
        // Recognised as csv, which looks at the delimiter.
        recognise: |_, _| false,
        certain: false,
        read: csv::read,
        folder: None,
        write: Some(csv::write_tabs),
        companions: &[],
    },
];

/// Formats whose columns can be named by [`Options::columns`].
const TABLES: &[&str] = &["csv", "tsv", "jsonl", "hdf5", "parquet"];

/// Reads a file, or a folder, in whichever format it is.
pub fn read(path: &Path, options: &Options) -> Result<Loaded> {
    let format = named_format(options)?;
    if !path.is_dir() {
        let mut loaded = read_source(&Source::open(path)?, format, options)?;
        sidecars::add(&mut loaded, path);
        loaded.notes.extend(tenx::hint(path));
        return Ok(loaded);
    }
    let folders = || FORMATS.iter().filter_map(|format| Some((format, format.folder.as_ref()?)));
    let named = format.and_then(|format| folders().find(|(own, _)| own.name == format.name));
    match named.or_else(|| folders().find(|(_, folder)| format.is_none() && (folder.recognise)(path))) {
        Some((format, folder)) => {
            check(&Source::folder(path), format, (folder.read)(path, options)?, options)
        }
        None => {
            let known: Vec<&str> = folders().map(|(format, _)| format.about).collect();
            let problem = format!("is a folder, but not {}", known.join("; nor "));
            Err(Error::File { path: path.into(), place: Place::Whole, problem })
        }
    }
}

/// Reads all that a stream holds (standard input, say) as if it were a file of this name without others beside it.
pub fn read_stream(name: &Path, stream: &mut dyn std::io::Read, options: &Options) -> Result<Loaded> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).map_err(|source| Error::Io { path: name.into(), source })?;
    read_source(&Source::memory(name, &bytes)?, named_format(options)?, options)
}

/// Reads bytes in memory as if they were a file without others beside it. For ENVI the raw numbers
/// follow the header after a zero byte; a picture is a folder of one.
pub fn from_bytes(bytes: &[u8], options: &Options) -> Result<Loaded> {
    read_source(&Source::memory(Path::new("memory"), bytes)?, named_format(options)?, options)
}

fn read_source(source: &Source, format: Option<&'static Format>, options: &Options) -> Result<Loaded> {
    let format = match format {
        Some(format) => format,
        None => recognise(source)?,
    };
    check(source, format, (format.read)(source, options)?, options)
}

/// What must be so whatever the format.
fn check(source: &Source, format: &Format, loaded: Loaded, options: &Options) -> Result<Loaded> {
    if let Some(name) = options.columns.first_given().filter(|_| !TABLES.contains(&format.name)) {
        let problem =
            format!("{} is read as {}, which has no such columns", source.path().display(), format.name);
        return Err(Error::parameter(name, problem));
    }
    let (points, features) = (loaded.matrix.points(), loaded.matrix.features());
    if points == 0 || features == 0 {
        let problem = format!("the matrix is empty: {points} rows, {features} columns");
        return Err(source.fault(Place::Whole, problem));
    }
    if let Some(entries) = stored(&loaded.matrix).filter(|&entries| !plausible(features as u64, entries)) {
        let problem = format!("so many columns ({features}) for so few entries ({entries}) are hardly meant");
        return Err(source.fault(Place::Whole, problem));
    }
    Ok(loaded)
}

/// Entries of a sparse matrix.
fn stored(matrix: &Matrix) -> Option<u64> {
    match matrix {
        Matrix::SparseF32(x) => Some(x.nonzeros() as u64),
        Matrix::SparseF64(x) => Some(x.nonzeros() as u64),
        _ => None,
    }
}

fn named_format(options: &Options) -> Result<Option<&'static Format>> {
    let Some(name) = &options.format else { return Ok(None) };
    match FORMATS.iter().find(|format| format.name == name) {
        Some(format) => Ok(Some(format)),
        None => {
            let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
            Err(Error::parameter("format", format!("{name:?} is not one of {}", names.join(", "))))
        }
    }
}

fn recognise(source: &Source) -> Result<&'static Format> {
    let head = source.head()?;
    if head.is_empty() {
        return Err(source.fault(Place::Whole, "the file is empty"));
    }
    let looks_like = |format: &&Format| (format.recognise)(&head, source.path());
    let name = bare_name(source.path());
    let called = |format: &&Format| format.endings.iter().any(|ending| strip_ending(name, ending).is_some());
    let binary = head.contains(&0);
    // By content, then by ending (its reader says best what is wrong), then by a vague likeness.
    let certain = FORMATS.iter().find(|format| format.certain && looks_like(format));
    certain
        .or_else(|| FORMATS.iter().find(|format| format.binary == binary && called(format)))
        .or_else(|| FORMATS.iter().find(called))
        .or_else(|| FORMATS.iter().find(looks_like))
        .ok_or_else(|| {
            let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
            source.fault(Place::Whole, format!("the format is none of those known: {}", names.join(", ")))
        })
}
