//! Accuracy: the share of points in the right cluster, once clusters and classes are matched in the
//! best way.
//!
//! `max over matchings P of (1/n) Σᵢ |πᵢ ∩ π'_P(i)|`  [P, section 2.3]
//!
//! A matching pairs each cluster with at most one class and each class with at most one cluster, so
//! the formula also serves when their numbers differ; what stays unpaired counts as wrong.

use super::Confusion;
use crate::error::Result;

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
    // No more rows than columns.
    let wide = clusters <= classes;
    let (rows, columns) = if wide { (clusters, classes) } else { (classes, clusters) };
    let partners = assign(rows, columns, |row, column| {
        let count = if wide { confusion.count(row, column) } else { confusion.count(column, row) };
        i64::try_from(count).expect("points in memory are fewer than 2⁶³")
    });
    let mut matching = vec![None; clusters];
    for (row, column) in partners.into_iter().enumerate() {
        let (cluster, class) = if wide { (row, column) } else { (column, row) };
        if confusion.count(cluster, class) > 0 {
            matching[cluster] = Some(class);
        }
    }
    matching
}

/// Labels, up to k of them, under the numbers of those of others that they have most points in common with.
///
/// # Errors
/// When the lists are not of one length, or no point has a label.
pub fn numbered_as(labels: &[i32], others: &[i32], k: usize) -> Result<Vec<i32>> {
    let classes: Vec<usize> = others.iter().map(|&label| (label + 1) as usize).collect();
    let matching = best_matching(&Confusion::new(labels, &classes)?);
    // Class 0 is no cluster; who is matched with it, or with none, gets what is left.
    let mut numbers: Vec<Option<usize>> =
        (0..k).map(|i| matching.get(i).copied().flatten().and_then(|class| class.checked_sub(1))).collect();
    let mut free = (0..k).filter(|i| !numbers.contains(&Some(*i))).collect::<Vec<_>>().into_iter();
    for number in &mut numbers {
        *number = number.or_else(|| free.next());
    }
    let number = |label: i32| usize::try_from(label).map_or(-1, |i| numbers[i].map_or(-1, |n| n as i32));
    Ok(labels.iter().map(|&label| number(label)).collect())
}

/// A column for each row, no column twice, such that the weights add up to the most. There are no more rows than columns.
///
/// The Hungarian method in O(rows² · columns): rows come in one after another, each by the shortest way over columns that are
/// taken, measured in what a step loses against the potentials. (H. W. Kuhn, Naval Research Logistics Quarterly 2, 1955; in this
/// order R. Jonker and A. Volgenant, Computing 38, 1987.)
fn assign(rows: usize, columns: usize, weight: impl Fn(usize, usize) -> i64) -> Vec<usize> {
    // The row that is coming in stands in a column of its own, after all others.
    let entrance = columns;
    let mut holder: Vec<Option<usize>> = vec![None; columns + 1];
    let (mut of_row, mut of_column) = (vec![0i64; rows], vec![0i64; columns + 1]);
    for coming in 0..rows {
        holder[entrance] = Some(coming);
        let mut distance = vec![i64::MAX; columns];
        let mut before = vec![entrance; columns];
        let mut settled = vec![false; columns + 1];
        let mut at = entrance;
        while let Some(row) = holder[at] {
            settled[at] = true;
            let (mut shortest, mut next) = (i64::MAX, entrance);
            for column in (0..columns).filter(|&column| !settled[column]) {
                let loss = of_row[row] + of_column[column] - weight(row, column);
                if loss < distance[column] {
                    (distance[column], before[column]) = (loss, at);
                }
                if distance[column] < shortest {
                    (shortest, next) = (distance[column], column);
                }
            }
            for column in 0..=columns {
                match holder[column] {
                    Some(row) if settled[column] => {
                        of_row[row] -= shortest;
                        of_column[column] += shortest;
                    }
                    _ if column < columns => distance[column] = distance[column].saturating_sub(shortest),
                    _ => {}
                }
            }
            at = next;
        }
        // Everybody on the way moves up by one.
        while at != entrance {
            holder[at] = holder[before[at]];
            at = before[at];
        }
    }
    let mut partners = vec![0; rows];
    for (column, row) in holder[..columns].iter().enumerate() {
        if let Some(row) = row {
            partners[*row] = column;
        }
    }
    partners
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most over all ways to choose, by trying them.
    fn most(weights: &[Vec<i64>], taken: &mut Vec<bool>) -> i64 {
        let Some((first, rest)) = weights.split_first() else { return 0 };
        let mut best = i64::MIN;
        for column in 0..taken.len() {
            if !taken[column] {
                taken[column] = true;
                best = best.max(first[column] + most(rest, taken));
                taken[column] = false;
            }
        }
        best
    }

    #[test]
    fn labels_take_the_numbers_of_others() {
        let others = [2, 2, 2, 0, 0, 1, 1, -1];
        assert_eq!(numbered_as(&[0, 0, 0, 1, 1, 2, 2, 2], &others, 3).unwrap(), [2, 2, 2, 0, 0, 1, 1, 1]);
        // Two of three are one: the larger part decides. Points without a label have none.
        assert_eq!(numbered_as(&[0, 0, 0, 0, 0, 1, 1, -1], &others, 3).unwrap(), [2, 2, 2, 2, 2, 1, 1, -1]);
    }

    #[test]
    fn an_assignment_is_as_good_as_the_best_of_all() {
        let mut state = 1u64;
        let mut number = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..400 {
            let rows = 1 + number(5) as usize;
            let columns = rows + number(3) as usize;
            // Few different numbers, so that there are ties.
            let largest = if number(2) == 0 { 4 } else { 1000 };
            let weights: Vec<Vec<i64>> =
                (0..rows).map(|_| (0..columns).map(|_| number(largest) as i64).collect()).collect();
            let partners = assign(rows, columns, |row, column| weights[row][column]);
            let mut distinct = partners.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), rows);
            let got: i64 = partners.iter().enumerate().map(|(row, &column)| weights[row][column]).sum();
            assert_eq!(got, most(&weights, &mut vec![false; columns]), "{weights:?}");
        }
    }

    #[test]
    fn hundreds_of_clusters_are_matched_with_themselves() {
        let moved = |row: usize| (row * 7 + 3) % 300;
        let partners = assign(300, 300, |row, column| if column == moved(row) { 1 << 40 } else { 1 });
        assert!(partners.iter().enumerate().all(|(row, &column)| column == moved(row)));
    }
}
