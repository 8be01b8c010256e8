//! Normalised mutual information: how much the clusters tell about the classes.
//!
//! `I(cluster; class) / ((H(cluster) + H(class)) / 2)`, the arithmetic mean as in scikit-learn's
//! `normalized_mutual_info_score`, whose conventions for the edge cases are kept.

use super::Confusion;

/// Mutual information over the mean of the two entropies, in [0, 1]; 1 when there is one cluster and
/// one class, 0 when only one of the two is split.
pub fn nmi(confusion: &Confusion) -> f64 {
    let (cluster_sizes, class_sizes) = (confusion.cluster_sizes(), confusion.class_sizes());
    let parts = |sizes: &[u64]| sizes.iter().filter(|&&size| size > 0).count();
    if parts(&cluster_sizes) == 1 && parts(&class_sizes) == 1 {
        return 1.0;
    }
    let n = confusion.points() as f64;
    let mut information = 0.0;
    for (cluster, &cluster_size) in cluster_sizes.iter().enumerate() {
        for (class, &class_size) in class_sizes.iter().enumerate() {
            let count = confusion.count(cluster, class) as f64;
            if count > 0.0 {
                let expected = (cluster_size as f64 / n) * (class_size as f64 / n);
                information += count / n * (count / n / expected).ln();
            }
        }
    }
    // Independent partitions give a sum of rounding errors: zero, like scikit-learn.
    if information <= f64::EPSILON {
        return 0.0;
    }
    let mean_entropy = (entropy(&cluster_sizes, n) + entropy(&class_sizes, n)) / 2.0;
    (information / mean_entropy).min(1.0)
}

fn entropy(sizes: &[u64], n: f64) -> f64 {
    sizes.iter().filter(|&&size| size > 0).map(|&size| size as f64 / n).map(|p| -p * p.ln()).sum()
}
