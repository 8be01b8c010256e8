//! A space telescope seen by a hyperspectral camera, in the manner of the Hubble set of [P, section
//! 4.3], which cannot be distributed: 8 materials, 100 bands, 128 × 128 pixels, black sky.
//!
//! A pixel is the spectrum of its one material times the light that falls on it, so that without noise
//! the materials are eight directions, and the clusters of ONMF are exactly they. The sky is zero.
//! With noise every entry, the sky's too, receives N(0, ε²), and what is negative is set to 0.

mod drawing;
mod spectra;

use super::{Generated, Generator, Parameter, check_noise, names, parse, unknown};
use crate::error::{Error, Result};
use crate::image::{ImageShape, Scan};
use crate::matrix::{Dense, Matrix};
use crate::random::{Normal, stream};
use drawing::{Drawing, look};
use spectra::{BANDS, MATERIALS, spectra};

const SIDE: usize = 128;
/// The sky's class.
const SKY: usize = MATERIALS.len();

/// Pixels × bands of a telescope of eight materials; the sky is the background.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Telescope {
    /// Standard deviation of the noise; reflectances lie between 0 and 1.
    pub noise: f64,
    /// How far every spectrum is moved towards their mean: 0 leaves them apart, at 1 all would be the same.
    pub closeness: f64,
    /// Chooses the noise.
    pub seed: u64,
}

impl Generator for Telescope {
    fn parameters(&self) -> Vec<Parameter> {
        vec![
            Parameter::new("noise", "standard deviation of the noise on every entry", self.noise),
            Parameter::new(
                "closeness",
                "from 0 (spectra as different as they are) to 1 (all the same)",
                self.closeness,
            ),
            Parameter::new("seed", "chooses the noise", self.seed),
        ]
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match name {
            "noise" => self.noise = parse(name, value, "a number")?,
            "closeness" => self.closeness = parse(name, value, "a number")?,
            "seed" => self.seed = parse(name, value, "a whole number")?,
            _ => return Err(unknown(name, self)),
        }
        Ok(())
    }

    fn generate(&self) -> Result<Generated> {
        check_noise(self.noise)?;
        if !(0.0..=1.0).contains(&self.closeness) {
            let problem = format!("{} is not between 0 and 1", self.closeness);
            return Err(Error::Parameter { name: "closeness".into(), problem });
        }
        let image = ImageShape { height: SIDE, width: SIDE, scan: Scan::Columns };
        let drawing = Drawing::telescope();
        let spectra = spectra(self.closeness);
        let (mut rng, mut normal) = (stream(self.seed, 0), Normal::default());
        let mut data = Vec::with_capacity(image.pixels() * BANDS);
        let mut truth = Vec::with_capacity(image.pixels());
        for p in 0..image.pixels() {
            let middle = SIDE as f64 / 2.0 - 0.5;
            let (x, y) = (image.column(p) as f64 - middle, middle - image.row(p) as f64);
            match look(&drawing, x, y) {
                Some((material, light)) => {
                    data.extend(spectra[material].iter().map(|reflectance| light * reflectance));
                    truth.push(material);
                }
                None => {
                    data.extend([0.0; BANDS]);
                    truth.push(SKY);
                }
            }
        }
        if self.noise > 0.0 {
            for entry in &mut data {
                *entry = (*entry + self.noise * normal.draw(&mut rng)).max(0.0);
            }
        }
        let mut classes = names(&MATERIALS);
        classes.push("sky".to_string());
        Ok(Generated {
            matrix: Matrix::DenseF64(Dense::new(image.pixels(), BANDS, data)?),
            truth,
            classes,
            background: Some(SKY),
            image: Some(image),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spectra::spectrum;

    #[test]
    fn every_material_has_a_fair_share_and_the_sky_surrounds_the_telescope() {
        let made = Telescope::default().generate().unwrap();
        assert_eq!((made.matrix.points(), made.matrix.features(), made.k()), (128 * 128, 100, 8));
        let size = |class| made.truth.iter().filter(|&&t| t == class).count();
        for material in 0..8 {
            assert!((100..3000).contains(&size(material)), "{}: {}", MATERIALS[material], size(material));
        }
        let image = made.image.unwrap();
        for p in 0..image.pixels() {
            let (row, column) = (image.row(p), image.column(p));
            if [0, 127].contains(&row) || [0, 127].contains(&column) {
                assert_eq!(made.truth[p], SKY, "the drawing is cut off at row {row}, column {column}");
            }
        }
    }

    #[test]
    fn pixels_of_a_material_differ_only_in_light() {
        let made = Telescope::default().generate().unwrap();
        let mut brightness = vec![vec![]; 8];
        for p in 0..made.matrix.points() {
            let material = made.truth[p];
            if material == SKY {
                continue;
            }
            let (point, spectrum) = (made.matrix.point(p), spectrum(material));
            let light = point[0] / spectrum[0];
            assert!(light > 0.1 && light <= 1.0, "{light}");
            assert!(point.iter().zip(&spectrum).all(|(x, r)| (x - light * r).abs() < 1e-12));
            brightness[material].push(light);
        }
        for (material, lights) in brightness.iter().enumerate() {
            let (low, high) = lights.iter().fold((1.0f64, 0.0f64), |(l, h), &x| (l.min(x), h.max(x)));
            assert!(high > 1.3 * low, "{} is lit evenly, {low} to {high}", MATERIALS[material]);
        }
    }

    #[test]
    fn noise_reaches_the_sky_and_is_cut_off_at_zero() {
        let noise = 0.02;
        let made = Telescope { noise, seed: 4, ..Telescope::default() }.generate().unwrap();
        let (mut zeros, mut sum, mut entries) = (0usize, 0.0, 0usize);
        for p in (0..made.matrix.points()).filter(|&p| made.truth[p] == SKY) {
            for x in made.matrix.point(p) {
                assert!(x >= 0.0);
                (zeros, sum, entries) = (zeros + usize::from(x == 0.0), sum + x, entries + 1);
            }
        }
        // Half of a normal distribution is cut off; the mean of what is left is ε/√(2π).
        assert!((zeros as f64 / entries as f64 - 0.5).abs() < 0.005);
        let expected = noise / (2.0 * std::f64::consts::PI).sqrt();
        assert!((sum / entries as f64 / expected - 1.0).abs() < 0.01);
    }
}
