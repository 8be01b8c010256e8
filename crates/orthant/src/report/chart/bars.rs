//! Horizontal bars with names and values: HTML, so that they fit any width.

use crate::report::colour::css;
use crate::report::page::escape;

/// One bar.
#[derive(Debug, Clone)]
pub struct Bar {
    /// What it counts.
    pub name: String,
    /// Its length.
    pub value: f64,
    /// Its value in words.
    pub text: String,
    /// What the tooltip says.
    pub detail: String,
    /// Number of its colour.
    pub colour: Option<usize>,
    /// Where it leads to on the page, without the `#`.
    pub link: Option<String>,
}

/// The bars as a list, the longest as wide as there is room.
pub fn bars(title: &str, bars: &[Bar]) -> String {
    let most = bars.iter().map(|b| b.value).filter(|x| x.is_finite()).fold(0.0, f64::max);
    let mut out = format!(r#"<ul class="bars" aria-label="{}">"#, escape(title));
    for bar in bars {
        let share =
            if most > 0.0 && bar.value.is_finite() { (bar.value / most).clamp(0.0, 1.0) } else { 0.0 };
        let name = match &bar.link {
            Some(link) => format!(r##"<a href="#{}">{}</a>"##, escape(link), escape(&bar.name)),
            None => escape(&bar.name),
        };
        out += &format!(
            r#"<li tabindex="0" title="{}"><span class="what">{name}</span><span class="track"><span class="bar" style="width:{:.2}%;--c:{}"></span></span><span class="value">{}</span></li>"#,
            escape(&bar.detail),
            100.0 * share,
            bar.colour.map_or("var(--accent)".to_string(), css),
            escape(&bar.text)
        );
    }
    out + "</ul>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_bar_fills_the_track_and_names_are_escaped() {
        let bar = |name: &str, value| Bar {
            name: name.into(),
            value,
            text: value.to_string(),
            detail: "a \"b\"".into(),
            colour: Some(0),
            link: None,
        };
        let html = bars("sizes", &[bar("<i>", 5.0), bar("b", 10.0), bar("c", 0.0), bar("d", f64::NAN)]);
        assert!(
            html.contains("width:50.00%") && html.contains("width:100.00%") && html.contains("width:0.00%")
        );
        assert!(html.contains("&lt;i&gt;") && html.contains("a &quot;b&quot;") && !html.contains("NaN%"));
    }
}
