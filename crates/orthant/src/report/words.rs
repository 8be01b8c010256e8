//! The sentences of a report.

use super::number::{count, counted, percent, significant};
use super::page::{escape, shortened};
use super::{Features, Report};
use crate::algorithms::Goal;
use crate::called::{Called, Noun};
use crate::certificate::{Bound, Rigour};
use crate::run::Stop;

/// What points and features are called: by what features are, and whether either are the pixels of a picture.
pub fn nouns(features: Features, pixels: bool, pictures: bool, called: Option<Called>) -> Called {
    let points = match called {
        _ if pixels => ("pixel", "pixels"),
        _ if pictures => ("picture", "pictures"),
        Some(called) => called.points,
        None => ("point", "points"),
    };
    let features = match (features, called) {
        (Features::Bands, _) => ("band", "bands"),
        (Features::Pictures, _) => ("picture", "pictures"),
        (Features::Named, _) if pictures => ("pixel", "pixels"),
        (Features::Named, Some(called)) => called.features,
        (Features::Named, None) => ("feature", "features"),
    };
    Called { points, features }
}

fn called(report: &Report) -> Called {
    nouns(report.features, report.image.is_some(), report.feature_image.is_some(), report.called)
}

/// What a point is: one, many.
pub(super) fn points(report: &Report) -> Noun {
    called(report).points
}

/// What a feature is: one, many.
pub(super) fn features(report: &Report) -> Noun {
    called(report).features
}

/// The name of a feature.
pub(super) fn feature(report: &Report, f: usize) -> String {
    match report.vocabulary {
        Some(names) => shortened(&names[f], 60),
        None => format!("{} {f}", features(report).0),
    }
}

/// Whether features are listed one by one.
pub(super) fn named(report: &Report) -> bool {
    report.features == Features::Named && report.feature_image.is_none()
}

/// A cluster by its number and what is known of it: the words that set it apart, or the class that matches it.
pub(super) fn cluster(report: &Report, i: usize) -> String {
    match about(report, i) {
        Some(about) => format!("{i}: {about}"),
        None => format!("cluster {i}"),
    }
}

/// What a cluster is called by: the features that set it apart, else the class that matches it and has most of it.
fn about(report: &Report, i: usize) -> Option<String> {
    const TOLD: usize = 3;
    if named(report) && report.vocabulary.is_some() {
        let markers = report.findings.clusters.get(i)?.markers.iter();
        let told: Vec<String> =
            markers.take(TOLD).map(|m| shortened(&feature(report, m.feature), 20)).collect();
        return (!told.is_empty()).then(|| told.join(", "));
    }
    let (truth, matched) = (report.truth?, report.matching()[i]?);
    // Named by a class that it hardly has, a cluster would promise too much.
    let of_class = truth.scores.confusion.count(i, matched);
    if 2 * of_class <= truth.scores.confusion.row(i).iter().sum() {
        return None;
    }
    let class = truth.classes.get(matched)?;
    // A number would be taken for that of a cluster.
    let plain = class.parse::<f64>().is_err();
    Some(if plain { shortened(class, 30) } else { format!("class {class}") })
}

/// The name of a point.
pub(super) fn point(report: &Report, j: usize) -> String {
    match (report.names, report.image) {
        (Some(names), _) => shortened(&names[j], 80),
        (None, Some(image)) => format!("row {}, column {}", image.row(j), image.column(j)),
        (None, None) => format!("{} {j}", points(report).0),
    }
}

/// The method and its polish.
pub(super) fn method(report: &Report) -> String {
    let polish: Vec<String> = report.job.polish.iter().map(|p| stage(p.name())).collect();
    let polish =
        if polish.is_empty() { String::new() } else { format!(" followed by {}", polish.join(", ")) };
    format!("{}{polish}", report.job.method.title)
}

/// A stage in print.
pub(super) fn stage(name: &str) -> String {
    match name {
        "em" => "EM".into(),
        _ => crate::algorithms::method(name).map_or(name, |m| m.title).to_string(),
    }
}

/// What it is, in a line.
pub(super) fn title(report: &Report) -> String {
    let (one, many) = points(report);
    let (name, n, k) = (shortened(report.title, 160), report.findings.shape.points, report.job.k);
    format!("{name}: {} in {}", counted(n, one, many), counted(k, "cluster", "clusters"))
}

