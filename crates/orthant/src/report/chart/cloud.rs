//! A map of points among the corners of a circle: their names on hover, their group on click.

use crate::report::colour::css;
use crate::report::page::{escape, shortened};

/// Points of one group.
#[derive(Debug, Clone, Default)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Its corner, on a circle of radius 1.
    pub corner: (f64, f64),
    /// Its points, and what each is called.
    pub points: Vec<(f64, f64, String)>,
    /// Where it leads to on the page, without the `#`.
    pub link: Option<String>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 500.0;
const RADIUS: f64 = 180.0;
/// Letters of a name beside its corner, at most; on narrow screens only its number stands there.
const LETTERS: usize = 18;
/// Room that a letter takes.
const LETTER: f64 = 8.2;
/// Corners with names rather than numbers.
const NAMED: usize = 12;

fn place(x: f64, y: f64) -> (f64, f64) {
    (WIDTH / 2.0 + RADIUS * x, HEIGHT / 2.0 - RADIUS * y)
}

/// The map as HTML; the groups have the colours of their numbers.
pub fn cloud(title: &str, groups: &[Group]) -> String {
    let mut svg = format!(
        r#"<div class="chartbox"><svg class="chart cloud" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{}"><circle class="grid" cx="{}" cy="{}" r="{RADIUS}" fill="none"/>"#,
        escape(title),
        WIDTH / 2.0,
        HEIGHT / 2.0
    );
    let largest = groups.iter().map(|g| g.points.len()).max().unwrap_or(0);
    let size = if largest > 600 { 3.5 } else { 5.0 };
    for (i, group) in groups.iter().enumerate() {
        let at = |&(x, y, _): &(f64, f64, String)| {
            let (x, y) = place(x, y);
            format!("M{x:.1} {y:.1}h0")
        };
        let names: Vec<String> = group.points.iter().map(|p| p.2.replace('\n', " ")).collect();
        svg += &format!(
            r#"<g class="dots" style="--c:{}" data-name="{}" data-link="{}" data-points="{}"><path stroke-width="{size}" d="{}"/></g>"#,
            css(i),
            escape(&group.name),
            escape(group.link.as_deref().unwrap_or_default()),
            escape(&names.join("\n")),
            group.points.iter().map(at).collect::<String>()
        );
    }
    for (i, group) in groups.iter().enumerate() {
        let (x, y) = group.corner;
        let (left, down) = place(1.07 * x, 1.07 * y);
        let anchor = if x > 0.2 {
            "start"
        } else if x < -0.2 {
            "end"
        } else {
            "middle"
        };
        let number = i.to_string();
        let room = match anchor {
            "start" => WIDTH - left,
            "end" => left,
            _ => 2.0 * left.min(WIDTH - left),
        };
        let name = shortened(&group.name, LETTERS.min((room / LETTER) as usize));
        let rest = name.strip_prefix(&number).filter(|_| groups.len() <= NAMED).unwrap_or_default();
        let (mark_x, mark_y) = place(x, y);
        svg += &format!(
            r#"<circle class="corner" style="--c:{}" cx="{mark_x:.1}" cy="{mark_y:.1}" r="5"/><text x="{left:.1}" y="{:.1}" text-anchor="{anchor}">{number}<tspan class="rest">{}</tspan></text>"#,
            css(i),
            down + 4.5 - 6.0 * y,
            escape(rest)
        );
    }
    svg + r#"<g class="cursor" aria-hidden="true"></g></svg></div>"#
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_drawn_and_named_and_names_are_escaped() {
        let group = |corner, name: &str| Group {
            name: name.into(),
            corner,
            points: vec![(0.0, 1.0, "a\nb".into()), (0.5, 0.0, "<c>".into())],
            link: Some("cluster-0".into()),
        };
        let html = cloud("map", &[group((0.0, 1.0), "<x>"), group((0.0, -1.0), "y")]);
        assert_eq!(html.matches("h0").count(), 4);
        assert!(html.contains("M320.0 70.0h0M410.0 250.0h0"), "{html}");
        assert!(html.contains("data-points=\"a b\n&lt;c&gt;\"") && html.contains("&lt;x&gt;"));
        assert!(!html.contains("<x>") && html.contains(r#"data-link="cluster-0""#));
    }

    #[test]
    fn names_at_the_sides_are_no_longer_than_the_room_there() {
        let group = |corner, name: &str| Group { name: name.into(), corner, ..Group::default() };
        let corners = [
            group((1.0, 0.0), "0: GENE136, GENE79, GENE243"),
            group((0.0, 1.0), "1: GENE279, GENE277, GENE1"),
        ];
        let html = cloud("map", &corners);
        let shown =
            |at: usize| html.split("<tspan class=\"rest\">").nth(at + 1).unwrap().split('<').next().unwrap();
        assert_eq!(shown(1).chars().count() + 1, LETTERS);
        let (left, _) = place(1.07, 0.0);
        assert!(left + LETTER * (shown(0).chars().count() + 1) as f64 <= WIDTH, "{}", shown(0));
    }
}
