//! Values of several things on one scale, with their deviations: HTML, so that names stay readable at any width.

use super::{Axis, Scale};
use crate::report::page::{escape, shortened};

/// One line of the plot.
#[derive(Debug, Clone, Default)]
pub struct Dot {
    /// What it is.
    pub name: String,
    /// Where the dot stands.
    pub value: f64,
    /// Half the length of its line; 0 for none.
    pub deviation: f64,
    /// The value in words.
    pub text: String,
    /// Whether it is one of the best.
    pub best: bool,
}

/// The plot, in the order given; `label` says what the values are.
pub fn dots(title: &str, label: &str, dots: &[Dot]) -> String {
    let ends = dots.iter().flat_map(|d| [d.value - d.deviation, d.value + d.deviation]);
    let scale = Scale::new(&Axis::new(label), ends, 0.0, 100.0, 0.04);
    let place = |x: f64| scale.place(x).unwrap_or(0.0).clamp(0.0, 100.0);
    let mut out = format!(r#"<div class="dotplot" role="img" aria-label="{}">"#, escape(title));
    for dot in dots.iter().filter(|d| d.value.is_finite()) {
        let (low, high) = (place(dot.value - dot.deviation), place(dot.value + dot.deviation));
        let name = escape(&shortened(&dot.name, 60));
        let best = if dot.best { " best" } else { "" };
        out += &format!(
            r#"<div class="row{best}"><span class="what" title="{name}">{name}</span><span class="lane"><i class="range" style="left:{low:.2}%;width:{:.2}%"></i><i class="dot" style="left:{:.2}%"></i></span><span class="value">{}</span></div>"#,
            high - low,
            place(dot.value),
            escape(&dot.text)
        );
    }
    out += r#"<div class="row axis"><span class="what"></span><span class="lane">"#;
    for (value, text) in scale.ticks(4) {
        out += &format!(r#"<b style="left:{:.2}%">{text}</b>"#, place(value));
    }
    out + &format!(r#"</span><span class="value"></span></div><p>{}</p></div>"#, escape(label))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_stand_where_their_values_are_within_their_deviations() {
        let dot = |name: &str, value, deviation| Dot {
            name: name.into(),
            value,
            deviation,
            text: "t".into(),
            best: value == 3.0,
        };
        let all = [dot("<a>", 1.0, 0.0), dot("b", 2.0, 1.0), dot("c", 3.0, 0.0), dot("d", f64::NAN, 0.0)];
        let html = dots("plot", "accuracy", &all);
        assert_eq!(html.matches(r#"class="dot""#).count(), 3);
        assert!(html.contains("&lt;a&gt;") && !html.contains("NaN"));
        // The line of b goes from the dot of a to the dot of c, its own is in the middle.
        let lefts: Vec<&str> =
            html.split(r#"class="dot" style="left:"#).skip(1).map(|s| s.split('%').next().unwrap()).collect();
        assert_eq!(lefts[1], "50.00");
        let line = html.split(r#"class="range" style="left:"#).nth(2).unwrap();
        assert!(line.starts_with(&format!("{}%", lefts[0])), "{line}");
        assert_eq!(html.matches("row best").count(), 1);
    }
}