/// The clusters, and how sure they are: the first thing on the page.
pub(super) fn lead(report: &Report) -> String {
    let mut text = format!(r#"<p class="answer">{}</p><p>{}</p>"#, clusters(report), sure(report));
    let outcome = report.outcome;
    if outcome.stop() == Stop::Cancelled {
        text += r#"<p class="warn"><b>The run was interrupted.</b> This is the best answer up to then, finished and certified like any other.</p>"#;
    } else if outcome.stop() == Stop::MaxIterations {
        text += r#"<p class="warn">The best run reached its limit of iterations before its stopping rule was met; more iterations may lower the error.</p>"#;
    }
    text
}

/// What the clusters are, the largest first.
fn clusters(report: &Report) -> String {
    const TOLD: usize = 6;
    let (_, many) = points(report);
    let sizes = &report.outcome.solution.sizes;
    let share = |i: usize| percent(sizes[i] as f64 / report.labels().len().max(1) as f64);
    let mut order: Vec<usize> = (0..report.job.k).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(sizes[i]));
    if report.job.k == 1 {
        return format!("All {many} in one cluster.");
    }
    let told: Option<Vec<String>> = order
        .iter()
        .take(TOLD)
        .map(|&i| Some(format!("<b>{}</b> ({})", escape(&about(report, i)?), share(i))))
        .collect();
    let Some(told) = told else {
        let (first, last) = (order[0], order[order.len() - 1]);
        return format!(
            "The largest of the {} clusters has {} of the {many}, the smallest {}.",
            order.len(),
            share(first),
            share(last)
        );
    };
    let more = match order.len() - told.len() {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    format!("{}{more}; shares of the {many} in brackets.", told.join(", "))
}

/// How far the answer can be trusted, in a few words; [`certificate`] says it in full.
fn sure(report: &Report) -> String {
    let (certificate, (_, many)) = (&report.outcome.certificate, points(report));
    let error = certificate.relative_error;
    let energy = percent((1.0 - error * error).clamp(0.0, 1.0));
    let mut text = format!("The clusters explain {energy} of the data");
    text += &match certificate.at_most_above_best() {
        _ if error < 1e-7 => ", all of it to rounding".to_string(),
        Some(above) if above < 5e-5 => ", as much as any partition can".into(),
        Some(above) if above < 1.0 => {
            format!("; their error is <b>at most {} above the best possible</b>", percent(above))
        }
        _ => String::new(),
    };
    if let Some(share) = super::certainty::between(report) {
        text += &format!(". {} of the {many} lie between two clusters", percent(share));
    }
    if let Some(truth) = report.truth {
        text += &format!(". <b>{}</b> are where the given classes have them", percent(truth.scores.accuracy));
    }
    text + "."
}

/// What was run on what, and what it reached.
pub(super) fn reached(report: &Report) -> String {
    let (shape, outcome) = (report.findings.shape, report.outcome);
    let (one, many) = points(report);
    let (feature, features) = features(report);
    let sparse = shape.nonzeros < shape.points.saturating_mul(shape.features);
    let entries = if sparse { format!(", {} nonzeros", count(shape.nonzeros)) } else { String::new() };
    let runs = match outcome.runs.len() {
        1 => String::new(),
        n => format!(", the best of {n} runs,"),
    };
    format!(
        "<b>{}</b>{runs} put the {} ({}{entries}) into {} with a relative error of <b>{}</b>. {}",
        escape(&method(report)),
        counted(shape.points, one, many),
        counted(shape.features, feature, features),
        counted(report.job.k, "cluster", "clusters"),
        error(outcome.certificate.relative_error),
        certificate(report)
    )
}

/// The certificate in words.
fn certificate(report: &Report) -> String {
    let (c, k) = (&report.outcome.certificate, report.job.k);
    let (error, bound) = (c.relative_error, c.lower_bound);
    let energy = percent((1.0 - error * error).clamp(0.0, 1.0));
    if error < 1e-7 {
        return "The clusters explain the data exactly, to rounding: no answer can be better.".to_string();
    }
    let ratio = error / bound;
    let whose = match c.bound {
        Bound::Singular => format!("No factorisation of rank {k}, orthogonal or not,"),
        Bound::Dual | Bound::DualOfGroups => {
            format!("No partition into {}", counted(k, "cluster", "clusters"))
        }
    };
    let mut text = format!(
        "The clusters explain {energy} of the energy ‖M‖²: {} of what any factorisation of rank {k} can explain. ",
        percent(c.energy_share)
    );
    if bound < 1e-7 {
        return text
            + match report.job.certificate {
                Rigour::Singular => {
                    "There is <b>no bound</b> from the singular values on how much better another partition might be; the certificate <code>quick</code> may find one."
                }
                Rigour::Auto => {
                    "There is <b>no bound</b> yet on how much better another partition might be; the certificate <code>thorough</code> may find one."
                }
                _ => "There is <b>no bound</b> on how much better another partition might be.",
            };
    }
    text += &format!("{whose} can go below {}", significant(bound, 4));
    text += &if ratio < 1.0 + 5e-5 {
        ": <b>this is the best there is</b>.".to_string()
    } else if ratio < 2.0 {
        format!(", so this error is <b>at most {} above the best possible</b>.", percent(ratio - 1.0))
    } else {
        format!(", so this error is <b>at most {} times the best possible</b>.", significant(ratio, 3))
    };
    if c.bound == Bound::Singular && ratio > 1.1 {
        let more = if report.job.certificate == Rigour::Singular { "quick" } else { "thorough" };
        text += &format!(
            " That bound also holds for factors that overlap; what clusters can reach may be far above it, and the certificate <code>{more}</code> may tell more."
        );
    }
    text
}

/// An error, where what rounding leaves is not a number worth reading.
pub(super) fn error(x: f64) -> String {
    if x < 1e-7 { "0 (to rounding)".into() } else { significant(x, 4) }
}

/// The method's own objective, where it is not the error.
pub(super) fn objective_note(report: &Report) -> Option<String> {
    let method = report.job.aim();
    if method.rule.onmf {
        return None;
    }
    let better = if method.goal == Goal::Most { "largest" } else { "smallest" };
    Some(format!(
        "{} does not minimise this error but has its own objective ({}), which also picks the best run ({better}). Errors here are those of the best factors for its partition, so that methods can be compared.",
        method.title, method.objective
    ))
}

/// What the residual of a method is.
pub(super) fn residual(method: &str) -> &'static str {
    match method {
        "onp-mf" => "negative part of V, ‖min(V, 0)‖ / ‖V‖",
        "chnmf" => "relative change of the error",
        "o-pnmf" => "relative change of V",
        _ => "share of points that moved",
    }
}

pub(super) fn footer(report: &Report) -> String {
    let version = report.made.version.unwrap_or(env!("CARGO_PKG_VERSION"));
    match report.made.date {
        Some(date) => {
            format!("Made by Orthant {version} on {date}. This page is one file and loads nothing.")
        }
        None => format!("Made by Orthant {version}. This page is one file and loads nothing."),
    }
}
