//! Two clusters in the plane, the examples of Figure 1  [P, Fig. 1].
//!
//! (a) Well separated: two directions, where k-means, spherical k-means and ONMF agree.
//! (b) In line: both clusters lie along the diagonal, so that k-means finds them while the other two
//! cut the plane by angle. The lower left cluster has smaller norm and a wider angular distribution;
//! spherical k-means treats its points like all others, and its centroids are therefore further apart
//! than those of ONMF, which follows the points with larger norm.
//!
//! The paper gives the pictures but not the numbers; these were chosen to show what it describes. The
//! truth is the cluster that a point was drawn from.

use super::{Generated, Generator, Parameter, names, parse, unknown};
use crate::error::{Error, Result};
use crate::matrix::{Dense, Matrix};
use crate::random::{Normal, stream};

/// Which half of Figure 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Example {
    /// Figure 1 (a): clusters in two directions.
    Separated,
    /// Figure 1 (b): clusters along one direction.
    InLine,
}

/// A round cloud of normally distributed points.
struct Cloud {
    centre: [f64; 2],
    deviation: f64,
    name: &'static str,
}

impl Example {
    fn name(self) -> &'static str {
        match self {
            Example::Separated => "separated",
            Example::InLine => "in-line",
        }
    }

    fn clouds(self) -> [Cloud; 2] {
        match self {
            Example::Separated => [
                Cloud { centre: [2.5, 7.0], deviation: 0.7, name: "upper left" },
                Cloud { centre: [7.0, 2.5], deviation: 0.7, name: "lower right" },
            ],
            Example::InLine => [
                Cloud { centre: [1.8, 1.8], deviation: 0.6, name: "lower left" },
                Cloud { centre: [7.0, 7.0], deviation: 0.8, name: "upper right" },
            ],
        }
    }
}

/// Two clusters in the plane.
#[derive(Debug, Clone, PartialEq)]
pub struct Plane {
    /// Which half of Figure 1.
    pub example: Example,
    /// Points of each of the two clusters.
    pub points_per_cluster: usize,
    /// Chooses the points.
    pub seed: u64,
}

impl Default for Plane {
    fn default() -> Self {
        Plane { example: Example::InLine, points_per_cluster: 100, seed: 0 }
    }
}

impl Generator for Plane {
    fn parameters(&self) -> Vec<Parameter> {
        vec![
            Parameter::new("example", "separated or in-line", self.example.name()),
            Parameter::new(
                "points-per-cluster",
                "points of each of the two clusters",
                self.points_per_cluster,
            ),
            Parameter::new("seed", "chooses the points", self.seed),
        ]
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match name {
            "example" => {
                self.example = [Example::Separated, Example::InLine]
                    .into_iter()
                    .find(|example| example.name() == value.trim())
                    .ok_or_else(|| {
                        Error::parameter(name, format!("{value:?} is neither separated nor in-line"))
                    })?
            }
            "points-per-cluster" => self.points_per_cluster = parse(name, value, "a whole number")?,
            "seed" => self.seed = parse(name, value, "a whole number")?,
            _ => return Err(unknown(name, self)),
        }
        Ok(())
    }

