//! A chart as an SVG file of its own: the same drawing with its colours and its legend inside, for papers and slides.

use super::lines::{Line, Lines, dash, lines};
use crate::report::colour::css;
use crate::report::page::escape;

/// What the page's style sheet says, for light backgrounds, in words that every program knows.
const STYLE: &str = "text{font:13px sans-serif;fill:#444}.grid{stroke:#dfe2e6}.tick,.base{stroke:#555;fill:none}\
    .mark path{stroke:#555;stroke-dasharray:3 3;fill:none}.level path{stroke:#00714f;stroke-dasharray:6 4;fill:none}\
    .line{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}.line.none{stroke:none}\
    .density path{fill:currentColor}.error{fill:none;stroke:currentColor;stroke-width:1.2}.marker{fill:currentColor;stroke:#fff}.faint{opacity:.3}";
/// Height of a line of the legend.
const ENTRY: f64 = 20.0;
/// Three names stand beside each other unless one is longer than this.
const SHORT: usize = 20;

/// The file.
pub fn file(chart: &Lines) -> String {
    let html = lines(chart);
    let inside = |from: &str, to: &str| {
        let rest = html.split_once(from).map_or("", |(_, rest)| rest);
        rest.split_once(to).map_or("", |(inside, _)| inside).to_string()
    };
    let (width, height) = match inside("viewBox=\"0 0 ", "\"").split_once(' ') {
        Some((w, h)) => (w.parse().unwrap_or(640.0), h.parse().unwrap_or(300.0)),
        None => (640.0, 300.0),
    };
    let drawing = inside("data-names=\"", "</svg>");
    let drawing =
        drawing.split_once("\">").map_or("", |(_, rest)| rest).replace("style=\"--c:", "style=\"color:");
    let named: Vec<_> = chart.series.iter().filter(|s| !s.name.is_empty() && !s.faint).collect();
    let beside = if named.iter().all(|s| s.name.chars().count() <= SHORT) { 3 } else { 2 };
    let top = 24.0;
    let whole = top + height + ENTRY * named.len().div_ceil(beside) as f64 + 10.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {whole}\" width=\"{width}\" \
         height=\"{whole}\"><title>{}</title><style>{STYLE}</style><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\
         <text x=\"6\" y=\"16\">{}</text><g transform=\"translate(0 {top})\">{drawing}</g>",
        escape(&chart.title),
        escape(&chart.y.label)
    );
    for (i, series) in named.iter().enumerate() {
        let x = 20.0 + (i % beside) as f64 * (width - 20.0) / beside as f64;
        let y = top + height + ENTRY * (i / beside) as f64 + 8.0;
        let line = if series.line == Line::None { "" } else { "M0 0H28" };
        svg += &format!(
            "<g transform=\"translate({x:.1} {y:.1})\" style=\"color:{}\"><path class=\"line\"{} d=\"{line}\"/>\
             <path class=\"marker\" d=\"{}\"/><text x=\"36\" y=\"4\">{}</text></g>",
            series.colour.map_or("#444".to_string(), css),
            dash(series.line),
            series.marker.path(14.0, 0.0, 4.0),
            escape(&series.name)
        );
    }
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::{Axis, Marker, Series};

    #[test]
    fn a_file_has_the_drawing_the_legend_and_nothing_that_only_the_page_knows() {
        let series = |name: &str, colour| Series {
            name: name.into(),
            points: vec![(0.0, 1.0), (1.0, 0.5)],
            colour,
            marker: Marker::Diamond,
            ..Series::default()
        };
        let chart = Lines {
            title: "a < b".into(),
            x: Axis::new("noise"),
            y: Axis::new("accuracy"),
            series: vec![series("<EM>", Some(0)), series("k-means", None)],
            ..Lines::default()
        };
        let svg = file(&chart);
        assert!(
            svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n") && svg.matches("</svg>").count() == 1
        );
        assert!(svg.contains("&lt;EM&gt;") && svg.contains("accuracy") && svg.contains("noise"));
        assert!(!svg.contains("--c") && !svg.contains("var(") && !svg.contains("<EM>"));
        // Two lines in the drawing, two in the legend.
        assert_eq!(svg.matches("class=\"line\"").count(), 4, "{svg}");
        assert_eq!(svg.matches("<g").count(), svg.matches("</g>").count());
    }
}
