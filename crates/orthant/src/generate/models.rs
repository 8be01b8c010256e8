//! Data made for one of the three models that the paper compares  [P, Sec. 2.3].
//!
//! - scale: clusters that share directions and differ by their distance from the origin, with the same round
//!   noise everywhere. Only k-means can tell them apart (Figure 1 b).
//! - proportional: points `α(u + noise)`. A long point is as noisy, in angle, as a short one: spherical k-means.
//! - independent: points `αu + noise`. A long point is the more reliable one: ONMF.
//! - coinciding: points of norm 1 around directions far apart. All three find the same clusters.
//!
//! What is negative is set to 0. Directions are drawn uniformly from the cube, again and again until none is
//! nearer to another than `SEPARATION`, which gives way where there is no room.

use super::{Generated, Generator, Parameter, check_noise, parse, unknown};
use crate::error::{Error, Result};
use crate::matrix::{Dense, Matrix};
use crate::random::{Normal, stream, uniform, uniform_between};

/// Which of the models the data are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Scale matters: k-means.
    Scale,
    /// Noise proportional to the norm: spherical k-means.
    Proportional,
    /// Noise independent of the norm: ONMF.
    Independent,
    /// All three find the same clusters.
    Coinciding,
}

/// How the norms (more exactly the factors α) are distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Norms {
    /// Uniformly in [0.1, 1], as in the paper.
    Uniform,
    /// `0.5·exp(0.6·N(0, 1))`.
    Lognormal,
    /// 0.1 plus an exponential of mean 0.4.
    Exponential,
}

/// Names with what they stand for.
const KINDS: &[(&str, Kind)] = &[
    ("scale", Kind::Scale),
    ("proportional", Kind::Proportional),
    ("independent", Kind::Independent),
    ("coinciding", Kind::Coinciding),
];
const NORMS: &[(&str, Norms)] =
    &[("uniform", Norms::Uniform), ("lognormal", Norms::Lognormal), ("exponential", Norms::Exponential)];

/// No two directions are nearer than this angle's cosine, if there is room.
const SEPARATION: f64 = 0.9;

/// Clusters made for one of the models.
#[derive(Debug, Clone, PartialEq)]
pub struct Models {
    /// For which one.
    pub kind: Kind,
    /// How many points.
    pub points: usize,
    /// Their dimension.
    pub dimension: usize,
    /// How many clusters; their sizes fall evenly from the first to half of it for the last.
    pub clusters: usize,
    /// Standard deviation of the noise on every entry.
    pub noise: f64,
    /// Distribution of the norms (not for `scale` and `coinciding`).
    pub norms: Norms,
    /// Chooses everything random.
    pub seed: u64,
}

impl Default for Models {
    fn default() -> Self {
        Models {
            kind: Kind::Independent,
            points: 450,
            dimension: 10,
            clusters: 6,
            noise: 0.05,
            norms: Norms::Uniform,
            seed: 0,
        }
    }
}

