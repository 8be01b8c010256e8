//! Lines and scatter plots: curves of a run, scores against noise, points in the plane.

use super::{Axis, Scale};
use crate::report::colour::css;
use crate::report::number::significant;
use crate::report::page::escape;

/// How the points of a series are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Line {
    /// Not at all: a scatter plot.
    None,
    /// Not at all, and so many that they are not told apart: the darker a place, the more of them.
    Density,
    /// By a continuous line.
    #[default]
    Solid,
    /// By a dashed line.
    Dashed,
    /// By a dotted line.
    Dotted,
}

/// What stands at the points of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Marker {
    /// Nothing.
    #[default]
    None,
    /// A disc.
    Circle,
    /// A square.
    Square,
    /// A square on its corner.
    Diamond,
    /// A triangle.
    Triangle,
    /// A cross.
    Cross,
}

impl Marker {
    /// A different one for each of a few series.
    pub fn nth(i: usize) -> Marker {
        [Marker::Circle, Marker::Square, Marker::Diamond, Marker::Triangle, Marker::Cross][i % 5]
    }

    pub(super) fn path(self, x: f64, y: f64, r: f64) -> String {
        match self {
            Marker::None => String::new(),
            Marker::Circle => {
                format!(
                    "M{:.1} {y:.1}a{r} {r} 0 1 0 {:.1} 0a{r} {r} 0 1 0 {:.1} 0z",
                    x - r,
                    2.0 * r,
                    -2.0 * r
                )
            }
            Marker::Square => {
                let s = 0.9 * r;
                format!("M{:.1} {:.1}h{:.1}v{:.1}h{:.1}z", x - s, y - s, 2.0 * s, 2.0 * s, -2.0 * s)
            }
            Marker::Diamond => {
                let s = 1.25 * r;
                format!("M{x:.1} {:.1}l{s:.1} {s:.1}l{:.1} {s:.1}l{:.1} {:.1}z", y - s, -s, -s, -s)
            }
            Marker::Triangle => {
                let s = 1.2 * r;
                format!("M{x:.1} {:.1}l{s:.1} {:.1}h{:.1}z", y - s, 1.8 * s, -2.0 * s)
            }
            Marker::Cross => {
                let (a, b) = (1.2 * r, 0.4 * r);
                let arm = a - b / 2.0;
                format!(
                    "M{:.1} {:.1}h{b:.1}v{arm:.1}h{arm:.1}v{b:.1}h-{arm:.1}v{arm:.1}h-{b:.1}v-{arm:.1}h-{arm:.1}v-{b:.1}h{arm:.1}z",
                    x - b / 2.0,
                    y - a
                )
            }
        }
    }
}

/// Points that belong together.
#[derive(Debug, Clone, Default)]
pub struct Series {
    /// Its name in the legend; none without one.
    pub name: String,
    /// The points, in the order in which they are joined.
    pub points: Vec<(f64, f64)>,
    /// Half the length of each point's error bar; empty for none.
    pub deviation: Vec<f64>,
    /// Number of its colour; none for the colour of the text.
    pub colour: Option<usize>,
    /// How the points are joined.
    pub line: Line,
    /// What stands at them.
    pub marker: Marker,
    /// Drawn pale, behind the others: one of many runs.
    pub faint: bool,
    /// A word by which a selector on the page finds it.
    pub key: Option<String>,
}

/// A vertical line with a word: here the polish began.
#[derive(Debug, Clone)]
pub struct Mark {
    /// Where.
    pub x: f64,
    /// The word.
    pub label: String,
}

/// A horizontal line with a word: no factorisation goes below.
#[derive(Debug, Clone)]
pub struct HorizontalLine {
    /// Where.
    pub y: f64,
    /// The word.
    pub label: String,
}

/// A chart of lines, points, or both.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    /// What it shows, for those who do not see it.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The series, those in front last.
    pub series: Vec<Series>,
    /// Vertical lines.
    pub marks: Vec<Mark>,
    /// Horizontal lines.
    pub levels: Vec<HorizontalLine>,
    /// Whether a unit is as long on both axes.
    pub equal: bool,
    /// Words for the first values of the horizontal axis, where it counts categories.
    pub names: Vec<String>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 56.0;
/// More points than this in one chart only make the page heavy.
const MOST_POINTS: usize = 6000;
/// As many as there are places on the axis.
const MOST_IN_A_SERIES: usize = 600;

