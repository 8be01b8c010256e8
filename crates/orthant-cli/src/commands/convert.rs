//! `orthant convert`: the same matrix in another format.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use orthant::read;

use crate::args::{ConvertArgs, Orientation};
use crate::load;
use crate::output::Files;
use crate::terminal::tell;

/// Runs the command.
pub fn run(args: &ConvertArgs) -> Result<()> {
    load::threads(&args.work)?;
    if same_file(&args.read.path, &args.out) {
        bail!("{}: is both read and written: choose another name", args.out.display());
    }
    let beside = read::companions(&args.out)?;
    let paths: Vec<&Path> = std::iter::once(&args.out).chain(&beside).map(PathBuf::as_path).collect();
    let files = Files::open(&paths, args.force)?;
    let orientation = if args.transpose { Orientation::Columns } else { Orientation::Rows };
    let loaded =
        load::read(&args.read, args.read.options(&args.texts), args.work.quiet)?.with_points(orientation);
    files.matrix(&args.out, &loaded)?;
    files.finish()?;
    if !args.work.quiet {
        tell!(
            "{} x {} from {} to {}",
            loaded.matrix.points(),
            loaded.matrix.features(),
            args.read.path.display(),
            args.out.display()
        );
    }
    Ok(())
}

/// Whether two paths lead to the same file.
pub fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
