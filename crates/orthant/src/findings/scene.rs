//! What a scene looks like: three of its bands as colours, and the spectra of some of its pixels.

use crate::error::Result;
use crate::image::ImageShape;
use crate::matrix::passes::Scores;
use crate::matrix::{Data, Mat, Slot};

/// Red, green and blue, in nanometres.
const VISIBLE: [f64; 3] = [640.0, 550.0, 460.0];
/// Numbers of all spectra together: a page with them stays small.
const NUMBERS: usize = 400_000;
/// Bands of a spectrum, about.
const BANDS: usize = 80;

/// A scene.
#[derive(Debug, Clone)]
pub struct Scene {
    /// Which bands stand for red, green and blue.
    pub bands: [usize; 3],
    /// Whether they are these colours to the eye.
    pub true_colour: bool,
    /// Their values, three for each pixel.
    pub colours: Vec<f64>,
    /// Every so many rows and columns there is a pixel with a spectrum, the first in the middle of its square.
    pub step: usize,
    /// The bands that a spectrum has.
    pub shown: Vec<usize>,
    /// These pixels, row after row.
    pub pixels: Vec<usize>,
    /// Their spectra, one after the other.
    pub spectra: Vec<f64>,
}

impl Scene {
    pub(super) fn of(data: &dyn Data, image: ImageShape, wavelengths: Option<&[f64]>) -> Result<Scene> {
        let (features, scale) = (data.shape().features, data.facts().scale);
        let (bands, true_colour) = bands(features, wavelengths);
        let mut slots = data.slots()?;
        let chosen = |f: usize, c: usize| f64::from(u8::from(f == bands[c]));
        slots.tell(&Scores::new(Mat::from_fn(features, 3, chosen)))?;
        let mut colours = slots.numbers(Slot::V)?;
        let root = |j: usize| data.weights().map_or(1.0, |w| w[j].sqrt());
        for (j, pixel) in colours.chunks_exact_mut(3).enumerate() {
            let unit = if root(j) > 0.0 { 1.0 / root(j) / scale } else { 0.0 };
            pixel.iter_mut().for_each(|x| *x *= unit);
        }
        let shown: Vec<usize> = (0..features).step_by(features.div_ceil(BANDS).max(1)).collect();
        let most = NUMBERS / shown.len().max(1);
        let step = (1..).find(|s| image.height.div_ceil(*s) * image.width.div_ceil(*s) <= most).unwrap_or(1);
        let middle = |at: usize, size: usize| (at + step / 2).min(size - 1);
        let places = (0..image.height).step_by(step);
        let places = places.flat_map(|row| (0..image.width).step_by(step).map(move |column| (row, column)));
        let pixels: Vec<usize> =
            places.map(|(r, c)| image.pixel(middle(r, image.height), middle(c, image.width))).collect();
        let mut spectra = Vec::with_capacity(pixels.len() * shown.len());
        for &pixel in &pixels {
            let whole = data.gather(&[pixel])?;
            spectra.extend(shown.iter().map(|&f| whole[(f, 0)] / scale));
        }
        Ok(Scene { bands, true_colour, colours, step, shown, pixels, spectra })
    }
}

/// The bands nearest to what the eye sees, where there are such; otherwise three from all over the spectrum.
fn bands(features: usize, wavelengths: Option<&[f64]>) -> ([usize; 3], bool) {
    const NEAR: f64 = 40.0;
    let nearest = |wanted: f64| {
        let all = wavelengths?.iter().enumerate().map(|(f, length)| (f, (length - wanted).abs()));
        all.min_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, far)| *far <= NEAR).map(|(f, _)| f)
    };
    match VISIBLE.map(nearest) {
        [Some(red), Some(green), Some(blue)] => ([red, green, blue], true),
        _ => ([5, 3, 1].map(|sixth| (features * sixth / 6).min(features.saturating_sub(1))), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Scan;
    use crate::matrix::{Dense, Matrix, open};

    #[test]
    fn colours_and_spectra_are_those_of_the_pixels_in_their_own_unit() {
        let image = ImageShape { height: 3, width: 2, scan: Scan::Columns };
        let values: Vec<f64> = (0..6 * 6).map(|x| 1000.0 * f64::from(x)).collect();
        let matrix = Matrix::DenseF64(Dense::new(6, 6, values.clone()).unwrap());
        let data = open(&matrix, Some(vec![4.0; 6])).unwrap();
        let scene = Scene::of(&*data, image, None).unwrap();
        assert_eq!((scene.bands, scene.true_colour, scene.step), ([5, 3, 1], false, 1));
        assert_eq!(scene.colours[..6], [5000.0, 3000.0, 1000.0, 11000.0, 9000.0, 7000.0]);
        // Row after row of a picture that is listed column after column.
        assert_eq!(scene.pixels, [0, 3, 1, 4, 2, 5]);
        assert_eq!(scene.spectra[6..12], values[18..24]);
    }

    #[test]
    fn wavelengths_of_the_visible_are_red_green_and_blue() {
        let visible: Vec<f64> = (0..50).map(|i| 400.0 + 10.0 * f64::from(i)).collect();
        assert_eq!(bands(50, Some(&visible)), ([24, 15, 6], true));
        let infrared: Vec<f64> = (0..50).map(|i| 1000.0 + 10.0 * f64::from(i)).collect();
        assert!(!bands(50, Some(&infrared)).1 && bands(1, None).0 == [0, 0, 0]);
    }
}
