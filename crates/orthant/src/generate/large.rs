//! As many points as are wanted, none of which depends on the others: they are made as they are written, and never all in
//! memory. Scaled copies of random centroids plus noise, as in [`super::Synthetic`], in float32.
//!
//! uᵢ uniform in the unit cube; m_j = α uᵢ with α uniform in [0.1, 1]; every entry plus noise of standard deviation ε (the
//! difference of two uniform numbers, which costs less than a normal one); negative entries set to 0.

use std::ops::Range;

use super::{Generated, Generator, Parameter, Streamed, check_noise, parse, unknown};
use crate::error::{Error, Result};
use crate::matrix::seam::Source;
use crate::matrix::{AnyPoints, Dense, Format, Matrix, Shape, threads};

/// Scaled random centroids plus noise, of any size.
#[derive(Debug, Clone, PartialEq)]
pub struct Large {
    /// Number of points.
    pub points: usize,
    /// Features of a point.
    pub features: usize,
    /// Number of clusters.
    pub clusters: usize,
    /// Standard deviation ε of the noise.
    pub noise: f64,
    /// Chooses centroids, scalings and noise.
    pub seed: u64,
}

impl Default for Large {
    fn default() -> Self {
        Large { points: 10_000, features: 100, clusters: 6, noise: 0.05, seed: 0 }
    }
}

/// One number of a sequence that any place of can be had (SplitMix64).
fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// From 0 to 1.
fn unit(x: u64) -> f32 {
    (x >> 40) as f32 / (1u64 << 24) as f32
}

impl Large {
    fn check(&self) -> Result<()> {
        check_noise(self.noise)?;
        for (name, value) in
            [("points", self.points), ("features", self.features), ("clusters", self.clusters)]
        {
            if value == 0 {
                return Err(Error::parameter(name, "at least 1 is needed"));
            }
        }
        if self.points.checked_mul(self.features).is_none_or(|n| n > isize::MAX as usize / 4) {
            return Err(Error::parameter("points", "so many points of so many features cannot be counted"));
        }
        Ok(())
    }

    fn of_point(&self, point: usize) -> u64 {
        mix(mix(self.seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_add(point as u64))
    }

    /// The cluster of a point.
    fn class(&self, point: usize) -> usize {
        // The first points are one of each, so that none is empty.
        if point < self.clusters { point } else { (self.of_point(point) % self.clusters as u64) as usize }
    }

    fn fill(&self, centroids: &[f32], point: usize, row: &mut [f32]) {
        let own = self.of_point(point);
        let strength = 0.1 + 0.9 * unit(mix(own ^ 1));
        // The difference of two numbers from 0 to 1 has the standard deviation 1/√6.
        let noise = (self.noise * 6f64.sqrt()) as f32;
        let class = self.class(point);
        let centroid = &centroids[class * self.features..(class + 1) * self.features];
        for (f, (x, &u)) in row.iter_mut().zip(centroid).enumerate() {
            let bits = mix(own.wrapping_add((f as u64 + 2).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
            *x = (strength * u + noise * (unit(bits) - unit(bits << 24))).max(0.0);
        }
    }

    fn centroids(&self) -> Vec<f32> {
        let all = self.clusters * self.features;
        // Not near 0: no point vanishes.
        (0..all).map(|at| 0.01 + 0.99 * unit(mix(mix(!self.seed).wrapping_add(at as u64)))).collect()
    }
}

/// The points of a generator, made when they are asked for.
struct Made {
    large: Large,
    centroids: Vec<f32>,
}

impl Source for Made {
    fn shape(&self) -> Shape {
        let Large { points, features, .. } = self.large;
        Shape { points, features, nonzeros: points * features, format: Format::F32, sparse: false }
    }

    fn points(&self, rows: Range<usize>) -> Result<AnyPoints<'_>> {
        let features = self.large.features;
        let mut data = vec![0f32; rows.len() * features];
        let parts: Vec<(usize, &mut [f32])> = data.chunks_mut(features * 256).enumerate().collect();
        threads::in_order(parts, |(part, numbers): (usize, &mut [f32])| {
            for (at, row) in numbers.chunks_exact_mut(features).enumerate() {
                self.large.fill(&self.centroids, rows.start + part * 256 + at, row);
            }
        });
        Ok(Dense::new(rows.len(), features, data)?.into())
    }
}

impl Generator for Large {
    fn parameters(&self) -> Vec<Parameter> {
        vec![
            Parameter::new("points", "number of points", self.points),
            Parameter::new("features", "features of a point", self.features),
            Parameter::new("clusters", "number of clusters", self.clusters),
            Parameter::new("noise", "standard deviation of the noise on every entry", self.noise),
            Parameter::new("seed", "chooses centroids, scalings and noise", self.seed),
        ]
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match name {
            "points" => self.points = parse(name, value, "a whole number")?,
            "features" => self.features = parse(name, value, "a whole number")?,
            "clusters" => self.clusters = parse(name, value, "a whole number")?,
            "noise" => self.noise = parse(name, value, "a number")?,
            "seed" => self.seed = parse(name, value, "a whole number")?,
            _ => return Err(unknown(name, self)),
        }
        Ok(())
    }

    fn generate(&self) -> Result<Generated> {
        self.check()?;
        let made = Made { large: self.clone(), centroids: self.centroids() };
        let AnyPoints::DenseF32(points) = made.points(0..self.points)? else {
            unreachable!("made as float32")
        };
        Ok(Generated {
            matrix: Matrix::DenseF32(points.into_owned()),
            truth: (0..self.points).map(|j| self.class(j)).collect(),
            classes: (0..self.clusters).map(|class| class.to_string()).collect(),
            background: None,
            image: None,
        })
    }

    fn streamed(&self) -> Result<Option<Streamed>> {
        self.check()?;
        let large = self.clone();
        Ok(Some(Streamed {
            source: Box::new(Made { large: self.clone(), centroids: self.centroids() }),
            class: Box::new(move |point| large.class(point).to_string()),
            k: self.clusters,
        }))
    }
}
