//! The labels of a result: bare, as a table, and their clusters as JSON.

use std::io::{self, Write};

use orthant::Outcome;
use orthant::findings::Findings;
use serde_json::{Value, json};

use crate::load::Input;

/// A label a line; -1 is no cluster.
pub fn lines(labels: &[i32], out: &mut dyn Write) -> io::Result<()> {
    labels.iter().try_for_each(|label| writeln!(out, "{label}"))
}

/// A row for every point: its name (or number), its cluster, how strongly it belongs to it, by how much it prefers it to
/// the next one, and which that is. What is not known is empty.
pub fn table(input: &Input, outcome: &Outcome, findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
    let solution = &outcome.solution;
    writeln!(out, "name,cluster,strength,margin,second")?;
    for (j, (label, of)) in solution.labels.iter().zip(&findings.standings).enumerate() {
        let name = input.names.as_ref().map_or_else(|| j.to_string(), |names| field(&names[j]));
        let second = of.second().map_or(String::new(), |second| second.to_string());
        let sure = if of.margin().is_nan() { String::new() } else { of.margin().to_string() };
        writeln!(out, "{name},{label},{},{sure},{second}", solution.v[j])?;
    }
    Ok(())
}

/// A field of comma-separated values, in quotes where it needs them.
fn field(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_string(),
    }
}

/// What there is to say of each cluster: how large it is, its features, what sets it apart, its typical points.
pub fn clusters(input: &Input, outcome: &Outcome, findings: &Findings) -> Value {
    let solution = &outcome.solution;
    let points = solution.labels.len().max(1) as f64;
    let feature = |f: usize| input.vocabulary.as_ref().map_or(json!(f), |names| json!(names[f]));
    let point = |j: usize| input.names.as_ref().map_or(json!(j), |names| json!(names[j]));
    let one = |(i, cluster): (usize, &orthant::findings::Cluster)| {
        let features = cluster.top.iter().map(|&(f, value)| json!({"feature": feature(f), "value": value}));
        let markers = cluster.markers.iter().map(
            |m| json!({"feature": feature(m.feature), "share": m.share, "elsewhere": m.elsewhere, "score": m.score}),
        );
        let typical = cluster.typical.iter().map(|&(j, cosine)| json!({"point": point(j), "cosine": cosine}));
        json!({
            "cluster": i,
            "size": solution.sizes[i],
            "share_of_points": solution.sizes[i] as f64 / points,
            "share_of_energy": solution.energy[i],
            "features": features.collect::<Vec<_>>(),
            "markers": markers.collect::<Vec<_>>(),
            "typical": typical.collect::<Vec<_>>(),
        })
    };
    findings.clusters.iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(field("plain words"), "plain words");
        assert_eq!(field("a, \"b\""), "\"a, \"\"b\"\"\"");
    }
}
