//! The result against a truth: scores, clusters and classes.

use super::Report;
use super::chart::{Heat, heat};
use super::number::{count, counted, decimals, percent};
use super::page::{Table, shortened, table};
use crate::evaluate::SCORES;

/// Rows and columns of a confusion table on the page.
const SHOWN: usize = 40;

pub(super) fn scores(report: &Report) -> Option<String> {
    let truth = report.truth?;
    let rows: Vec<Vec<String>> = SCORES
        .iter()
        .map(|score| {
            let value = (score.compute)(&truth.scores.confusion);
            let name = if score.name.len() == 3 { score.name.to_uppercase() } else { score.name.to_string() };
            vec![name, decimals(value, 4), score.description.to_string()]
        })
        .collect();
    Some(table(&Table { columns: &["score", "#value", "what it says"], rows: &rows, best: &[] }))
}

pub(super) fn confusion(report: &Report) -> (Option<String>, String) {
    let Some(truth) = report.truth else { return (None, String::new()) };
    let confusion = &truth.scores.confusion;
    let matching = report.matching();
    let clusters: Vec<usize> = (0..confusion.clusters().min(SHOWN)).collect();
    // Classes in the order of the clusters they are matched with: agreement is then the diagonal.
    let mut order: Vec<usize> = matching.iter().flatten().copied().collect();
    let sizes = confusion.class_sizes();
    order.extend((0..confusion.classes()).filter(|c| sizes[*c] > 0 && !matching.contains(&Some(*c))));
    let all = order.len();
    order.truncate(SHOWN);
    let totals = confusion.cluster_sizes();
    let mut cells = vec![];
    let mut framed = vec![];
    for (r, &i) in clusters.iter().enumerate() {
        for (c, &class) in order.iter().enumerate() {
            let n = confusion.count(i, class);
            let share = n as f64 / totals[i].max(1) as f64;
            let detail = format!(
                "{} of class {} in cluster {i}: {} of the cluster, {} of the class",
                count(n as usize),
                shortened(&truth.classes[class], 60),
                percent(share),
                percent(n as f64 / sizes[class].max(1) as f64)
            );
            cells.push((share, if n == 0 { "·".into() } else { count(n as usize) }, detail));
            if matching[i] == Some(class) {
                framed.push((r, c));
            }
        }
    }
    let mut note = "Counts; shades are shares of the cluster (row); frames mark the matching of clusters with classes that the accuracy counts.".to_string();
    if all > order.len() || confusion.clusters() > clusters.len() {
        note += &format!(
            " Shown are {} of {} clusters and {} of {all} classes.",
            clusters.len(),
            confusion.clusters(),
            order.len()
        );
    }
    let unscored = truth.labels.len() - truth.scores.scored_points;
    if unscored > 0 {
        note += &format!(
            " {} without a cluster {} not scored.",
            counted(unscored, "point", "points"),
            if unscored == 1 { "is" } else { "are" }
        );
    }
    let table = heat(&Heat {
        title: "clusters and classes".into(),
        corner: "cluster \\ class".into(),
        rows: clusters.iter().map(|i| format!("cluster {i}")).collect(),
        columns: order.iter().map(|&c| shortened(&truth.classes[c], 40)).collect(),
        cells,
        framed,
        colours: clusters,
    });
    (Some(table), note)
}
