//! Adjusted Rand index: agreement on pairs of points, corrected for chance.
//!
//! With pairs counted as together or apart in clusters and in classes,
//! `2 (tp·tn − fn·fp) / ((tp + fn)(fn + tn) + (tp + fp)(fp + tn))`, as scikit-learn's
//! `adjusted_rand_score`.

use super::Confusion;

/// The adjusted Rand index, in [−½, 1]: 1 for equal partitions, about 0 for random ones, below 0 for
/// less agreement than chance would give.
pub fn ari(confusion: &Confusion) -> f64 {
    // Pair counts grow with n² and exceed 64 bits long before memory ends.
    let pairs = |size: u64| i128::from(size) * (i128::from(size) - 1) / 2;
    let total = |sizes: &[u64]| sizes.iter().map(|&size| pairs(size)).sum::<i128>();
    let both = total(confusion.counts());
    let in_cluster = total(&confusion.cluster_sizes());
    let in_class = total(&confusion.class_sizes());
    let (only_cluster, only_class) = (in_cluster - both, in_class - both);
    if only_cluster == 0 && only_class == 0 {
        return 1.0;
    }
    let neither = pairs(confusion.points()) - both - only_cluster - only_class;
    // Their products, of order n⁴, are left to floating point.
    let [tp, fp, fneg, tn] = [both, only_cluster, only_class, neither].map(|count| count as f64);
    2.0 * (tp * tn - fneg * fp) / ((tp + fneg) * (fneg + tn) + (tp + fp) * (fp + tn))
}
