//! `orthant predict`: new points to the clusters of an earlier result.

use std::path::Path;

use anyhow::{Context, Result, bail};
use orthant::Error;
use orthant::algorithms::method;
use orthant::finish::predict;
use orthant::matrix::{Data, Mat, Rule, open};
use orthant::read::{self, write_whole};
use orthant::recipe::{Learned, Step};
use orthant::weighting::{Fitted, Weighting};
use serde_json::{Map, Value};

use crate::args::{Orientation, PredictArgs, TextArgs};
use crate::load;
use crate::output::{SUMMARY, check_new, print, summary_of};
use crate::summary::PREPARATION;
use crate::summary::RULES;

/// Runs the command.
pub fn run(args: &PredictArgs) -> Result<()> {
    if let Some(out) = &args.out {
        check_new(out, args.force)?;
    }
    load::threads(&args.work)?;
    let model = Model::read(&args.result)?;
    let mut learned = model.learned;
    learned.orientation = args.cluster.unwrap_or(learned.orientation);
    let mut options = args.read.options(&TextArgs::default());
    options.vocabulary = learned.texts.clone();
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
    let matrix = learned
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
    let data = open(&matrix, None)?;
    check(&*data, model.signed).map_err(|error| load::locate(error, &args.read.path, learned.orientation))?;
    let labels = predict(&*data, &model.centroids, model.rule)?;
    let text: String = labels.iter().map(|label| format!("{label}\n")).collect();
    match &args.out {
        Some(out) => Ok(write_whole(out, |file| file.write_all(text.as_bytes()))?),
        None => print(&text),
    }
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
    fn read(folder: &Path) -> Result<Model> {
        let summary = summary_of(folder)?;
        if !summary.contains_key("rule") && summary.contains_key("program") {
            bail!(
                "{}: has no clusters for new points (is it of 'choose-k', 'advise' or 'compare'?): name a folder \
                 that 'orthant cluster --out' wrote",
                folder.display()
            );
        }
        let rule = summary.get("rule").and_then(Value::as_object).cloned().unwrap_or_default();
        let name = word(&rule, "name", folder)?;
        let Some(rule_found) = RULES.iter().find(|r| r.0 == name) else {
            bail!("{}: the rule '{name}' is not known to this version", folder.join(SUMMARY).display());
        };
        let file = word(&rule, "file", folder)?;
        if Path::new(&file).components().count() != 1 {
            bail!("{}: '{file}' is not a file of the folder", folder.join(SUMMARY).display());
        }
        let matrix = read::read(&folder.join(&file), &read::Options::default())?.matrix;
        let rows: Vec<Vec<f64>> = (0..matrix.points()).map(|i| matrix.point(i)).collect();
        let centroids = Mat::from_fn(matrix.features(), matrix.points(), |f, i| rows[i][f]);
        let centroids = if rule_found.1 == Rule::Power { centroids.with_unit_columns() } else { centroids };
        let learned = learned(folder, &summary)?;
        learned.check(centroids.rows).with_context(|| folder.join(PREPARATION).display().to_string())?;
        Ok(Model {
            rule: rule_found.1,
            signed: method(&word(&summary, "algorithm", folder)?)?.signed && rule_found.1 != Rule::Power,
            centroids,
            learned,
        })
    }
}

/// How the points of the result were prepared.
fn learned(folder: &Path, summary: &Map<String, Value>) -> Result<Learned> {
    let path = folder.join(PREPARATION);
    if path.exists() {
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        return match serde_json::from_str(&text) {
            Ok(learned) => Ok(learned),
            Err(error) => bail!("{}: is not what 'orthant cluster' writes: {error}", path.display()),
        };
    }
    // Older results have names in the summary, and a list for every step with weights of features.
    let mut steps = vec![];
    let names = summary.get("weighting").and_then(Value::as_array).cloned().unwrap_or_default();
    for (step, name) in names.iter().enumerate() {
        let weighting = Weighting::named(name.as_str().unwrap_or(""))
            .with_context(|| folder.join(SUMMARY).display().to_string())?;
        let fitted = match weighting {
            Weighting::TfIdf => {
                Fitted::Features(read::numbers(&folder.join(format!("feature_weights_{step}.npy")))?)
            }
            _ => Fitted::Unit,
        };
        steps.push(Step { weighting, fitted });
    }
    let columns = summary.get("cluster").and_then(Value::as_str) == Some("columns");
    let orientation = if columns { Orientation::Columns } else { Orientation::Rows };
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
