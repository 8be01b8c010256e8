//! From the arguments to points in memory, with everything that comes with them.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use orthant::Error;
use orthant::advise::Model;
use orthant::auto::{self, Chosen};
use orthant::called::Called;
use orthant::evaluate::{self, Scores};
use orthant::image::ImageShape;
use orthant::matrix::{Budget, Data, Matrix, Shape, Source, open, pick, stream_within};
use orthant::read::{self, InPlace, Loaded, Origin};
use orthant::recipe::{Learned, Missing};
use orthant::report::{Features, nouns};
use orthant::run::Observer;
use orthant::weighting::Weighting;
use serde_json::{Map, Value, json};

use crate::args::{DataArgs, Orientation, ReadArgs, WorkArgs};
use crate::terminal::tell;

/// Classes of the points.
#[derive(Debug, Clone)]
pub struct Truth {
    /// The class of each point, from 0.
    pub labels: Vec<usize>,
    /// The name of each class.
    pub names: Vec<String>,
    /// Points of this class have none.
    pub unlabelled: Option<usize>,
}

impl Truth {
    /// From words or numbers.
    pub fn new(tokens: &[String]) -> Truth {
        let (labels, names) = evaluate::classes(tokens);
        Truth { labels, names, unlabelled: None }
    }

    /// The scores of labels; points without a class are left out, like those without a cluster.
    pub fn scores(&self, labels: &[i32]) -> orthant::Result<Scores> {
        self.scores_of(labels, &self.labels)
    }

    /// The same where only some points have labels, whose classes these are.
    pub fn scores_of(&self, labels: &[i32], classes: &[usize]) -> orthant::Result<Scores> {
        let Some(unlabelled) = self.unlabelled else { return evaluate::scores(labels, classes) };
        let known = |(&label, &class): (&i32, &usize)| if class == unlabelled { -1 } else { label };
        evaluate::scores(&labels.iter().zip(classes).map(known).collect::<Vec<i32>>(), classes)
    }
}

/// Where the points are.
pub enum Points {
    /// In memory.
    Held(Matrix),
    /// On disk, read in every pass.
    Streamed(Box<dyn Source>, Budget),
}

impl std::fmt::Debug for Points {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Points").field(&self.shape()).finish()
    }
}

impl Points {
    /// How large they are.
    pub fn shape(&self) -> Shape {
        match self {
            Points::Held(matrix) => orthant::matrix::AnyPoints::from(matrix).shape(),
            Points::Streamed(source, _) => source.shape(),
        }
    }

    /// How many points.
    pub fn points(&self) -> usize {
        self.shape().points
    }

    /// How many features.
    pub fn features(&self) -> usize {
        self.shape().features
    }

    /// Entries that are not zero; of dense points on disk all of them.
    pub fn nonzeros(&self) -> usize {
        match self {
            Points::Held(matrix) => matrix.nonzeros(),
            Points::Streamed(source, _) => source.shape().nonzeros,
        }
    }

    /// As algorithms see them.
    pub fn open(&self, weights: Option<Vec<f64>>) -> orthant::Result<Box<dyn Data + '_>> {
        match self {
            Points::Held(matrix) => open(matrix, weights),
            Points::Streamed(source, budget) => {
                stream_within(WithWeights { source: &**source, weights }, budget.clone())
            }
        }
    }
}

/// Weights that were given beside the points count instead of those that came with them.
struct WithWeights<'a> {
    source: &'a dyn Source,
    weights: Option<Vec<f64>>,
}

impl Source for WithWeights<'_> {
    fn shape(&self) -> Shape {
        self.source.shape()
    }
    fn points(&self, rows: std::ops::Range<usize>) -> orthant::Result<orthant::matrix::AnyPoints<'_>> {
        self.source.points(rows)
    }
    fn weights(&self) -> Option<Vec<f64>> {
        self.weights.clone().or_else(|| self.source.weights())
    }
    fn take_back(&self, points: orthant::matrix::AnyPoints<'_>) {
        self.source.take_back(points);
    }
}

