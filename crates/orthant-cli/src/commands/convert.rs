//! `orthant convert`: the same matrix in another format.

use anyhow::{Result, bail};
use orthant::read;

use crate::args::{ConvertArgs, Orientation};
use crate::load;
use crate::output::check_new;

/// Runs the command.
pub fn run(args: &ConvertArgs) -> Result<()> {
    load::threads(&args.work)?;
    check_new(&args.out, args.force)?;
    if same_file(&args.read.path, &args.out) {
        bail!("{}: is both read and written: choose another name", args.out.display());
    }
    let orientation = if args.transpose { Orientation::Columns } else { Orientation::Rows };
    let loaded =
        load::read(&args.read, args.read.options(&args.texts), args.work.quiet)?.with_points(orientation);
    read::write(&args.out, &loaded)?;
    if !args.work.quiet {
        eprintln!(
            "{} x {} from {} to {}",
            loaded.matrix.points(),
            loaded.matrix.features(),
            args.read.path.display(),
            args.out.display()
        );
    }
    Ok(())
}

fn same_file(a: &std::path::Path, b: &std::path::Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
