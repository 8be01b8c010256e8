//! How a result was made: the settings, the parameters of the method.

use super::number::{count, counted, seconds, significant};
use super::page::{Table, table};
use super::{Report, words};
use crate::certificate::Bound;

pub(super) fn settings(report: &Report) -> String {
    let (job, made, outcome) = (report.job, &report.made, report.outcome);
    let (shape, facts) = (report.findings.shape, &report.findings.facts);
    let (one, many) = words::points(report);
    let (feature, features) = words::features(report);
    let mut rows = vec![
        ("method".to_string(), words::method(report)),
        ("what it is".into(), job.method.summary.to_string()),
        ("clusters (k)".into(), job.k.to_string()),
        ("start".into(), job.start().name().to_string()),
        ("runs, seed".into(), format!("{}, seed {}", outcome.runs.len(), job.seed)),
        (
            "data".into(),
            format!(
                "{} × {}, {} stored entries, {}; {} and {} are zero",
                counted(shape.points, one, many),
                counted(shape.features, feature, features),
                count(shape.nonzeros),
                if shape.format == crate::matrix::Format::F32 { "float32" } else { "float64" },
                counted(facts.zero_points.len(), one, many),
                counted(facts.zero_features, feature, features)
            ),
        ),
        (
            "constraints".into(),
            format!(
                "‖VVᵀ − I‖ = {}, smallest entry of U and V {} (of the factors returned)",
                significant(outcome.certificate.orthogonality_residual, 2),
                significant(outcome.certificate.smallest_entry, 2)
            ),
        ),
        (
            "the last iterate".into(),
            format!(
                "negative part {}, distance from orthogonal {}",
                significant(outcome.best().iterate_negativity, 2),
                significant(outcome.best().iterate_orthogonality, 2)
            ),
        ),
        (
            "lower bound".into(),
            format!(
                "certificate {}: {}",
                job.certificate.name(),
                match outcome.certificate.bound {
                    Bound::Singular => "from the singular values",
                    Bound::Dual => "dual bound, every point by itself, proven by a Cholesky factorisation",
                    Bound::DualOfGroups =>
                        "dual bound of groups of points, proven by a Cholesky factorisation",
                }
            ),
        ),
        ("time".into(), {
            let read = made.read_seconds.map_or(String::new(), |s| format!("reading {}, ", seconds(s)));
            format!(
                "{read}clustering {}, certificate {}",
                seconds(outcome.seconds),
                seconds(outcome.certificate_seconds)
            )
        }),
        ("version".into(), format!("Orthant {}", made.version.unwrap_or(env!("CARGO_PKG_VERSION")))),
    ];
    if let Some(threads) = made.threads {
        rows.push(("threads".into(), format!("{threads} (the answer does not depend on them)")));
    }
    if let Some(date) = made.date {
        rows.push(("date".into(), date.to_string()));
    }
    let rows: Vec<Vec<String>> = rows.into_iter().map(|(a, b)| vec![a, b]).collect();
    table(&Table { columns: &["", ""], rows: &rows, best: &[] })
        .replace("<thead><tr><th scope=\"col\"></th><th scope=\"col\"></th></tr></thead>", "")
}

pub(super) fn parameters(report: &Report) -> Option<String> {
    let rows: Vec<Vec<String>> = report
        .job
        .method
        .parameters
        .iter()
        .map(|p| {
            let set = report.job.values.get(p.name);
            let value = match set.unwrap_or(p.default) {
                x if x.is_nan() => "automatic".to_string(),
                x => significant(x, 9),
            };
            vec![
                p.name.to_string(),
                value,
                if set.is_some() { "set" } else { "default" }.into(),
                p.help.to_string(),
            ]
        })
        .collect();
    (!rows.is_empty())
        .then(|| table(&Table { columns: &["parameter", "#value", "", "meaning"], rows: &rows, best: &[] }))
}
