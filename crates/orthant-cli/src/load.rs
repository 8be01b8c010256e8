//! From the arguments to points in memory, with everything that comes with them.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use orthant::image::{ImageShape, Scan};
use orthant::matrix::{Data, Matrix, open};
use orthant::read::{self, Loaded};
use orthant::weighting::{Fitted, Weighting};
use orthant::{Error, evaluate};
use serde_json::{Map, Value, json};

use crate::args::{DataArgs, Orientation, ReadArgs, WorkArgs};
use crate::output::refuse_pipe;
use crate::terminal::tell;

/// Classes of the points.
#[derive(Debug, Clone)]
pub struct Truth {
    /// The class of each point, from 0.
    pub classes: Vec<usize>,
    /// The name of each class.
    pub names: Vec<String>,
}

impl Truth {
    /// From words or numbers.
    pub fn new(tokens: &[String]) -> Truth {
        let (classes, names) = evaluate::classes(tokens);
        Truth { classes, names }
    }
}

/// Points ready to be clustered.
#[derive(Debug)]
pub struct Input {
    /// Where they came from.
    pub path: PathBuf,
    /// Whether rows or columns of the file are the points.
    pub orientation: Orientation,
    /// The points, weighted.
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
    /// What was done to the features and points.
    pub weighting: Vec<(String, Fitted)>,
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
        put("cluster", json!(self.orientation.name()));
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
        locate(error, &self.path, self.orientation)
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

/// Reads a file and tells what a user should know about it.
pub fn read(args: &ReadArgs, orientation: Orientation, quiet: bool) -> Result<Loaded> {
    let mut loaded = read::read(&args.path, &args.options())?;
    if args.variable.is_some() && !WITH_VARIABLES.contains(&loaded.format) {
        bail!("--variable: {} holds one matrix ({}): leave it out", args.path.display(), loaded.format);
    }
    if !quiet {
        loaded.notes.iter().for_each(|note| tell!("orthant: {}: {note}", args.path.display()));
    }
    if orientation == Orientation::Columns {
        loaded.matrix = loaded.matrix.transposed();
        loaded.truth = None;
        std::mem::swap(&mut loaded.vocabulary, &mut loaded.names);
        std::mem::swap(&mut loaded.image, &mut loaded.feature_image);
        loaded.wavelengths = None;
    }
    Ok(loaded)
}

/// Reads everything that the arguments name.
pub fn load(args: &DataArgs, quiet: bool) -> Result<Input> {
    let begun = Instant::now();
    let loaded = read(&args.read, args.cluster, quiet)?;
    let mut matrix = loaded.matrix;
    let (points, features) = (matrix.points(), matrix.features());
    let (image, feature_image) = match args.image {
        Some((height, width)) => {
            let shape = ImageShape { height, width, scan: args.scan.into() };
            place(shape, points, features).with_context(|| format!("--image {height}x{width}"))?
        }
        None if loaded.image.is_some() || loaded.feature_image.is_some() => {
            (loaded.image, loaded.feature_image)
        }
        None => beside(&args.read.path, points, features),
    };
    let truth = match &args.truth {
        Some(path) => Some(counted(path, points, "points")?),
        None => loaded.truth,
    };
    let vocabulary = match &args.vocabulary {
        Some(path) => Some(counted(path, features, "features")?),
        None => loaded.vocabulary,
    };
    let names = match &args.names {
        Some(path) => Some(counted(path, points, "points")?),
        None => loaded.names,
    };
    let weights = match &args.weights {
        Some(path) => Some(weights(path, points)?),
        None => None,
    };
    let mut weighting = vec![];
    for name in &args.weighting.0 {
        let fitted = Weighting::named(name)?.fit(&matrix);
        matrix = fitted.apply(&matrix)?;
        weighting.push((name.clone(), fitted));
    }
    Ok(Input {
        path: args.read.path.clone(),
        orientation: args.cluster,
        matrix,
        weights,
        truth: truth.map(|tokens| Truth::new(&tokens)),
        vocabulary,
        names,
        image,
        feature_image,
        wavelengths: loaded.wavelengths,
        notes: loaded.notes,
        weighting,
        read_seconds: begun.elapsed().as_secs_f64(),
    })
}

/// The lines of a file, as many as there are points or features.
fn counted(path: &Path, count: usize, what: &str) -> Result<Vec<String>> {
    let lines = read::lines(path)?;
    if lines.len() != count {
        bail!("{}: has {} lines for {count} {what}: one line each is needed", path.display(), lines.len());
    }
    Ok(lines)
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

/// The image shape in a .json file beside the data, as 'orthant generate' writes it; anything else there
/// is none of our business.
fn beside(path: &Path, points: usize, features: usize) -> Images {
    let shape = || -> Option<ImageShape> {
        let path = path.with_extension("json");
        refuse_pipe(&path).ok()?;
        let value: Value = serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()?;
        let size = |key: &str| value.get(key)?.as_u64().and_then(|x| usize::try_from(x).ok());
        let (height, width) = (size("height")?, size("width")?);
        height.checked_mul(width)?;
        let order = value.get("scan").or(value.get("scan_order"))?.as_str()?;
        let scan = if order.starts_with("column") {
            Scan::Columns
        } else if order.starts_with("row") {
            Scan::Rows
        } else {
            return None;
        };
        Some(ImageShape { height, width, scan })
    };
    shape().and_then(|shape| place(shape, points, features).ok()).unwrap_or((None, None))
}

/// An error about the points, told in terms of the file.
pub fn locate(error: Error, path: &Path, orientation: Orientation) -> anyhow::Error {
    match error {
        Error::Entry { problem, row, column, advice } => {
            let (row, column) = match orientation {
                Orientation::Rows => (row, column),
                Orientation::Columns => (column, row),
            };
            anyhow::Error::new(Error::Entry { problem, row, column, advice })
                .context(path.display().to_string())
        }
        Error::Data(problem) => anyhow::Error::new(Error::Data(problem)).context(path.display().to_string()),
        other => other.into(),
    }
}