/// Points ready to be clustered.
#[derive(Debug)]
pub struct Input {
    /// Where they came from.
    pub path: PathBuf,
    /// The points, prepared.
    pub points: Points,
    /// How often texts have each word, where that was weighted without being asked.
    pub counts: Option<Matrix>,
    /// Weights of the points.
    pub weights: Option<Vec<f64>>,
    /// Classes of the points.
    pub truth: Option<Truth>,
    /// Names of the features.
    pub vocabulary: Option<Vec<String>>,
    /// Names of the points.
    pub names: Option<Vec<String>>,
    /// The beginning of every text.
    pub excerpts: Option<Vec<String>>,
    /// The points are pixels.
    pub image: Option<ImageShape>,
    /// The features are pixels.
    pub feature_image: Option<ImageShape>,
    /// The wavelength of every feature.
    pub wavelengths: Option<Vec<f64>>,
    /// What points and features are called.
    pub called: Option<Called>,
    /// Where on earth the pixels are, and in which kind of file that was said.
    pub origin: Option<Origin>,
    /// What the reader of the file had to say.
    pub notes: Vec<String>,
    /// What was done to them, so that it can be done to others.
    pub learned: Learned,
    /// What became of entries that were not observed.
    pub completed: Option<Completed>,
    /// Seconds from the file to memory.
    pub read_seconds: f64,
}

/// Entries that were not observed, after what was has been clustered.
#[derive(Debug)]
pub struct Completed {
    /// How many they are.
    pub entries: usize,
    /// How often they were filled in.
    pub rounds: usize,
    /// The error over the others.
    pub relative_error: f64,
}

impl Input {
    /// What the objects of `advise` and `choose-k` begin with.
    pub fn studied(&self, seed: u64, threads: usize) -> Map<String, Value> {
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| drop(object.insert(key.into(), value));
        put("program", json!(format!("orthant {}", env!("CARGO_PKG_VERSION"))));
        put("data", json!(self.path.display().to_string()));
        put("cluster", json!(self.learned.orientation.name()));
        put("points", json!(self.points.points()));
        put("features", json!(self.points.features()));
        put("seed", json!(seed));
        put("threads", json!(threads));
        object
    }

    /// The points as algorithms see them.
    pub fn open(&self) -> Result<Box<dyn Data + '_>> {
        Ok(self.points.open(self.weights.clone())?)
    }

    /// The model that the data ask for.
    pub fn choose(&self, k: usize, seed: u64, observer: &mut dyn Observer) -> Result<Chosen> {
        let chosen = match self.asks_for_counts(k, seed, observer)? {
            Some(chosen) => return Ok(chosen),
            None => auto::choose(&*self.open()?, k, seed, observer),
        };
        chosen.map_err(|error| self.located(error))
    }

    /// The model of counts, where texts ask for it before they are weighted: afterwards it cannot be seen what they were.
    pub fn asks_for_counts(
        &self,
        k: usize,
        seed: u64,
        observer: &mut dyn Observer,
    ) -> Result<Option<Chosen>> {
        let Some(counts) = &self.counts else { return Ok(None) };
        let chosen = open(counts, self.weights.clone())
            .and_then(|data| auto::choose(&*data, k, seed, observer))
            .map_err(|error| self.located(error))?;
        Ok((chosen.model == Model::KlOnmf).then_some(chosen))
    }

    /// An error where not even what belongs to each point, and to k × features of every run, fits the memory that may be
    /// used.
    pub fn check_memory(&self, k: usize, runs: usize) -> Result<()> {
        let Points::Streamed(source, budget) = &self.points else { return Ok(()) };
        let Shape { points, features, .. } = source.shape();
        // A norm, a label and a strength; a label for every run. Sums and centroids, twice on their way.
        let of_points = points.saturating_mul(20 + 4 * runs);
        let of_clusters = k.saturating_mul(features).saturating_mul(8 * (2 + 2 * runs));
        let needed = of_points.saturating_add(of_clusters);
        if budget.bytes < needed {
            bail!(
                "--memory: {} are too few for {points} points, {features} features, {k} clusters and runs: {runs}, which \
                 take {} at the least",
                bytes(budget.bytes as u64),
                bytes(needed as u64)
            );
        }
        Ok(())
    }

    /// The name of the data, for people.
    pub fn title(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// What the features of pixels are: fewer than there are pixels, they are taken for bands of a spectrum,
    /// otherwise for pictures of a collection.
    pub fn features(&self) -> Features {
        match self.image {
            _ if self.wavelengths.is_some() => Features::Bands,
            Some(_) if self.vocabulary.is_some() => Features::Named,
            Some(image) if self.points.features() < image.pixels() => Features::Bands,
            Some(_) => Features::Pictures,
            None => Features::Named,
        }
    }

    /// What points and features are called.
    pub fn called(&self) -> Called {
        nouns(self.features(), self.image.is_some(), self.feature_image.is_some(), self.called)
    }

    /// An error about the points, told in terms of the file.
    pub fn located(&self, error: Error) -> anyhow::Error {
        locate(error, &self.path, self.learned.orientation)
    }
}

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

/// Memory for what a method holds beside the data. Less than a few megabytes the program has taken before it begins.
pub fn room(args: &ReadArgs) -> Option<u64> {
    args.memory.map(|memory| memory.max(8 << 20)).or_else(read::available_memory)
}

