//! Data that the project makes: known truth, any size, the same numbers for the same seed.
//!
//! A generator is a plain struct of parameters with defaults; [`Generator::generate`] checks them and
//! makes the data. [`GENERATORS`] lists those that start from a few numbers; [`Scene`] starts from
//! matrices and is called by name.
//!
//! ```
//! use orthant::generate::{Generator, Synthetic};
//! let set = Synthetic { noise: 0.1, ..Synthetic::default() }.generate()?;
//! assert_eq!((set.matrix.points(), set.matrix.features()), (450, 10));
//! # Ok::<(), orthant::Error>(())
//! ```

mod large;
mod models;
mod plane;
mod scene;
mod swimmer;
mod synthetic;
mod telescope;

pub use large::Large;
pub use models::{Kind, Models, Norms};
pub use plane::{Example, Plane};
pub use scene::Scene;
pub use swimmer::{Layout, Swimmer};
pub use synthetic::Synthetic;
pub use telescope::Telescope;

use crate::error::{Error, Result};
use crate::image::ImageShape;
use crate::matrix::Matrix;

/// Data with what is known about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Generated {
    /// Points in rows.
    pub matrix: Matrix,
    /// The class of each point.
    pub truth: Vec<usize>,
    /// The name of each class, in the order of their numbers.
    pub classes: Vec<String>,
    /// The class of the points that belong to nothing, if there are any: zero points until noise is
    /// added, so they get no cluster and no score. It is always the last class, so the others are the
    /// clusters to be found.
    pub background: Option<usize>,
    /// How the points stand in an image, if they are pixels.
    pub image: Option<ImageShape>,
}

impl Generated {
    /// How many clusters there are to find: the classes without the background.
    pub fn k(&self) -> usize {
        self.classes.len() - usize::from(self.background.is_some())
    }
}

/// Parameters that make data. Values can be set by name and text, for a command line.
pub trait Generator {
    /// The parameters with their present values; those of a default generator are the defaults.
    fn parameters(&self) -> Vec<Parameter>;

    /// Sets one parameter from text; the range is checked by [`Generator::generate`].
    fn set(&mut self, name: &str, value: &str) -> Result<()>;

    /// Checks the parameters and makes the data.
    fn generate(&self) -> Result<Generated>;

    /// The same data, made a few points at a time, where a generator can.
    fn streamed(&self) -> Result<Option<Streamed>> {
        Ok(None)
    }
}

/// Data of any size, made as they are asked for.
pub struct Streamed {
    /// The points.
    pub source: Box<dyn crate::matrix::Source>,
    /// The name of a point's class.
    pub class: Box<dyn Fn(usize) -> String + Send + Sync>,
    /// How many clusters there are to find.
    pub k: usize,
}

/// A parameter of a generator, as a listing shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it means, in one line.
    pub description: &'static str,
    /// Its value, as [`Generator::set`] takes it.
    pub value: String,
}

impl Parameter {
    fn new(name: &'static str, description: &'static str, value: impl std::fmt::Display) -> Self {
        Parameter { name, description, value: value.to_string() }
    }
}

/// One line of the table of generators.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it makes, in one line.
    pub description: &'static str,
    /// The generator with its defaults.
    pub default: fn() -> Box<dyn Generator>,
}

/// All generators that need nothing but a few numbers.
pub const GENERATORS: &[Entry] = &[
    Entry {
        name: "synthetic",
        description: "six clusters of scaled copies of random centroids plus noise (paper, section 2.3)",
        default: || Box::new(Synthetic::default()),
    },
    Entry {
        name: "plane",
        description: "two clusters in the plane, well separated or in line (paper, Figure 1)",
        default: || Box::new(Plane::default()),
    },
    Entry {
        name: "models",
        description: "clusters made for k-means, spherical k-means or ONMF, or for all three (paper, section 2.3)",
        default: || Box::new(Models::default()),
    },
    Entry {
        name: "large",
        description: "as many points as are wanted, made as they are written: scaled random centroids plus noise",
        default: || Box::new(Large::default()),
    },
    Entry {
        name: "swimmer",
        description: "pixels of 256 images of a body with four moving limbs, 17 parts (paper, section 4.4)",
        default: || Box::new(Swimmer::default()),
    },
    Entry {
        name: "telescope",
        description: "hyperspectral image of a space telescope: 8 materials, 100 bands, 128 x 128 pixels",
        default: || Box::new(Telescope::default()),
    },
];

