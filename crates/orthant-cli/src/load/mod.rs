//! From the arguments to points, in memory or on disk, with everything that comes with them.

mod input;
mod lists;
mod memory;

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use orthant::Error;
use orthant::matrix::{Budget, Matrix, Shape, Source, amount, pick};
use orthant::read::{self, InPlace, Loaded};
use orthant::recipe::{Learned, Missing};
use orthant::weighting::Weighting;

pub use input::{Completed, Input, Points};
pub use lists::{Truth, labels};
pub use memory::{memory, room, streamed};

use crate::args::{DataArgs, Orientation, ReadArgs, WorkArgs};
use crate::terminal::tell;
use lists::{Named, classes_of, names};

/// Formats that hold several matrices by name.
const WITH_VARIABLES: &[&str] = &["matlab", "npz", "hdf5"];

/// Sets up the threads; to be called once, first.
pub fn threads(work: &WorkArgs) -> Result<usize> {
    // This thread is one of them: from outside, every pass would wake another thread and wait for it.
    let builder = rayon::ThreadPoolBuilder::new().num_threads(work.threads.unwrap_or(0)).use_current_thread();
    builder.build_global().context("--threads: the threads cannot be started")?;
    Ok(rayon::current_num_threads())
}

/// Reads a file (or standard input) and tells what a user should know about it.
pub fn read(args: &ReadArgs, options: read::Options, quiet: bool) -> Result<Loaded> {
    let loaded = fetch(args, options)?;
    tell(&loaded.notes, &args.path, quiet);
    Ok(loaded)
}

fn fetch(args: &ReadArgs, mut options: read::Options) -> Result<Loaded> {
    options.memory = options.memory.or(args.memory).or_else(read::available_memory);
    let loaded = match args.path.as_os_str() == "-" {
        true => read::read_stream(Path::new("standard input"), &mut std::io::stdin().lock(), &options)?,
        false => read::read(&args.path, &options)?,
    };
    if args.variable.is_some() && !WITH_VARIABLES.contains(&loaded.format) {
        bail!("--variable: {} holds one matrix ({}): leave it out", args.path.display(), loaded.format);
    }
    Ok(loaded)
}

fn tell(notes: &[String], path: &Path, quiet: bool) {
    if !quiet {
        notes.iter().for_each(|note| tell!("orthant: {}: {note}", path.display()));
    }
}

/// What is done to the counts of words, whatever the method (docs/advice.md has what that gave).
const WORDS: &[Weighting] = &[Weighting::TfIdf, Weighting::Unit];

/// Reads everything that the arguments name.
pub fn load(args: &DataArgs, quiet: bool) -> Result<Input> {
    refuse_gaps(args)?;
    load_with_gaps(args, quiet)
}

/// What was observed is clustered by one command, and by what uses its results.
fn refuse_gaps(args: &DataArgs) -> Result<()> {
    if args.missing == Missing::Ignore {
        bail!(
            "--missing ignore: only 'cluster' and 'predict' do without missing entries; 'zero' counts them as 0"
        );
    }
    Ok(())
}

/// The same, where entries may be missing.
pub fn load_with_gaps(args: &DataArgs, quiet: bool) -> Result<Input> {
    let begun = Instant::now();
    let mut options = args.read.options(&args.texts);
    if args.truth.is_none() {
        options.columns.truth = args.truth_column.clone();
    }
    if let Some((found, budget)) = streamed(&args.read, &options, args.cluster, quiet)? {
        return load_streamed(args, found, budget, begun, quiet);
    }
    let mut loaded = fetch(&args.read, options)?;
    if loaded.feature_truth.is_some() && args.truth.is_none() && args.cluster == Orientation::Rows {
        let note = "there are as many labels beside it as columns: are those the points (--cluster columns)?";
        loaded.notes.push(note.into());
    }
    let usual = if loaded.texts.is_some() { WORDS } else { &[] };
    let weighted_unasked = !usual.is_empty() && args.weighting.is_none() && args.cluster == Orientation::Rows;
    let counts = weighted_unasked.then(|| loaded.matrix.clone());
    let (loaded, learned) = args
        .recipe(usual)
        .prepare(loaded)
        .map_err(|error| locate(error, &args.read.path, Orientation::Rows))?;
    let (points, features) = (loaded.matrix.points(), loaded.matrix.features());
    let named = Named::by(args, points, features, (loaded.image, loaded.feature_image))?;
    let truth = named.truth.or_else(|| loaded.truth.as_deref().map(Truth::new));
    let truth = truth.map(|truth| truth.without(args.unlabelled.as_deref())).transpose()?;
    // At the end: what is refused has one line.
    tell(&loaded.notes, &args.read.path, quiet);
    Ok(Input {
        path: args.read.path.clone(),
        points: Points::Held(loaded.matrix),
        counts,
        weights: named.weights,
        truth,
        vocabulary: named.vocabulary.or(loaded.vocabulary),
        names: named.names.or(loaded.names),
        excerpts: loaded.excerpts,
        image: named.images.0,
        feature_image: named.images.1,
        wavelengths: loaded.wavelengths,
        called: loaded.called,
        // An image that was named by hand may be another.
        origin: loaded.origin.filter(|_| args.image.is_none()),
        notes: loaded.notes,
        learned,
        completed: None,
        read_seconds: begun.elapsed().as_secs_f64(),
    })
}