/// Vertical lines with their labels; a label that would cover the last one is left out.
fn vertical_lines(marks: &[Mark], x: &Scale, bottom: f64) -> String {
    const LETTER: f64 = 8.0;
    let mut places: Vec<(f64, &Mark)> = marks.iter().filter_map(|m| Some((x.place(m.x)?, m))).collect();
    places.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut svg, mut taken) = (String::new(), f64::NEG_INFINITY);
    for (at, mark) in places {
        let width = LETTER * mark.label.chars().count() as f64;
        let (from, anchor) = if at > 0.7 * WIDTH { (at - 5.0 - width, "end") } else { (at + 5.0, "start") };
        svg += &format!(r#"<g class="mark"><path d="M{at:.1} {TOP}V{bottom:.1}"/>"#);
        if from > taken {
            taken = from + width;
            let (left, down) = (if anchor == "end" { taken } else { from }, TOP + 12.0);
            let label = escape(&mark.label);
            svg += &format!(r#"<text x="{left:.1}" y="{down:.1}" text-anchor="{anchor}">{label}</text>"#);
        }
        svg += "</g>";
    }
    svg
}

/// Every n-th point and the two ends; within each stretch the lowest and the highest stay.
pub(crate) fn thinned(points: &[(f64, f64)], most: usize) -> Vec<usize> {
    if points.len() <= most.max(4) {
        return (0..points.len()).collect();
    }
    let (inner, stretches) = (points.len() - 2, (most.max(4) - 2) / 2);
    let mut kept = vec![0];
    for s in 0..stretches {
        let range = 1 + s * inner / stretches..1 + (s + 1) * inner / stretches;
        let by_height = |&a: &usize, &b: &usize| points[a].1.total_cmp(&points[b].1);
        let (low, high) = (range.clone().min_by(by_height), range.max_by(by_height));
        kept.extend([low, high].into_iter().flatten());
    }
    kept.push(points.len() - 1);
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// The chart as HTML: a figure with an SVG and its legend.
pub fn lines(chart: &Lines) -> String {
    let height = if chart.equal { 420.0 } else { HEIGHT };
    let marked = chart.equal || chart.series.iter().any(|s| s.marker != Marker::None);
    let all = || chart.series.iter().flat_map(|s| s.points.iter());
    let x = Scale::new(&chart.x, all().map(|p| p.0), LEFT, WIDTH - RIGHT, if marked { 0.03 } else { 0.0 });
    let spread = chart.series.iter().flat_map(|s| {
        s.points.iter().enumerate().flat_map(|(i, p)| {
            let d = s.deviation.get(i).copied().unwrap_or(0.0);
            [p.1 - d, p.1 + d]
        })
    });
    // Room for the words below a level.
    let top = all().map(|p| p.1).filter(|y| y.is_finite()).fold(f64::NEG_INFINITY, f64::max);
    let heights = spread.chain(chart.levels.iter().map(|l| l.y - 0.15 * (top - l.y).max(0.0)));
    let y = Scale::new(&chart.y, heights, height - BOTTOM, TOP, 0.05);
    let (x, y) = if chart.equal { Scale::equal(x, y) } else { (x, y) };

    let mut svg = format!(
        r#"<svg class="chart lines" viewBox="0 0 {WIDTH} {height}" role="img" tabindex="0" aria-label="{}" data-x="{}" data-y="{}" data-names="{}">"#,
        escape(&chart.title),
        escape(&chart.x.label),
        escape(&chart.y.label),
        escape(&chart.names.join("\n"))
    );
    svg += &axes(chart, &x, &y, height);
    svg += &vertical_lines(&chart.marks, &x, height - BOTTOM);
    for level in &chart.levels {
        if let Some(at) = y.place(level.y) {
            svg += &format!(
                r#"<g class="level"><path d="M{LEFT} {at:.1}H{:.1}"/><text x="{:.1}" y="{:.1}" text-anchor="end">{}</text></g>"#,
                WIDTH - RIGHT,
                WIDTH - RIGHT - 4.0,
                at + 16.0,
                escape(&level.label)
            );
        }
    }
    // Clouds lie behind everything.
    for series in chart.series.iter().filter(|s| s.line == Line::Density) {
        svg += &density(series, &x, &y);
    }
    let each = (MOST_POINTS / chart.series.len().max(1)).clamp(8, MOST_IN_A_SERIES);
    for series in chart.series.iter().filter(|s| s.line != Line::Density) {
        svg += &drawn(series, &x, &y, each);
    }
    svg += r#"<g class="cursor" aria-hidden="true"></g></svg>"#;
    format!(r#"<div class="chartbox">{svg}{}</div>"#, legend(chart))
}

fn axes(chart: &Lines, x: &Scale, y: &Scale, height: f64) -> String {
    let (right, bottom) = (WIDTH - RIGHT, height - BOTTOM);
    let mut svg = String::from(r#"<g class="axis">"#);
    for (value, label) in y.ticks(7) {
        let Some(at) = y.place(value) else { continue };
        svg += &format!(
            r#"<path class="grid" d="M{LEFT} {at:.1}H{right}"/><text x="{:.1}" y="{:.1}" text-anchor="end">{label}</text>"#,
            LEFT - 8.0,
            at + 4.5
        );
    }
    // Between whole numbers (of clusters, of iterations) there is nothing to point at.
    let whole = chart.series.iter().flat_map(|s| &s.points).all(|point| point.0.fract() == 0.0);
    let ticks = match chart.names.is_empty() {
        true if whole => x.whole_ticks(7),
        true => x.ticks(7),
        false => chart.names.iter().enumerate().map(|(i, name)| (i as f64, escape(name))).collect(),
    };
    for (i, (value, label)) in ticks.into_iter().enumerate() {
        let Some(at) = x.place(value) else { continue };
        let class = if i % 2 == 1 { r#" class="second""# } else { "" };
        svg += &format!(
            r#"<path class="tick" d="M{at:.1} {bottom}v5"/><text{class} x="{at:.1}" y="{:.1}" text-anchor="middle">{label}</text>"#,
            bottom + 22.0
        );
    }
    svg += &format!(
        r#"<path class="base" d="M{LEFT} {bottom}H{right}"/><text class="name" x="{:.1}" y="{:.1}" text-anchor="middle">{}</text></g>"#,
        (LEFT + right) / 2.0,
        height - 6.0,
        escape(&chart.x.label)
    );
    svg
}

fn drawn(series: &Series, x: &Scale, y: &Scale, most: usize) -> String {
    let colour = series.colour.map_or("currentColor".to_string(), css);
    let key = series.key.as_ref().map_or(String::new(), |k| format!(r#" data-key="{}""#, escape(k)));
    let kept = thinned(&series.points, most);
    let (mut path, mut marks, mut errors) = (String::new(), String::new(), String::new());
    let (mut xs, mut ys) = (vec![], vec![]);
    let mut pen = false;
    for &i in &kept {
        let (a, b) = series.points[i];
        let (Some(px), Some(py)) = (x.place(a), y.place(b)) else {
            pen = false;
            continue;
        };
        path += &format!("{}{px:.1} {py:.1}", if pen { "L" } else { "M" });
        pen = true;
        xs.push(format!("{a}"));
        ys.push(significant(b, 6).replace('−', "-"));
        marks += &series.marker.path(px, py, 4.0);
        if let Some(&d) = series.deviation.get(i).filter(|d| **d > 0.0)
            && let (Some(low), Some(high)) = (y.place(b - d).or(Some(py)), y.place(b + d))
        {
            errors += &format!(
                "M{px:.1} {low:.1}V{high:.1}M{:.1} {low:.1}h6M{:.1} {high:.1}h6",
                px - 3.0,
                px - 3.0
            );
        }
    }
    let mut out = format!(
        r#"<g class="series{}" style="--c:{colour}"{key} data-name="{}" data-xs="{}" data-ys="{}">"#,
        if series.faint { " faint" } else { "" },
        escape(&series.name),
        xs.join(" "),
        ys.join(" ")
    );
    // A scatter plot has an unseen line: the places of its points, for the pointer.
    let class = if series.line == Line::None { "line none" } else { "line" };
    out += &format!(r#"<path class="{class}"{} d="{path}"/>"#, dash(series.line));
    if !errors.is_empty() {
        out += &format!(r#"<path class="error" d="{errors}"/>"#);
    }
    if series.marker != Marker::None {
        out += &format!(r#"<path class="marker" d="{marks}"/>"#);
    }
    out + "</g>"
}

/// How many points lie in each of many small squares, as shades.
fn density(series: &Series, x: &Scale, y: &Scale) -> String {
    const CELL: f64 = 6.0;
    const SHADES: usize = 6;
    let mut cells = std::collections::BTreeMap::new();
    for (a, b) in &series.points {
        let (Some(px), Some(py)) = (x.place(*a), y.place(*b)) else { continue };
        *cells.entry(((px / CELL) as i64, (py / CELL) as i64)).or_insert(0usize) += 1;
    }
    let most = cells.values().copied().max().unwrap_or(1) as f64;
    let mut paths = vec![String::new(); SHADES];
    for ((column, row), n) in cells {
        // Few and many differ by factors.
        let share = (1.0 + n as f64).ln() / (1.0 + most).ln();
        let shade = ((share * SHADES as f64).ceil() as usize).clamp(1, SHADES) - 1;
        paths[shade] += &format!("M{} {}h{CELL}v{CELL}h-{CELL}z", column * CELL as i64, row * CELL as i64);
    }
    let colour = series.colour.map_or("currentColor".to_string(), css);
    let mut out = format!(r#"<g class="density" style="--c:{colour}">"#);
    for (shade, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
        out += &format!(r#"<path opacity="{:.2}" d="{path}"/>"#, (shade + 1) as f64 / SHADES as f64);
    }
    out + "</g>"
}

pub(super) fn dash(line: Line) -> &'static str {
    match line {
        Line::Dashed => r#" stroke-dasharray="7 5""#,
        Line::Dotted => r#" stroke-dasharray="2 4""#,
        Line::None | Line::Density | Line::Solid => "",
    }
}

fn legend(chart: &Lines) -> String {
    let named: Vec<&Series> =
        chart.series.iter().filter(|s| !s.name.is_empty() && !s.faint && s.line != Line::Density).collect();
    let mut out = format!(r#"<p class="ylabel">{}</p>"#, escape(&chart.y.label));
    if named.len() < 2 {
        return out;
    }
    out += r#"<ul class="legend">"#;
    for series in named.iter().take(40) {
        let colour = series.colour.map_or("currentColor".to_string(), css);
        let dash = dash(series.line);
        let line = if series.line == Line::None { "" } else { "M1 8H27" };
        out += &format!(
            r#"<li style="--c:{colour}"><svg viewBox="0 0 28 16" aria-hidden="true"><path class="line"{dash} d="{line}"/><path class="marker" d="{}"/></svg>{}</li>"#,
            series.marker.path(14.0, 8.0, 4.0),
            escape(&series.name)
        );
    }
    out + "</ul>"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(n: usize) -> Series {
        Series {
            name: "a".into(),
            points: (0..n).map(|i| (i as f64, 1.0 / (1 + i) as f64)).collect(),
            ..Series::default()
        }
    }

    #[test]
    fn long_histories_are_thinned_and_keep_their_ends_and_extremes() {
        let mut points = curve(100_000).points;
        points[31_415].1 = 7.0;
        points[27_182].1 = -7.0;
        let kept = thinned(&points, 600);
        assert!(kept.len() <= 600 && kept.windows(2).all(|w| w[0] < w[1]));
        for needed in [0, 27_182, 31_415, 99_999] {
            assert!(kept.contains(&needed), "{needed}");
        }
        assert_eq!(thinned(&points[..50], 600).len(), 50);
        let series = (0..60).map(|_| curve(50_000)).collect();
        assert!(lines(&Lines { series, ..Lines::default() }).len() < 400_000);
    }

    #[test]
    fn values_are_there_to_hover_over_and_names_are_escaped() {
        let mut series = curve(3);
        series.name = "<&\">".into();
        series.deviation = vec![0.1, 0.1, 0.1];
        series.marker = Marker::Diamond;
        let html = lines(&Lines { title: "t\"<".into(), series: vec![series, curve(2)], ..Lines::default() });
        assert!(
            html.contains(r#"data-xs="0 1 2""#) && html.contains(r#"data-ys="1 0.5 0.333333""#),
            "{html}"
        );
        assert!(!html.contains("<&") && html.contains("&lt;&amp;&quot;&gt;"));
        assert!(html.contains(r#"class="error""#) && html.contains(r#"class="marker""#));
        assert!(html.contains(r#"class="legend""#) && html.contains("tabindex"));
    }

    #[test]
    fn of_many_points_the_dense_core_is_the_darkest() {
        let mut points = vec![(5.0, 5.0); 1000];
        points.extend((0..10).map(|i| (f64::from(i), f64::from(9 - i))));
        let series = vec![Series { points, line: Line::Density, ..Series::default() }];
        let html = lines(&Lines { series, ..Lines::default() });
        let paths: Vec<&str> = html.split("<path opacity=\"").skip(1).collect();
        // Ten squares of one point each, one of a thousand.
        assert_eq!(paths.len(), 2, "{html}");
        assert!(paths[0].starts_with("0.1") && paths[0].matches('z').count() == 10);
        assert!(paths[1].starts_with("1.00") && paths[1].matches('z').count() == 1);
    }

    #[test]
    fn what_has_no_place_on_a_logarithmic_axis_interrupts_the_line() {
        let points = vec![(1.0, 1.0), (2.0, 0.0), (3.0, 0.1)];
        let chart = Lines {
            y: Axis::log("r"),
            series: vec![Series { points, ..Series::default() }],
            ..Lines::default()
        };
        let html = lines(&chart);
        let path = html.split(r#"class="line" d=""#).nth(1).unwrap().split('"').next().unwrap();
        assert_eq!(path.matches('M').count(), 2, "{path}");
        assert!(!html.contains("NaN") && !html.contains("inf"));
    }
}
