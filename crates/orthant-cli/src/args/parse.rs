//! Values on the command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use orthant::algorithms::{POLISHES, Polish};
use orthant::certificate::{RIGOURS, Rigour};
use orthant::model::{MODELS, Model};
use orthant::read::Precision;
use orthant::recipe::{MISSING, Missing, Orientation};
use orthant::start::{STARTS, Start};
use orthant::texts::Frequency;
use orthant::weighting::{WEIGHTINGS, Weighting};
use orthant_reproduce::{PARTS, Part};

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

/// A table or figure of the paper, as people write it: figure1, fig1, Fig. 1.
pub fn part() -> impl TypedValueParser<Value = Part> {
    fn spellings(name: &str) -> Vec<String> {
        let (word, number) = name.split_at(name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len()));
        let words = [word.to_owned(), word.replace("figure", "fig").replace("table", "tab")];
        let between = ["", " ", ".", ". ", "-"].iter();
        between.flat_map(|between| words.each_ref().map(|word| format!("{word}{between}{number}"))).collect()
    }
    let of = |typed: String| {
        let named = |part: &&(&str, Part)| spellings(part.0).contains(&typed.to_lowercase());
        PARTS.iter().find(named).map_or(Part::All, |part| part.1)
    };
    PossibleValuesParser::new(PARTS.iter().map(|part| PossibleValue::new(part.0).aliases(spellings(part.0))))
        .map(of)
}

/// A whole number from 1.
pub fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a whole number from 1 is needed".into()),
        Ok(number) => Ok(number),
    }
}

/// A number of clusters.
pub fn clusters(text: &str) -> Result<usize, String> {
    positive(text).map_err(|problem| match range(text) {
        Ok((from, to)) => format!("{problem}: 'orthant choose-k DATA {from}..{to}' says which of them"),
        Err(_) => problem,
    })
}

/// A range of numbers from 1, both ends included.
pub fn range(text: &str) -> Result<(usize, usize), String> {
    let halves = ["..", "-", ":"].iter().find_map(|between| text.split_once(between));
    let parsed = halves.and_then(|(from, to)| {
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

/// A number of bytes: 300000000, 512M, 1.5G, 4GiB.
pub fn size(text: &str) -> Result<u64, String> {
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = (text[..end].trim(), text[end..].to_ascii_lowercase());
    let factor = match unit.trim_end_matches("ib").trim_end_matches('b') {
        "" => 1.0,
        "k" => 1024.0,
        "m" => 1024f64.powi(2),
        "g" => 1024f64.powi(3),
        "t" => 1024f64.powi(4),
        _ => f64::NAN,
    };
    match number.parse::<f64>().map(|number| number * factor) {
        Ok(bytes) if (1.0..1e18).contains(&bytes) => Ok(bytes as u64),
        _ => Err("a number of bytes is needed, as in 512M or 4G".into()),
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

/// A share of a whole.
pub fn share(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|s| (0.0..=1.0).contains(s))
        .ok_or_else(|| "a number from 0 to 1 is needed".into())
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
pub fn certificate(text: &str) -> Result<Rigour, String> {
    let known: Vec<&str> = RIGOURS.iter().map(|l| l.0).collect();
    Rigour::named(text).map_err(|_| format!("there are {}", known.join(", ")))
}

/// A model of clusters.
pub fn model(text: &str) -> Result<Model, String> {
    Model::named(text).map_err(|_| format!("there are {}", MODELS.map(Model::name).join(", ")))
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

/// A list of weightings.
pub fn weighting(text: &str) -> Result<Vec<Weighting>, String> {
    if text == "none" {
        return Ok(vec![]);
    }
    let known: Vec<&str> = ["none"].into_iter().chain(WEIGHTINGS.iter().map(|w| w.0)).collect();
    let step = |step| {
        Weighting::named(step).map_err(|_| match meant(step, known.iter().copied()) {
            Some(name) => format!("'{step}' is not known: is {name} meant?"),
            None => format!("'{step}' is none of {}", known.join(", ")),
        })
    };
    text.split([',', '+']).map(str::trim).map(step).collect()
}

/// What the points are.
pub fn orientation() -> impl TypedValueParser<Value = Orientation> {
    PossibleValuesParser::new(["rows", "columns"]).map(|word| match word.as_str() {
        "columns" => Orientation::Columns,
        _ => Orientation::Rows,
    })
}

/// Single or double precision.
pub fn precision() -> impl TypedValueParser<Value = Precision> {
    PossibleValuesParser::new(["f32", "f64"])
        .map(|word| if word == "f32" { Precision::F32 } else { Precision::F64 })
}

/// What becomes of missing entries.
pub fn missing() -> impl TypedValueParser<Value = Missing> {
    let named = |word: String| MISSING.iter().find(|m| m.0 == word).map_or(Missing::default(), |m| m.1);
    PossibleValuesParser::new(MISSING.iter().map(|m| m.0)).map(named)
}

/// A number of texts, or a share of them (with a point).
pub fn frequency(text: &str) -> Result<Frequency, String> {
    let share = || text.parse().ok().filter(|share| (0.0..=1.0).contains(share)).map(Frequency::Share);
    text.parse().ok().map(Frequency::Count).or_else(share).ok_or_else(|| {
        "a number of texts, as 3, or a share of them from 0.0 to 1.0, as 0.5, is needed".into()
    })
}

/// The known name that was probably meant: its letters, or those from one of its parts on, or hardly any other.
pub fn meant<'n>(text: &str, known: impl Iterator<Item = &'n str> + Clone) -> Option<&'n str> {
    let letters = |word: &str| {
        word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<Vec<_>>()
    };
    let typed = letters(text);
    let begins = |name: &str| {
        let parts = name.match_indices('-').map(|(at, _)| at + 1).chain([0]);
        typed.len() > 1 && parts.into_iter().any(|at| letters(&name[at..]).starts_with(&typed))
    };
    // Of several the plainest.
    if let Some(name) = known.clone().filter(|name| begins(name)).min_by_key(|name| name.len()) {
        return Some(name);
    }
    let far = |name: &str| distance(&typed, &letters(name));
    let nearest = known.min_by_key(|name| far(name))?;
    (far(nearest) <= typed.len() / 4).then_some(nearest)
}

/// How many letters have to be changed, added or taken away.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut before = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let changed = before + usize::from(x != y);
            before = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(before + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant_is_found_and_not_guessed() {
        let known = ["k-means", "spherical-k-means", "em-onmf", "onp-mf", "best"];
        for (typed, found) in [
            ("kmeans", Some("k-means")),
            ("K_Means", Some("k-means")),
            ("emonmf", Some("em-onmf")),
            ("onpmf", Some("onp-mf")),
            ("sphericalkmeans", Some("spherical-k-means")),
            ("spherical", Some("spherical-k-means")),
            ("em", Some("em-onmf")),
            ("onmf", Some("em-onmf")),
            ("k-meens", Some("k-means")),
            ("lda", None),
            ("", None),
        ] {
            assert_eq!(meant(typed, known.into_iter()), found, "{typed}");
        }
    }

    #[test]
    fn ranges_of_every_spelling_are_read() {
        for text in ["2..10", "2..=10", "2-10", "2:10", "2 .. 10"] {
            assert_eq!(range(text), Ok((2, 10)), "{text}");
        }
        for text in ["10-2", "0..4", "2", "a..b", "-2..4", ""] {
            assert!(range(text).is_err(), "{text}");
        }
    }
}
