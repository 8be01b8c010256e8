//! Weighting of the features and scaling of the points before clustering: tf-idf, unit norm, counts per million,
//! logarithms, features that vary.
//!
//! tf-idf multiplies feature f by `ln((1 + n)/(1 + df)) + 1` for n points of which df have a nonzero
//! there (scikit-learn's smooth idf; its `norm` is a step of its own here, [`Weighting::Unit`]). What was
//! learned from one set of points ([`Fitted`]) applies to others, so that new points can be predicted.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::matrix::{Csr, Dense, Index, Matrix, Real};

/// One step of weighting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Weighting {
    /// Rare features count more: `x · (ln((1 + n)/(1 + df)) + 1)`.
    TfIdf,
    /// Every nonzero point is divided by its Euclidean norm.
    Unit,
    /// Every point with a sum is scaled to the sum of a million (counts per million): cells and documents that
    /// were counted deeper do not count more.
    Cpm,
    /// `ln(1 + x)`: few large counts do not drown the others.
    Log1p,
    /// Only the 2000 features that vary the most for their size, by variance/mean: the others tell points apart by chance
    /// alone. Meant for counts per million, before logarithms.
    Variable,
}

/// The steps by name, for help texts and parsers.
pub const WEIGHTINGS: &[(&str, Weighting)] = &[
    ("tf-idf", Weighting::TfIdf),
    ("unit", Weighting::Unit),
    ("cpm", Weighting::Cpm),
    ("log1p", Weighting::Log1p),
    ("variable", Weighting::Variable),
];

/// Features that [`Weighting::Variable`] keeps: as many as is usual for genes.
const MOST_VARIABLE: usize = 2000;

impl Weighting {
    /// A step by its name.
    pub fn named(name: &str) -> Result<Weighting> {
        let known = || WEIGHTINGS.iter().map(|w| w.0).collect::<Vec<_>>().join(", ");
        WEIGHTINGS.iter().find(|w| w.0 == name).map(|w| w.1).ok_or_else(|| {
            Error::parameter(
                "weighting",
                format!("there is no weighting '{name}'; there are none, {}", known()),
            )
        })
    }

    /// Learns what the step needs from the points.
    pub fn fit(self, matrix: &Matrix) -> Fitted {
        let mut learning = Learning::new(self, matrix.features());
        learning.see(matrix);
        learning.end()
    }

    /// Why one does it, in a few words.
    pub fn reason(self) -> &'static str {
        match self {
            Weighting::TfIdf => "what few points have tells more than what all have",
            Weighting::Unit => "the length of a point does not matter, only its direction",
            Weighting::Cpm => "points that were counted deeper do not count more",
            Weighting::Log1p => "few large counts do not drown the others",
            Weighting::Variable => {
                "features that vary no more than others of their size tell points apart by chance alone"
            }
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        WEIGHTINGS.iter().find(|w| w.1 == self).map_or("", |w| w.0)
    }
}

/// A step that is ready for any points with the same features.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Fitted {
    /// A factor for every feature.
    Features(Vec<f64>),
    /// Every point to norm 1.
    Unit,
    /// Every point to this sum.
    Sum(f64),
    /// `ln(1 + x)`.
    Log1p,
}

impl Fitted {
    /// The weighted points.
    ///
    /// # Errors
    /// When there is not one factor for every feature.
    pub fn apply(&self, matrix: &Matrix) -> Result<Matrix> {
        self.check(matrix.features())?;
        Ok(match matrix {
            Matrix::DenseF32(x) => Matrix::DenseF32(self.dense(x)?),
            Matrix::DenseF64(x) => Matrix::DenseF64(self.dense(x)?),
            Matrix::SparseF32(x) => Matrix::SparseF32(self.sparse(x)?),
            Matrix::SparseF64(x) => Matrix::SparseF64(self.sparse(x)?),
        })
    }

    /// An error unless it can be used on points with so many features.
    pub fn check(&self, features: usize) -> Result<()> {
        let usable = |x: f64| x.is_finite() && x >= 0.0;
        match self {
            Fitted::Features(factors) if factors.len() != features => {
                Err(Error::Data(format!("{} weights of features for {features} features", factors.len())))
            }
            Fitted::Features(factors) => match factors.iter().position(|&x| !usable(x)) {
                Some(at) => {
                    Err(Error::Data(format!("the weight {} of feature {at} is of no use", factors[at])))
                }
                None => Ok(()),
            },
            Fitted::Sum(sum) if !usable(*sum) => {
                Err(Error::Data(format!("points cannot have the sum {sum}")))
            }
            _ => Ok(()),
        }
    }

