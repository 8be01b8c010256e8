//! Values on the command line.

use std::path::PathBuf;
use std::time::Duration;

use orthant::algorithms::{POLISHES, Polish};
use orthant::certificate::{LEVELS, Level};
use orthant::start::{STARTS, Start};

/// Where to start: by name, or from a file.
#[derive(Debug, Clone)]
pub enum Origin {
    /// One of the table of starts.
    Named(Start),
    /// Labels, one a line.
    Labels(PathBuf),
    /// Centroids, k × features.
    Centroids(PathBuf),
}

/// What improves the answer afterwards, in order.
#[derive(Debug, Clone, Default)]
pub struct Polishes(pub Vec<Polish>);

/// A whole number from 1.
pub fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a whole number from 1 is needed".into()),
        Ok(number) => Ok(number),
    }
}

/// A range of numbers from 1, both ends included.
pub fn range(text: &str) -> Result<(usize, usize), String> {
    let parsed = text.split_once("..").and_then(|(from, to)| {
        let to = to.strip_prefix('=').unwrap_or(to);
        Some((from.trim().parse().ok()?, to.trim().parse().ok()?))
    });
    match parsed {
        Some((from, to)) if from >= 1 && from <= to => Ok((from, to)),
        _ => Err("two whole numbers from 1 are needed, the smaller first, as in 2..20".into()),
    }
}

/// A seed.
pub fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("a whole number from 0 to {} is needed", u64::MAX))
}

/// A number of threads that a machine might have.
pub fn threads(text: &str) -> Result<usize, String> {
    const MOST: usize = 1024;
    match text.parse() {
        Ok(number @ 1..=MOST) => Ok(number),
        _ => Err(format!("a whole number from 1 to {MOST} is needed")),
    }
}

/// A time in seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let parsed = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    parsed.ok_or_else(|| "a number of seconds from 0 is needed".into())
}

/// A time limit in seconds.
pub fn time(text: &str) -> Result<f64, String> {
    let parsed = text.parse().ok().filter(|s: &f64| *s > 0.0 && Duration::try_from_secs_f64(*s).is_ok());
    parsed.ok_or_else(|| "a number of seconds above 0 is needed".into())
}

/// A start.
pub fn origin(text: &str) -> Result<Origin, String> {
    match text.split_once(':') {
        Some(("labels", path)) if !path.is_empty() => Ok(Origin::Labels(path.into())),
        Some(("centroids", path)) if !path.is_empty() => Ok(Origin::Centroids(path.into())),
        _ => Start::named(text).map(Origin::Named).map_err(|_| {
            let known: Vec<&str> = STARTS.iter().map(|s| s.0).collect();
            format!("there are {}, labels:FILE and centroids:FILE", known.join(", "))
        }),
    }
}

/// How much work to put into the lower bound.
pub fn certificate(text: &str) -> Result<Level, String> {
    let known: Vec<&str> = LEVELS.iter().map(|l| l.0).collect();
    Level::named(text).map_err(|_| format!("there are {}", known.join(", ")))
}

/// A list of polishing steps.
pub fn polish(text: &str) -> Result<Polishes, String> {
    if text == "none" {
        return Ok(Polishes::default());
    }
    let known: Vec<&str> = POLISHES.iter().map(|p| p.0).collect();
    let one =
        |step| Polish::named(step).map_err(|_| format!("'{step}' is none of {}, none", known.join(", ")));
    Ok(Polishes(text.split(',').map(one).collect::<Result<_, _>>()?))
}

/// Height and width of an image.
pub fn height_and_width(text: &str) -> Result<(usize, usize), String> {
    let parsed = text.split_once(['x', 'X', '×']).and_then(|(height, width)| {
        let (height, width): (usize, usize) = (height.parse().ok()?, width.parse().ok()?);
        (height > 0 && width > 0 && height.checked_mul(width).is_some()).then_some((height, width))
    });
    parsed.ok_or_else(|| "height and width are needed, as in 95x120".into())
}

/// A list of weightings, as their names.
pub fn weighting(text: &str) -> Result<Vec<String>, String> {
    if text == "none" {
        return Ok(vec![]);
    }
    let steps: Vec<String> = text.split(',').map(str::to_string).collect();
    for step in &steps {
        orthant::weighting::Weighting::named(step)
            .map_err(|_| format!("'{step}' is none of none, tf-idf, unit"))?;
    }
    Ok(steps)
}