/// Reads everything for a study that goes over the data very often: of data that do not fit into memory a sample, one point
/// of every stretch of them.
pub fn load_for_study(args: &DataArgs, seed: u64, quiet: bool) -> Result<Input> {
    let input = load(args, quiet)?;
    let Points::Streamed(source, budget) = &input.points else { return Ok(input) };
    let shape = source.shape();
    let each = (shape.nonzeros / shape.points.max(1)).max(1) * 12;
    let size = (budget.bytes / 4 / (each + 64)).min(shape.points);
    let weights = input.weights.clone().or_else(|| source.weights());
    let edge = |at: usize| (at as u128 * shape.points as u128 / size.max(1) as u128) as usize;
    // The seed moves the place within the stretches.
    let chosen: Vec<usize> = (0..size)
        .map(|at| {
            let stretch = edge(at)..edge(at + 1);
            let turn = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(seed).rotate_left(23);
            stretch.start + (turn % stretch.len().max(1) as u64) as usize
        })
        .collect();
    let matrix = Matrix::of(pick(&**source, &chosen)?)?;
    let of = |list: &Vec<f64>| chosen.iter().map(|&j| list[j]).collect();
    let mut notes = input.notes.clone();
    notes.push(format!(
        "a sample of {size} of {} points was looked at: all of them do not fit into memory",
        shape.points
    ));
    tell(&notes[notes.len() - 1..], &input.path, quiet);
    let truth = input
        .truth
        .as_ref()
        .map(|truth| Truth { labels: chosen.iter().map(|&j| truth.labels[j]).collect(), ..truth.clone() });
    Ok(Input {
        points: Points::Held(matrix),
        weights: weights.as_ref().map(of),
        truth,
        names: input.names.as_ref().map(|names| chosen.iter().map(|&j| names[j].clone()).collect()),
        excerpts: None,
        image: None,
        origin: None,
        notes,
        ..input
    })
}

/// The same for data that stay on disk.
fn load_streamed(
    args: &DataArgs,
    found: InPlace,
    budget: Budget,
    begun: Instant,
    quiet: bool,
) -> Result<Input> {
    let InPlace { source, beside, .. } = found;
    let Shape { points, features, .. } = source.shape();
    let path = &args.read.path;
    let recipe = args.recipe(&[]);
    let (source, mut learned): (Box<dyn Source>, Learned) =
        if recipe.weighting.is_empty() && recipe.missing == Missing::Refuse {
            (source, Learned { orientation: recipe.orientation, ..Learned::default() })
        } else {
            let prepared = recipe.stream(source).map_err(|error| locate(error, path, Orientation::Rows))?;
            let learned = prepared.learned().clone();
            (Box::new(prepared), learned)
        };
    learned.features = beside.vocabulary.clone();
    let named = Named::by(args, points, features, (beside.image, beside.feature_image))?;
    let truth = match (named.truth, &beside.truth) {
        (None, Some(path)) => classes_of(path, points)?,
        (named, _) => named,
    };
    let truth = truth.map(|truth| truth.without(args.unlabelled.as_deref())).transpose()?;
    // Names of very many points would take more memory than what is said of them is worth.
    const NAMED: usize = 1 << 20;
    let names = match (named.names, &beside.names) {
        (None, Some(path)) if points <= NAMED => Some(names(path, points, features, named.images.0)?),
        (named, _) => named,
    };
    let mut notes = beside.notes;
    tell(&notes, path, quiet);
    notes.push(format!("streamed from disk, within {} of memory", amount(budget.bytes as u128)));
    Ok(Input {
        path: path.clone(),
        points: Points::Streamed(source, budget),
        counts: None,
        weights: named.weights,
        truth,
        vocabulary: named.vocabulary.or(beside.vocabulary),
        names,
        excerpts: None,
        image: named.images.0,
        feature_image: named.images.1,
        wavelengths: beside.wavelengths,
        called: None,
        origin: None,
        notes,
        learned,
        completed: None,
        read_seconds: begun.elapsed().as_secs_f64(),
    })
}

/// An error about the points, told in terms of the file.
pub fn locate(error: Error, path: &Path, orientation: Orientation) -> anyhow::Error {
    match orientation.locate(error) {
        error @ (Error::Entry { .. } | Error::Data(_)) => {
            anyhow::Error::new(error).context(path.display().to_string())
        }
        other => other.into(),
    }
}
