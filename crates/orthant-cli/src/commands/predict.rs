//! `orthant predict`: new points to the clusters of an earlier result.

use std::ffi::OsStr;
use std::path::Path;

use anyhow::{Context, Result, bail};
use orthant::Error;
use orthant::algorithms::method;
use orthant::finish::predict;
use orthant::matrix::{Budget, Data, Mat, Rule, Source, open, stream_within};
use orthant::observed::Gaps;
use orthant::read::{self, InPlace};
use orthant::recipe::{Learned, Missing, Prepared, Step};
use orthant::weighting::{Fitted, Weighting};
use serde_json::{Map, Value, json};

use crate::args::{Orientation, PredictArgs, TextArgs};
use crate::labels::lines;
use crate::load;
use crate::output::{Files, SUMMARY, print_with, refuse_pipe, summary_of};
use crate::summary::PREPARATION;

/// Runs the command.
pub fn run(args: &PredictArgs) -> Result<()> {
    let file = args.out.as_ref().map(|out| Files::open(&[out], args.force)).transpose()?;
    load::threads(&args.work)?;
    let model = Model::read(&args.result)?;
    let mut learned = model.learned;
    learned.orientation = args.cluster.unwrap_or(learned.orientation);
    let mut options = args.read.options(&TextArgs::default());
    options.vocabulary = learned.texts.clone();
    if let Some((found, budget)) = load::streamed(&args.read, &options, learned.orientation, args.work.quiet)?
    {
        return from_disk(args, found, budget, learned, model.centroids, model.rule, model.signed, file);
    }
    let loaded = load::read(&args.read, options, args.work.quiet)?;
    if loaded.texts.is_some() != learned.texts.is_some() {
        let (given, wanted) =
            if learned.texts.is_some() { ("numbers", "texts") } else { ("texts", "numbers") };
        bail!("{}: holds {given}, but {} is of {wanted}", args.read.path.display(), args.result.display());
    }
    let (features, names) = match learned.orientation {
        Orientation::Rows => (loaded.matrix.features(), &loaded.vocabulary),
        Orientation::Columns => (loaded.matrix.points(), &loaded.names),
    };
    // With names the features are found among others.
    let named = learned.features.is_some() && names.is_some();
    if !named && features != model.centroids.rows {
        bail!(
            "{}: the points have {features} features, those of {} have {}",
            args.read.path.display(),
            args.result.display(),
            model.centroids.rows
        );
    }
    let mut matrix = learned
        .prepare(loaded)
        .map_err(|error| load::locate(error, &args.read.path, Orientation::Rows))?
        .matrix;
    if matrix.features() != model.centroids.rows {
        bail!(
            "{}: the points have {} features, those of {} have {}",
            args.read.path.display(),
            matrix.features(),
            args.result.display(),
            model.centroids.rows
        );
    }
    let gaps = match learned.missing {
        Missing::Ignore => {
            Gaps::of(&matrix).map_err(|error| load::locate(error, &args.read.path, learned.orientation))?
        }
        _ => None,
    };
    if let Some(gaps) = gaps {
        gaps.complete(&mut matrix, &model.centroids, model.rule);
    }
    let data = open(&matrix, None)?;
    assign(args, &*data, learned.orientation, &model.centroids, model.rule, model.signed, file)
}

/// Reads all that a result knows of new points.
pub fn check_result(folder: &Path) -> Result<()> {
    Model::read(folder).map(drop)
}

/// Labels of points, written or printed.
fn assign(
    args: &PredictArgs,
    data: &dyn Data,
    orientation: Orientation,
    centroids: &Mat,
    rule: Rule,
    signed: bool,
    file: Option<Files>,
) -> Result<()> {
    check(data, signed).map_err(|error| load::locate(error, &args.read.path, orientation))?;
    let labels = predict(data, centroids, rule)?;
    match (file, &args.out) {
        (Some(file), Some(out)) => {
            file.write(out, |to| lines(&labels, to))?;
            file.finish()
        }
        _ => print_with(|to| lines(&labels, to)),
    }
}

