//! The clusters of a report one by one: how large they are, what is in them, and what tells them apart.

use serde::Serialize;

use super::chart::{Bar, Heat, bars, heat};
use super::number::{count, counted, decimals, percent};
use super::page::shortened;
use super::{Report, maps, words};
use crate::error::Result;
use crate::findings::{Cluster, Marker};

/// Clusters with a bar.
const BARS: usize = 100;
/// Clusters beside each other in a table.
const BESIDE: usize = 24;
/// Typical texts of which the beginning is shown.
const QUOTED: usize = 3;

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
    excerpt: String,
}

#[derive(Serialize)]
pub(super) struct Card {
    number: usize,
    colour: String,
    title: String,
    size: String,
    about: String,
    words: Vec<Word>,
    large: Vec<String>,
    typical: Vec<Point>,
}

/// A bar for the points of each cluster, and one for its energy.
pub(super) fn sizes(report: &Report) -> String {
    let solution = &report.outcome.solution;
    let (one, many) = words::points(report);
    let points = solution.labels.len().max(1) as f64;
    let linked = has_cards(report);
    let bar = |i: usize| {
        let (size, energy) = (solution.sizes[i], solution.energy[i]);
        let share = size as f64 / points;
        Bar {
            name: words::cluster(report, i),
            values: vec![(share, format!("{} · {}", percent(share), count(size))), (energy, percent(energy))],
            detail: format!(
                "{}: {} ({} of the {many}), explains {} of the energy",
                words::cluster(report, i),
                counted(size, one, many),
                percent(share),
                percent(energy)
            ),
            colour: Some(i),
            link: linked.then(|| format!("cluster-{i}")).filter(|_| i < report.findings.clusters.len()),
        }
    };
    let list: Vec<Bar> = (0..report.job.k.min(BARS)).map(bar).collect();
    bars("sizes of the clusters", &[&format!("share of the {many}"), "share of the energy"], &list)
}

pub(super) fn sizes_note(report: &Report) -> String {
    let solution = &report.outcome.solution;
    let (one, many) = words::points(report);
    let mut note =
        "The energy is ‖M‖², the sum of all squared entries; clusters are numbered by the share of it that they explain, from 0."
            .to_string();
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
    if report.job.k > BARS {
        note += &format!(" The first {BARS} of {} clusters are shown.", report.job.k);
    }
    note
}

/// Whether clusters are shown one by one: not those of pixels, whose maps say more.
fn has_cards(report: &Report) -> bool {
    words::named(report) || report.image.is_none()
}

pub(super) fn cards(report: &Report) -> Result<Vec<Card>> {
    if !has_cards(report) {
        return Ok(vec![]);
    }
    report.findings.clusters.iter().enumerate().map(|(i, cluster)| card(report, i, cluster)).collect()
}

fn card(report: &Report, i: usize, cluster: &Cluster) -> Result<Card> {
    let (one, many) = words::points(report);
    let size = report.outcome.solution.sizes[i];
    let share = percent(size as f64 / report.labels().len().max(1) as f64);
    let most = cluster.markers.first().map_or(1.0, |m| m.score);
    let word = |m: &Marker| Word {
        name: words::feature(report, m.feature),
        width: (1000.0 * m.score / most).round() / 10.0,
        detail: format!(
            "{}: {} of this cluster, {} of the others",
            words::feature(report, m.feature),
            percent(m.share),
            percent(m.elsewhere)
        ),
    };
    let shown = |f: &usize| cluster.markers.iter().any(|m| m.feature == *f);
    let large = cluster.top.iter().map(|t| t.0).filter(|f| !shown(f)).take(8);
    let point = |(at, &(j, cosine)): (usize, &(usize, f64))| {
        Ok(Point {
            picture: maps::point(report, j)?,
            name: words::point(report, j),
            class: report.truth.map_or(String::new(), |t| shortened(&t.classes[t.labels[j]], 30)),
            value: decimals(cosine, 3),
            excerpt: match report.excerpts {
                Some(texts) if at < QUOTED => shortened(&texts[j], 300),
                _ => String::new(),
            },
        })
    };
    let named = words::named(report);
    Ok(Card {
        number: i,
        colour: super::colour::css(i),
        title: words::cluster(report, i),
        size: format!("{} · {share}", counted(size, one, many)),
        about: majority(report, i),
        words: if named { cluster.markers.iter().map(word).collect() } else { vec![] },
        large: if named { large.map(|f| words::feature(report, f)).collect() } else { vec![] },
        typical: cluster.typical.iter().enumerate().map(point).collect::<Result<_>>()?,
    })
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

/// The markers of all clusters in every cluster: a table of shades.
pub(super) fn markers(report: &Report) -> Option<String> {
    let (findings, k) = (report.findings, report.job.k);
    if !words::named(report) || !(2..=BESIDE).contains(&k) {
        return None;
    }
    let each = (24 / k).clamp(1, 4);
    let mut features: Vec<(usize, usize)> = vec![];
    for (i, cluster) in findings.clusters.iter().enumerate() {
        let new = cluster.markers.iter().map(|m| m.feature);
        let new: Vec<usize> =
            new.filter(|f| features.iter().all(|(_, known)| known != f)).take(each).collect();
        features.extend(new.into_iter().map(|f| (i, f)));
    }
    let mut cells = vec![];
    for &(_, f) in &features {
        let shares = findings.profiles.row(f);
        let most = shares.iter().copied().fold(0.0, f64::max);
        for (i, share) in shares.iter().enumerate() {
            let text = if *share < 5e-5 { "·".into() } else { decimals(100.0 * share, 2) };
            let detail = format!("{} makes up {} of cluster {i}", words::feature(report, f), percent(*share));
            cells.push((if most > 0.0 { share / most } else { 0.0 }, text, detail));
        }
    }
    Some(heat(&Heat {
        title: format!("{} across the clusters", words::features(report).1),
        corner: format!("{} \\ cluster", words::features(report).0),
        rows: features.iter().map(|&(_, f)| words::feature(report, f)).collect(),
        columns: (0..k).map(|i| i.to_string()).collect(),
        cells,
        framed: vec![],
        colours: features.iter().map(|(i, _)| *i).collect(),
    }))
}

/// How alike the directions of the clusters are.
pub(super) fn likeness(report: &Report) -> Option<String> {
    let k = report.job.k;
    if !(2..=BESIDE).contains(&k) {
        return None;
    }
    let directions = &report.outcome.solution.directions;
    let cosines = directions.transpose_times(directions);
    let cell = |(i, j): (usize, usize)| {
        if i == j {
            return (0.0, "·".to_string(), String::new());
        }
        let cosine = cosines[(i, j)];
        let angle = cosine.clamp(-1.0, 1.0).acos().to_degrees();
        let detail = format!(
            "{} and {}: cosine {}, {}° apart",
            words::cluster(report, i),
            words::cluster(report, j),
            decimals(cosine, 3),
            decimals(angle, 1)
        );
        // From 0 to 1 as the number itself: what is nearly equal looks so.
        (cosine, decimals(cosine, 2), detail)
    };
    Some(heat(&Heat {
        title: "likeness of the clusters".into(),
        corner: "cluster".into(),
        rows: (0..k).map(|i| words::cluster(report, i)).collect(),
        columns: (0..k).map(|i| i.to_string()).collect(),
        cells: (0..k).flat_map(|i| (0..k).map(move |j| (i, j))).map(cell).collect(),
        framed: vec![],
        colours: (0..k).collect(),
    }))
}