    fn dense<T: Real>(&self, x: &Dense<'_, T>) -> Result<Dense<'static, T>> {
        let mut data = x.data().to_vec();
        for point in data.chunks_mut(x.features().max(1)) {
            self.weigh(point, |f| f);
        }
        Dense::new(x.points(), x.features(), data)
    }

    fn sparse<T: Real>(&self, x: &Csr<'_, T, i32>) -> Result<Csr<'static, T, i32>> {
        let mut values = x.values().to_vec();
        for j in 0..x.points() {
            let entries = x.offsets()[j]..x.offsets()[j + 1];
            let columns = &x.columns()[entries.clone()];
            self.weigh(&mut values[entries], |e| columns[e].at());
        }
        Csr::new(x.features(), x.offsets().to_vec(), x.columns().to_vec(), values)
    }

    /// One point; `feature` tells to which feature an entry belongs.
    fn weigh<T: Real>(&self, point: &mut [T], feature: impl Fn(usize) -> usize) {
        match self {
            Fitted::Features(factors) => {
                for (e, x) in point.iter_mut().enumerate() {
                    *x = T::of(float(*x) * factors[feature(e)]);
                }
            }
            Fitted::Sum(sum) => {
                // Relative to the largest entry, so that nothing overflows.
                let largest = point.iter().fold(0.0f64, |a, x| a.max(float(*x).abs()));
                let total = point.iter().map(|x| float(*x) / largest).sum::<f64>();
                if largest > 0.0 && largest.is_finite() && total > 0.0 {
                    point.iter_mut().for_each(|x| *x = T::of(float(*x) / largest / total * sum));
                }
            }
            Fitted::Log1p => {
                // Negative numbers are left for the method to refuse or to take.
                let grown = point.iter_mut().filter(|x| float(**x) > 0.0);
                grown.for_each(|x| *x = T::of(float(*x).ln_1p()));
            }
            Fitted::Unit => {
                // Relative to the largest entry, so that no square overflows or vanishes.
                let largest = point.iter().fold(0.0f64, |a, x| a.max(float(*x).abs()));
                if largest > 0.0 && largest.is_finite() {
                    let norm = point.iter().map(|x| (float(*x) / largest).powi(2)).sum::<f64>().sqrt();
                    for x in point {
                        *x = T::of(float(*x) / largest / norm);
                    }
                }
            }
        }
    }
}

fn float<T: Real>(x: T) -> f64 {
    x.into()
}

/// What a step learns from points that come some at a time.
#[derive(Debug)]
pub(crate) struct Learning {
    weighting: Weighting,
    points: usize,
    features: Vec<Feature>,
}

/// What is known of a feature.
#[derive(Debug, Clone, Copy, Default)]
struct Feature {
    /// In how many points it is not zero.
    found: usize,
    /// The first entry that is not zero: sums are counted in it, so that no square overflows or vanishes.
    unit: f64,
    sum: f64,
    squares: f64,
}

impl Feature {
    fn see(&mut self, x: f64) {
        if x == 0.0 {
            return;
        }
        if self.found == 0 {
            self.unit = x;
        }
        let x = x / self.unit;
        *self = Feature { found: self.found + 1, sum: self.sum + x, squares: self.squares + x * x, ..*self };
    }

    /// Variance/mean over so many points.
    fn dispersion(&self, points: f64) -> f64 {
        let mean = self.sum / points;
        if mean > 0.0 { self.unit * (self.squares / points - mean * mean).max(0.0) / mean } else { 0.0 }
    }
}

impl Learning {
    pub(crate) fn new(weighting: Weighting, features: usize) -> Learning {
        Learning { weighting, points: 0, features: vec![Feature::default(); features] }
    }

    /// Whether it learns anything from the points.
    pub(crate) fn needs_points(&self) -> bool {
        matches!(self.weighting, Weighting::TfIdf | Weighting::Variable)
    }

    /// Some more points.
    pub(crate) fn see(&mut self, matrix: &Matrix) {
        fn look<T: Real>(known: &mut [Feature], points: &[T], feature: impl Fn(usize) -> usize) {
            for (e, x) in points.iter().enumerate() {
                known[feature(e)].see(float(*x));
            }
        }
        if !self.needs_points() {
            return;
        }
        self.points += matrix.points();
        let (features, known) = (matrix.features(), &mut self.features);
        match matrix {
            Matrix::DenseF32(x) => look(known, x.data(), |e| e % features),
            Matrix::DenseF64(x) => look(known, x.data(), |e| e % features),
            Matrix::SparseF32(x) => look(known, x.values(), |e| x.columns()[e].at()),
            Matrix::SparseF64(x) => look(known, x.values(), |e| x.columns()[e].at()),
        }
    }

    /// The step, ready for use.
    pub(crate) fn end(self) -> Fitted {
        let n = self.points as f64;
        match self.weighting {
            // `ln((1 + n)/(1 + df)) + 1` for every feature.
            Weighting::TfIdf => {
                let idf = |feature: &Feature| ((1.0 + n) / (1.0 + feature.found as f64)).ln() + 1.0;
                Fitted::Features(self.features.iter().map(idf).collect())
            }
            Weighting::Unit => Fitted::Unit,
            Weighting::Cpm => Fitted::Sum(1e6),
            Weighting::Log1p => Fitted::Log1p,
            Weighting::Variable => {
                let of: Vec<f64> = self.features.iter().map(|feature| feature.dispersion(n)).collect();
                Fitted::Features(largest(&of, MOST_VARIABLE))
            }
        }
    }
}

/// 1 for the largest of some numbers, the first of those that are equal; 0 for the others.
fn largest(of: &[f64], most: usize) -> Vec<f64> {
    let mut order: Vec<usize> = (0..of.len()).collect();
    order.sort_by(|&a, &b| of[b].total_cmp(&of[a]).then(a.cmp(&b)));
    let mut factors = vec![0.0; of.len()];
    order.into_iter().take(most).for_each(|feature| factors[feature] = 1.0);
    factors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dense() -> Matrix {
        Matrix::DenseF64(Dense::new(3, 3, vec![3.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0]).unwrap())
    }

    fn sparse() -> Matrix {
        let columns = vec![0, 2, 0];
        Matrix::SparseF64(Csr::new(3, vec![0, 2, 3, 3], columns, vec![3.0, 1.0, 2.0]).unwrap())
    }

    #[test]
    fn the_smooth_idf_is_that_of_scikit_learn() {
        // TfidfTransformer(norm=None).fit([[3, 0, 1], [2, 0, 0], [0, 0, 0]]).idf_
        let expected = [1.2876820724517808, 2.386294361119891, 1.6931471805599454];
        let Fitted::Features(idf) = Weighting::TfIdf.fit(&dense()) else { panic!() };
        idf.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-15, "{a} {b}"));
    }

