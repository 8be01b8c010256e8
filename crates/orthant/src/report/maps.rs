//! The maps and basis pictures of a result: inside the page, reduced if need be, and as files.

use super::colour::{NOWHERE, category, hex};
use super::number::{count, percent};
use super::page::{escape, shortened};
use super::picture::{Picture, coloured, gray, heat, segmentation};
use super::{Features, Report};
use crate::error::Result;

/// Pixels of the longer side of a picture in the page.
const SIDE: usize = 1024;
/// Pixels of all small maps together.
const BUDGET: usize = 3 << 20;
/// The shortest a picture file is made.
const FILE_SIDE: usize = 320;
/// Pictures of clusters in the page.
const SHOWN: usize = 60;

/// The small pictures' longer side when there are `n` of them.
fn small_side(n: usize) -> usize {
    (((BUDGET / n.max(1)) as f64).sqrt() as usize).clamp(32, 400)
}

/// The strengths of one cluster: v at its points, nothing elsewhere.
fn strengths(report: &Report, i: usize) -> Vec<f64> {
    let solution = &report.outcome.solution;
    let of = |(label, v): (&i32, &f64)| if *label == i as i32 { *v } else { 0.0 };
    solution.labels.iter().zip(&solution.v).map(of).collect()
}

/// Strengths of a collection's parts look best in grey, as in print; those of a scene in colour.
fn strength_map(report: &Report, i: usize) -> Result<Option<Picture>> {
    let Some(shape) = report.image else { return Ok(None) };
    let values = strengths(report, i);
    let picture =
        if report.features == Features::Pictures { gray(&values, shape) } else { heat(&values, shape) };
    picture.map(Some)
}

fn basis(report: &Report, i: usize) -> Result<Option<Picture>> {
    let Some(shape) = report.feature_image else { return Ok(None) };
    gray(&report.outcome.solution.directions.column(i), shape).map(Some)
}

/// A point that is a picture, small.
pub(super) fn point(report: &Report, j: usize) -> Result<Option<String>> {
    let Some((shape, entries)) = report.feature_image.zip(report.findings.point(j)) else { return Ok(None) };
    let picture = gray(entries, shape)?;
    picture.reduced(48).img(&super::words::point(report, j)).map(Some)
}

/// The truth in the colours of the clusters that match it; classes without a cluster get colours of
/// their own, after those of the clusters.
fn truth_colours(report: &Report) -> Vec<i32> {
    let Some(truth) = report.truth else { return vec![] };
    let mut colours = vec![-1; truth.classes.len()];
    for (cluster, class) in report.matching().into_iter().enumerate() {
        if let Some(class) = class {
            colours[class] = cluster as i32;
        }
    }
    // A class of points without a cluster, such as a background, stays grey.
    let mut next = report.job.k as i32;
    let mut clustered = vec![false; colours.len()];
    for (&class, &label) in truth.labels.iter().zip(report.labels()) {
        clustered[class] |= label >= 0;
    }
    for (class, colour) in colours.iter_mut().enumerate() {
        if *colour < 0 && clustered[class] {
            *colour = next;
            next += 1;
        }
    }
    colours
}

