//! The points of a report on a map of the clusters.

use super::chart::{Group, cloud};
use super::number::percent;
use super::{Report, words};

/// Letters of a point's name on hover.
const LETTERS: usize = 60;

pub(super) fn map(report: &Report) -> Option<String> {
    let findings = report.findings;
    if findings.places.is_empty() {
        return None;
    }
    let mut groups: Vec<Group> = findings
        .corners
        .iter()
        .enumerate()
        .map(|(i, &corner)| Group {
            name: words::cluster(report, i),
            corner,
            link: Some(format!("cluster-{i}")),
            ..Group::default()
        })
        .collect();
    for place in &findings.places {
        let Ok(i) = usize::try_from(report.labels()[place.point]) else { continue };
        let name = super::page::shortened(&words::point(report, place.point), LETTERS);
        groups[i].points.push((place.x, place.y, name));
    }
    Some(cloud("map of the points", &groups))
}

pub(super) fn note(report: &Report) -> String {
    let (one, many) = words::points(report);
    let (shown, all) = (report.findings.places.len(), report.labels().len());
    let some = if shown < all {
        format!(" Shown are {shown} of them ({}).", percent(shown as f64 / all as f64))
    } else {
        String::new()
    };
    let height = if report.job.k == 2 {
        format!(" The height is what the direction of its cluster leaves of a {one}.")
    } else {
        format!(
            " The more its direction leaves of a {one}, the nearer it lies to the centre. Neighbours on the circle are alike."
        )
    };
    format!(
        "Every cluster is a corner; the surer a {one} is of its cluster, the nearer it lies to its corner, and {many} between two clusters lie between two corners.{height}{some}"
    )
}
