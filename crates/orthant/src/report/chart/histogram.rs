//! Counts of values in equal intervals.

use super::{Axis, Scale};
use crate::report::number::{count, significant};
use crate::report::page::escape;

/// What was counted of values.
#[derive(Debug, Clone, Default)]
pub struct Histogram {
    /// What it shows, for those who do not see it.
    pub title: String,
    /// What the values are.
    pub label: String,
    /// What is counted.
    pub counted: String,
    /// How many values fall in each of the intervals, see [`counts`].
    pub counts: Vec<usize>,
    /// First and last value.
    pub range: (f64, f64),
}

/// How many values fall in each of `bins` equal intervals; those that are not finite are left out, those out of range count at
/// the ends.
pub fn counts(values: impl Iterator<Item = f64>, (low, high): (f64, f64), bins: usize) -> Vec<usize> {
    let mut counts = vec![0; bins.max(1)];
    for x in values.filter(|x| x.is_finite()) {
        let share = ((x - low) / (high - low)).clamp(0.0, 1.0);
        counts[((share * bins as f64) as usize).min(bins.max(1) - 1)] += 1;
    }
    counts
}

/// The histogram as an inline SVG; every column can be reached by keyboard and tells its count.
pub fn histogram(chart: &Histogram) -> String {
    const LEFT: f64 = 78.0;
    const RIGHT: f64 = 624.0;
    const TOP: f64 = 16.0;
    const BOTTOM: f64 = 212.0;
    let (counts, (low, high)) = (&chart.counts, chart.range);
    let most = counts.iter().copied().max().unwrap_or(0).max(1) as f64;
    let axis = |range| Axis { range: Some(range), ..Axis::default() };
    let x = Scale::new(&axis((low, high)), std::iter::empty(), LEFT, RIGHT, 0.0);
    let y = Scale::new(&axis((0.0, most)), std::iter::empty(), BOTTOM, TOP, 0.0);
    let mut svg = format!(
        r#"<div class="chartbox"><svg class="chart columns" viewBox="0 0 640 270" role="group" aria-label="{}"><g class="axis">"#,
        escape(&chart.title)
    );
    for (value, _) in y.ticks(4).into_iter().filter(|t| t.0.fract() == 0.0) {
        let at = y.place(value).unwrap_or(BOTTOM);
        svg += &format!(
            r#"<path class="grid" d="M{LEFT} {at:.1}H{RIGHT}"/><text x="{:.1}" y="{:.1}" text-anchor="end">{}</text>"#,
            LEFT - 8.0,
            at + 4.5,
            count(value as usize)
        );
    }
    for (i, (value, label)) in x.ticks(6).into_iter().enumerate() {
        let at = x.place(value).unwrap_or(LEFT);
        let class = if i % 2 == 1 { r#" class="second""# } else { "" };
        svg += &format!(
            r#"<path class="tick" d="M{at:.1} {BOTTOM}v5"/><text{class} x="{at:.1}" y="{:.1}" text-anchor="middle">{label}</text>"#,
            BOTTOM + 22.0
        );
    }
    svg += &format!(
        r#"<text class="name" x="{:.1}" y="263" text-anchor="middle">{}</text></g>"#,
        (LEFT + RIGHT) / 2.0,
        escape(&chart.label)
    );
    let width = (RIGHT - LEFT) / counts.len() as f64;
    for (i, &n) in counts.iter().enumerate() {
        let top = y.place(n as f64).unwrap_or(BOTTOM);
        let edge = |i: usize| significant(low + (high - low) * i as f64 / counts.len() as f64, 3);
        let words = format!("{} to {}: {} {}", edge(i), edge(i + 1), count(n), chart.counted);
        svg += &format!(
            r#"<rect class="column" tabindex="0" role="img" aria-label="{0}" x="{1:.1}" y="{top:.1}" width="{2:.1}" height="{3:.1}"><title>{0}</title></rect>"#,
            escape(&words),
            LEFT + i as f64 * width + 0.5,
            width - 1.0,
            (BOTTOM - top).max(if n > 0 { 1.0 } else { 0.0 })
        );
    }
    svg + &format!(
        r#"<path class="base" d="M{LEFT} {BOTTOM}H{RIGHT}"/></svg><p class="ylabel">{}</p></div>"#,
        escape(&chart.counted)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finite_value_is_counted_once() {
        let values = [0.0, 0.24, 0.25, 0.5, 1.0, 2.0, -1.0, f64::NAN];
        let counts = counts(values.into_iter(), (0.0, 1.0), 4);
        assert_eq!(counts, [3, 1, 1, 2]);
        let html = histogram(&Histogram {
            counts,
            range: (0.0, 1.0),
            counted: "<p>".into(),
            ..Histogram::default()
        });
        assert_eq!(html.matches("<rect").count(), 4);
        assert!(html.contains("0 to 0.25: 3 &lt;p&gt;") && !html.contains("NaN"));
    }
}
