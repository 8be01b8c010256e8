//! The contents of a report's page, section by section, ready for the template.

use serde::Serialize;

use super::chart::{Axis, Bar, Lines, Series, bars, lines};
use super::number::{count, counted, decimals, percent, seconds, significant};
use super::page::shortened;
use super::{Features, Report, certainty, curves, made, maps, truth, words};
use crate::certificate::Bound;
use crate::error::Result;
use crate::findings::Findings;

#[derive(Serialize)]
pub(super) struct Fact {
    name: &'static str,
    value: String,
    more: String,
}

#[derive(Serialize)]
struct Word {
    name: String,
    width: f64,
    detail: String,
}

#[derive(Serialize)]
struct Point {
    name: String,
    class: String,
    value: String,
    picture: Option<String>,
}

#[derive(Serialize)]
struct Card {
    number: usize,
    colour: String,
    size: String,
    about: String,
    words: Vec<Word>,
    distinctive: Vec<String>,
    typical: Vec<Point>,
}

#[derive(Serialize)]
pub(super) struct Sections {
    facts: Vec<Fact>,
    notes: Vec<String>,
    sizes: String,
    sizes_note: String,
    map: Option<String>,
    small_maps: Option<String>,
    small_maps_title: &'static str,
    small_maps_note: &'static str,
    spectra: Option<String>,
    cards: Vec<Card>,
    cards_title: &'static str,
    cards_note: String,
    numbered: bool,
    curves: Vec<curves::Figure>,
    stages: Option<String>,
    runs: Option<curves::Runs>,
    scores: Option<String>,
    confusion: Option<String>,
    confusion_note: String,
    margins: Option<String>,
    margins_note: String,
    uncertain: Option<String>,
    command: Option<String>,
    settings: String,
    parameters: Option<String>,
}

impl Sections {
    pub fn contents(&self) -> Vec<(String, String)> {
        let entries = [
            (true, "clusters", "Clusters"),
            (self.map.is_some(), "map", "Map"),
            (self.spectra.is_some(), "spectra", "Spectra"),
            (self.map.is_none() && self.small_maps.is_some(), "parts", "Pictures"),
            (!self.cards.is_empty(), "features", self.cards_title),
            (!self.curves.is_empty(), "convergence", "Convergence"),
            (self.runs.is_some(), "runs", "Runs"),
            (self.scores.is_some(), "truth", "Against the truth"),
            (self.margins.is_some(), "margins", "Certainty"),
            (true, "made", "How it was made"),
        ];
        let there = entries.into_iter().filter(|e| e.0);
        there.map(|(_, id, name)| (id.to_string(), name.to_string())).collect()
    }
}