/// A picture with the names of its colours, for the pointer.
fn explained(picture: &Picture, alt: &str, names: &[(i32, String)]) -> Result<String> {
    let step = picture.width.max(picture.height).div_ceil(SIDE).max(1);
    let entries: Vec<String> = names
        .iter()
        .take(40)
        .map(|(colour, name)| {
            let colour = usize::try_from(*colour).map_or(NOWHERE, category);
            format!("{}:{}", json(&hex(colour)), json(name))
        })
        .collect();
    let data = escape(&format!("{{{}}}", entries.join(",")));
    let img = picture.reduced(SIDE).img(alt)?;
    Ok(img.replacen("<img ", &format!(r#"<img data-step="{step}" data-names="{data}" "#), 1))
}

/// A JSON string.
fn json(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if (c as u32) < 0x20 => out += &format!("\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    out + "\""
}

/// The maps of the page as HTML; none where there is no image.
pub(super) fn section(report: &Report) -> Result<Option<String>> {
    let Some(shape) = report.image else { return Ok(None) };
    let solution = &report.outcome.solution;
    let name = |i: usize| match (report.truth, report.matching()[i]) {
        (Some(truth), Some(class)) => format!("cluster {i} · class {}", shortened(&truth.classes[class], 40)),
        _ => format!("cluster {i}"),
    };
    let mut names: Vec<(i32, String)> = (0..report.job.k.min(40)).map(|i| (i as i32, name(i))).collect();
    let nowhere = solution.labels.iter().filter(|l| **l < 0).count();
    if nowhere > 0 {
        names.push((-1, "no cluster (zero)".into()));
    }
    let tall = if shape.height > shape.width { " tall" } else { "" };
    let ours = explained(&segmentation(&solution.labels, shape)?, "map of the clusters", &names)?;
    let mut out = format!(
        r#"<div class="mappair"><figure class="mapfigure{tall}">{ours}<figcaption>The clusters</figcaption></figure>"#
    );
    if let Some(truth) = report.truth {
        let colours = truth_colours(report);
        let labels: Vec<i32> = truth.labels.iter().map(|&t| t as i32).collect();
        let classes: Vec<(i32, String)> =
            colours.iter().zip(truth.classes).map(|(c, name)| (*c, name.clone())).collect();
        let theirs = coloured(&labels, shape, |class| colours[class as usize])?;
        out += &format!(
            r#"<figure class="mapfigure{tall}">{}<figcaption>The truth, a class in the colour of the cluster it is matched with</figcaption></figure>"#,
            explained(&theirs, "map of the truth", &classes)?
        );
    }
    out += r#"</div><ul class="keys">"#;
    for (i, name) in &names {
        let (colour, size) = match usize::try_from(*i) {
            Ok(i) => (category(i), solution.sizes[i]),
            Err(_) => (NOWHERE, nowhere),
        };
        let share = percent(size as f64 / solution.labels.len().max(1) as f64);
        out += &format!(
            r#"<li><i class="swatch" style="--c:{}"></i>{}&nbsp;<span class="soft">{} · {share}</span></li>"#,
            hex(colour),
            escape(name),
            count(size)
        );
    }
    Ok(Some(out + "</ul>"))
}

/// One small picture a cluster, with what it shows; none where there is no image.
pub(super) fn small_maps(report: &Report) -> Result<Option<String>> {
    let shown = report.job.k.min(SHOWN);
    let side = small_side(shown);
    let make = |i: usize| -> Result<Option<Picture>> {
        match strength_map(report, i)? {
            Some(map) => Ok(Some(map)),
            None => basis(report, i),
        }
    };
    let Some(shape) = report.image.or(report.feature_image) else { return Ok(None) };
    let width = if shape.width * 2 < shape.height * 3 && shape.pixels() < 2000 {
        92
    } else if shown <= 4 {
        220
    } else {
        150
    };
    let mut out = format!(r#"<div class="small-maps" style="--w:{width}px">"#);
    let matching = report.matching();
    for i in 0..shown {
        let Some(picture) = make(i)? else { return Ok(None) };
        let class = match (report.truth, matching[i]) {
            (Some(truth), Some(class)) => {
                format!("<small>class {}</small>", escape(&shortened(&truth.classes[class], 40)))
            }
            _ => String::new(),
        };
        let (size, energy) = (report.outcome.solution.sizes[i], report.outcome.solution.energy[i]);
        out += &format!(
            r#"<figure title="cluster {i}: {}, {} of the energy">{}<figcaption><i class="swatch" style="--c:{}"></i>{i}{class}</figcaption></figure>"#,
            super::number::counted(size, super::words::points(report).0, super::words::points(report).1),
            percent(energy),
            picture.reduced(side).img(&format!("cluster {i}"))?,
            hex(category(i)),
        );
    }
    out += "</div>";
    if report.image.is_some() && report.features != Features::Pictures {
        let stops: Vec<String> = (0..=10).map(|t| hex(super::colour::sequential(t as f64 / 10.0))).collect();
        out += &format!(
            r#"<p class="scalebar">0 <span style="background:linear-gradient(90deg,{})"></span> the cluster's largest strength</p>"#,
            stops.join(",")
        );
    }
    if report.job.k > shown {
        out += &format!(r#"<p class="note">The first {shown} of {} clusters.</p>"#, report.job.k);
    }
    Ok(Some(out))
}

/// All pictures as files.
pub(super) fn files(report: &Report) -> Result<Vec<(String, Vec<u8>)>> {
    let mut files = vec![];
    let digits = report.job.k.saturating_sub(1).to_string().len();
    if let Some(shape) = report.image {
        let map = segmentation(report.labels(), shape)?;
        files.push(("segmentation.png".to_string(), map.enlarged(FILE_SIDE).png()?));
        if let Some(truth) = report.truth {
            let colours = truth_colours(report);
            let labels: Vec<i32> = truth.labels.iter().map(|&t| t as i32).collect();
            let map = coloured(&labels, shape, |class| colours[class as usize])?;
            files.push(("truth.png".to_string(), map.enlarged(FILE_SIDE).png()?));
        }
    }
    for i in 0..report.job.k {
        if let Some(map) = strength_map(report, i)? {
            files.push((format!("strengths-{i:0digits$}.png"), map.enlarged(FILE_SIDE).png()?));
        }
        if let Some(picture) = basis(report, i)? {
            files.push((format!("basis-{i:0digits$}.png"), picture.enlarged(FILE_SIDE).png()?));
        }
    }
    Ok(files)
}
