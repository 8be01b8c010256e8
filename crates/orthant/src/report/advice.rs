//! The page of `advise`.

use super::Made;
use super::chart::{Axis, Histogram, Line, Lines, Marker, Series, counts, histogram, lines};
use super::number::{decimals, percent};
use super::page::{Table, escape, shortened, table};
use super::parts::{Parts, Print, paragraph};
use super::picture::{Row, rows_of_maps, segmentation};
use crate::advise::{Advice, Model};
use crate::error::Result;
use crate::image::ImageShape;

/// Everything that page is made of.
#[derive(Debug, Clone)]
pub struct Advised<'a> {
    /// The name of the data.
    pub title: &'a str,
    /// How it came about.
    pub made: Made<'a>,
    /// What was found.
    pub advice: &'a Advice,
    /// The name of every point of the data.
    pub names: Option<&'a [String]>,
    /// Accuracy of each model, where a truth is known: shown beside, not used.
    pub accuracy: &'a [Option<f64>],
    /// What to type next, where the answer is known.
    pub next: Option<&'a str>,
    /// Points are the pixels of a picture, and what every model makes of it, in the order of the advice
    /// ([`Advice::everywhere`]).
    pub maps: Option<(ImageShape, &'a [Vec<i32>])>,
}

/// The page.
pub fn advice(input: &Advised) -> Result<String> {
    let a = input.advice;
    let summary = a.summary();
    let mut lines = summary.lines();
    let head = lines
        .next()
        .map_or(String::new(), |head| format!(r#"<p class="answer"><b>{}</b></p>"#, escape(head)));
    let next = input
        .next
        .map_or(String::new(), |next| format!("<p>Next:</p><pre><code>{}</code></pre>", escape(next)));
    let lead = head + &next + &lines.map(paragraph).collect::<String>();
    let mut parts = Parts::default();
    parts.add("Models", models(input), "The log-density is the mean over the points, in nats, less the price of what each model estimates (Schwarz): by how much a model explains them better is a difference of two. Held out: the same of points that the clusters were not made of, each cluster taken as an ellipsoid, whatever model found it. Stability is the agreement of the clusters of two random halves (adjusted Rand index).", Print::Aside);
    if a.slope.is_some() {
        parts.chart("Does the noise depend on the norm?", noise(a), "Every point by its strength along the direction of its cluster (ONMF) and the length of what is left across it, both relative to the mean of its cluster. Noise independent of the norm makes a level cloud, noise proportional to it a rising one. The darker, the more points.");
    }
    parts.chart("Do norms vary within clusters?", norms(a), "Strengths relative to the mean of their cluster (ONMF). One peak: points of a cluster are multiples of a direction, whatever their norm. Several peaks: scale tells them apart.");
    if let Some(counts) = &a.counts {
        let line = |slope: f64, name: &str, line: Line, colour: usize| {
            let middle = counts.classes[counts.classes.len() / 2];
            let points =
                counts.classes.iter().map(|c| (c.0, middle.1 * (c.0 / middle.0).powf(slope))).collect();
            Series { name: name.into(), points, line, colour: Some(colour), ..Series::default() }
        };
        let chart = super::chart::lines(&Lines {
            title: "variance against mean of the entries".into(),
            x: Axis::log("mean of the entries"),
            y: Axis::log("mean squared deviation"),
            series: vec![
                line(0.0, "noise of one size", Line::Dotted, 1),
                line(1.0, "counts", Line::Dashed, 2),
                Series {
                    name: "entries".into(),
                    points: counts.classes.clone(),
                    colour: Some(0),
                    marker: Marker::Circle,
                    ..Series::default()
                },
            ],
            ..Lines::default()
        });
        let caption = format!(
            "All entries are whole numbers. Their variance around what KL-ONMF expects grows like the mean to the power {}, and is {} times the mean on the whole.",
            decimals(counts.slope, 2),
            decimals(counts.dispersion, 1)
        );
        parts.chart("Is it the noise of counts?", chart, &caption);
    }
    parts.add("Where the models agree", agreements(a), "Agreement of the partitions of every two models (adjusted Rand index): 1 is the same partition, 0 chance.", Print::Half);
    if !a.disagreements.is_empty() {
        let share = percent(a.disagreeing as f64 / a.points.len().max(1) as f64);
        let caption = format!(
            "{} of {} points ({share}); the longest are listed with their cluster by each model.",
            a.disagreeing,
            a.points.len()
        );
        let maps = input.maps.map_or(Ok(String::new()), |(image, maps)| differences(a, image, maps))?;
        parts.add("Where they differ", maps + &disagreements(input), &caption, Print::Wide);
    }
    let title = format!("{}: which model?", input.title);
    parts.page(&title, "Orthant · which model", lead, &input.made)
}

fn models(input: &Advised) -> String {
    let a = input.advice;
    let scored = input.accuracy.iter().any(Option::is_some);
    let row = |(at, m): (usize, &crate::advise::Fitted)| {
        let mark = if a.verdict.recommended == Some(m.model) { "recommended" } else { "" };
        let mut row = vec![
            m.model.title().to_string(),
            if m.density.is_nan() { "–".into() } else { decimals(m.density, 3) },
            if m.held_out.is_nan() { "–".into() } else { decimals(m.held_out, 3) },
            m.stability().map_or("–".into(), |s| decimals(s, 3)),
        ];
        if scored {
            row.push(
                input.accuracy.get(at).copied().flatten().map_or("–".into(), |x| decimals(100.0 * x, 1)),
            );
        }
        row.push(mark.into());
        row
    };
    let rows: Vec<Vec<String>> = a.models.iter().enumerate().map(row).collect();
    let mut columns = vec!["model", "#log-density", "#held out", "#stability"];
    if scored {
        columns.push("#accuracy, % (not used)");
    }
    columns.push("");
    table(&Table { columns: &columns, rows: &rows, best: &[] })
}

/// Strength and noise of every point relative to the means of its cluster.
fn relative(a: &Advice) -> Vec<(f64, f64)> {
    let labels = &a.model(Model::Onmf).labels;
    let mut sums = vec![(0.0, 0.0, 0.0); a.k];
    for (&(s, r), &i) in a.polar.iter().zip(labels) {
        sums[i] = (sums[i].0 + s, sums[i].1 + r, sums[i].2 + 1.0);
    }
    let of = |(&(s, r), &i): (&(f64, f64), &usize)| {
        let (mean_s, mean_r) = (sums[i].0 / sums[i].2, sums[i].1 / sums[i].2);
        (s / mean_s, if mean_r > 0.0 { r / mean_r } else { 0.0 })
    };
    a.polar.iter().zip(labels).map(of).collect()
}

fn noise(a: &Advice) -> String {
    let all: Vec<(f64, f64)> = relative(a).into_iter().filter(|p| p.0 > 0.0 && p.1 > 1e-4).collect();
    let (low, high) = all.iter().fold((f64::INFINITY, 0.0f64), |(l, h), p| (l.min(p.0), h.max(p.0)));
    let line = |slope: f64, name: String, line: Line, colour: usize| Series {
        name,
        points: [low, high].map(|x| (x, x.powf(slope))).to_vec(),
        colour: Some(colour),
        line,
        ..Series::default()
    };
    let slope = a.slope.map_or(0.0, |s| s.slope);
    let error = a.slope.map_or(0.0, |s| s.error);
    lines(&Lines {
        title: "noise across the directions against strength".into(),
        x: Axis::log("strength, relative to the cluster's mean"),
        y: Axis::log("noise across, relative"),
        series: vec![
            Series {
                name: "points".into(),
                points: all,
                line: Line::Density,
                colour: Some(0),
                ..Series::default()
            },
            line(0.0, "independent (ONMF)".into(), Line::Dotted, 1),
            line(1.0, "proportional (spherical k-means)".into(), Line::Dashed, 2),
            line(
                slope,
                format!("measured: power {} ± {}", decimals(slope, 2), decimals(error, 2)),
                Line::Solid,
                3,
            ),
        ],
        ..Lines::default()
    })
}

fn norms(a: &Advice) -> String {
    let values: Vec<f64> = relative(a).into_iter().map(|p| p.0).collect();
    let mut sorted = values.clone();
    sorted.sort_by(f64::total_cmp);
    let most = sorted.get(sorted.len() * 99 / 100).copied().unwrap_or(1.0);
    let high = (most * 1.1).max(1.5);
    histogram(&Histogram {
        title: "strengths of the points".into(),
        label: "strength, relative to the cluster's mean".into(),
        counted: "points".into(),
        counts: counts(values.into_iter(), (0.0, high), 40),
        range: (0.0, high),
    })
}

fn agreements(a: &Advice) -> String {
    let rows: Vec<Vec<String>> = a
        .agreements
        .iter()
        .map(|(x, y, z)| vec![x.title().into(), y.title().into(), decimals(*z, 3)])
        .collect();
    table(&Table { columns: &["model", "model", "#agreement"], rows: &rows, best: &[] })
}

/// The picture by every model, and the pixels that they do not agree on.
fn differences(a: &Advice, image: ImageShape, maps: &[Vec<i32>]) -> Result<String> {
    const SIDE: usize = 320;
    const COLOUR: i32 = 4;
    let differ = |j: usize| maps.iter().any(|labels| labels[j] != maps[0][j]);
    let marked: Vec<i32> = (0..image.pixels()).map(|j| if differ(j) { COLOUR } else { -1 }).collect();
    let known = maps[0].iter().filter(|&&label| label >= 0).count();
    let share = marked.iter().filter(|&&mark| mark >= 0).count() as f64 / known.max(1) as f64;
    let row = |name: &str, note: String, labels: &[i32], what: &str| {
        let map = segmentation(labels, image)?.reduced(SIDE);
        Ok(Row { name: name.into(), note, maps: vec![(what.into(), map)] })
    };
    let mut rows = vec![row(
        "where they differ",
        format!("{} of the pixels", percent(share)),
        &marked,
        "pixels that two models disagree on",
    )?];
    for (m, labels) in a.models.iter().zip(maps) {
        rows.push(row(m.model.title(), String::new(), labels, "the clusters")?);
    }
    rows_of_maps(&rows)
}

fn disagreements(input: &Advised) -> String {
    let a = input.advice;
    let name = |j: usize| match (input.names.and_then(|n| n.get(j)), input.maps) {
        (Some(name), _) => shortened(name, 60),
        (None, Some((image, _))) => format!("row {}, column {}", image.row(j), image.column(j)),
        (None, None) => format!("point {j}"),
    };
    let row = |d: &crate::advise::Disagreement| {
        let mut row = vec![name(d.point)];
        row.extend(d.labels.iter().map(usize::to_string));
        row
    };
    let rows: Vec<Vec<String>> = a.disagreements.iter().map(row).collect();
    let titles: Vec<String> = a.models.iter().map(|m| format!("#{}", m.model.title())).collect();
    let mut columns = vec!["point"];
    columns.extend(titles.iter().map(String::as_str));
    table(&Table { columns: &columns, rows: &rows, best: &[] })
}
