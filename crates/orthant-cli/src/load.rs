//! From the arguments to points in memory, with everything that comes with them.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use orthant::Error;
use orthant::evaluate::{self, Scores};
use orthant::image::ImageShape;
use orthant::matrix::{Data, Matrix, open};
use orthant::read::{self, Loaded};
use orthant::recipe::Learned;
use serde_json::{Map, Value, json};

use crate::args::{DataArgs, Orientation, ReadArgs, WorkArgs};
use crate::terminal::tell;

/// Classes of the points.
#[derive(Debug, Clone)]
pub struct Truth {
    /// The class of each point, from 0.
    pub classes: Vec<usize>,
    /// The name of each class.
    pub names: Vec<String>,
    /// Points of this class have none.
    pub unlabelled: Option<usize>,
}

impl Truth {
    /// From words or numbers.
    pub fn new(tokens: &[String]) -> Truth {
        let (classes, names) = evaluate::classes(tokens);
        Truth { classes, names, unlabelled: None }
    }

    /// The scores of labels; points without a class are left out, like those without a cluster.
    pub fn scores(&self, labels: &[i32]) -> orthant::Result<Scores> {
        self.scores_of(labels, &self.classes)
    }

    /// The same where only some points have labels, whose classes these are.
    pub fn scores_of(&self, labels: &[i32], classes: &[usize]) -> orthant::Result<Scores> {
        let Some(unlabelled) = self.unlabelled else { return evaluate::scores(labels, classes) };
        let known = |(&label, &class): (&i32, &usize)| if class == unlabelled { -1 } else { label };
        evaluate::scores(&labels.iter().zip(classes).map(known).collect::<Vec<i32>>(), classes)
    }
}

/// Points ready to be clustered.
#[derive(Debug)]
pub struct Input {
    /// Where they came from.
    pub path: PathBuf,
    /// The points, prepared.
    pub matrix: Matrix,
    /// Weights of the points.
    pub weights: Option<Vec<f64>>,
    /// Classes of the points.
    pub truth: Option<Truth>,
    /// Names of the features.
    pub vocabulary: Option<Vec<String>>,
    /// Names of the points.
    pub names: Option<Vec<String>>,
    /// The points are pixels.
    pub image: Option<ImageShape>,
    /// The features are pixels.
    pub feature_image: Option<ImageShape>,
    /// The wavelength of every feature.
    pub wavelengths: Option<Vec<f64>>,
    /// What the reader of the file had to say.
    pub notes: Vec<String>,
    /// What was done to them, so that it can be done to others.
    pub learned: Learned,
    /// Seconds from the file to memory.
    pub read_seconds: f64,
}

impl Input {
    /// What the objects of `advise` and `choose-k` begin with.
    pub fn studied(&self, seed: u64, threads: usize) -> Map<String, Value> {
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| drop(object.insert(key.into(), value));
        put("program", json!(format!("orthant {}", env!("CARGO_PKG_VERSION"))));
        put("data", json!(self.path.display().to_string()));
        put("cluster", json!(self.learned.orientation.name()));
        put("points", json!(self.matrix.points()));
        put("features", json!(self.matrix.features()));
        put("seed", json!(seed));
        put("threads", json!(threads));
        object
    }

    /// The points as algorithms see them.
    pub fn open(&self) -> Result<Box<dyn Data + '_>> {
        Ok(open(&self.matrix, self.weights.clone())?)
    }

    /// The name of the data, for people.
    pub fn title(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// An error about the points, told in terms of the file.
    pub fn located(&self, error: Error) -> anyhow::Error {
        locate(error, &self.path, self.learned.orientation)
    }
}

/// Formats that hold several matrices by name.
const WITH_VARIABLES: &[&str] = &["matlab", "npz"];

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
    options.memory = options.memory.or_else(free_memory);
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

/// Bytes that can be had without swapping, where the system tells.
fn free_memory() -> Option<u64> {
    let about = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = about.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let free = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)?;
    // A container may have less.
    let of_group = |name: &str| -> Option<u64> {
        std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse().ok()
    };
    let left =
        of_group("memory.max").zip(of_group("memory.current")).map(|(max, used)| max.saturating_sub(used));
    Some(left.map_or(free, |left| left.min(free)))
}

