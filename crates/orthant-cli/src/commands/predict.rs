//! `orthant predict`: new points to the clusters of an earlier result.

use std::path::Path;

use anyhow::{Result, bail};
use orthant::Error;
use orthant::algorithms::method;
use orthant::finish::predict;
use orthant::matrix::{Data, Mat, Rule, open};
use orthant::read::{self, write_whole};
use orthant::weighting::Fitted;
use serde_json::{Map, Value};

use crate::args::{Orientation, PredictArgs};
use crate::load;
use crate::output::{SUMMARY, check_new, print, summary_of};
use crate::summary::RULES;

/// Runs the command.
pub fn run(args: &PredictArgs) -> Result<()> {
    if let Some(out) = &args.out {
        check_new(out, args.force)?;
    }
    load::threads(&args.work)?;
    let model = Model::read(&args.result)?;
    let orientation = args.cluster.unwrap_or(model.orientation);
    let mut matrix = load::read(&args.read, orientation, args.work.quiet)?.matrix;
    if matrix.features() != model.centroids.rows {
        bail!(
            "{}: the points have {} features, those of {} have {}",
            args.read.path.display(),
            matrix.features(),
            args.result.display(),
            model.centroids.rows
        );
    }
    for step in &model.weighting {
        matrix = step.apply(&matrix)?;
    }
    let data = open(&matrix, None)?;
    check(&*data, model.signed).map_err(|error| load::locate(error, &args.read.path, orientation))?;
    let labels = predict(&*data, &model.centroids, model.rule)?;
    let text: String = labels.iter().map(|label| format!("{label}\n")).collect();
    match &args.out {
        Some(out) => Ok(write_whole(out, |file| file.write_all(text.as_bytes()))?),
        None => print(&text),
    }
}

/// What a result knows about new points.
struct Model {
    orientation: Orientation,
    rule: Rule,
    signed: bool,
    /// features × k.
    centroids: Mat,
    weighting: Vec<Fitted>,
}

impl Model {
    fn read(folder: &Path) -> Result<Model> {
        let summary = summary_of(folder)?;
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
        let mut weighting = vec![];
        let steps = summary.get("weighting").and_then(Value::as_array).cloned().unwrap_or_default();
        for (step, name) in steps.iter().enumerate() {
            weighting.push(match name.as_str() {
                Some("unit") => Fitted::Unit,
                _ => {
                    let path = folder.join(format!("feature_weights_{step}.npy"));
                    Fitted::Features(read::numbers(&path)?)
                }
            });
        }
        let columns = summary.get("cluster").and_then(Value::as_str) == Some("columns");
        Ok(Model {
            orientation: if columns { Orientation::Columns } else { Orientation::Rows },
            rule: rule_found.1,
            signed: method(&word(&summary, "algorithm", folder)?)?.signed && rule_found.1 != Rule::Power,
            centroids,
            weighting,
        })
    }
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