/// Points that stay on disk.
#[allow(clippy::too_many_arguments)]
fn from_disk(
    args: &PredictArgs,
    found: InPlace,
    budget: Budget,
    learned: Learned,
    centroids: Mat,
    rule: Rule,
    signed: bool,
    file: Option<Files>,
) -> Result<()> {
    let features = found.source.shape().features;
    let path = args.read.path.display();
    if learned.texts.is_some() || features != centroids.rows {
        let result = args.result.display();
        bail!("{path}: the points have {features} features, those of {result} have {}", centroids.rows);
    }
    if let (Some(wanted), Some(names)) = (&learned.features, &found.beside.vocabulary)
        && wanted != names
    {
        bail!(
            "{path}: its features are others, or in another order, than those of {}: put them in order before \
               they are converted",
            args.result.display()
        );
    }
    let orientation = learned.orientation;
    let plain = learned.steps.is_empty() && learned.missing == Missing::Refuse;
    let source: Box<dyn Source> =
        if plain { found.source } else { Box::new(Prepared::new(found.source, learned)) };
    let data = stream_within(source, budget)?;
    assign(args, &*data, orientation, &centroids, rule, signed, file)
}

/// What a result knows about new points.
struct Model {
    rule: Rule,
    signed: bool,
    /// features × k.
    centroids: Mat,
    learned: Learned,
}

impl Model {
    /// A result, even while another run replaces it: the summary must be the same before and after.
    fn read(folder: &Path) -> Result<Model> {
        if folder.is_file() {
            bail!(
                "{}: is no result: the folder that 'orthant cluster --out' wrote comes first, then the data",
                folder.display()
            );
        }
        const TRIES: usize = 5;
        for attempt in 1.. {
            read::settle(folder)?;
            let summary = summary_of(folder)?;
            let model = Model::described(&summary, folder);
            if attempt == TRIES || summary_of(folder).is_ok_and(|again| again == summary) {
                return model;
            }
        }
        unreachable!("the last try returns")
    }

    /// What a summary says, and the files that it names: nothing in them is believed unseen.
    fn described(summary: &Map<String, Value>, folder: &Path) -> Result<Model> {
        let path = folder.join(SUMMARY);
        if !summary.contains_key("rule") && summary.contains_key("program") {
            bail!(
                "{}: has no clusters for new points (is it of 'choose-k', 'advise' or 'compare'?): name a folder \
                 that 'orthant cluster --out' wrote",
                folder.display()
            );
        }
        let rule = summary.get("rule").and_then(Value::as_object).cloned().unwrap_or_default();
        let name = word(&rule, "name", folder)?;
        let file = word(&rule, "file", folder)?;
        let Some(rule) = Rule::named(&name) else {
            bail!("{}: the rule '{name}' is not known to this version", path.display());
        };
        let signed =
            method(&word(summary, "algorithm", folder)?).with_context(|| path.display().to_string())?.signed
                && !rule.onmf;
        if Path::new(&file).file_name() != Some(OsStr::new(&file)) {
            bail!("{}: '{file}' is not a file of the folder", path.display());
        }
        // A distribution that lacks a feature would forbid it.
        let positive = rule.information && file == rule.file;
        let entries = Entries { signed, positive, zero: rule.distance };
        let centroids = centroids(&folder.join(&file), summary, &entries)?;
        let centroids = rule.of_file(&file, centroids);
        let learned = learned(folder, summary, centroids.rows)?;
        learned.check(centroids.rows).with_context(|| folder.join(PREPARATION).display().to_string())?;
        Ok(Model { rule, signed, centroids, learned })
    }
}

/// What the centroids of a rule may be.
struct Entries {
    signed: bool,
    positive: bool,
    /// Whether a centre may be zero: a direction may not.
    zero: bool,
}

