//! What belongs to points and features and stands in files of its own: classes, names, weights, labels, the image.

use std::path::Path;

use anyhow::{Context, Result, bail};
use orthant::Error;
use orthant::evaluate::{self, Scores};
use orthant::image::ImageShape;
use orthant::read;

use crate::args::DataArgs;

/// Classes of the points.
#[derive(Debug, Clone)]
pub struct Truth {
    /// The class of each point, from 0.
    pub labels: Vec<usize>,
    /// The name of each class.
    pub names: Vec<String>,
    /// Points of this class have none.
    pub unlabelled: Option<usize>,
}

impl Truth {
    /// From words or numbers.
    pub fn new(tokens: &[String]) -> Truth {
        let (labels, names) = evaluate::classes(tokens);
        Truth { labels, names, unlabelled: None }
    }

    /// The same where one of the classes means that there is none.
    pub(super) fn without(self, unlabelled: Option<&str>) -> Result<Truth> {
        let Some(name) = unlabelled else { return Ok(self) };
        let Some(class) = self.names.iter().position(|class| class == name) else {
            bail!("--unlabelled: no point is of class '{name}'");
        };
        Ok(Truth { unlabelled: Some(class), ..self })
    }

    /// The scores of labels; points without a class are left out, like those without a cluster.
    pub fn scores(&self, labels: &[i32]) -> orthant::Result<Scores> {
        self.scores_of(labels, &self.labels)
    }

    /// The same where only some points have labels, whose classes these are.
    pub fn scores_of(&self, labels: &[i32], classes: &[usize]) -> orthant::Result<Scores> {
        let Some(unlabelled) = self.unlabelled else { return evaluate::scores(labels, classes) };
        let known = |(&label, &class): (&i32, &usize)| if class == unlabelled { -1 } else { label };
        evaluate::scores(&labels.iter().zip(classes).map(known).collect::<Vec<i32>>(), classes)
    }
}

/// Points or features, whichever are as many as the image has pixels.
type Images = (Option<ImageShape>, Option<ImageShape>);

/// What the arguments name; what they do not may have come with the data.
pub(super) struct Named {
    pub(super) images: Images,
    pub(super) truth: Option<Truth>,
    pub(super) vocabulary: Option<Vec<String>>,
    pub(super) names: Option<Vec<String>>,
    pub(super) weights: Option<Vec<f64>>,
}

impl Named {
    /// For so many points and features; `found` are the images that the data say.
    pub(super) fn by(args: &DataArgs, points: usize, features: usize, found: Images) -> Result<Named> {
        let (of_points, of_features) = ((points, "points"), (features, "features"));
        let images = match args.image {
            Some((height, width)) => {
                let shape = ImageShape { height, width, scan: args.scan.into() };
                place(shape, points, features).with_context(|| format!("--image {height}x{width}"))?
            }
            None => found,
        };
        let truth = |path| list(path, args.truth_column.as_deref(), [of_points, of_features], images.0);
        let vocabulary = |path| list(path, None, [of_features, of_points], images.1);
        Ok(Named {
            images,
            truth: args.truth.as_deref().map(truth).transpose()?.map(|tokens| Truth::new(&tokens)),
            vocabulary: args.vocabulary.as_deref().map(vocabulary).transpose()?,
            names: args.names.as_deref().map(|path| names(path, points, features, images.0)).transpose()?,
            weights: args.weights.as_deref().map(|path| weights(path, points)).transpose()?,
        })
    }
}

/// A name for each point.
pub(super) fn names(
    path: &Path,
    points: usize,
    features: usize,
    image: Option<ImageShape>,
) -> Result<Vec<String>> {
    list(path, None, [(points, "points"), (features, "features")], image)
}

fn place(shape: ImageShape, points: usize, features: usize) -> Result<Images> {
    if shape.pixels() == points {
        Ok((Some(shape), None))
    } else if shape.pixels() == features {
        Ok((None, Some(shape)))
    } else {
        bail!("{} pixels, but there are {points} points and {features} features", shape.pixels())
    }
}

/// The class of each point from a file with a line each, without keeping the lines.
pub(super) fn classes_of(path: &Path, points: usize) -> Result<Option<Truth>> {
    use std::io::BufRead;
    let file = std::fs::File::open(path).with_context(|| path.display().to_string())?;
    let mut known = std::collections::HashMap::new();
    let (mut classes, mut names) = (Vec::with_capacity(points), vec![]);
    for line in std::io::BufReader::new(file).lines() {
        let line = line.with_context(|| path.display().to_string())?;
        let word = line.trim();
        let class = *known.entry(word.to_string()).or_insert_with(|| {
            names.push(word.to_string());
            names.len() - 1
        });
        // Anything else of that name is none of our business.
        if classes.len() == points {
            return Ok(None);
        }
        classes.push(class);
    }
    if classes.len() != points {
        return Ok(None);
    }
    Ok(Some(Truth { labels: classes, names, unlabelled: None }))
}

/// How many there are of what.
type Count = (usize, &'static str);

/// A word for each of them; there are others, which may have been meant.
fn list(
    path: &Path,
    column: Option<&str>,
    [own, others]: [Count; 2],
    image: Option<ImageShape>,
) -> Result<Vec<String>> {
    match read::list(path, column, own, image) {
        Err(Error::File { .. }) if own.0 != others.0 && read::list(path, column, others, None).is_ok() => {
            bail!(
                "{}: is as long as there are {} ({}), not {} ({}): is the other way of --cluster rows or columns meant?",
                path.display(),
                others.1,
                others.0,
                own.1,
                own.0
            )
        }
        read => Ok(read?),
    }
}

fn weights(path: &Path, points: usize) -> Result<Vec<f64>> {
    let weights = read::numbers(path)?;
    if weights.len() != points {
        bail!("{}: has {} weights for {points} points: one each is needed", path.display(), weights.len());
    }
    if let Some(j) = weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
        bail!("{}, line {}: the weight {} is not a number from 0", path.display(), j + 1, weights[j]);
    }
    Ok(weights)
}

/// Labels one a line (or the table of a result, or its folder) → numbers from 0 and the names of the clusters; -1 stays no cluster.
pub fn labels(path: &Path) -> Result<(Vec<i32>, Vec<String>)> {
    const TITLE: &str = "cluster";
    let within = path.join("labels.txt");
    let path = if path.is_dir() { &within } else { path };
    let mut tokens = read::lines(path)?;
    if tokens.first().is_some_and(|titles| titles.split(',').any(|title| title == TITLE)) {
        tokens = read::list(path, Some(TITLE), (tokens.len() - 1, "points"), None)?;
    }
    let given: Vec<String> = tokens.iter().filter(|t| *t != "-1").cloned().collect();
    let (numbers, names) = evaluate::classes(&given);
    let mut numbers = numbers.into_iter();
    let number = |token: &String| match token.as_str() {
        "-1" => -1,
        _ => numbers.next().and_then(|n| i32::try_from(n).ok()).unwrap_or(-1),
    };
    Ok((tokens.iter().map(number).collect(), names))
}
