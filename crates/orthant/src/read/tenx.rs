//! What Cell Ranger of 10x Genomics writes: a folder with matrix.mtx (genes × cells), barcodes.tsv (the cells) and
//! features.tsv or genes.tsv (identifier, name and kind of every gene), all of them perhaps .gz. Points are cells.

use std::path::{Path, PathBuf};

use super::source::Source;
use super::text::Text;
use super::{Loaded, Options, matrix_market};
use crate::called::Called;
use crate::error::{Error, Place, Result};
use crate::orientation::Orientation;

/// The name in the table of formats.
pub(super) const NAME: &str = "10x";

/// One of these files in a folder, plain or compressed.
fn find(folder: &Path, names: &[&str]) -> Option<PathBuf> {
    let spelled = names.iter().flat_map(|name| [name.to_string(), format!("{name}.gz")]);
    spelled.map(|name| folder.join(name)).find(|path| path.is_file())
}

pub(super) fn recognise_folder(folder: &Path) -> bool {
    find(folder, &["matrix.mtx"]).is_some()
}

/// What to say of a matrix that was named instead of the folder it lies in.
pub(super) fn hint(file: &Path) -> Option<String> {
    let folder = file.parent()?;
    let parts = parts(folder).ok().filter(|parts| parts.matrix == file)?;
    let beside = parts.cells.file_name()?.to_string_lossy().into_owned();
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    Some(format!(
        "{beside} lies beside it: to cluster cells by their genes, name the folder, {}",
        folder.display()
    ))
}

/// The three files of a folder.
pub(super) struct Parts {
    pub matrix: PathBuf,
    genes: PathBuf,
    cells: PathBuf,
}

pub(super) fn parts(folder: &Path) -> Result<Parts> {
    let wanted = |names: &[&str]| {
        find(folder, names).ok_or_else(|| {
            let problem = format!("{} (or .gz) is missing in the folder", names[0]);
            Error::File { path: folder.into(), place: Place::Whole, problem }
        })
    };
    Ok(Parts {
        matrix: wanted(&["matrix.mtx"])?,
        genes: wanted(&["features.tsv", "genes.tsv"])?,
        cells: wanted(&["barcodes.tsv"])?,
    })
}

impl Parts {
    fn counted(&self, path: &Path, count: usize, what: &str, column: usize) -> Result<Vec<String>> {
        let list = column_of(path, column)?;
        if list.len() == count {
            return Ok(list);
        }
        let problem = format!("has {} lines for {count} {what} of {}", list.len(), self.matrix.display());
        Err(Error::File { path: path.into(), place: Place::Whole, problem })
    }

    /// The names of so many cells and genes.
    pub fn names(&self, cells: usize, genes: usize) -> Result<(Vec<String>, Vec<String>)> {
        Ok((self.counted(&self.cells, cells, "columns", 0)?, self.counted(&self.genes, genes, "rows", 1)?))
    }
}

pub(super) fn read_folder(folder: &Path, options: &Options) -> Result<Loaded> {
    let parts = parts(folder)?;
    let matrix = Source::open(&parts.matrix)?;
    let loaded = matrix_market::read(&matrix, options)?.with_points(Orientation::Columns);
    let (cells, genes) = parts.names(loaded.matrix.points(), loaded.matrix.features())?;
    let kinds = column_of(&parts.genes, 2).unwrap_or_default();
    Ok(Loaded {
        names: Some(cells),
        vocabulary: Some(genes),
        notes: [NOTE.to_string()].into_iter().chain(note_of_kinds(&kinds)).collect(),
        called: Some(Called::CELLS),
        format: NAME,
        ..loaded
    })
}

/// What is counted beside genes (antibodies, guides) is counted on another scale: who reads should know that it is there.
pub(super) fn note_of_kinds(kinds: &[String]) -> Option<String> {
    const GENES: &str = "Gene Expression";
    let mut others: Vec<&str> = kinds.iter().map(String::as_str).filter(|kind| *kind != GENES).collect();
    if others.is_empty() || others.len() == kinds.len() {
        return None;
    }
    let count = others.len();
    others.sort_unstable();
    others.dedup();
    Some(format!(
        "{count} of {} features are no genes ({}), and are used like them",
        kinds.len(),
        others.join(", ")
    ))
}

const NOTE: &str = "read as a folder of 10x Genomics: points are cells, features are genes";

/// A column of lines with tabs; the first where there is no such.
fn column_of(path: &Path, column: usize) -> Result<Vec<String>> {
    let source = Source::open(path)?;
    let mut text = Text::new(&source)?;
    let mut list = Vec::new();
    while let Some(line) = text.next_line()? {
        let line = String::from_utf8_lossy(line);
        let fields: Vec<&str> = line.split('\t').collect();
        let field = fields.get(column).unwrap_or(&fields[0]).trim();
        if field.is_empty() {
            return Err(source.fault(Place::Line(text.lines()), "the name is missing"));
        }
        list.push(field.to_owned());
    }
    Ok(list)
}