    fn generate(&self) -> Result<Generated> {
        // 2 clusters of 2 float64 each.
        if self.points_per_cluster == 0 || self.points_per_cluster > isize::MAX as usize / 32 {
            let problem = format!("{} points cannot be made: take 1 or more", self.points_per_cluster);
            return Err(Error::parameter("points-per-cluster", problem));
        }
        let (mut data, mut truth) = (vec![], vec![]);
        let clouds = self.example.clouds();
        for (class, cloud) in clouds.iter().enumerate() {
            // A stream for each cloud: more points continue a cloud and leave the other as it is.
            let (mut rng, mut normal) = (stream(self.seed, class as u64), Normal::default());
            for _ in 0..self.points_per_cluster {
                data.extend(cloud.centre.map(|c| (c + cloud.deviation * normal.draw(&mut rng)).max(0.0)));
                truth.push(class);
            }
        }
        Ok(Generated {
            matrix: Matrix::DenseF64(Dense::new(truth.len(), 2, data)?),
            truth,
            classes: names(&clouds.map(|cloud| cloud.name)),
            background: None,
            image: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Point = [f64; 2];

    fn points(example: Example, seed: u64) -> (Vec<Point>, Vec<usize>) {
        let made = Plane { example, seed, ..Plane::default() }.generate().unwrap();
        let points = (0..made.matrix.points()).map(|j| made.matrix.point(j)).map(|p| [p[0], p[1]]).collect();
        (points, made.truth)
    }

    fn angle(p: Point) -> f64 {
        p[1].atan2(p[0])
    }

    /// Direction of the mean of the normalised points: spherical k-means.
    fn skm_direction(points: &[Point]) -> f64 {
        angle(points.iter().fold([0.0; 2], |sum, p| {
            let norm = p[0].hypot(p[1]);
            [sum[0] + p[0] / norm, sum[1] + p[1] / norm]
        }))
    }

    /// Direction of the dominant singular vector: ONMF. The major axis of [[a, b], [b, c]] stands at
    /// the angle ½ atan2(2b, a − c).
    fn onmf_direction(points: &[Point]) -> f64 {
        let (a, b, c) = points
            .iter()
            .fold((0.0, 0.0, 0.0), |(a, b, c), p| (a + p[0] * p[0], b + p[0] * p[1], c + p[1] * p[1]));
        0.5 * f64::atan2(2.0 * b, a - c)
    }

    /// The angle between the two centroids that a method settles at: points go to the nearer direction,
    /// directions are computed anew, until nothing changes.
    fn opening(points: &[Point], direction: fn(&[Point]) -> f64) -> f64 {
        let mut cut = std::f64::consts::FRAC_PI_4;
        for _ in 0..1000 {
            let (low, high): (Vec<Point>, Vec<Point>) = points.iter().partition(|&&p| angle(p) < cut);
            let (below, above) = (direction(&low), direction(&high));
            if cut == (below + above) / 2.0 {
                return above - below;
            }
            cut = (below + above) / 2.0;
        }
        panic!("the cut did not settle");
    }

    #[test]
    fn in_line_spherical_k_means_is_further_apart_than_onmf() {
        for seed in 0..20 {
            let (points, _) = points(Example::InLine, seed);
            let (skm, onmf) = (opening(&points, skm_direction), opening(&points, onmf_direction));
            assert!(skm > 1.3 * onmf, "seed {seed}: {skm} and {onmf}");
        }
    }

    #[test]
    fn in_line_clusters_share_a_direction_and_differ_in_norm_and_angular_width() {
        let (points, truth) = points(Example::InLine, 1);
        let of = |class| -> Vec<Point> {
            points.iter().zip(&truth).filter(|&(_, &c)| c == class).map(|(&p, _)| p).collect()
        };
        let (lower, upper) = (of(0), of(1));
        assert!((onmf_direction(&lower) - onmf_direction(&upper)).abs() < 0.1);
        let width = |points: &[Point]| {
            let middle = onmf_direction(points);
            (points.iter().map(|&p| (angle(p) - middle).powi(2)).sum::<f64>() / points.len() as f64).sqrt()
        };
        assert!(width(&lower) > 2.0 * width(&upper));
        let norm = |p: &Point| p[0].hypot(p[1]);
        let mean = |points: &[Point]| points.iter().map(norm).sum::<f64>() / points.len() as f64;
        assert!(mean(&upper) > 3.0 * mean(&lower));
        assert!(lower.iter().all(|p| norm(p) > 0.0));
    }

    #[test]
    fn well_separated_the_two_models_agree_with_the_truth_and_each_other() {
        for seed in 0..20 {
            let (points, truth) = points(Example::Separated, seed);
            // The cut by angle is the truth: the upper left cluster is class 0.
            for (&p, &class) in points.iter().zip(&truth) {
                assert_eq!(angle(p) < std::f64::consts::FRAC_PI_4, class == 1);
            }
            let (skm, onmf) = (opening(&points, skm_direction), opening(&points, onmf_direction));
            assert!((skm - onmf).abs() < 0.03, "seed {seed}: {skm} and {onmf}");
        }
    }

    #[test]
    fn more_points_continue_the_same_clouds() {
        let make =
            |points_per_cluster| Plane { points_per_cluster, ..Plane::default() }.generate().unwrap().matrix;
        let (few, many) = (make(10), make(20));
        assert_eq!(few.points(), 20);
        assert_eq!(few.point(0), many.point(0));
        assert_eq!(few.point(10), many.point(20));
        assert!(Plane { points_per_cluster: 0, ..Plane::default() }.generate().is_err());
    }
}
