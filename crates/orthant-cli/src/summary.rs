//! An outcome as JSON: the object that `--json` prints, and the summary that lies in a result's folder.

use anyhow::Result;
use orthant::evaluate::Scores;
use orthant::matrix::Data;
use orthant::pipeline::Run;
use orthant::{Job, Outcome};
use serde_json::{Map, Value, json};

use crate::load::{Input, Truth};

/// The scores of labels where a truth is known and some point has a cluster.
pub fn score(labels: &[i32], truth: Option<&Truth>) -> Result<Option<Scores>> {
    match truth {
        Some(truth) => Ok(Some(truth.scores(labels)?)),
        None => Ok(None),
    }
}

/// Adds the scores to an object.
pub fn insert_scores(object: &mut Map<String, Value>, scores: &Scores) {
    object.insert("accuracy".into(), json!(scores.accuracy));
    object.insert("nmi".into(), json!(scores.nmi));
    object.insert("ari".into(), json!(scores.ari));
    object.insert("purity".into(), json!(scores.purity));
    object.insert("scored_points".into(), json!(scores.scored_points));
}

/// The objective of a run. It may lie beyond what a float64 holds, the square of data near 1e300 or 1e-300: then it is
/// written out as a text.
pub fn objective(run: &Run, job: &Job, data: &dyn Data) -> Value {
    if run.scaled_objective == 0.0 || run.objective.is_normal() {
        return json!(run.objective);
    }
    // objective = scaled/scaleᵈ, by its logarithm.
    let power = run.scaled_objective.abs().log10() - f64::from(job.aim().degree) * data.facts().scale.log10();
    let sign = if run.scaled_objective < 0.0 { "-" } else { "" };
    json!(format!("{sign}{:.9}e{}", 10f64.powf(power - power.floor()), power.floor()))
}

/// What `cluster --json` prints.
pub fn object(
    input: &Input,
    data: &dyn Data,
    job: &Job,
    outcome: &Outcome,
    threads: usize,
) -> Result<Map<String, Value>> {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| drop(object.insert(key.into(), value));
    put("algorithm", json!(job.method.name));
    put("k", json!(job.k));
    put("points", json!(data.shape().points));
    put("features", json!(data.shape().features));
    put("nonzeros", json!(input.points.nonzeros()));
    put("zero_points", json!(data.facts().zero_points.len()));
    put("seed", json!(job.seed));
    put("threads", json!(threads));
    put("read_seconds", json!(input.read_seconds));
    if let Some(completed) = &input.completed {
        put("missing_entries", json!(completed.entries));
        put("times_filled_in", json!(completed.rounds));
        put("observed_relative_error", json!(completed.relative_error));
    }
    let figures = serde_json::to_value(outcome.figures())?;
    object.extend(figures.as_object().cloned().unwrap_or_default());
    object.insert("objective".into(), objective(outcome.best(), job, data));
    if let Some(Value::Array(runs)) = object.get_mut("runs") {
        for (entry, run) in runs.iter_mut().zip(&outcome.runs) {
            entry["objective"] = objective(run, job, data);
            if let (Some(scores), Value::Object(entry)) = (score(&run.labels, input.truth.as_ref())?, entry) {
                insert_scores(entry, &scores);
            }
        }
    }
    if let Some(scores) = score(&outcome.solution.labels, input.truth.as_ref())? {
        insert_scores(&mut object, &scores);
    }
    Ok(object)
}

/// The same with what is needed to know later how it came about.
pub fn in_full(
    input: &Input,
    data: &dyn Data,
    job: &Job,
    outcome: &Outcome,
    threads: usize,
) -> Result<Map<String, Value>> {
    let mut summary = Map::new();
    summary.insert("program".into(), json!(format!("orthant {}", env!("CARGO_PKG_VERSION"))));
    summary.insert("data".into(), json!(input.path.display().to_string()));
    summary.insert("cluster".into(), json!(input.learned.orientation.name()));
    summary.append(&mut object(input, data, job, outcome, threads)?);
    let mut put = |key: &str, value: Value| drop(summary.insert(key.into(), value));
    put("start", json!(job.start().name()));
    put("polish", json!(job.polish.iter().map(|p| p.name()).collect::<Vec<_>>()));
    put("certificate", json!(job.certificate.name()));
    put("time_limit", json!(job.time));
    put("reproducible", json!(job.time.is_none()));
    let parameters: Map<String, Value> = job
        .method
        .parameters
        .iter()
        .map(|p| {
            let value = job.values.get(p.name).unwrap_or(p.default);
            (p.name.to_string(), p.names.get(value as usize).map_or(json!(value), |name| json!(name)))
        })
        .collect();
    put("parameters", parameters.into());
    put("objective_is", json!(job.aim().objective));
    put("weighting", json!(input.learned.steps.iter().map(|step| step.weighting.name()).collect::<Vec<_>>()));
    put("weighted_points", json!(input.weights.is_some()));
    if let Some(truth) = &input.truth {
        put("classes", json!(truth.names));
    }
    Ok(summary)
}

/// The file that says how the points of a result were prepared, for new ones.
pub const PREPARATION: &str = "preparation.json";
