//! Results → one self-contained HTML page, and pictures. Pure functions: nothing is printed or written, and the data are
//! not looked at again.
//!
//! ```
//! use orthant::generate::{Generator, Synthetic};
//! use orthant::report::{Report, html};
//! use orthant::{Job, cluster, findings::Findings, matrix::open};
//!
//! let made = Synthetic { noise: 0.05, ..Synthetic::default() }.generate()?;
//! let data = open(&made.matrix, None)?;
//! let job = Job::new("em-onmf", 6)?;
//! let outcome = cluster(&*data, &job, &mut ())?;
//! let findings = Findings::new(&*data, &outcome.solution)?;
//! let page = html(&Report::new("synthetic", &findings, &job, &outcome))?;
//! assert!(page.starts_with("<!doctype html>"));
//! # Ok::<(), orthant::Error>(())
//! ```
//!
//! [`html`] makes the page of one result, [`comparison()`] that of several methods, [`advice()`] and
//! [`choice()`] those of the studies before a result, [`pictures`] the
//! files beside it. [`chart`], [`picture`] and [`page`](mod@page) are the parts, for pages of other kinds.

mod advice;
mod certainty;
pub mod chart;
mod choice;
mod clusters;
pub mod colour;
mod comparison;
mod contest;
mod curves;
mod made;
mod maps;
pub mod number;
pub mod page;
mod parts;
pub mod picture;
mod points;
mod scene;
mod sections;
#[cfg(test)]
mod tests;
mod truth;
mod words;

pub use advice::{Advised, advice};
pub use choice::{Chosen, choice};
pub use comparison::{
    Agreement, Compared, Comparison, Contest, Curve, Gallery, Mean, Sweep, Worded, comparison, sweep,
    sweep_chart,
};
pub use contest::{contest, verdict};
pub use words::nouns;

use serde::Serialize;

use crate::called::Called;
use crate::error::{Error, Result};
use crate::evaluate::{Scores, best_matching};
use crate::findings::Findings;
use crate::image::ImageShape;
use crate::matrix::Mat;
use crate::pipeline::{Job, Outcome};

/// What the features of the data are: it decides what is shown of a cluster's direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Features {
    /// Words, genes, anything with a name or a number: the largest are listed.
    #[default]
    Named,
    /// Bands of a spectrum: drawn as a curve.
    Bands,
    /// Pictures of a collection whose pixels are the points: not shown one by one.
    Pictures,
}

/// How the result came about, as the caller tells it.
#[derive(Debug, Clone, Default)]
pub struct Made<'a> {
    /// The command or call that makes it again.
    pub command: Option<&'a str>,
    /// The version of the program or package; the crate's own if not given.
    pub version: Option<&'a str>,
    /// When.
    pub date: Option<&'a str>,
    /// With how many threads (the result does not depend on them).
    pub threads: Option<usize>,
    /// Seconds for reading the data.
    pub read_seconds: Option<f64>,
    /// What else a reader should know, a line each: notes of the reader, weightings.
    pub notes: &'a [String],
}

/// A known truth and how the result compares with it.
#[derive(Debug, Clone, Copy)]
pub struct Truth<'a> {
    /// The class of every point.
    pub labels: &'a [usize],
    /// The name of every class.
    pub classes: &'a [String],
    /// Scores of the best run against it.
    pub scores: &'a Scores,
}

/// Everything a report is made of.
#[derive(Clone)]
pub struct Report<'a> {
    /// The name of the data.
    pub title: &'a str,
    /// How the result came about.
    pub made: Made<'a>,
    /// What the solution says of clusters and points.
    pub findings: &'a Findings,
    /// What was asked for.
    pub job: &'a Job,
    /// What came out.
    pub outcome: &'a Outcome,
    /// What the features are.
    pub features: Features,
    /// What points and features are called, where that is known.
    pub called: Option<Called>,
    /// The name of every feature.
    pub vocabulary: Option<&'a [String]>,
    /// The name of every point.
    pub names: Option<&'a [String]>,
    /// The points are the pixels of a picture.
    pub image: Option<ImageShape>,
    /// Every point is a picture; the features are its pixels.
    pub feature_image: Option<ImageShape>,
    /// The wavelength of every feature.
    pub wavelengths: Option<&'a [f64]>,
    /// The truth, where there is one.
    pub truth: Option<Truth<'a>>,
    /// True spectra, features × how many, in any unit.
    pub endmembers: Option<&'a Mat>,
    /// The beginning of every text, where points are texts.
    pub excerpts: Option<&'a [String]>,
}

impl<'a> Report<'a> {
    /// A report without anything that need not be there.
    pub fn new(title: &'a str, findings: &'a Findings, job: &'a Job, outcome: &'a Outcome) -> Self {
        Report {
            title,
            made: Made::default(),
            findings,
            job,
            outcome,
            features: Features::Named,
            called: None,
            vocabulary: None,
            names: None,
            image: None,
            feature_image: None,
            wavelengths: None,
            truth: None,
            endmembers: None,
            excerpts: None,
        }
    }

    fn labels(&self) -> &'a [i32] {
        &self.outcome.solution.labels
    }

    /// What is claimed to be as long as the points or the features must be.
    fn check(&self) -> Result<()> {
        let shape = self.findings.shape;
        let fits = |what: &str, given: Option<usize>, needed: usize| match given {
            Some(given) if given != needed => {
                Err(Error::Data(format!("the report was given {given} {what}, {needed} are needed")))
            }
            _ => Ok(()),
        };
        fits("labels", Some(self.labels().len()), shape.points)?;
        fits("names of points", self.names.map(<[_]>::len), shape.points)?;
        fits("names of features", self.vocabulary.map(<[_]>::len), shape.features)?;
        fits("wavelengths", self.wavelengths.map(<[_]>::len), shape.features)?;
        fits("bands of true spectra", self.endmembers.map(|e| e.rows), shape.features)?;
        fits("excerpts", self.excerpts.map(<[_]>::len), shape.points)?;
        fits("classes", self.truth.map(|t| t.labels.len()), shape.points)?;
        if let Some(truth) = &self.truth {
            let last = truth.labels.iter().copied().max().map_or(0, |t| t + 1);
            if truth.classes.len() < last {
                return Err(Error::Data(format!("{last} classes have only {} names", truth.classes.len())));
            }
        }
        self.image.map_or(Ok(()), |image| image.check(shape.points))?;
        self.feature_image.map_or(Ok(()), |image| image.check(shape.features))
    }

    /// The class matched with each cluster.
    fn matching(&self) -> Vec<Option<usize>> {
        let mut matching = self.truth.map_or(vec![], |truth| best_matching(&truth.scores.confusion));
        matching.resize(self.job.k, None);
        matching
    }
}

/// The report of one result: a page that needs nothing else.
pub fn html(report: &Report) -> Result<String> {
    report.check()?;
    let sections = sections::sections(report)?;
    let contents = sections.contents();
    #[derive(Serialize)]
    struct Context {
        s: sections::Sections,
    }
    let title = words::title(report);
    let lead = words::lead(report);
    let body = page::fill(include_str!("templates/report.html"), Context { s: sections })?;
    page::page(&page::Page {
        title,
        kicker: "Orthant · clusters by orthogonal nonnegative matrix factorization".into(),
        lead,
        contents,
        body,
        footer: words::footer(report),
    })
}

/// The pictures of a result as PNG files, with their names: the map of the clusters, one map of the
/// strengths for each cluster, one picture for each direction.
pub fn pictures(report: &Report) -> Result<Vec<(String, Vec<u8>)>> {
    report.check()?;
    maps::files(report)
}
