//! A scene made from endmembers and abundances: M = E·A plus noise, of any size.
//!
//! A published ground truth becomes an image of full size whose truth is known. Call it simulated.

use rayon::prelude::*;

use super::{Generated, check_noise};
use crate::error::{Error, Result};
use crate::image::ImageShape;
use crate::matrix::{Dense, Mat, Matrix};
use crate::random::{Normal, stream, uniform};

/// Pixels that share a stream of random numbers. Fixed, so that the result does not depend on the
/// number of threads; changing it changes the noise of every seed.
const BLOCK: usize = 256;

/// Pixels × bands as mixtures of materials; a pixel's truth is the material with most abundance.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// Spectra of the materials, bands × materials.
    pub endmembers: Mat,
    /// Share of each material in each pixel, materials × pixels.
    pub abundances: Mat,
    /// Names of the materials; numbers from 1 where empty.
    pub materials: Vec<String>,
    /// Standard deviation of the noise on every entry, in the units of the endmembers; negative
    /// entries are then set to 0.
    pub noise: f64,
    /// Every pixel is multiplied by a light drawn uniformly from this to 1: 1 is the same light everywhere.
    pub least_light: f64,
    /// Chooses the light and the noise.
    pub seed: u64,
    /// float32 instead of float64: half the memory.
    pub single_precision: bool,
    /// How the pixels stand in the image, if known.
    pub image: Option<ImageShape>,
}

impl Scene {
    /// The noiseless scene in float64.
    pub fn new(endmembers: Mat, abundances: Mat) -> Self {
        Scene {
            endmembers,
            abundances,
            materials: vec![],
            noise: 0.0,
            least_light: 1.0,
            seed: 0,
            single_precision: false,
            image: None,
        }
    }

    /// Mixes every pixel. Pixels without any material are the background.
    ///
    /// # Errors
    /// When the shapes do not fit, or an entry is negative or not finite.
    pub fn generate(&self) -> Result<Generated> {
        self.check()?;
        let (bands, k, pixels) = (self.endmembers.rows, self.endmembers.cols, self.abundances.cols);
        let matrix = if self.single_precision {
            let data = self.mixed(|x| x as f32);
            check_finite(data.par_iter().all(|x| x.is_finite()), "float32")?;
            Matrix::DenseF32(Dense::new(pixels, bands, data)?)
        } else {
            let data = self.mixed(|x| x);
            check_finite(data.par_iter().all(|x| x.is_finite()), "float64")?;
            Matrix::DenseF64(Dense::new(pixels, bands, data)?)
        };
        let truth: Vec<usize> = (0..pixels).map(|p| self.main_material(p)).collect();
        let background = truth.contains(&k).then_some(k);
        let mut classes = self.materials.clone();
        if classes.is_empty() {
            classes = (1..=k).map(|i| i.to_string()).collect();
        }
        classes.extend(background.map(|_| "background".to_string()));
        Ok(Generated { matrix, truth, classes, background, image: self.image })
    }

    /// All pixels, each block with its own stream of noise.
    fn mixed<T: Send + Copy + Default>(&self, convert: impl Fn(f64) -> T + Sync) -> Vec<T> {
        let (bands, pixels) = (self.endmembers.rows, self.abundances.cols);
        let spectra = self.endmembers.transpose();
        let mut data = vec![T::default(); pixels * bands];
        data.par_chunks_mut(BLOCK * bands).enumerate().for_each(|(block, points)| {
            let (mut rng, mut normal) = (stream(self.seed, block as u64), Normal::default());
            let mut point = vec![0.0; bands];
            for (i, out) in points.chunks_exact_mut(bands).enumerate() {
                point.fill(0.0);
                for material in 0..spectra.rows {
                    let share = self.abundances[(material, block * BLOCK + i)];
                    for (x, e) in point.iter_mut().zip(spectra.row(material)) {
                        *x += share * e;
                    }
                }
                if self.least_light < 1.0 {
                    let light = self.least_light + (1.0 - self.least_light) * uniform(&mut rng);
                    point.iter_mut().for_each(|x| *x *= light);
                }
                if self.noise > 0.0 {
                    for x in &mut point {
                        *x = (*x + self.noise * normal.draw(&mut rng)).max(0.0);
                    }
                }
                for (o, &x) in out.iter_mut().zip(&point) {
                    *o = convert(x);
                }
            }
        });
        data
    }

