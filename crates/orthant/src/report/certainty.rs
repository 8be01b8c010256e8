//! How sure the points are of their clusters.

use super::chart::{Histogram, counts, histogram};
use super::number::{count, counted, decimals, percent};
use super::page::{Table, shortened, table};
use super::{Report, words};
use crate::findings::Findings;

/// A point with a smaller margin lies between two clusters; 1 is the margin of its direction itself.
const BETWEEN: f64 = 0.1;

/// The share of points that lie between two clusters. Margins are measured by that of the cluster's own direction: where
/// directions are alike, as those of spectra are, all margins are small.
pub(super) fn between(report: &Report) -> Option<f64> {
    let cosines = &report.findings.cosines;
    let (mut known, mut between) = (0usize, 0usize);
    for (label, of) in report.labels().iter().zip(&report.findings.standings) {
        let (Ok(own), Some(second)) = (usize::try_from(*label), of.second()) else { continue };
        known += 1;
        between += usize::from(f64::from(of.margin()) < BETWEEN * (1.0 - cosines[(own, second)]));
    }
    (known > 0).then(|| between as f64 / known as f64)
}

pub(super) fn margins(report: &Report, findings: &Findings) -> (Option<String>, String) {
    let known = || findings.standings.iter().map(|of| f64::from(of.margin())).filter(|m| !m.is_nan());
    let all = known().count();
    if all == 0 {
        return (None, String::new());
    }
    let (one, many) = words::points(report);
    let below = known().filter(|m| *m < 0.0).count();
    let low = if below > 0 { -0.25f64.max(-known().fold(0.0f64, f64::min)) } else { 0.0 };
    let most = known().fold(0.0f64, f64::max);
    let high = ((most * 10.0 + 0.5).ceil() / 10.0).clamp(0.1, 1.0);
    let chart = histogram(&Histogram {
        title: format!("margins of the {many}"),
        label: "margin".into(),
        counted: many.into(),
        counts: counts(known(), (low, high), 40),
        range: (low, high),
    });
    let close = known().filter(|m| m.abs() < 0.05).count();
    let mut note = format!(
        "The margin of a {one} m is (own − next)/own, where its scores are mᵀu for the clusters' unit directions: 1 means that no other cluster shares anything with it, 0 that it could as well be elsewhere. {} of the {many} ({}) have a margin below 0.05.",
        count(close),
        percent(close as f64 / all as f64)
    );
    if let Some(share) = between(report) {
        note += &format!(
            " {} lie between two clusters: their margin is below a tenth of what the direction of their own cluster would have.",
            percent(share)
        );
    }
    if below > 0 {
        note += &format!(
            " {} negative: {} assigns by its own rule, and another direction fits better.",
            counted(below, "margin is", "margins are"),
            report.job.method.title
        );
    }
    (Some(chart), note)
}

pub(super) fn uncertain(report: &Report, findings: &Findings) -> Option<String> {
    if findings.uncertain.is_empty() {
        return None;
    }
    let rows: Vec<Vec<String>> = findings
        .uncertain
        .iter()
        .map(|u| {
            let mut row = vec![
                words::point(report, u.point),
                u.own.to_string(),
                u.other.to_string(),
                decimals(u.margin, 3),
            ];
            if let Some(truth) = report.truth {
                row.push(shortened(&truth.classes[truth.labels[u.point]], 40));
            }
            row
        })
        .collect();
    let mut columns = vec![words::points(report).0, "#in cluster", "#could be in", "#margin"];
    if report.truth.is_some() {
        columns.push("class");
    }
    Some(table(&Table { columns: &columns, rows: &rows, best: &[] }))
}
