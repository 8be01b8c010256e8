//! Accuracy: the share of points in the right cluster, once clusters and classes are matched in the
//! best way.
//!
//! `max over matchings P of (1/n) Σᵢ |πᵢ ∩ π'_P(i)|`  [P, section 2.3]
//!
//! A matching pairs each cluster with at most one class and each class with at most one cluster, so
//! the formula also serves when their numbers differ; what stays unpaired counts as wrong.

use pathfinding::kuhn_munkres::kuhn_munkres;
use pathfinding::matrix::Matrix as Weights;

use super::Confusion;

/// The share of points whose cluster is matched with their class, in (0, 1].
pub fn accuracy(confusion: &Confusion) -> f64 {
    let right: u64 = best_matching(confusion)
        .iter()
        .enumerate()
        .filter_map(|(cluster, class)| class.map(|class| confusion.count(cluster, class)))
        .sum();
    right as f64 / confusion.points() as f64
}

/// The class of each cluster in a matching that puts the most points right.
///
/// A cluster has none when there are more clusters than classes, or when its only partner left would
/// share no point with it: such a pair would say nothing.
pub fn best_matching(confusion: &Confusion) -> Vec<Option<usize>> {
    let (clusters, classes) = (confusion.clusters(), confusion.classes());
    // The solver wants no more rows than columns.
    let wide = clusters <= classes;
    let (rows, columns) = if wide { (clusters, classes) } else { (classes, clusters) };
    let weights = Weights::from_fn(rows, columns, |(row, column)| {
        let count = if wide { confusion.count(row, column) } else { confusion.count(column, row) };
        i64::try_from(count).expect("points in memory are fewer than 2⁶³")
    });
    let (_, partners) = kuhn_munkres(&weights);
    let mut matching = vec![None; clusters];
    for (row, column) in partners.into_iter().enumerate() {
        let (cluster, class) = if wide { (row, column) } else { (column, row) };
        if confusion.count(cluster, class) > 0 {
            matching[cluster] = Some(class);
        }
    }
    matching
}
