//! `orthant evaluate`: labels against a truth.

use anyhow::{Context, Result};
use orthant::evaluate::{SCORES, Scores, scores};
use orthant::read;
use serde_json::{Map, Value, json};

use super::table::Table;
use crate::args::EvaluateArgs;
use crate::load::{Truth, labels};
use crate::output::{print, print_json};
use crate::summary::insert_scores;

/// Runs the command.
pub fn run(args: &EvaluateArgs) -> Result<()> {
    let (labels, clusters) = labels(&args.labels)?;
    let column = args.truth_column.as_deref();
    let truth = Truth::new(&read::list(&args.truth, column, (labels.len(), "points"), None)?);
    let scores = scores(&labels, &truth.labels)
        .with_context(|| format!("{} against {}", args.labels.display(), args.truth.display()))?;
    if args.json {
        let mut object = Map::new();
        insert_scores(&mut object, &scores);
        object.insert("points".into(), json!(labels.len()));
        object.insert("clusters".into(), json!(clusters));
        object.insert("classes".into(), json!(truth.names));
        let rows: Vec<Value> = (0..clusters.len()).map(|i| json!(scores.confusion.row(i))).collect();
        object.insert("confusion".into(), rows.into());
        return print_json(&object);
    }
    let mut text = String::new();
    for score in SCORES {
        let percent = (score.compute)(&scores.confusion) * 100.0;
        text.push_str(&format!("{:<10}{percent:>7.2} %   {}\n", score.name, score.description));
    }
    let unscored = labels.len() - scores.scored_points;
    text.push_str(&format!("{} points scored", scores.scored_points));
    text.push_str(&if unscored > 0 { format!(", {unscored} without a cluster\n\n") } else { "\n\n".into() });
    text.push_str(&confusion(&scores, &clusters, &truth.names));
    print(&text)
}

/// Clusters in rows, classes in columns.
fn confusion(scores: &Scores, clusters: &[String], classes: &[String]) -> String {
    let mut header = vec!["cluster \\ class"];
    header.extend(classes.iter().map(String::as_str));
    let mut table = Table::new(header);
    for (i, cluster) in clusters.iter().enumerate() {
        let counts = scores.confusion.row(i).iter().map(|&n| if n == 0 { "·".into() } else { n.to_string() });
        table.row(std::iter::once(cluster.clone()).chain(counts));
    }
    table.fitted()
}