    #[test]
    fn dense_and_sparse_are_weighted_alike() {
        for (name, weighting) in WEIGHTINGS {
            let (a, b) = (dense(), sparse());
            let (a, b) = (
                weighting.fit(&a).apply(&a).unwrap(),
                Weighting::named(name).unwrap().fit(&b).apply(&b).unwrap(),
            );
            for j in 0..3 {
                assert_eq!(a.point(j), b.point(j), "{name}");
            }
        }
    }

    #[test]
    fn unit_points_have_norm_one_and_zero_points_stay_zero() {
        let huge = Matrix::DenseF64(Dense::new(2, 2, vec![3e200, 4e200, 0.0, 0.0]).unwrap());
        let unit = Weighting::Unit.fit(&huge).apply(&huge).unwrap();
        assert!((unit.point(0)[0] - 0.6).abs() < 1e-15 && (unit.point(0)[1] - 0.8).abs() < 1e-15);
        assert_eq!(unit.point(1), [0.0, 0.0]);
    }

    #[test]
    fn counts_per_million_and_logarithms_are_those_of_scanpy() {
        // sc.pp.normalize_total(x, target_sum=1e6); sc.pp.log1p(x)
        let cpm = Weighting::Cpm.fit(&dense()).apply(&dense()).unwrap();
        assert_eq!(cpm.point(0), [750_000.0, 0.0, 250_000.0]);
        assert_eq!(cpm.point(2), [0.0; 3]);
        let log = Weighting::Log1p.fit(&dense()).apply(&dense()).unwrap();
        assert_eq!(log.point(0), [4f64.ln(), 0.0, 2f64.ln()]);
    }

    #[test]
    fn the_features_that_vary_the_most_for_their_size_are_kept() {
        // Means 4, 4 and 1; variances 0, 16 and 3: their ratios are 0, 4 and 3, at any size.
        for scale in [1.0, 1e-250, 1e250] {
            let values = [4.0, 8.0, 0.0, 4.0, 0.0, 0.0, 4.0, 8.0, 4.0, 4.0, 0.0, 0.0];
            let values = values.iter().map(|x| x * scale).collect::<Vec<f64>>();
            let dense = Matrix::DenseF64(Dense::new(4, 3, values).unwrap());
            let mut learning = Learning::new(Weighting::Variable, 3);
            learning.see(&dense);
            let found = learning.features.iter().map(|feature| feature.dispersion(4.0) / scale);
            found
                .zip([0.0, 4.0, 3.0])
                .for_each(|(a, b): (f64, f64)| assert!((a - b).abs() < 1e-12, "{a} {b}"));
            assert_eq!(Weighting::Variable.fit(&dense), Fitted::Features(vec![1.0; 3]));
        }
        assert_eq!(largest(&[0.0, 4.0, 3.0, 3.0], 1), [0.0, 1.0, 0.0, 0.0]);
        assert_eq!(largest(&[0.0, 4.0, 3.0, 3.0], 2), [0.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn wrong_names_and_counts_are_refused() {
        assert!(Weighting::named("tfidf").unwrap_err().to_string().contains("tf-idf"));
        assert!(Fitted::Features(vec![1.0]).apply(&dense()).unwrap_err().to_string().contains("3 features"));
    }
}