    /// The first material with most abundance; the number of materials if all are zero.
    fn main_material(&self, pixel: usize) -> usize {
        let k = self.abundances.rows;
        let share = |material: usize| self.abundances[(material, pixel)];
        (0..k).fold(k, |best, material| {
            let most = if best == k { 0.0 } else { share(best) };
            if share(material) > most { material } else { best }
        })
    }

    fn check(&self) -> Result<()> {
        check_noise(self.noise)?;
        if !(self.least_light > 0.0 && self.least_light <= 1.0) {
            let problem = format!("{} is not above 0 and at most 1", self.least_light);
            return Err(Error::Parameter { name: "least-light".into(), problem });
        }
        let (e, a) = (&self.endmembers, &self.abundances);
        if e.cols != a.rows {
            return Err(Error::Data(format!(
                "endmembers are bands x materials, here {} x {}; abundances are materials x pixels, here {} x {}: the materials differ",
                e.rows, e.cols, a.rows, a.cols
            )));
        }
        if e.data.is_empty() || a.data.is_empty() {
            return Err(Error::Data("a scene needs at least one band, one material and one pixel".into()));
        }
        if !self.materials.is_empty() && self.materials.len() != e.cols {
            return Err(Error::Data(format!(
                "{} names were given for {} materials",
                self.materials.len(),
                e.cols
            )));
        }
        for (name, x) in [("endmember", e), ("abundance", a)] {
            if let Some(i) = x.data.iter().position(|x| !(x.is_finite() && *x >= 0.0)) {
                return Err(Error::Entry {
                    problem: format!("{name} {}", x.data[i]),
                    row: i / x.cols,
                    column: i % x.cols,
                    advice: "endmembers and abundances must be finite and nonnegative",
                });
            }
        }
        self.image.map_or(Ok(()), |image| image.check(a.cols))
    }
}