/// The generator of that name with its defaults.
pub fn generator(name: &str) -> Result<Box<dyn Generator>> {
    match GENERATORS.iter().find(|entry| entry.name == name) {
        Some(entry) => Ok((entry.default)()),
        None => {
            let names: Vec<&str> = GENERATORS.iter().map(|entry| entry.name).collect();
            Err(Error::parameter("generator", format!("{name:?} is none of {}", names.join(", "))))
        }
    }
}

fn parse<T: std::str::FromStr>(name: &str, value: &str, kind: &str) -> Result<T> {
    value.trim().parse().map_err(|_| Error::parameter(name, format!("{value:?} is not {kind}")))
}

fn unknown(name: &str, generator: &dyn Generator) -> Error {
    let names: Vec<&str> = generator.parameters().iter().map(|parameter| parameter.name).collect();
    Error::parameter(name, format!("no such parameter; there are {}", names.join(", ")))
}

fn check_noise(noise: f64) -> Result<()> {
    if noise.is_finite() && noise >= 0.0 {
        return Ok(());
    }
    Err(Error::parameter("noise", format!("{noise} is not a standard deviation: it must be 0 or more")))
}

fn names(classes: &[&str]) -> Vec<String> {
    classes.iter().map(|name| name.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_generator_makes_nonnegative_points_with_a_truth() {
        for entry in GENERATORS {
            let made = (entry.default)().generate().unwrap();
            assert_eq!(made.truth.len(), made.matrix.points(), "{}", entry.name);
            assert!(made.truth.iter().all(|&class| class < made.classes.len()), "{}", entry.name);
            for class in 0..made.classes.len() {
                assert!(made.truth.contains(&class), "{}: class {class} is empty", entry.name);
            }
            for j in 0..made.matrix.points() {
                let point = made.matrix.point(j);
                assert!(point.iter().all(|&x| x >= 0.0 && x.is_finite()), "{}", entry.name);
                let zero = point.iter().all(|&x| x == 0.0);
                assert_eq!(zero, Some(made.truth[j]) == made.background, "{}: point {j}", entry.name);
            }
            if let Some(image) = made.image {
                image.check(made.matrix.points()).unwrap();
            }
            assert!(made.background.is_none_or(|class| class == made.k()), "{}", entry.name);
        }
    }

    #[test]
    fn the_same_parameters_make_the_same_data() {
        for entry in GENERATORS {
            let make = || (entry.default)().generate().unwrap();
            assert_eq!(make(), make(), "{}", entry.name);
        }
    }

    #[test]
    fn another_seed_makes_other_data() {
        for entry in GENERATORS {
            let make = |seed: &str| {
                let mut generator = (entry.default)();
                let has_noise = generator.parameters().iter().any(|parameter| parameter.name == "noise");
                if has_noise {
                    generator.set("noise", "0.1").unwrap();
                }
                generator.set("seed", seed).map(|()| generator.generate().unwrap().matrix)
            };
            // The swimmer has nothing random in it.
            if let (Ok(one), Ok(other)) = (make("1"), make("2")) {
                assert_ne!(one, other, "{}", entry.name);
            } else {
                assert_eq!(entry.name, "swimmer");
            }
        }
    }

    #[test]
    fn values_shown_can_be_set_again() {
        for entry in GENERATORS {
            let mut generator = (entry.default)();
            let before = generator.parameters();
            assert!(!before.is_empty());
            for parameter in &before {
                generator.set(parameter.name, &parameter.value).unwrap();
            }
            assert_eq!(generator.parameters(), before, "{}", entry.name);
        }
    }

    #[test]
    fn wrong_names_and_values_are_refused_with_advice() {
        for entry in GENERATORS {
            let mut generator = (entry.default)();
            let message = generator.set("colour", "1").unwrap_err().to_string();
            assert!(message.contains("colour") && message.contains("there are"), "{message}");
            for parameter in generator.parameters() {
                let message = generator.set(parameter.name, "?").unwrap_err().to_string();
                assert!(message.contains(parameter.name) && message.contains("\"?\""), "{message}");
            }
            if generator.set("noise", "-1").is_ok() {
                assert!(generator.generate().unwrap_err().to_string().starts_with("noise: -1"));
                generator.set("noise", "NaN").unwrap();
                assert!(generator.generate().is_err());
            }
        }
        assert!(generator("swimer").err().unwrap().to_string().contains("swimmer"));
        assert!(generator("swimmer").is_ok());
    }
}
