//! Horizontal bars with names and values: HTML, so that they fit any width.

use crate::report::colour::css;
use crate::report::page::escape;

/// One bar, or several beside each other.
#[derive(Debug, Clone)]
pub struct Bar {
    /// What it counts.
    pub name: String,
    /// Lengths, and what they are in words: one for each column.
    pub values: Vec<(f64, String)>,
    /// What the tooltip says.
    pub detail: String,
    /// Number of its colour.
    pub colour: Option<usize>,
    /// Where it leads to on the page, without the `#`.
    pub link: Option<String>,
}

/// The bars as a list under the names of the columns, the longest of each as wide as there is room.
pub fn bars(title: &str, columns: &[&str], bars: &[Bar]) -> String {
    let length = |bar: &Bar, c: usize| bar.values.get(c).map_or(0.0, |v| v.0);
    let most = |c: usize| bars.iter().map(|b| length(b, c)).filter(|x| x.is_finite()).fold(0.0, f64::max);
    let mut out = format!(
        r#"<ul class="bars" aria-label="{}"><li class="head" aria-hidden="true"><span></span>"#,
        escape(title)
    );
    for name in columns {
        out += &format!(r#"<span class="column-name">{}</span>"#, escape(name));
    }
    out += "</li>";
    for bar in bars {
        let name = match &bar.link {
            Some(link) => format!(r##"<a href="#{}">{}</a>"##, escape(link), escape(&bar.name)),
            None => escape(&bar.name),
        };
        out += &format!(
            r#"<li tabindex="0" title="{}" style="--c:{}"><span class="what"><i class="swatch"></i>{name}</span>"#,
            escape(&bar.detail),
            bar.colour.map_or("var(--accent)".to_string(), css)
        );
        for (c, (value, text)) in bar.values.iter().enumerate() {
            let share =
                if most(c) > 0.0 && value.is_finite() { (value / most(c)).clamp(0.0, 1.0) } else { 0.0 };
            out += &format!(
                r#"<span class="track"><span class="bar" style="width:{:.2}%"></span></span><span class="value">{}</span>"#,
                100.0 * share,
                escape(text)
            );
        }
        out += "</li>";
    }
    out + "</ul>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_bar_fills_the_track_and_names_are_escaped() {
        let bar = |name: &str, value: f64| Bar {
            name: name.into(),
            values: vec![(value, value.to_string()), (1.0, "one".into())],
            detail: "a \"b\"".into(),
            colour: Some(0),
            link: None,
        };
        let all = [bar("<i>", 5.0), bar("b", 10.0), bar("c", 0.0), bar("d", f64::NAN)];
        let html = bars("sizes", &["share of <x>", "other"], &all);
        assert!(html.contains("width:50.00%") && html.contains("width:0.00%"));
        assert_eq!(html.matches("width:100.00%").count(), 1 + 4);
        assert!(html.contains("&lt;i&gt;") && html.contains("a &quot;b&quot;") && !html.contains("NaN%"));
        assert!(html.contains("share of &lt;x&gt;"));
    }
}
