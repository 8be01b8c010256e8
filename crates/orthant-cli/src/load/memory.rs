//! What fits into memory, and what is read from disk instead.

use std::path::{Path, PathBuf};

use anyhow::Result;
use orthant::matrix::{Budget, amount};
use orthant::read::{self, InPlace};

use super::input::Points;
use crate::args::{Orientation, ReadArgs};
use crate::terminal::tell;

/// Memory for what a method holds beside the data. Less than a few megabytes the program has taken before it begins.
pub fn room(args: &ReadArgs, points: &Points) -> Option<u64> {
    let Some(memory) = args.memory else { return read::available_memory() };
    let held = match points {
        Points::Held(_) => read::bytes_held(&points.shape()),
        Points::Streamed(..) => 0,
    };
    Some(memory.saturating_sub(held).max(8 << 20))
}

/// Memory that may be used.
pub fn memory(args: &ReadArgs) -> u64 {
    args.memory.or_else(|| Some(read::available_memory()? / 10 * 6)).unwrap_or(u64::MAX)
}

/// Opens data that do not fit into the memory that may be used; none where they do.
///
/// # Errors
/// Where they do not fit and cannot be read from where they lie: the command that helps is named.
pub fn streamed(
    args: &ReadArgs,
    options: &read::Options,
    orientation: Orientation,
    quiet: bool,
) -> Result<Option<(InPlace, Budget)>> {
    let (path, memory) = (&args.path, memory(args));
    if path.as_os_str() == "-" || !path.exists() {
        return Ok(None);
    }
    let turned = orientation == Orientation::Columns;
    let convert = |needed: u64| -> anyhow::Error {
        let folder = path.with_extension("").with_extension("blocks");
        let size = args.memory.map_or(String::new(), |memory| format!(" --memory {}M", memory >> 20));
        anyhow::anyhow!(
            "{}: takes about {} of memory, {} may be used: write it into a folder that is read from disk first, \
             orthant convert {} {}{}{size}{}",
            path.display(),
            amount(needed.into()),
            amount(memory.into()),
            path.display(),
            folder.display(),
            if turned { " --transpose" } else { "" },
            if turned { ", then cluster its rows" } else { "" },
        )
    };
    let say = |what: String| {
        if !quiet {
            tell!("orthant: {}: {what}", path.display());
        }
    };
    let Some(found) = read::open_in_place(path, options, turned)? else {
        return match read::estimate(path, options)? {
            Some(needed) if needed > memory => Err(convert(needed)),
            _ => Ok(None),
        };
    };
    let shape = found.source.shape();
    let needed = read::bytes_held(&shape);
    if needed <= memory {
        if args.memory.is_some() {
            say(format!(
                "takes {} of memory, {} may be used: held in memory",
                amount(needed.into()),
                amount(memory.into())
            ));
        }
        return Ok(None);
    }
    // Points whose numbers lie all over the file would take a read for every few of them, in every pass.
    const WINDOW: usize = 32 << 20;
    if !found.contiguous && WINDOW / shape.features.max(1) < 16 << 10 {
        return Err(convert(needed));
    }
    say(format!(
        "takes {} of memory, {} may be used: streamed from disk",
        amount(needed.into()),
        amount(memory.into())
    ));
    Ok(Some((found, Budget { bytes: memory as usize, folder: Some(scratch(path)) })))
}

/// A folder for what does not fit: beside the data if it can be written, else where the system keeps such things.
fn scratch(path: &Path) -> PathBuf {
    let beside = read::folder_of(path);
    let trial = beside.join(format!(".orthant-trial-{}", std::process::id()));
    match std::fs::File::create_new(&trial) {
        Ok(_) => {
            let _ = std::fs::remove_file(&trial);
            beside.into()
        }
        Err(_) => std::env::temp_dir(),
    }
}