/// Reads everything that the arguments name.
pub fn load(args: &DataArgs, quiet: bool) -> Result<Input> {
    let begun = Instant::now();
    let mut options = args.read.options(&args.texts);
    if args.truth.is_none() {
        options.columns.truth = args.truth_column.clone();
    }
    let loaded = fetch(&args.read, options)?;
    let (loaded, learned) = args
        .recipe(loaded.texts.is_some())
        .prepare(loaded)
        .map_err(|error| locate(error, &args.read.path, Orientation::Rows))?;
    let (points, features) = (loaded.matrix.points(), loaded.matrix.features());
    let (of_points, of_features) = ((points, "points"), (features, "features"));
    let (image, feature_image) = match args.image {
        Some((height, width)) => {
            let shape = ImageShape { height, width, scan: args.scan.into() };
            place(shape, points, features).with_context(|| format!("--image {height}x{width}"))?
        }
        None => (loaded.image, loaded.feature_image),
    };
    let truth = match &args.truth {
        Some(path) => Some(list(path, args.truth_column.as_deref(), [of_points, of_features], image)?),
        None => loaded.truth,
    };
    let vocabulary = match &args.vocabulary {
        Some(path) => Some(list(path, None, [of_features, of_points], feature_image)?),
        None => loaded.vocabulary,
    };
    let names = match &args.names {
        Some(path) => Some(list(path, None, [of_points, of_features], image)?),
        None => loaded.names,
    };
    let weights = match &args.weights {
        Some(path) => Some(weights(path, points)?),
        None => None,
    };
    let truth = truth.map(|tokens| known(&tokens, args.unlabelled.as_deref())).transpose()?;
    // At the end: what is refused has one line.
    tell(&loaded.notes, &args.read.path, quiet);
    Ok(Input {
        path: args.read.path.clone(),
        matrix: loaded.matrix,
        weights,
        truth,
        vocabulary,
        names,
        image,
        feature_image,
        wavelengths: loaded.wavelengths,
        notes: loaded.notes,
        learned,
        read_seconds: begun.elapsed().as_secs_f64(),
    })
}

/// The classes, one of which may mean that there is none.
fn known(tokens: &[String], unlabelled: Option<&str>) -> Result<Truth> {
    let mut truth = Truth::new(tokens);
    if let Some(name) = unlabelled {
        let Some(class) = truth.names.iter().position(|class| class == name) else {
            bail!("--unlabelled: no point is of class '{name}'");
        };
        truth.unlabelled = Some(class);
    }
    Ok(truth)
}

/// How many there are of what.
type Count = (usize, &'static str);

/// A word for each of them; there are others, which may have been meant.
fn list(
    path: &Path,
    column: Option<&str>,
    [own, others]: [Count; 2],
    image: Option<ImageShape>,
) -> Result<Vec<String>> {
    match read::list(path, column, own, image) {
        Err(Error::File { .. }) if own.0 != others.0 && read::list(path, column, others, None).is_ok() => {
            bail!(
                "{}: is as long as there are {} ({}), not {} ({}): is the other way of --cluster rows or columns meant?",
                path.display(),
                others.1,
                others.0,
                own.1,
                own.0
            )
        }
        read => Ok(read?),
    }
}

fn weights(path: &Path, points: usize) -> Result<Vec<f64>> {
    let weights = read::numbers(path)?;
    if weights.len() != points {
        bail!("{}: has {} weights for {points} points: one each is needed", path.display(), weights.len());
    }
    if let Some(j) = weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
        bail!("{}, line {}: the weight {} is not a number from 0", path.display(), j + 1, weights[j]);
    }
    Ok(weights)
}

/// Labels one a line → numbers from 0 and the names of the clusters; -1 stays no cluster.
pub fn labels(path: &Path) -> Result<(Vec<i32>, Vec<String>)> {
    let tokens = read::lines(path)?;
    let given: Vec<String> = tokens.iter().filter(|t| *t != "-1").cloned().collect();
    let (numbers, names) = evaluate::classes(&given);
    let mut numbers = numbers.into_iter();
    let number = |token: &String| match token.as_str() {
        "-1" => -1,
        _ => numbers.next().and_then(|n| i32::try_from(n).ok()).unwrap_or(-1),
    };
    Ok((tokens.iter().map(number).collect(), names))
}

/// Points or features, whichever are as many as the image has pixels.
type Images = (Option<ImageShape>, Option<ImageShape>);

fn place(shape: ImageShape, points: usize, features: usize) -> Result<Images> {
    if shape.pixels() == points {
        Ok((Some(shape), None))
    } else if shape.pixels() == features {
        Ok((None, Some(shape)))
    } else {
        bail!("{} pixels, but there are {points} points and {features} features", shape.pixels())
    }
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
