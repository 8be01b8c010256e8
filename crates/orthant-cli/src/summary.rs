//! An outcome as JSON: the object that `--json` prints, and the summary that lies in a result's folder.

use anyhow::Result;
use orthant::evaluate::Scores;
use orthant::matrix::{Data, Rule};
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

/// What `cluster --json` prints.
pub fn object(
    input: &Input,
    data: &dyn Data,
    job: &Job,
    outcome: &Outcome,
    threads: usize,
) -> Result<Map<String, Value>> {
    let (shape, facts) = (data.shape(), data.facts());
    let (best, certificate) = (outcome.best(), &outcome.certificate);
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| drop(object.insert(key.into(), value));
    put("algorithm", json!(job.method.name));
    put("k", json!(job.k));
    put("points", json!(shape.points));
    put("features", json!(shape.features));
    put("nonzeros", json!(input.matrix.nonzeros()));
    put("zero_points", json!(facts.zero_points.len()));
    put("seed", json!(job.seed));
    put("threads", json!(threads));
    put("relative_error", json!(certificate.relative_error));
    put("lower_bound", json!(certificate.lower_bound));
    put("bound", json!(certificate.bound.name()));
    put("at_most_above_best", json!(certificate.at_most_above_best()));
    put("energy_share", json!(certificate.energy_share));
    put("orthogonality_residual", json!(certificate.orthogonality_residual));
    put("objective", json!(best.objective));
    put("iterations", json!(best.iterations()));
    put("seconds", json!(outcome.seconds));
    put("read_seconds", json!(input.read_seconds));
    put("certificate_seconds", json!(outcome.certificate_seconds));
    put("stopped", json!(outcome.stop().name()));
    put("sizes", json!(outcome.solution.sizes));
    let mut runs = vec![];
    for run in &outcome.runs {
        let stages: Vec<Value> = run
            .stages
            .iter()
            .map(|s| {
                json!({
                    "method": s.name,
                    "iterations": s.history.len(),
                    "stopped": s.stop.name(),
                    "relative_error": s.relative_error,
                })
            })
            .collect();
        let mut entry = Map::new();
        entry.insert("objective".into(), json!(run.objective));
        entry.insert("relative_error".into(), json!(run.relative_error));
        entry.insert("iterations".into(), json!(run.iterations()));
        entry.insert("stopped".into(), json!(run.stop().name()));
        entry.insert("stages".into(), stages.into());
        if let Some(scores) = score(&run.labels, input.truth.as_ref())? {
            insert_scores(&mut entry, &scores);
        }
        runs.push(Value::Object(entry));
    }
    put("runs", runs.into());
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
    put("best_run", json!(outcome.best));
    put("energies", json!(outcome.solution.energy));
    put("refilled_points", json!(outcome.solution.refilled));
    put("points_nearer_to_another_cluster", json!(outcome.solution.relabelled));
    put("iterate_negativity", json!(outcome.best().iterate_negativity));
    put("iterate_orthogonality", json!(outcome.best().iterate_orthogonality));
    put("smallest_entry", json!(outcome.certificate.smallest_entry));
    put("singular_values", json!(outcome.certificate.singular_values));
    put("weighting", json!(input.learned.steps.iter().map(|step| step.weighting.name()).collect::<Vec<_>>()));
    put("weighted_points", json!(input.weights.is_some()));
    if let Some(truth) = &input.truth {
        put("classes", json!(truth.names));
    }
    Ok(summary)
}

/// The file that says how the points of a result were prepared, for new ones.
pub const PREPARATION: &str = "preparation.json";

/// Rules by name, with what they say.
pub const RULES: &[(&str, Rule, &str)] = &[
    ("power", Rule::Power, "the largest projection mᵀu/‖u‖"),
    ("cosine", Rule::Cosine, "the smallest angle"),
    ("euclid", Rule::Euclid, "the smallest Euclidean distance"),
    ("kl", Rule::Kl, "the largest Σ m·log u"),
];
