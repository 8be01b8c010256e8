//! A scene: three of its bands, how well each pixel fits, and the spectra of clusters and pixels.

use super::chart::{Axis, Line, Lines, Series, lines};
use super::maps::{map_of, nice, scale_bar};
use super::number::{decimals, significant};
use super::page::escape;
use super::picture::{Photo, base64, heat_within};
use super::{Features, Report, words};
use crate::error::Result;

/// Pixels of the longer side of the three bands as colours.
const SIDE: usize = 512;

/// The bands as colours, before the map of the clusters.
pub(super) fn composite(report: &Report) -> Result<Option<String>> {
    let Some((shape, scene)) = report.image.zip(report.findings.scene.as_ref()) else { return Ok(None) };
    let [red, green, blue] = scene.bands.map(|band| match report.wavelengths {
        Some(all) => format!("{} nm", significant(all[band], 4)),
        None => format!("band {band}"),
    });
    let what = if scene.true_colour { "The scene in its colours" } else { "The scene in false colours" };
    let caption = format!("{what}: {red}, {green} and {blue} as red, green and blue");
    let photo = Photo::new(&scene.colours, shape, SIDE)?.img("the scene")?;
    Ok(Some(map_of(report, &photo, SIDE, &caption)))
}

/// How sure each pixel is of its cluster, and what its direction leaves of it.
pub(super) fn certainty(report: &Report) -> Result<Option<String>> {
    let Some(shape) = report.image else { return Ok(None) };
    if report.features != Features::Bands || report.job.k < 2 {
        return Ok(None);
    }
    let findings = report.findings;
    let margins: Vec<f64> = findings
        .standings
        .iter()
        .map(|of| f64::from(of.margin()))
        .map(|m| if m < 0.0 { 0.0 } else { m })
        .collect();
    let misfits: Vec<f64> = findings.standings.iter().map(|of| f64::from(of.misfit())).collect();
    let mut out = String::from(r#"<div class="mappair">"#);
    for (values, what, caption) in [
        (&margins, "margin", "Margin: how far ahead its cluster is of the next, 0 is not at all"),
        (&misfits, "error", "Error ‖m − uv‖/‖m‖ of each pixel: what its cluster leaves of it"),
    ] {
        let high = nice(values.clone());
        let picture =
            heat_within(values, shape, high)?.reduced(SIDE).img(&format!("{what} of the pixels"))?;
        let figure = map_of(report, &picture, SIDE, caption);
        out += &figure.replacen("</figure>", &format!("{}</figure>", scale_bar(high, what)), 1);
    }
    Ok(Some(out + "</div>"))
}

/// The angle between two spectra in degrees.
fn angle(a: &[f64], b: &[f64]) -> f64 {
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    (dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()).clamp(-1.0, 1.0).acos().to_degrees()
}

/// For every cluster the true spectrum that is nearest to it, no two clusters the same; the closest pairs first.
fn nearest(report: &Report) -> Vec<Option<(usize, f64)>> {
    let (directions, k) = (&report.outcome.solution.directions, report.job.k);
    let mut found = vec![None; k];
    let Some(truth) = report.endmembers else { return found };
    let pairs = (0..k).flat_map(|i| (0..truth.cols).map(move |e| (i, e)));
    let mut pairs: Vec<(f64, usize, usize)> =
        pairs.map(|(i, e)| (angle(&directions.column(i), &truth.column(e)), i, e)).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (angle, i, e) in pairs {
        let taken = found.iter().flatten().any(|(known, _)| *known == e);
        if angle.is_finite() && !taken && found[i].is_none() {
            found[i] = Some((e, angle));
        }
    }
    found
}

/// Mean strength of the points of each cluster.
fn strengths(report: &Report) -> Vec<f64> {
    let solution = &report.outcome.solution;
    let mut sums = vec![(0.0, 0usize); report.job.k];
    for (&label, &v) in solution.labels.iter().zip(&solution.v) {
        if let Ok(i) = usize::try_from(label) {
            sums[i] = (sums[i].0 + v, sums[i].1 + 1);
        }
    }
    sums.into_iter().map(|(sum, n)| sum / n.max(1) as f64).collect()
}

/// The spectrum of each cluster, beside the true one that is nearest.
pub(super) fn spectra(report: &Report) -> Option<String> {
    if report.features != Features::Bands {
        return None;
    }
    let (solution, strengths, nearest) = (&report.outcome.solution, strengths(report), nearest(report));
    let at = |f: usize| report.wavelengths.map_or(f as f64, |w| w[f]);
    let mut series = vec![];
    for i in 0..report.job.k.min(40) {
        let own: Vec<f64> = solution.u.column(i).iter().map(|u| strengths[i] * u).collect();
        let curve = |name: String, values: &[f64], line: Line| Series {
            name,
            points: values.iter().enumerate().map(|(f, x)| (at(f), *x)).collect(),
            colour: Some(i),
            line,
            ..Series::default()
        };
        series.push(curve(words::cluster(report, i), &own, Line::Solid));
        if let (Some((e, angle)), Some(truth)) = (nearest[i], report.endmembers) {
            // A true spectrum may have another unit, and light falls as it falls: only its direction counts.
            let truth = truth.column(e);
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let length = dot(&own, &truth) / dot(&truth, &truth);
            let scaled: Vec<f64> = truth.iter().map(|x| length * x).collect();
            let name = format!("true spectrum {e}, {}° from {i}", decimals(angle, 1));
            series.push(curve(name, &scaled, Line::Dashed));
        }
    }
    Some(lines(&Lines {
        title: "spectrum of every cluster".into(),
        x: Axis::new(if report.wavelengths.is_some() { "wavelength, nm" } else { "band" }),
        y: Axis::new("mean spectrum, in the units of the data"),
        series,
        ..Lines::default()
    }))
}

pub(super) fn spectra_note(report: &Report) -> String {
    let mut note = "The direction of each cluster times the mean strength of its points.".to_string();
    if report.endmembers.is_some() {
        note += " Dashed: the true spectrum at the smallest angle, brought to the same length; angles in degrees.";
    }
    note
}

/// What the page needs to draw the spectrum under the pointer: bytes from 0 to a largest value for each of the pixels that
/// have one, and the directions of the clusters.
pub(super) fn pixels(report: &Report) -> Option<String> {
    let scene = report.findings.scene.as_ref()?;
    let (shape, bands) = (report.image?, scene.shown.len());
    let mut bytes = Vec::with_capacity(scene.spectra.len());
    let mut peaks = vec![];
    for spectrum in scene.spectra.chunks_exact(bands.max(1)) {
        let peak = spectrum.iter().copied().filter(|x| x.is_finite()).fold(0.0, f64::max);
        peaks.push(significant(peak, 4).replace('−', "-"));
        let share = |x: &f64| if peak > 0.0 { (255.0 * x / peak).round().clamp(0.0, 255.0) as u8 } else { 0 };
        bytes.extend(spectrum.iter().map(share));
    }
    let join = |list: Vec<String>| list.join(" ");
    let directions = &report.outcome.solution.directions;
    let curve = |i: usize| {
        let column = directions.column(i);
        let most = column.iter().copied().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        let of = |&f: &usize| format!("{:.0}", 999.0 * column[f] / most);
        join(scene.shown.iter().map(of).collect())
    };
    let curves: Vec<String> = (0..report.job.k).map(curve).collect();
    let names: Vec<String> = (0..report.job.k).map(|i| words::cluster(report, i)).collect();
    let colours: Vec<String> = (0..report.job.k).map(super::colour::css).collect();
    let labels: Vec<String> = scene.pixels.iter().map(|&p| report.labels()[p].to_string()).collect();
    let at = |&f: &usize| report.wavelengths.map_or(f.to_string(), |w| significant(w[f], 5));
    Some(format!(
        r#"<figure class="panel screen" id="pixel" hidden data-step="{}" data-columns="{}" data-height="{}" data-width="{}" data-x="{}" data-xs="{}" data-peaks="{}" data-labels="{}" data-curves="{}" data-names="{}" data-colours="{}" data-spectra="{}"><div class="chartbox"><svg class="chart" viewBox="0 0 640 250" role="img" aria-label="spectrum of the pixel under the pointer"></svg></div><figcaption></figcaption></figure>"#,
        scene.step,
        shape.width.div_ceil(scene.step),
        shape.height,
        shape.width,
        if report.wavelengths.is_some() { "wavelength, nm" } else { "band" },
        join(scene.shown.iter().map(at).collect()),
        join(peaks),
        join(labels),
        curves.join(","),
        escape(&names.join("\n")),
        join(colours),
        base64(&bytes)
    ))
}