/// Memory that may be used.
pub fn memory(args: &ReadArgs) -> u64 {
    args.memory.or_else(|| Some(read::available_memory()? / 10 * 6)).unwrap_or(u64::MAX)
}

/// Bytes for people.
pub fn bytes(bytes: u64) -> String {
    match bytes as f64 {
        b if b < 1e6 => format!("{:.1} kB", b / 1e3),
        b if b < 1e9 => format!("{:.1} MB", b / 1e6),
        b => format!("{:.2} GB", b / 1e9),
    }
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
            bytes(needed),
            bytes(memory),
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
            say(format!("takes {} of memory, {} may be used: held in memory", bytes(needed), bytes(memory)));
        }
        return Ok(None);
    }
    // Points whose numbers lie all over the file would take a read for every few of them, in every pass.
    const WINDOW: usize = 32 << 20;
    if !found.contiguous && WINDOW / shape.features.max(1) < 16 << 10 {
        return Err(convert(needed));
    }
    say(format!("takes {} of memory, {} may be used: streamed from disk", bytes(needed), bytes(memory)));
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

/// The class of each point from a file with a line each, without keeping the lines.
fn classes_of(path: &Path, points: usize) -> Result<Option<Truth>> {
    use std::io::BufRead;
    let file = std::fs::File::open(path).with_context(|| path.display().to_string())?;
    let mut known = std::collections::HashMap::new();
    let (mut classes, mut names) = (Vec::with_capacity(points), vec![]);
    for line in std::io::BufReader::new(file).lines() {
        let line = line.with_context(|| path.display().to_string())?;
        let word = line.trim();
        let class = *known.entry(word.to_string()).or_insert_with(|| {
            names.push(word.to_string());
            names.len() - 1
        });
        // Anything else of that name is none of our business.
        if classes.len() == points {
            return Ok(None);
        }
        classes.push(class);
    }
    if classes.len() != points {
        return Ok(None);
    }
    Ok(Some(Truth { labels: classes, names, unlabelled: None }))
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
        points: Points::Held(loaded.matrix),
        counts,
        weights,
        truth,
        vocabulary,
        names,
        excerpts: loaded.excerpts,
        image,
        feature_image,
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
    let (of_points, of_features) = ((points, "points"), (features, "features"));
    let (image, feature_image) = match args.image {
        Some((height, width)) => {
            let shape = ImageShape { height, width, scan: args.scan.into() };
            place(shape, points, features).with_context(|| format!("--image {height}x{width}"))?
        }
        None => (beside.image, beside.feature_image),
    };
    let truth = match (&args.truth, &beside.truth) {
        (Some(path), _) => {
            let tokens = list(path, args.truth_column.as_deref(), [of_points, of_features], image)?;
            Some(known(&tokens, args.unlabelled.as_deref())?)
        }
        (None, Some(path)) => classes_of(path, points)?,
        (None, None) => None,
    };
    let vocabulary = match &args.vocabulary {
        Some(path) => Some(list(path, None, [of_features, of_points], feature_image)?),
        None => beside.vocabulary,
    };
    // Names of very many points would take more memory than what is said of them is worth.
    const NAMED: usize = 1 << 20;
    let names = match (&args.names, &beside.names) {
        (Some(path), _) => Some(list(path, None, [of_points, of_features], image)?),
        (None, Some(path)) if points <= NAMED => Some(list(path, None, [of_points, of_features], image)?),
        _ => None,
    };
    let weights = args.weights.as_ref().map(|path| weights(path, points)).transpose()?;
    let mut notes = beside.notes;
    tell(&notes, path, quiet);
    notes.push(format!("streamed from disk, within {} of memory", bytes(budget.bytes as u64)));
    Ok(Input {
        path: path.clone(),
        points: Points::Streamed(source, budget),
        counts: None,
        weights,
        truth,
        vocabulary,
        names,
        excerpts: None,
        image,
        feature_image,
        wavelengths: beside.wavelengths,
        called: None,
        origin: None,
        notes,
        learned,
        completed: None,
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

/// Labels one a line (or the table of a result, or its folder) → numbers from 0 and the names of the clusters; -1 stays no cluster.
pub fn labels(path: &Path) -> Result<(Vec<i32>, Vec<String>)> {
    const TITLE: &str = "cluster";
    let within = path.join("labels.txt");
    let path = if path.is_dir() { &within } else { path };
    let mut tokens = read::lines(path)?;
    if tokens.first().is_some_and(|titles| titles.split(',').any(|title| title == TITLE)) {
        tokens = read::list(path, Some(TITLE), (tokens.len() - 1, "points"), None)?;
    }
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
