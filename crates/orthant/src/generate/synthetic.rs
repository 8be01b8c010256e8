//! Clusters of scaled copies of a centroid, with noise of fixed size  [P, section 2.3].
//!
//! uᵢ uniform in the unit cube; m_j = α uᵢ with α uniform in [0.1, 1]; every entry plus N(0, ε²);
//! negative entries set to 0. The scaling is what k-means cannot follow; noise that does not depend on
//! the norm is what spherical k-means suffers from.
//!
//! The paper's text has uᵢ ∈ ℝ¹⁰ but a cube of dimension 6: the cube here has the dimension of the points.

use super::{Generated, Generator, Parameter, check_noise, parse, unknown};
use crate::error::{Error, Result};
use crate::matrix::{Dense, Matrix};
use crate::random::{Normal, stream, uniform, uniform_between};

/// Scaled random centroids plus noise. Sets with the same seed differ only in the size of the noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Synthetic {
    /// Standard deviation ε of the noise.
    pub noise: f64,
    /// Chooses centroids, scalings and noise.
    pub seed: u64,
    /// Points of each cluster.
    pub sizes: Vec<usize>,
    /// Features of a point.
    pub dimension: usize,
    /// Smallest and largest scaling α of a centroid.
    pub scaling: [f64; 2],
}

impl Default for Synthetic {
    fn default() -> Self {
        Synthetic {
            noise: 0.0,
            seed: 0,
            sizes: vec![100, 90, 80, 70, 60, 50],
            dimension: 10,
            scaling: [0.1, 1.0],
        }
    }
}

impl Generator for Synthetic {
    fn parameters(&self) -> Vec<Parameter> {
        let list = |numbers: Vec<String>| numbers.join(",");
        vec![
            Parameter::new("noise", "standard deviation of the noise on every entry", self.noise),
            Parameter::new("seed", "chooses centroids, scalings and noise", self.seed),
            Parameter::new(
                "sizes",
                "points of each cluster",
                list(self.sizes.iter().map(usize::to_string).collect()),
            ),
            Parameter::new("dimension", "features of a point", self.dimension),
            Parameter::new(
                "scaling",
                "smallest and largest factor of a centroid",
                list(self.scaling.iter().map(f64::to_string).collect()),
            ),
        ]
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match name {
            "noise" => self.noise = parse(name, value, "a number")?,
            "seed" => self.seed = parse(name, value, "a whole number")?,
            "sizes" => {
                self.sizes =
                    value.split(',').map(|size| parse(name, size, "a whole number")).collect::<Result<_>>()?
            }
            "dimension" => self.dimension = parse(name, value, "a whole number")?,
            "scaling" => {
                let (low, high) = value
                    .split_once(',')
                    .ok_or_else(|| Error::parameter(name, format!("{value:?} is not two numbers")))?;
                self.scaling = [parse(name, low, "a number")?, parse(name, high, "a number")?];
            }
            _ => return Err(unknown(name, self)),
        }
        Ok(())
    }

    fn generate(&self) -> Result<Generated> {
        self.check()?;
        // Noise has a stream of its own: the same centroids and scalings at every level.
        let (mut rng, mut noise_rng) = (stream(self.seed, 0), stream(self.seed, 1));
        let mut normal = Normal::default();
        let centroids: Vec<Vec<f64>> =
            self.sizes.iter().map(|_| (0..self.dimension).map(|_| uniform(&mut rng)).collect()).collect();
        let [low, high] = self.scaling;
        let points: usize = self.sizes.iter().sum();
        let mut data = Vec::with_capacity(points * self.dimension);
        let mut truth = Vec::with_capacity(points);
        for (class, (centroid, &size)) in centroids.iter().zip(&self.sizes).enumerate() {
            for _ in 0..size {
                let alpha = uniform_between(&mut rng, low, high);
                let noisy = |&u: &f64| (alpha * u + self.noise * normal.draw(&mut noise_rng)).max(0.0);
                data.extend(centroid.iter().map(noisy));
                truth.push(class);
            }
        }
        Ok(Generated {
            matrix: Matrix::DenseF64(Dense::new(points, self.dimension, data)?),
            truth,
            classes: (1..=self.sizes.len()).map(|i| i.to_string()).collect(),
            background: None,
            image: None,
        })
    }
}

