//! HDF5, the container of AnnData (.h5ad), 10x Genomics (.h5), loom and MATLAB 7.3; any other array in it is read by
//! its path. Built without the feature "hdf5", files are known and refused with the line of Python that converts them.

#[cfg(feature = "hdf5")]
mod arrays;
#[cfg(feature = "hdf5")]
mod cells;
#[cfg(feature = "hdf5")]
mod container;

use std::path::Path;

use super::source::Source;
use super::{Loaded, Options};
use crate::error::{Place, Result};

/// The name in the table of formats.
pub(super) const NAME: &str = "hdf5";
const MAGIC: &[u8] = b"\x89HDF\r\n\x1a\n";

/// At the beginning, or after the 512 bytes that MATLAB puts before it.
pub(super) fn recognise(head: &[u8], _path: &Path) -> bool {
    head.starts_with(MAGIC) || head.starts_with(b"MATLAB 7.3") || head.get(512..520) == Some(MAGIC)
}

pub(super) fn read(source: &Source, options: &Options) -> Result<Loaded> {
    if !recognise(&source.head()?, source.path()) {
        return Err(source.fault(Place::Byte(0), "this is no HDF5 file, whatever its name says"));
    }
    convert(source, options)
}

#[cfg(feature = "hdf5")]
fn convert(source: &Source, options: &Options) -> Result<Loaded> {
    let container = container::Container::open(source, options)?;
    match cells::read(&container)? {
        Some(loaded) => Ok(loaded),
        None => arrays::read(&container),
    }
}

#[cfg(not(feature = "hdf5"))]
fn convert(source: &Source, _options: &Options) -> Result<Loaded> {
    use super::source::{bare_name, strip_ending};
    let name = source.path().file_name().unwrap_or_default().to_string_lossy().replace('\'', "");
    let stem = source.path().file_stem().unwrap_or_default().to_string_lossy().replace('\'', "");
    let is = |ending: &str| strip_ending(bare_name(source.path()), ending).is_some();
    let save = format!("scipy.sparse.save_npz('{stem}.npz', scipy.sparse.csr_matrix(a.X))");
    let advice = if is(".mat") || source.head()?.starts_with(b"MATLAB") {
        "save it in MATLAB with save(file, '-v7'), or in Python as .npy by way of h5py".to_string()
    } else if is(".h5ad") {
        format!("in Python: import anndata, scipy.sparse; a = anndata.read_h5ad('{name}'); {save}")
    } else if is(".loom") {
        format!("in Python: import anndata, scipy.sparse; a = anndata.io.read_loom('{name}'); {save}")
    } else {
        format!(
            "a 10x file in Python: import scanpy, scipy.sparse; a = scanpy.read_10x_h5('{name}'); {save}; others as \
             .npy by way of h5py"
        )
    };
    Err(source
        .fault(Place::Byte(0), format!("this program was built without HDF5 (feature \"hdf5\"): {advice}")))
}
