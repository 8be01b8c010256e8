//! Parquet, tables of columns, as pandas and polars write them. Built without the feature "parquet", files are known and
//! refused with the line of Python that converts them.

#[cfg(feature = "parquet")]
mod table;

use std::path::Path;

use super::source::Source;
use super::{Loaded, Options};
use crate::error::{Place, Result};

/// The name in the table of formats.
pub(super) const NAME: &str = "parquet";
const MAGIC: &[u8] = b"PAR1";

pub(super) fn recognise(head: &[u8], _path: &Path) -> bool {
    head.starts_with(MAGIC)
}

pub(super) fn read(source: &Source, options: &Options) -> Result<Loaded> {
    if !recognise(&source.head()?, source.path()) {
        return Err(source.fault(Place::Byte(0), "this is no Parquet file, whatever its name says"));
    }
    convert(source, options)
}

#[cfg(feature = "parquet")]
fn convert(source: &Source, options: &Options) -> Result<Loaded> {
    // The crate indexes pages by what they claim: fuzzing found files on which it panics. Nothing is shared with it that could be
    // left half-done.
    let read = super::foreign::unless_it_panics(|| table::read(source, options));
    let damaged = || source.fault(Place::Whole, "the Parquet file cannot be read: its pages are damaged");
    read.unwrap_or_else(|| Err(damaged()))
}

#[cfg(not(feature = "parquet"))]
fn convert(source: &Source, _options: &Options) -> Result<Loaded> {
    let name = source.path().file_name().unwrap_or_default().to_string_lossy().replace('\'', "");
    let stem = source.path().file_stem().unwrap_or_default().to_string_lossy().replace('\'', "");
    let problem = format!(
        "this program was built without Parquet: build it with cargo install --path crates/orthant-cli --features \
         parquet, or in Python: import pandas; pandas.read_parquet('{name}').to_csv('{stem}.csv', index=False)"
    );
    Err(source.fault(Place::Byte(0), problem))
}
