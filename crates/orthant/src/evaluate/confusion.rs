//! How many points of each class each cluster holds: all that any score needs to know.

use crate::error::{Error, Result};

/// A table larger than this means labels that are not numbered from 0 (the assignment problem on it
/// could not be solved either).
const LARGEST_TABLE: usize = 1 << 24;

/// Counts of points, clusters in rows and classes in columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confusion {
    clusters: usize,
    classes: usize,
    counts: Vec<u64>,
}

impl Confusion {
    /// Counts the points with a label; a point labelled −1 has no cluster and is left out.
    ///
    /// There is a row for every cluster up to the largest label, and a column for every class up to
    /// the largest of `truth`, be they empty or not.
    pub fn new(labels: &[i32], truth: &[usize]) -> Result<Self> {
        if labels.len() != truth.len() {
            return Err(Error::Data(format!(
                "{} labels were found, but the truth has {}: both need one for every point, in the same order",
                labels.len(),
                truth.len()
            )));
        }
        if let Some(j) = labels.iter().position(|&label| label < -1) {
            return Err(Error::Data(format!(
                "point {j} has the label {}: labels count from 0, and -1 means no cluster",
                labels[j]
            )));
        }
        let Some(&last_cluster) = labels.iter().filter(|&&label| label >= 0).max() else {
            return Err(Error::Data(format!(
                "none of the {} points has a cluster: there is nothing to score",
                labels.len()
            )));
        };
        let last_class = truth.iter().copied().max().unwrap_or(0);
        let clusters = last_cluster as usize + 1;
        let classes = last_class.saturating_add(1);
        let Some(size) = clusters.checked_mul(classes).filter(|&size| size <= LARGEST_TABLE) else {
            return Err(Error::Data(format!(
                "labels up to {last_cluster} and classes up to {last_class} need too large a table: number both from 0 without gaps"
            )));
        };
        let mut counts = vec![0u64; size];
        for (&label, &class) in labels.iter().zip(truth) {
            if label >= 0 {
                counts[label as usize * classes + class] += 1;
            }
        }
        Ok(Confusion { clusters, classes, counts })
    }

    /// How many clusters (rows).
    pub fn clusters(&self) -> usize {
        self.clusters
    }

    /// How many classes (columns).
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// How many points of `class` are in `cluster`.
    pub fn count(&self, cluster: usize, class: usize) -> u64 {
        self.row(cluster)[class]
    }

    /// The classes of the points in `cluster`.
    pub fn row(&self, cluster: usize) -> &[u64] {
        &self.counts[cluster * self.classes..(cluster + 1) * self.classes]
    }

    /// All counts, cluster after cluster.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The number of points in each cluster.
    pub fn cluster_sizes(&self) -> Vec<u64> {
        (0..self.clusters).map(|cluster| self.row(cluster).iter().sum()).collect()
    }

    /// The number of scored points in each class.
    pub fn class_sizes(&self) -> Vec<u64> {
        (0..self.classes)
            .map(|class| (0..self.clusters).map(|cluster| self.count(cluster, class)).sum())
            .collect()
    }

    /// The number of points with a cluster; at least 1.
    pub fn points(&self) -> u64 {
        self.counts.iter().sum()
    }
}
