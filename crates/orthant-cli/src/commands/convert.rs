//! `orthant convert`: the same matrix in another format.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use orthant::read;
use orthant::read::blocks::ENDING;

use crate::args::{ConvertArgs, Orientation};
use crate::load;
use crate::output::Files;
use crate::terminal::{show, tell};

/// Runs the command.
pub fn run(args: &ConvertArgs) -> Result<()> {
    load::threads(&args.work)?;
    if same_file(&args.read.path, &args.out) {
        bail!("{}: is both read and written: choose another name", args.out.display());
    }
    if is_blocks(&args.out) {
        return into_blocks(args);
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

/// Whether the name is that of a block folder.
fn is_blocks(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.ends_with(ENDING))
}

/// Into a block folder, within the memory that may be used.
fn into_blocks(args: &ConvertArgs) -> Result<()> {
    let mut options = args.read.options(&args.texts);
    options.memory = args.read.memory.or_else(read::available_memory);
    let conversion = read::Conversion {
        from: &args.read.path,
        to: &args.out,
        options: &options,
        turned: args.transpose,
        memory: usize::try_from(load::memory(&args.read)).unwrap_or(usize::MAX),
        force: args.force,
    };
    let (mut shown, bar) = (Instant::now(), std::io::stderr().is_terminal());
    let mut tell = |how_far: &str| {
        let every = if bar { Duration::from_millis(200) } else { Duration::from_secs(10) };
        if !args.work.quiet && shown.elapsed() >= every {
            shown = Instant::now();
            match bar {
                true => show(&format!("orthant: {how_far}")),
                false => tell!("orthant: {}: {how_far}", args.out.display()),
            }
        }
    };
    let converted = read::convert(&conversion, &mut tell);
    if bar && !args.work.quiet {
        show("");
    }
    let shape = converted?;
    if !args.work.quiet {
        let (from, to) = (args.read.path.display(), args.out.display());
        tell!("{} x {} from {from} to {to}", shape.points, shape.features);
    }
    Ok(())
}

/// Whether two paths lead to the same file.
pub fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
