//! What a report says of clusters and points that the solution does not hold ready.

use super::Report;
use crate::error::Result;
use crate::matrix::Slot;
use crate::matrix::passes::Scores;

/// Features listed of each cluster.
const TOP: usize = 12;
/// Features listed that set a cluster apart.
const DISTINCTIVE: usize = 8;
/// Typical points of each cluster.
const TYPICAL: usize = 5;
/// Of how many of its strongest points the typical ones are chosen.
const STRONGEST: usize = 200;
/// Least certain points.
const UNCERTAIN: usize = 12;
/// Clusters that are shown one by one.
const SHOWN_CLUSTERS: usize = 60;

/// A cluster's features and points.
#[derive(Debug, Default)]
pub(super) struct Cluster {
    /// The largest entries of its direction.
    pub top: Vec<(usize, f64)>,
    /// Where its direction exceeds all others the most.
    pub distinctive: Vec<(usize, f64)>,
    /// Points and their cosine with the direction.
    pub typical: Vec<(usize, f64)>,
}

/// A point between two clusters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Uncertain {
    pub point: usize,
    pub own: usize,
    pub other: usize,
    pub margin: f64,
}

pub(super) struct Findings {
    /// The first clusters.
    pub clusters: Vec<Cluster>,
    /// `(own − other)/max(own, other)` of the scores mᵀu for every point; NaN without a cluster.
    pub margins: Vec<f64>,
    pub uncertain: Vec<Uncertain>,
}

impl Findings {
    pub fn new(report: &Report) -> Result<Findings> {
        let shown = report.job.k.min(SHOWN_CLUSTERS);
        let mut clusters: Vec<Cluster> = (0..shown).map(|i| features(report, i)).collect();
        for (i, cluster) in clusters.iter_mut().enumerate() {
            cluster.typical = typical(report, i)?;
        }
        let (margins, uncertain) = margins(report)?;
        Ok(Findings { clusters, margins, uncertain })
    }
}

/// The `most` largest of some (index, value), largest first.
fn largest(values: impl Iterator<Item = (usize, f64)>, most: usize) -> Vec<(usize, f64)> {
    let mut values: Vec<(usize, f64)> = values.filter(|x| x.1 > 0.0).collect();
    let by_value = |a: &(usize, f64), b: &(usize, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if values.len() > most {
        values.select_nth_unstable_by(most, by_value);
        values.truncate(most);
    }
    values.sort_by(by_value);
    values
}

fn features(report: &Report, i: usize) -> Cluster {
    let directions = &report.outcome.solution.directions;
    let rows = || (0..directions.rows).map(|f| directions.row(f));
    let over = |row: &[f64]| {
        let others = row.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, x)| *x).fold(0.0, f64::max);
        row[i] - others
    };
    Cluster {
        top: largest(rows().enumerate().map(|(f, row)| (f, row[i])), TOP),
        distinctive: largest(rows().enumerate().map(|(f, row)| (f, over(row))), DISTINCTIVE),
        typical: vec![],
    }
}

/// Of a cluster's strongest points those that are nearest to its direction.
fn typical(report: &Report, i: usize) -> Result<Vec<(usize, f64)>> {
    let solution = &report.outcome.solution;
    let members = solution.labels.iter().zip(&solution.v).enumerate();
    let members = members.filter(|(_, (label, _))| **label == i as i32).map(|(j, (_, v))| (j, *v));
    let strongest = largest(members, STRONGEST);
    let mut cosines = vec![];
    // A few at a time: points are gathered whole, however sparse they are.
    for some in strongest.chunks(16) {
        let points = report.data.gather(&some.iter().map(|x| x.0).collect::<Vec<_>>())?;
        for (c, &(j, _)) in some.iter().enumerate() {
            let (mut dot, mut norm2) = (0.0, 0.0);
            for f in 0..points.rows {
                dot += points[(f, c)] * solution.directions[(f, i)];
                norm2 += points[(f, c)] * points[(f, c)];
            }
            cosines.push((j, if norm2 > 0.0 { (dot / norm2.sqrt()).min(1.0) } else { 0.0 }));
        }
    }
    Ok(largest(cosines.into_iter(), TYPICAL))
}

fn margins(report: &Report) -> Result<(Vec<f64>, Vec<Uncertain>)> {
    let (solution, k) = (&report.outcome.solution, report.job.k);
    if k < 2 {
        return Ok((vec![], vec![]));
    }
    let mut slots = report.data.slots()?;
    slots.tell(&Scores::new(solution.directions.clone()))?;
    let scores = slots.numbers(Slot::V)?;
    let mut margins = Vec::with_capacity(solution.labels.len());
    let mut close: Vec<Uncertain> = vec![];
    for (point, (&label, scores)) in solution.labels.iter().zip(scores.chunks_exact(k)).enumerate() {
        let Ok(own) = usize::try_from(label) else {
            margins.push(f64::NAN);
            continue;
        };
        let mut other = usize::from(own == 0);
        for i in (0..k).filter(|&i| i != own) {
            if scores[i] > scores[other] {
                other = i;
            }
        }
        let most = scores[own].abs().max(scores[other].abs());
        let margin = if most > 0.0 { (scores[own] - scores[other]) / most } else { f64::NAN };
        margins.push(margin);
        let closer = close.last().is_none_or(|last| margin < last.margin);
        if !margin.is_nan() && (close.len() < UNCERTAIN || closer) {
            let at = close.partition_point(|u| u.margin <= margin);
            close.insert(at, Uncertain { point, own, other, margin });
            close.truncate(UNCERTAIN);
        }
    }
    Ok((margins, close))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_come_first_and_zeros_never() {
        let values = [0.0, 3.0, 1.0, 3.0, 2.0, -1.0, f64::NAN];
        assert_eq!(largest(values.into_iter().enumerate(), 3), [(1, 3.0), (3, 3.0), (4, 2.0)]);
        assert_eq!(largest(values.into_iter().enumerate(), 9).len(), 4);
    }
}