pub(super) fn sections(report: &Report, findings: &Findings) -> Result<Sections> {
    let named = report.features == Features::Named && report.feature_image.is_none();
    let cards = if named || report.image.is_none() { cards(report, findings)? } else { vec![] };
    let note = if report.vocabulary.is_some() || !named {
        String::new()
    } else {
        "The features have no names here, so they go by their number, counted from 0.".to_string()
    };
    let (confusion, confusion_note) = truth::confusion(report);
    let (margins, margins_note) = certainty::margins(report, findings);
    let part = report.features == Features::Pictures;
    Ok(Sections {
        facts: facts(report),
        notes: words::objective_note(report)
            .into_iter()
            .chain(report.made.notes.iter().cloned())
            .take(20)
            .collect(),
        sizes: sizes(report),
        sizes_note: sizes_note(report),
        map: maps::section(report)?,
        small_maps: maps::small_maps(report)?,
        small_maps_title: match (report.image, part) {
            (Some(_), true) => "The parts",
            (Some(_), false) => "Strengths",
            _ => "The directions as pictures",
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
        spectra: spectra(report),
        cards_title: match (named, report.vocabulary) {
            (true, Some(_)) => "Words",
            (true, None) => "Features",
            _ => "Typical points",
        },
        cards,
        cards_note: note,
        numbered: named,
        curves: curves::figures(report),
        stages: curves::stages(report),
        runs: curves::runs(report)?,
        scores: truth::scores(report),
        confusion,
        confusion_note,
        margins,
        margins_note,
        uncertain: certainty::uncertain(report, findings),
        command: report.made.command.map(|c| shortened(c, 4000)),
        settings: made::settings(report),
        parameters: made::parameters(report),
    })
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
        let n = truth.scores.scored_points;
        facts.push(fact(
            "accuracy",
            percent(truth.scores.accuracy),
            format!("of {} scored", counted(n, "point", "points")),
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

fn sizes(report: &Report) -> String {
    let solution = &report.outcome.solution;
    let (one, many) = words::points(report);
    let points = solution.labels.len().max(1) as f64;
    let list: Vec<Bar> = (0..report.job.k.min(100))
        .map(|i| {
            let (size, energy) = (solution.sizes[i], solution.energy[i]);
            Bar {
                name: format!("cluster {i}"),
                value: size as f64,
                text: format!("{} · {}", count(size), percent(energy)),
                detail: format!(
                    "cluster {i}: {} ({}), explains {} of the energy",
                    counted(size, one, many),
                    percent(size as f64 / points),
                    percent(energy)
                ),
                colour: Some(i),
                link: None,
            }
        })
        .collect();
    bars("sizes of the clusters", &list)
}

fn sizes_note(report: &Report) -> String {
    let solution = &report.outcome.solution;
    let (one, many) = words::points(report);
    let mut note = format!(
        "Bars: {many} in each cluster; beside them the number, and the share of the energy ‖M‖² that the cluster explains. Clusters are numbered by that share, from 0."
    );
    let zero = report.findings.facts.zero_points.len();
    if zero > 0 {
        let what = counted(zero, one, many);
        note += &if report.job.aim().rule.distance {
            format!(" {what} without any nonzero entry were clustered by distance like all others.")
        } else {
            format!(" {what} without any nonzero entry have no direction and so no cluster (label −1).")
        };
    }
    if !solution.refilled.is_empty() {
        note += &format!(
            " {} moved to clusters that had been left empty.",
            counted(solution.refilled.len(), &format!("{one} was"), &format!("{many} were"))
        );
    }
    if report.job.k > 100 {
        note += &format!(" The first 100 of {} clusters are shown.", report.job.k);
    }
    note
}

fn cards(report: &Report, findings: &Findings) -> Result<Vec<Card>> {
    let solution = &report.outcome.solution;
    let (one, many) = words::points(report);
    let named = report.features == Features::Named && report.feature_image.is_none();
    findings
        .clusters
        .iter()
        .enumerate()
        .map(|(i, cluster)| {
            let most = cluster.top.first().map_or(1.0, |t| t.1);
            let shown: Vec<usize> = cluster.top.iter().map(|t| t.0).collect();
            let words = cluster.top.iter().map(|&(f, u)| Word {
                name: words::feature(report, f),
                width: (1000.0 * u / most).round() / 10.0,
                detail: format!("{}: {} of the unit direction", words::feature(report, f), significant(u, 3)),
            });
            let other = cluster.markers.iter().filter(|m| !shown[..shown.len().min(5)].contains(&m.feature));
            Ok(Card {
                number: i,
                colour: super::colour::css(i),
                size: counted(solution.sizes[i], one, many),
                about: majority(report, i),
                words: if named { words.collect() } else { vec![] },
                distinctive: if named {
                    other.take(8).map(|m| words::feature(report, m.feature)).collect()
                } else {
                    vec![]
                },
                typical: cluster
                    .typical
                    .iter()
                    .map(|&(j, cosine)| {
                        Ok(Point {
                            picture: maps::point(report, j)?,
                            name: words::point(report, j),
                            class: report
                                .truth
                                .map_or(String::new(), |t| shortened(&t.classes[t.labels[j]], 30)),
                            value: decimals(cosine, 3),
                        })
                    })
                    .collect::<Result<_>>()?,
            })
        })
        .collect()
}

/// The class most points of a cluster belong to.
fn majority(report: &Report, i: usize) -> String {
    let Some(truth) = report.truth else { return String::new() };
    if i >= truth.scores.confusion.clusters() {
        return String::new();
    }
    let row = truth.scores.confusion.row(i);
    let Some((class, most)) = row.iter().enumerate().max_by_key(|(c, n)| (**n, std::cmp::Reverse(*c))) else {
        return String::new();
    };
    let all: u64 = row.iter().sum();
    if all == 0 {
        return String::new();
    }
    format!("{} of class {}", percent(*most as f64 / all as f64), shortened(&truth.classes[class], 60))
}

fn spectra(report: &Report) -> Option<String> {
    if report.features != Features::Bands {
        return None;
    }
    let solution = &report.outcome.solution;
    let mut sums = vec![(0.0, 0usize); report.job.k];
    for (&label, &v) in solution.labels.iter().zip(&solution.v) {
        if let Ok(i) = usize::try_from(label) {
            sums[i] = (sums[i].0 + v, sums[i].1 + 1);
        }
    }
    let matching = report.matching();
    let series = (0..report.job.k.min(40)).map(|i| {
        let mean = sums[i].0 / sums[i].1.max(1) as f64;
        let at = |f: usize| report.wavelengths.map_or(f as f64, |w| w[f]);
        let class = match (report.truth, matching[i]) {
            (Some(truth), Some(class)) => format!(" · class {}", shortened(&truth.classes[class], 30)),
            _ => String::new(),
        };
        Series {
            name: format!("cluster {i}{class}"),
            points: (0..solution.u.rows).map(|f| (at(f), mean * solution.u[(f, i)])).collect(),
            colour: Some(i),
            ..Series::default()
        }
    });
    Some(lines(&Lines {
        title: "spectrum of every cluster".into(),
        x: Axis::new(if report.wavelengths.is_some() { "wavelength" } else { "band" }),
        y: Axis::new("mean spectrum, in the units of the data"),
        series: series.collect(),
        ..Lines::default()
    }))
}
