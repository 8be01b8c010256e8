//! The maps and basis pictures of a result: inside the page, reduced if need be, and as files.

use super::colour::{NOWHERE, category, hex};
use super::number::{count, counted, percent, significant};
use super::page::escape;
use super::picture::{Picture, coloured, gray, heat_within, segmentation};
use super::{Features, Report, words};
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

/// Strengths of a collection's parts look best in grey, as in print; those of a scene in colour, in units of the mean of
/// each cluster, so that all have one scale.
fn strength_map(report: &Report, i: usize, high: f64) -> Result<Option<Picture>> {
    let Some(shape) = report.image else { return Ok(None) };
    let values = strengths(report, i);
    if report.features == Features::Pictures {
        return gray(&values, shape).map(Some);
    }
    let mean = values.iter().sum::<f64>() / report.outcome.solution.sizes[i].max(1) as f64;
    let relative: Vec<f64> = values.iter().map(|v| if mean > 0.0 { v / mean } else { 0.0 }).collect();
    heat_within(&relative, shape, high).map(Some)
}

/// Where the scale of the strengths ends, in units of the mean of each cluster.
fn strongest(report: &Report) -> f64 {
    let solution = &report.outcome.solution;
    let mut sums = vec![0.0; report.job.k];
    let members =
        || solution.labels.iter().zip(&solution.v).filter_map(|(l, v)| Some((usize::try_from(*l).ok()?, *v)));
    members().for_each(|(i, v)| sums[i] += v);
    let relative = |(i, v): (usize, f64)| v * solution.sizes[i] as f64 / sums[i];
    nice(members().map(relative).collect())
}

/// A round number that hardly any value exceeds.
pub(super) fn nice(mut values: Vec<f64>) -> f64 {
    values.retain(|x| x.is_finite());
    if values.is_empty() {
        return 1.0;
    }
    let at = values.len() - 1 - values.len() / 100;
    let most = *values.select_nth_unstable_by(at, f64::total_cmp).1;
    if most <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(most.log10().floor());
    [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 8.0]
        .map(|x| x * power)
        .into_iter()
        .find(|x| *x >= most)
        .unwrap_or(10.0 * power)
}

/// The colours of a scale from 0 with their numbers.
pub(super) fn scale_bar(high: f64, what: &str) -> String {
    let stops: Vec<String> = (0..=10).map(|t| hex(super::colour::sequential(f64::from(t) / 10.0))).collect();
    let tick = |share: f64| format!("<span>{}</span>", significant(share * high, 3));
    format!(
        r#"<div class="scalebar"><i style="background:linear-gradient(90deg,{})"></i><div>{}{}{}</div><p>{}</p></div>"#,
        stops.join(","),
        tick(0.0),
        tick(0.5),
        tick(1.0),
        escape(what)
    )
}

/// A picture of the scene, made no larger than `side`, that knows where its pixels are.
pub(super) fn map_of(report: &Report, img: &str, side: usize, caption: &str) -> String {
    let Some(shape) = report.image else { return String::new() };
    let step = shape.width.max(shape.height).div_ceil(side).max(1);
    let tall = if shape.height > shape.width { " tall" } else { "" };
    let img = if img.contains("data-step") {
        img.to_string()
    } else {
        img.replacen("<img ", &format!(r#"<img data-step="{step}" "#), 1)
    };
    format!(r#"<figure class="mapfigure{tall}">{img}<figcaption>{}</figcaption></figure>"#, escape(caption))
}

fn basis(report: &Report, i: usize) -> Result<Option<Picture>> {
    let Some(shape) = report.feature_image else { return Ok(None) };
    gray(&report.outcome.solution.directions.column(i), shape).map(Some)
}

/// A point that is a picture, small.
pub(super) fn point(report: &Report, j: usize) -> Result<Option<String>> {
    let Some((shape, entries)) = report.feature_image.zip(report.findings.point(j)) else { return Ok(None) };
    let picture = gray(entries, shape)?;
    picture.reduced(48).img(&words::point(report, j)).map(Some)
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
    let mut names: Vec<(i32, String)> =
        (0..report.job.k.min(40)).map(|i| (i as i32, words::cluster(report, i))).collect();
    let nowhere = solution.labels.iter().filter(|l| **l < 0).count();
    if nowhere > 0 {
        names.push((-1, "no cluster (zero)".into()));
    }
    let ours = explained(&segmentation(&solution.labels, shape)?, "map of the clusters", &names)?;
    let mut out = String::from(r#"<div class="mappair">"#);
    out += &super::scene::composite(report)?.unwrap_or_default();
    out += &map_of(report, &ours, SIDE, "The clusters");
    if let Some(truth) = report.truth {
        let colours = truth_colours(report);
        let labels: Vec<i32> = truth.labels.iter().map(|&t| t as i32).collect();
        let classes: Vec<(i32, String)> =
            colours.iter().zip(truth.classes).map(|(c, name)| (*c, name.clone())).collect();
        let theirs = coloured(&labels, shape, |class| colours[class as usize])?;
        let theirs = explained(&theirs, "map of the truth", &classes)?;
        out += &map_of(
            report,
            &theirs,
            SIDE,
            "The truth, a class in the colour of the cluster it is matched with",
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
            r#"<li><i class="swatch" style="--c:{}"></i>{}&nbsp;<span class="soft">{share} of the {} · {}</span></li>"#,
            hex(colour),
            escape(name),
            words::points(report).1,
            count(size)
        );
    }
    Ok(Some(out + "</ul>"))
}

/// One small picture a cluster, with what it shows; none where there is no image.
pub(super) fn small_maps(report: &Report) -> Result<Option<String>> {
    let (shown, (one, many)) = (report.job.k.min(SHOWN), words::points(report));
    let side = small_side(shown);
    let Some(shape) = report.image.or(report.feature_image) else { return Ok(None) };
    let high = strongest(report);
    let make = |i: usize| -> Result<Option<Picture>> {
        match strength_map(report, i, high)? {
            Some(map) => Ok(Some(map)),
            None => basis(report, i),
        }
    };
    let width = if shape.width * 2 < shape.height * 3 && shape.pixels() < 2000 {
        92
    } else if shown <= 4 {
        220
    } else {
        150
    };
    let mut out = format!(r#"<div class="small-maps" style="--w:{width}px">"#);
    for i in 0..shown {
        let Some(picture) = make(i)? else { return Ok(None) };
        let (size, energy) = (report.outcome.solution.sizes[i], report.outcome.solution.energy[i]);
        out += &format!(
            r#"<figure title="cluster {i}: {}, {} of the energy">{}<figcaption><i class="swatch" style="--c:{}"></i>{}<small>{} of the {}</small></figcaption></figure>"#,
            counted(size, one, many),
            percent(energy),
            picture.reduced(side).img(&format!("cluster {i}"))?,
            hex(category(i)),
            escape(&words::cluster(report, i)),
            percent(size as f64 / report.labels().len().max(1) as f64),
            many,
        );
    }
    out += "</div>";
    if report.image.is_some() && report.features != Features::Pictures {
        out += &scale_bar(high, "strength, in units of the mean of each cluster");
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
    let high = strongest(report);
    for i in 0..report.job.k {
        if let Some(map) = strength_map(report, i, high)? {
            files.push((format!("strengths-{i:0digits$}.png"), map.enlarged(FILE_SIDE).png()?));
        }
        if let Some(picture) = basis(report, i)? {
            files.push((format!("basis-{i:0digits$}.png"), picture.enlarged(FILE_SIDE).png()?));
        }
    }
    Ok(files)
}