fn name_of<T: PartialEq>(table: &[(&'static str, T)], value: &T) -> &'static str {
    table.iter().find(|entry| entry.1 == *value).map_or("", |entry| entry.0)
}

fn find<T: Copy>(table: &[(&'static str, T)], name: &str, text: &str) -> Result<T> {
    table.iter().find(|entry| entry.0 == text.trim()).map(|entry| entry.1).ok_or_else(|| {
        let known: Vec<&str> = table.iter().map(|entry| entry.0).collect();
        Error::parameter(name, format!("{text:?} is none of {}", known.join(", ")))
    })
}

impl Generator for Models {
    fn parameters(&self) -> Vec<Parameter> {
        vec![
            Parameter::new(
                "kind",
                "what the data are made for: scale (k-means), proportional (spherical k-means), independent (ONMF), coinciding",
                name_of(KINDS, &self.kind),
            ),
            Parameter::new("points", "how many points", self.points),
            Parameter::new("dimension", "their dimension", self.dimension),
            Parameter::new("clusters", "how many clusters", self.clusters),
            Parameter::new("noise", "standard deviation of the noise on every entry", self.noise),
            Parameter::new("norms", "uniform, lognormal or exponential", name_of(NORMS, &self.norms)),
            Parameter::new("seed", "chooses everything random", self.seed),
        ]
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match name {
            "kind" => self.kind = find(KINDS, name, value)?,
            "points" => self.points = parse(name, value, "a whole number")?,
            "dimension" => self.dimension = parse(name, value, "a whole number")?,
            "clusters" => self.clusters = parse(name, value, "a whole number")?,
            "noise" => self.noise = parse(name, value, "a number")?,
            "norms" => self.norms = find(NORMS, name, value)?,
            "seed" => self.seed = parse(name, value, "a whole number")?,
            _ => return Err(unknown(name, self)),
        }
        Ok(())
    }

    fn generate(&self) -> Result<Generated> {
        self.check()?;
        let (mut rng, mut noise_rng) = (stream(self.seed, 0), stream(self.seed, 1));
        let mut normal = Normal::default();
        // Clusters of `scale` share directions in pairs; the second one is three times as far.
        let pairs = self.kind == Kind::Scale;
        let count = if pairs { self.clusters.div_ceil(2) } else { self.clusters };
        let directions = self.directions(count, &mut rng);
        let sizes: Vec<usize> = self.sizes();
        let (mut data, mut truth) = (Vec::with_capacity(self.points * self.dimension), vec![]);
        for (class, &size) in sizes.iter().enumerate() {
            let direction = &directions[if pairs { class / 2 } else { class }];
            for _ in 0..size {
                let alpha = self.factor(class, &mut rng);
                let noise = match self.kind {
                    Kind::Proportional => alpha * self.noise,
                    _ => self.noise,
                };
                let mut point: Vec<f64> = direction
                    .iter()
                    .map(|u| (alpha * u + noise * normal.draw(&mut noise_rng)).max(0.0))
                    .collect();
                let norm2: f64 = point.iter().map(|x| x * x).sum();
                // Noise that wipes a point out would make it a zero point.
                if norm2 == 0.0 {
                    point = direction.iter().map(|u| alpha * u).collect();
                } else if self.kind == Kind::Coinciding {
                    point.iter_mut().for_each(|x| *x /= norm2.sqrt());
                }
                data.extend(point);
                truth.push(class);
            }
        }
        Ok(Generated {
            matrix: Matrix::DenseF64(Dense::new(truth.len(), self.dimension, data)?),
            truth,
            classes: (1..=self.clusters).map(|i| i.to_string()).collect(),
            background: None,
            image: None,
        })
    }
}

impl Models {
    fn check(&self) -> Result<()> {
        check_noise(self.noise)?;
        let bytes = self.points.checked_mul(self.dimension).and_then(|n| n.checked_mul(size_of::<f64>()));
        if self.points == 0 || bytes.is_none_or(|bytes| bytes > isize::MAX as usize) {
            return Err(Error::parameter("points", format!("{} points cannot be made", self.points)));
        }
        if self.clusters == 0 || self.clusters > self.points {
            return Err(Error::parameter(
                "clusters",
                format!("{} clusters of {} points cannot be made", self.clusters, self.points),
            ));
        }
        if self.dimension < 2 {
            return Err(Error::parameter("dimension", "at least 2 are needed"));
        }
        Ok(())
    }

    /// Sizes that fall evenly from the first cluster to half of it for the last.
    fn sizes(&self) -> Vec<usize> {
        let k = self.clusters;
        let share = |i: usize| 1.0 - 0.5 * i as f64 / k.max(2) as f64;
        let whole: f64 = (0..k).map(share).sum();
        let left = (self.points - k) as f64;
        let mut sizes: Vec<usize> = (0..k).map(|i| 1 + (left * share(i) / whole) as usize).collect();
        sizes[0] += self.points - sizes.iter().sum::<usize>();
        sizes
    }

    fn directions(&self, count: usize, rng: &mut rand_chacha::ChaCha8Rng) -> Vec<Vec<f64>> {
        let mut found: Vec<Vec<f64>> = vec![];
        let mut apart = SEPARATION;
        let mut tries = 0;
        while found.len() < count {
            let mut u: Vec<f64> = (0..self.dimension).map(|_| uniform(rng)).collect();
            let norm = u.iter().map(|x| x * x).sum::<f64>().sqrt();
            u.iter_mut().for_each(|x| *x *= if norm > 0.0 { 1.0 / norm } else { 0.0 });
            let near = |v: &Vec<f64>| u.iter().zip(v).map(|(a, b)| a * b).sum::<f64>() > apart;
            if norm > 0.0 && !found.iter().any(near) {
                found.push(u);
            }
            tries += 1;
            if tries % 200 == 0 {
                apart += (1.0 - apart) * 0.2;
            }
        }
        // As long as points of the unit cube are on average, so that noise means the same in all dimensions.
        let length = match self.kind {
            Kind::Coinciding => 1.0,
            _ => (self.dimension as f64 / 3.0).sqrt(),
        };
        found.iter_mut().flatten().for_each(|x| *x *= length);
        found
    }

    /// The factor of a point of a class.
    fn factor(&self, class: usize, rng: &mut rand_chacha::ChaCha8Rng) -> f64 {
        match self.kind {
            Kind::Scale => [0.5, 1.5][class % 2],
            Kind::Coinciding => 1.0,
            Kind::Proportional | Kind::Independent => match self.norms {
                Norms::Uniform => uniform_between(rng, 0.1, 1.0),
                Norms::Lognormal => 0.5 * (0.6 * Normal::default().draw(rng)).exp(),
                Norms::Exponential => 0.1 - 0.4 * (1.0 - uniform(rng)).ln(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Norms, and perpendicular parts to the mean direction, of the points of a class.
    fn polar(made: &Generated, class: usize) -> Vec<(f64, f64)> {
        let points: Vec<Vec<f64>> =
            (0..made.truth.len()).filter(|&j| made.truth[j] == class).map(|j| made.matrix.point(j)).collect();
        let mut mean = vec![0.0; made.matrix.features()];
        points.iter().for_each(|p| mean.iter_mut().zip(p).for_each(|(m, x)| *m += x));
        let length = mean.iter().map(|x| x * x).sum::<f64>().sqrt();
        let along = |p: &[f64]| p.iter().zip(&mean).map(|(x, m)| x * m / length).sum::<f64>();
        let norm2 = |p: &[f64]| p.iter().map(|x| x * x).sum::<f64>();
        points.iter().map(|p| (along(p), (norm2(p) - along(p).powi(2)).max(0.0).sqrt())).collect()
    }

    /// Mean perpendicular part of the shorter and of the longer half.
    fn halves(mut points: Vec<(f64, f64)>) -> (f64, f64) {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mean = |x: &[(f64, f64)]| x.iter().map(|p| p.1).sum::<f64>() / x.len() as f64;
        let (short, long) = points.split_at(points.len() / 2);
        (mean(short), mean(long))
    }

    #[test]
    fn noise_is_proportional_to_the_norm_or_independent_of_it() {
        let make = |kind| Models { kind, points: 2000, ..Models::default() }.generate().unwrap();
        let (short, long) = halves(polar(&make(Kind::Independent), 0));
        assert!((0.85..1.2).contains(&(long / short)), "{short} {long}");
        let (short, long) = halves(polar(&make(Kind::Proportional), 0));
        assert!(long / short > 1.8, "{short} {long}");
    }

    #[test]
    fn clusters_of_scale_share_directions_and_those_that_coincide_have_norm_one() {
        let made = Models { kind: Kind::Scale, ..Models::default() }.generate().unwrap();
        let mean = |class| {
            let points = polar(&made, class);
            points.iter().map(|p| p.0).sum::<f64>() / points.len() as f64
        };
        assert!((mean(1) / mean(0) - 3.0).abs() < 0.2, "{} {}", mean(0), mean(1));
        let made = Models { kind: Kind::Coinciding, ..Models::default() }.generate().unwrap();
        for j in 0..made.truth.len() {
            let norm2: f64 = made.matrix.point(j).iter().map(|x| x * x).sum();
            assert!((norm2 - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn crowded_planes_and_single_clusters_can_be_made() {
        for clusters in [1, 2, 40] {
            let models = Models { dimension: 2, clusters, points: 100, ..Models::default() };
            assert_eq!(models.generate().unwrap().k(), clusters);
        }
        assert!(Models { clusters: 0, ..Models::default() }.generate().is_err());
        assert!(Models { dimension: 1, ..Models::default() }.generate().is_err());
        assert!(Models { points: 3, clusters: 4, ..Models::default() }.generate().is_err());
    }
}