/// The centroids, features × k, as many as the summary says and such as a method finds.
fn centroids(path: &Path, summary: &Map<String, Value>, entries: &Entries) -> Result<Mat> {
    refuse_pipe(path)?;
    let matrix = read::read(path, &read::Options::default())?.matrix;
    let count = |key: &str| summary.get(key).and_then(Value::as_u64);
    let (k, features) = (matrix.points(), matrix.features());
    if (count("k"), count("features")) != (Some(k as u64), Some(features as u64)) {
        bail!("{}: is {k} x {features}, which is not what {SUMMARY} says", path.display());
    }
    let rows: Vec<Vec<f64>> = (0..k).map(|i| matrix.point(i)).collect();
    let Entries { signed, positive, zero } = *entries;
    for (i, row) in rows.iter().enumerate() {
        if !zero && row.iter().all(|x| *x == 0.0) {
            bail!("{}: row {i} is zero, which is no direction of a cluster", path.display());
        }
        if let Some(f) =
            row.iter().position(|x| !x.is_finite() || (*x < 0.0 && !signed) || (*x == 0.0 && positive))
        {
            bail!("{}: {} at row {i}, column {f} is no entry of a centroid", path.display(), row[f]);
        }
    }
    Ok(Mat::from_fn(features, k, |f, i| rows[i][f]))
}

/// Factors of the features.
fn feature_weights(path: &Path, features: usize) -> Result<Vec<f64>> {
    refuse_pipe(path)?;
    let factors = read::numbers(path)?;
    if factors.len() != features {
        bail!("{}: has {} weights for {features} features", path.display(), factors.len());
    }
    match factors.iter().find(|x| !x.is_finite() || **x < 0.0) {
        Some(x) => bail!("{}: {x} is no weight of a feature", path.display()),
        None => Ok(factors),
    }
}

/// How the points of the result were prepared.
fn learned(folder: &Path, summary: &Map<String, Value>, features: usize) -> Result<Learned> {
    let path = folder.join(PREPARATION);
    if path.exists() {
        refuse_pipe(&path)?;
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let learned: Learned = match serde_json::from_str(&text) {
            Ok(learned) => learned,
            Err(error) => bail!("{}: is not what 'orthant cluster' writes: {error}", path.display()),
        };
        let steps: Vec<&str> = learned.steps.iter().map(|step| step.weighting.name()).collect();
        if summary.get("weighting") != Some(&json!(steps)) {
            bail!("{}: its steps are not the weighting that {SUMMARY} has", path.display());
        }
        return Ok(learned);
    }
    // Older results have names in the summary, and a list for every step with weights of features.
    let path = folder.join(SUMMARY);
    let Some(names) = summary.get("weighting").and_then(Value::as_array) else {
        bail!("{}: 'weighting' is missing: is this a result of orthant?", path.display());
    };
    let mut steps = vec![];
    for (step, name) in names.iter().enumerate() {
        let fitted = match name.as_str().and_then(|name| Weighting::named(name).ok()) {
            Some(weighting @ Weighting::TfIdf) => {
                let file = folder.join(format!("feature_weights_{step}.npy"));
                Step { weighting, fitted: Fitted::Features(feature_weights(&file, features)?) }
            }
            Some(weighting) => Step { weighting, fitted: Fitted::Unit },
            None => bail!("{}: the weighting {name} is not known to this version", path.display()),
        };
        steps.push(fitted);
    }
    let orientation = match word(summary, "cluster", folder)?.as_str() {
        "rows" => Orientation::Rows,
        "columns" => Orientation::Columns,
        other => bail!("{}: 'cluster' is '{other}', neither rows nor columns", path.display()),
    };
    Ok(Learned { orientation, steps, ..Learned::default() })
}

fn word(object: &Map<String, Value>, key: &str, folder: &Path) -> Result<String> {
    match object.get(key).and_then(Value::as_str) {
        Some(word) => Ok(word.to_string()),
        None => bail!("{}: '{key}' is missing: is this a result of orthant?", folder.join(SUMMARY).display()),
    }
}

/// New points must be such as the method takes.
fn check(data: &dyn Data, signed: bool) -> orthant::Result<()> {
    let facts = data.facts();
    let refuse = |problem: String, entry: orthant::matrix::seam::Entry, advice: &'static str| {
        Err(Error::Entry { problem, row: entry.row, column: entry.column, advice })
    };
    if let Some(entry) = facts.not_finite {
        let advice = "remove or replace entries that are not finite numbers";
        return refuse(format!("the entry is {}", entry.value), entry, advice);
    }
    match facts.negative {
        Some(entry) if !signed => refuse(
            format!("the entry is negative ({})", entry.value),
            entry,
            "the result is of nonnegative data",
        ),
        _ => Ok(()),
    }
}
