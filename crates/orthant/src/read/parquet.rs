//! Parquet, tables of columns: known here and not read (the crates that do come with sixty others). The refusal names
//! the line of Python that converts the file; the Python package reads it by way of polars or pandas.

use std::path::Path;

use super::source::Source;
use super::{Loaded, Options};
use crate::error::{Place, Result};

/// The name in the table of formats.
pub(super) const NAME: &str = "parquet";

pub(super) fn recognise(head: &[u8], _path: &Path) -> bool {
    head.starts_with(b"PAR1")
}

pub(super) fn read(source: &Source, _options: &Options) -> Result<Loaded> {
    let name = source.path().file_name().unwrap_or_default().to_string_lossy().replace('\'', "");
    let stem = source.path().file_stem().unwrap_or_default().to_string_lossy().replace('\'', "");
    let problem = format!(
        "Parquet is not read here: in Python: import pandas; pandas.read_parquet('{name}').to_csv('{stem}.csv', \
         index=False)"
    );
    Err(source.fault(Place::Byte(0), problem))
}
