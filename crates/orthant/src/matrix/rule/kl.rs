//! KL-ONMF: the distribution under which a point is most likely.
//!
//! A centroid that lacks a word forbids it (log 0). So a little is added to all of them, and centroids are the smoothed
//! distributions: new points, moves of centroids and the loop itself see the same ones.

use super::{About, Formulas, Mat, Measure, Rough};

/// The largest `Σ m·log u` for distributions u; adds `w·m`. Value: `Σ w·Σ m·log u`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kl {
    /// What is added to sums before they become distributions, relative to their mean entry.
    pub smoothing: f64,
}

impl Kl {
    pub(crate) const USUAL: Self = Kl { smoothing: 0.1 };
}

impl Kl {
    /// Distributions over so many features.
    fn smoothed(self, mut sums: Mat, used: usize) -> Mat {
        let (used, width) = (used.max(1), sums.cols.max(1));
        let mut totals = vec![0.0; sums.cols];
        for row in sums.data.chunks_exact(width) {
            totals.iter_mut().zip(row).for_each(|(total, x)| *total += x);
        }
        let mean = totals.iter().sum::<f64>() / (used * sums.cols) as f64;
        let added = if mean > 0.0 { self.smoothing * mean } else { 1.0 };
        let whole: Vec<f64> = totals.iter().map(|total| total + added * used as f64).collect();
        for row in sums.data.chunks_exact_mut(width) {
            row.iter_mut().zip(&whole).for_each(|(x, whole)| *x = (*x + added) / whole);
        }
        sums
    }
}

impl Default for Kl {
    fn default() -> Self {
        Self::USUAL
    }
}

impl Formulas for Kl {
    const ABOUT: About = About {
        name: "kl",
        words: "the largest Σ m·log u",
        file: "distributions.npy",
        measure: Measure::Divergence,
        onmf: false,
        distance: false,
        adds_the_same: false,
        adds_scores: false,
        information: true,
    };
    const ROUGH: Rough = Rough::Distributions;

    #[inline(always)]
    fn gives(self, w: f64, s: f64, _norm2: impl Fn() -> f64) -> (f64, f64) {
        (w, w * s)
    }

    /// The share of a word: long texts doubt as much as short ones.
    fn rough_closeness(self, _norm2: f64, total: f64) -> f64 {
        if total > 0.0 { 1.0 / total } else { 0.0 }
    }

    #[inline(always)]
    fn all_of(self, _w: f64, _norm2: f64) -> f64 {
        f64::INFINITY
    }

    #[inline(always)]
    fn left(self, w: f64, _norm2: f64, s: f64, _half: f64, information: f64) -> f64 {
        w * (information - s).max(0.0)
    }

    /// `Σ m·log(m/(v·u))` with `v = Σ m/Σ u`, at which the other part of the divergence, `Σ v·u − Σ m`, is none.
    fn of_observed(self, seen: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
        let (of_point, of_centroid) = seen.clone().fold((0.0, 0.0), |(m, u), entry| (m + entry.0, u + entry.1));
        let v = of_point / of_centroid;
        let left = seen.filter(|(m, _)| *m > 0.0).map(|(m, u)| m * (m / (v * u)).ln());
        (left.sum(), v)
    }

    /// Distributions, after `smoothing` times the mean entry of the sums was added to all; a zero column becomes uniform.
    /// As the mean is over all clusters, small ones are smoothed more than large ones.
    fn centroids(self, sums: Mat, _weight: &[f64]) -> Mat {
        // A feature that no point has is none: it must not change the mean.
        let rows = sums.data.chunks_exact(sums.cols.max(1));
        let used = rows.filter(|row| row.iter().any(|x| *x > 0.0)).count();
        self.smoothed(sums, used)
    }

    fn of_points(self, mut points: Mat) -> Mat {
        // Long and short points alike.
        let totals = (0..points.cols).map(|i| points.column(i).iter().sum::<f64>());
        let inverse: Vec<f64> = totals.map(|total| if total > 0.0 { 1.0 / total } else { 0.0 }).collect();
        points.scale_columns(&inverse);
        // Other points have the features that these lack, which must not become likely by that.
        let features = points.rows;
        self.smoothed(points, features)
    }

    fn scored(self, mut centroids: Mat) -> Mat {
        // Most words are missing from most clusters, which have the least entry there: one logarithm serves them all.
        let width = centroids.cols.max(1);
        let mut least = vec![f64::INFINITY; width];
        for row in centroids.data.chunks_exact(width) {
            least.iter_mut().zip(row).for_each(|(least, x)| *least = x.min(*least));
        }
        let logarithms: Vec<f64> = least.iter().map(|x| x.ln()).collect();
        for row in centroids.data.chunks_exact_mut(width) {
            for ((x, least), logarithm) in row.iter_mut().zip(&least).zip(&logarithms) {
                *x = if x == least { *logarithm } else { x.ln() };
            }
        }
        centroids
    }

    fn unscored(self, scored: Mat) -> Mat {
        scored.map(f64::exp)
    }

    /// Older results have the sums of the points, in a file of another name.
    fn of_file(self, file: &str, read: Mat) -> Mat {
        if file == Self::ABOUT.file { read } else { self.centroids(read, &[]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_points_are_distributions_too() {
        // Each has a word or two of many: what it lacks must stay unlikely.
        let points = Mat::from_fn(500, 3, |f, i| if f / 2 == i { (f + 1) as f64 } else { 0.0 });
        let scored = Kl::default().scored(Kl::default().of_points(points));
        for i in 0..3 {
            let sum: f64 = scored.column(i).iter().map(|x| x.exp()).sum();
            assert!((sum - 1.0).abs() < 1e-12, "column {i} sums to {sum}");
        }
    }

    #[test]
    fn centroids_are_distributions_and_forbid_nothing() {
        let sums = Mat::from_fn(4, 3, |f, i| if i == 2 { 0.0 } else { (f * i + 1) as f64 });
        let scored = Kl::default().scored(Kl::default().centroids(sums, &[]));
        for i in 0..3 {
            let sum: f64 = scored.column(i).iter().map(|x| x.exp()).sum();
            assert!((sum - 1.0).abs() < 1e-14, "column {i} sums to {sum}");
            assert!(scored.column(i).iter().all(|x| x.is_finite()));
        }
    }
}