/// Products of finite numbers may exceed what the format holds.
fn check_finite(finite: bool, format: &str) -> Result<()> {
    if finite {
        return Ok(());
    }
    Err(Error::Data(format!("an entry of the scene is too large for {format}: scale the endmembers down")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Scan;

    /// 3 materials, 7 bands, enough pixels for several blocks and a part of one.
    fn scene() -> Scene {
        let endmembers = Mat::from_fn(7, 3, |band, material| ((band * 5 + material * 3) % 11) as f64 / 10.0);
        let abundances = Mat::from_fn(3, 1000, |material, p| ((p * 7 + material * 5) % 13) as f64 / 13.0);
        Scene::new(endmembers, abundances)
    }

    #[test]
    fn without_noise_it_is_endmembers_times_abundances() {
        let scene = scene();
        let made = scene.generate().unwrap();
        let product = scene.endmembers.times(&scene.abundances);
        assert_eq!((made.matrix.points(), made.matrix.features(), made.k()), (1000, 7, 3));
        for p in 0..1000 {
            let point = made.matrix.point(p);
            assert!((0..7).all(|band| (point[band] - product[(band, p)]).abs() < 1e-14), "pixel {p}");
        }
        let single = Scene { single_precision: true, ..scene }.generate().unwrap();
        let Matrix::DenseF32(m) = &single.matrix else { panic!("not float32") };
        for p in 0..1000 {
            let rounded: Vec<f32> = made.matrix.point(p).iter().map(|&x| x as f32).collect();
            assert_eq!(m.point(p), rounded);
        }
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let scene = Scene { noise: 0.1, seed: 9, ..scene() };
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| scene.generate().unwrap())
        };
        let one = with(1);
        assert_eq!(one, with(2));
        assert_eq!(one, with(5));
        assert_ne!(one, Scene { seed: 10, ..scene.clone() }.generate().unwrap());
    }

    #[test]
    fn blocks_have_noise_of_the_given_size_and_of_their_own() {
        let flat = Scene::new(Mat::from_fn(50, 1, |_, _| 1.0), Mat::from_fn(1, 1024, |_, _| 1.0));
        let made = Scene { noise: 0.1, seed: 1, ..flat }.generate().unwrap();
        let noise: Vec<f64> = (0..1024).flat_map(|p| made.matrix.point(p)).map(|x| x - 1.0).collect();
        let mean = noise.iter().sum::<f64>() / noise.len() as f64;
        let deviation = (noise.iter().map(|x| x * x).sum::<f64>() / noise.len() as f64).sqrt();
        assert!(mean.abs() < 0.002 && (deviation - 0.1).abs() < 0.0015, "{mean} {deviation}");
        assert_ne!(made.matrix.point(0), made.matrix.point(BLOCK));
    }

    #[test]
    fn light_changes_the_norm_of_a_pixel_and_nothing_else() {
        let plain = scene().generate().unwrap();
        let lit = Scene { least_light: 0.1, seed: 4, ..scene() }.generate().unwrap();
        let mut lights = vec![];
        for p in 0..1000 {
            let (a, b) = (plain.matrix.point(p), lit.matrix.point(p));
            let i = (0..7).max_by(|&i, &j| a[i].total_cmp(&a[j])).unwrap();
            let light = b[i] / a[i];
            assert!((0..7).all(|band| (b[band] - light * a[band]).abs() < 1e-14), "pixel {p}");
            lights.push(light);
        }
        let mean = lights.iter().sum::<f64>() / 1000.0;
        assert!(lights.iter().all(|x| (0.1..=1.0).contains(x)) && (mean - 0.55).abs() < 0.03, "{mean}");
        assert_eq!(plain.truth, lit.truth);
        let dark = Scene { least_light: 0.0, ..scene() }.generate().unwrap_err().to_string();
        assert!(dark.contains("least-light"), "{dark}");
    }

    #[test]
    fn truth_is_the_main_material_and_empty_pixels_are_background() {
        let endmembers = Mat::from_fn(4, 2, |band, material| (1 + band + material) as f64);
        let mut abundances = Mat::zeros(2, 4);
        abundances[(0, 0)] = 0.7;
        abundances[(1, 0)] = 0.3;
        abundances[(1, 1)] = 0.1;
        (abundances[(0, 2)], abundances[(1, 2)]) = (0.5, 0.5);
        let materials = vec!["tree".to_string(), "road".to_string()];
        let made = Scene { materials, ..Scene::new(endmembers, abundances) }.generate().unwrap();
        assert_eq!(made.truth, [0, 1, 0, 2]);
        assert_eq!((made.background, made.k()), (Some(2), 2));
        assert_eq!(made.classes, ["tree", "road", "background"]);
        assert!(made.matrix.point(3).iter().all(|&x| x == 0.0));
        assert_eq!(scene().generate().unwrap().classes, ["1", "2", "3"]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refused = |scene: Scene| scene.generate().unwrap_err().to_string();
        let misfit = Scene { abundances: Mat::zeros(2, 5), ..scene() };
        assert!(refused(misfit).contains("7 x 3; abundances are materials x pixels, here 2 x 5"));
        assert!(refused(Scene { materials: vec!["a".into()], ..scene() }).contains("1 names"));
        assert!(refused(Scene { noise: -0.1, ..scene() }).starts_with("noise"));
        let image = Some(ImageShape { height: 10, width: 10, scan: Scan::Rows });
        assert!(refused(Scene { image, ..scene() }).contains("1000 pixels"));
        let mut negative = scene();
        negative.endmembers[(2, 1)] = -1.0;
        assert!(refused(negative).contains("endmember -1 at row 2, column 1"));
        assert!(refused(Scene::new(Mat::zeros(0, 3), Mat::zeros(3, 2))).contains("at least one band"));
        let mut large = scene();
        large.endmembers[(0, 0)] = 1e300;
        assert!(refused(Scene { single_precision: true, ..large.clone() }).contains("float32"));
        large.abundances = large.abundances.map(|x| 1e10 * x);
        assert!(refused(large).contains("float64"));
    }
}