impl Synthetic {
    fn check(&self) -> Result<()> {
        check_noise(self.noise)?;
        if self.sizes.is_empty() || self.sizes.contains(&0) {
            return Err(Error::parameter("sizes", "every cluster needs at least one point"));
        }
        let entries = self
            .sizes
            .iter()
            .try_fold(0usize, |sum, &size| sum.checked_add(size))
            .and_then(|points| points.checked_mul(self.dimension));
        if entries.is_none_or(|entries| entries > isize::MAX as usize / size_of::<f64>()) {
            return Err(Error::parameter("sizes", "more points than memory can hold"));
        }
        if self.dimension == 0 {
            return Err(Error::parameter("dimension", "0 is too small: at least 1 is needed"));
        }
        let [low, high] = self.scaling;
        if !(0.0 < low && low <= high && high.is_finite()) {
            return Err(Error::parameter(
                "scaling",
                format!("{low},{high} is not a range of positive numbers"),
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &[f64], b: &[f64]) -> f64 {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
    }

    #[test]
    fn sizes_are_those_of_the_paper() {
        let made = Synthetic::default().generate().unwrap();
        assert_eq!((made.matrix.points(), made.matrix.features(), made.k()), (450, 10, 6));
        let count = |class| made.truth.iter().filter(|&&c| c == class).count();
        assert_eq!((0..6).map(count).collect::<Vec<_>>(), [100, 90, 80, 70, 60, 50]);
    }

    #[test]
    fn without_noise_a_cluster_is_one_direction_scaled_by_a_tenth_to_one() {
        let made = Synthetic { seed: 3, ..Synthetic::default() }.generate().unwrap();
        let mut strengths = vec![];
        for j in 1..100 {
            let (first, point) = (made.matrix.point(0), made.matrix.point(j));
            assert!(cosine(&first, &point) > 1.0 - 1e-12);
            strengths.push(point[0] / first[0]);
        }
        let spread =
            strengths.iter().cloned().fold(0.0, f64::max) / strengths.iter().cloned().fold(9.0, f64::min);
        assert!((5.0..10.0).contains(&spread), "{spread}");
        assert!(cosine(&made.matrix.point(0), &made.matrix.point(100)) < 0.999);
    }

    #[test]
    fn noise_has_the_given_size_where_it_is_not_cut_off() {
        let noise = 0.05;
        let clean = Synthetic { seed: 5, ..Synthetic::default() }.generate().unwrap().matrix;
        let noisy = Synthetic { seed: 5, noise, ..Synthetic::default() }.generate().unwrap().matrix;
        let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
        for j in 0..450 {
            for (x, y) in clean.point(j).iter().zip(noisy.point(j)) {
                // Five standard deviations above 0 nothing is cut off.
                if *x > 5.0 * noise {
                    let d = y - x;
                    (sum, squares, count) = (sum + d, squares + d * d, count + 1.0);
                }
            }
        }
        assert!(count > 1000.0);
        let (mean, deviation) = (sum / count, (squares / count).sqrt());
        assert!(mean.abs() < 4.0 * noise / f64::sqrt(count), "{mean}");
        assert!((deviation / noise - 1.0).abs() < 4.0 / f64::sqrt(2.0 * count), "{deviation}");
    }

    #[test]
    fn strong_noise_is_cut_off_at_zero() {
        let made = Synthetic { noise: 1.0, ..Synthetic::default() }.generate().unwrap();
        let zeros: usize = (0..450).map(|j| made.matrix.point(j).iter().filter(|&&x| x == 0.0).count()).sum();
        assert!((1000..2250).contains(&zeros), "{zeros}");
    }

    #[test]
    fn senseless_parameters_are_refused() {
        let refused = |set: Synthetic| set.generate().unwrap_err().to_string();
        let usual = Synthetic::default;
        assert!(refused(Synthetic { sizes: vec![], ..usual() }).starts_with("sizes"));
        assert!(refused(Synthetic { sizes: vec![4, 0], ..usual() }).starts_with("sizes"));
        assert!(refused(Synthetic { sizes: vec![usize::MAX, 2], ..usual() }).starts_with("sizes"));
        assert!(refused(Synthetic { dimension: 0, ..usual() }).starts_with("dimension"));
        assert!(refused(Synthetic { scaling: [0.0, 1.0], ..usual() }).starts_with("scaling"));
        assert!(refused(Synthetic { scaling: [1.0, 0.5], ..usual() }).starts_with("scaling"));
    }
}
