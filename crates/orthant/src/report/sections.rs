//! The contents of a report's page, section by section, ready for the template: what the reader came for, how sure it is,
//! how it was made.

use serde::Serialize;

use super::number::{counted, percent, seconds, significant};
use super::page::{capital, shortened};
use super::{Features, Report, certainty, clusters, curves, made, maps, points, scene, truth, words};
use crate::certificate::Bound;
use crate::error::Result;

#[derive(Serialize)]
pub(super) struct Fact {
    name: &'static str,
    value: String,
    more: String,
}

#[derive(Serialize)]
pub(super) struct Sections {
    map: Option<String>,
    pixels: Option<String>,
    small_maps: Option<String>,
    small_maps_title: &'static str,
    small_maps_note: &'static str,
    spectra: Option<String>,
    spectra_note: String,
    sizes: String,
    sizes_note: String,
    cards: Vec<clusters::Card>,
    cards_title: String,
    cards_note: String,
    markers: Option<String>,
    markers_title: String,
    markers_note: String,
    points: Option<String>,
    points_note: String,
    likeness: Option<String>,
    facts: Vec<Fact>,
    reached: String,
    objective: Option<String>,
    margins: Option<String>,
    margins_note: String,
    margins_maps: Option<String>,
    uncertain: Option<String>,
    scores: Option<String>,
    confusion: Option<String>,
    confusion_note: String,
    runs: Option<curves::Runs>,
    curves: Vec<curves::Figure>,
    stages: Option<String>,
    notes: Vec<String>,
    command: Option<String>,
    settings: String,
    parameters: Option<String>,
}

impl Sections {
    pub fn contents(&self) -> Vec<(String, String)> {
        let entries = [
            (self.map.is_some(), "map", "Map"),
            (self.map.is_none() && self.small_maps.is_some(), "parts", "Pictures"),
            (self.spectra.is_some(), "spectra", "Spectra"),
            (true, "clusters", "Clusters"),
            (!self.cards.is_empty(), "features", &self.cards_title),
            (self.markers.is_some(), "markers", &self.markers_title),
            (self.points.is_some() || self.likeness.is_some(), "points", "How they lie"),
            (true, "sure", "How sure"),
            (self.scores.is_some(), "truth", "Against the truth"),
            (self.runs.is_some(), "runs", "Runs"),
            (!self.curves.is_empty(), "convergence", "Convergence"),
            (true, "made", "How it was made"),
        ];
        let there = entries.into_iter().filter(|e| e.0);
        there.map(|(_, id, name)| (id.to_string(), name.to_string())).collect()
    }
}

pub(super) fn sections(report: &Report) -> Result<Sections> {
    let findings = report.findings;
    let named = words::named(report);
    let (confusion, confusion_note) = truth::confusion(report);
    let (margins, margins_note) = certainty::margins(report, findings);
    let part = report.features == Features::Pictures;
    let (_, features) = words::features(report);
    Ok(Sections {
        map: maps::section(report)?,
        pixels: scene::pixels(report),
        small_maps: maps::small_maps(report)?,
        small_maps_title: match (report.image, part) {
            (Some(_), true) => "The parts",
            (Some(_), false) => "How much of each",
            _ => "The clusters as pictures",
        },
        small_maps_note: match (report.image, part) {
            (Some(_), true) => {
                "One picture a cluster: how strongly (v) each pixel belongs to it. Parts do not overlap: every pixel is in one of them."
            }
            (Some(_), false) => {
                "One map a cluster: how strongly (v) each of its pixels shows its direction. Brightness within a material is light, shade and mixture."
            }
            _ => "What the pictures of a cluster have in common, up to their brightness: white is the most.",
        },
        spectra: scene::spectra(report),
        spectra_note: scene::spectra_note(report),
        sizes: clusters::sizes(report),
        sizes_note: clusters::sizes_note(report),
        cards: clusters::cards(report)?,
        cards_title: if named { format!("The {features} of each") } else { "Typical pictures".into() },
        cards_note: cards_note(report),
        markers: clusters::markers(report),
        markers_title: format!("{} across clusters", capital(features)),
        markers_note: format!(
            "The {features} that set clusters apart, each in the colour of its own: their share of every cluster in percent (every {} counts the same); the strongest shade of a row is where it is most at home.",
            words::points(report).0
        ),
        points: points::map(report),
        points_note: points::note(report),
        likeness: clusters::likeness(report),
        facts: facts(report),
        reached: words::reached(report),
        objective: words::objective_note(report),
        margins,
        margins_note,
        margins_maps: scene::certainty(report)?,
        uncertain: certainty::uncertain(report, findings),
        scores: truth::scores(report),
        confusion,
        confusion_note,
        runs: curves::runs(report)?,
        curves: curves::figures(report),
        stages: curves::stages(report),
        notes: report.made.notes.iter().take(20).cloned().collect(),
        command: report.made.command.map(|c| shortened(c, 4000)),
        settings: made::settings(report),
        parameters: made::parameters(report),
    })
}

fn cards_note(report: &Report) -> String {
    let ((_, many), (_, features)) = (words::points(report), words::features(report));
    if !words::named(report) {
        return format!(
            "Of the strongest {many} of each cluster, those with the largest cosine with its direction."
        );
    }
    let numbers = match report.vocabulary {
        Some(_) => String::new(),
        None => format!(" The {features} have no names here, so they go by their number, counted from 0."),
    };
    format!(
        "The {features} that set each cluster apart (bars: how much each tells), others that are large in its direction, and, of its strongest {many}, those with the largest cosine.{numbers}"
    )
}

fn facts(report: &Report) -> Vec<Fact> {
    let (outcome, certificate) = (report.outcome, &report.outcome.certificate);
    let fact = |name, value: String, more: String| Fact { name, value, more };
    let mut facts = vec![
        fact(
            "relative error",
            words::error(certificate.relative_error).replace(" (to rounding)", ""),
            "‖M − UV‖ / ‖M‖".into(),
        ),
        fact(
            "lower bound",
            match certificate.lower_bound {
                x if x > 0.0 => significant(x, 4),
                // What explains the data to rounding needs no bound.
                _ if words::error(certificate.relative_error).starts_with("0 ") => "0".into(),
                _ => "no bound".into(),
            },
            match certificate.bound {
                Bound::Singular => format!("any factors of rank {}", report.job.k),
                _ => format!("any partition into {}", report.job.k),
            },
        ),
        fact(
            "share of the possible",
            percent(certificate.energy_share),
            format!("of what rank {} can explain", report.job.k),
        ),
    ];
    if let Some(truth) = report.truth {
        let (n, (one, many)) = (truth.scores.scored_points, words::points(report));
        facts.push(fact(
            "accuracy",
            percent(truth.scores.accuracy),
            format!("of {} scored", counted(n, one, many)),
        ));
    }
    let iterations = counted(outcome.best().iterations(), "iteration", "iterations");
    facts.push(fact(
        "time",
        seconds(outcome.seconds),
        match outcome.runs.len() {
            1 => iterations,
            n => format!("for {n} runs; the best: {iterations}"),
        },
    ));
    facts
}
