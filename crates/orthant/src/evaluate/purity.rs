//! Purity: the share of points that belong to the majority class of their cluster.

use super::Confusion;

/// `(1/n) Σ over clusters of max over classes |cluster ∩ class|`, in (0, 1]. It never falls when
/// clusters are split, so compare it only between results with the same k.
pub fn purity(confusion: &Confusion) -> f64 {
    let majority: u64 = (0..confusion.clusters())
        .map(|cluster| confusion.row(cluster).iter().copied().max().unwrap_or(0))
        .sum();
    majority as f64 / confusion.points() as f64
}
