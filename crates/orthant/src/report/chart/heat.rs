//! A table whose cells are shaded by their value.

use crate::report::page::escape;

/// A table of numbers with names at both edges.
#[derive(Debug, Clone, Default)]
pub struct Heat {
    /// What it shows, for those who do not see it.
    pub title: String,
    /// What stands in the corner: rows \ columns.
    pub corner: String,
    /// Names of the rows (HTML is escaped).
    pub rows: Vec<String>,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Row after row: shade in [0, 1], what the cell says, what its tooltip says.
    pub cells: Vec<(f64, String, String)>,
    /// Cells (row, column) with a frame.
    pub framed: Vec<(usize, usize)>,
    /// Colours of the rows' names, where they have any.
    pub colours: Vec<usize>,
}

/// The table as HTML; wide ones scroll.
pub fn heat(table: &Heat) -> String {
    let mut out = format!(
        r#"<div class="scroll" tabindex="0" role="region" aria-label="{0}"><table class="heat"><caption class="hidden">{0}</caption><thead><tr><th>{1}</th>"#,
        escape(&table.title),
        escape(&table.corner)
    );
    for name in &table.columns {
        out += &format!(r#"<th scope="col">{}</th>"#, escape(name));
    }
    out += "</tr></thead><tbody>";
    for (r, name) in table.rows.iter().enumerate() {
        let swatch = match table.colours.get(r) {
            Some(&c) => format!(r#"<i class="swatch" style="--c:{}"></i>"#, crate::report::colour::css(c)),
            None => String::new(),
        };
        out += &format!(r#"<tr><th scope="row">{swatch}{}</th>"#, escape(name));
        for c in 0..table.columns.len() {
            let Some((shade, text, detail)) = table.cells.get(r * table.columns.len() + c) else { break };
            let shade = if shade.is_finite() { shade.clamp(0.0, 1.0) } else { 0.0 };
            let mut class = String::new();
            if shade > 0.55 {
                class += " deep";
            }
            if table.framed.contains(&(r, c)) {
                class += " framed";
            }
            out += &format!(
                r#"<td class="{}" style="--h:{:.0}%" title="{}">{}</td>"#,
                class.trim_start(),
                100.0 * shade,
                escape(detail),
                escape(text)
            );
        }
        out += "</tr>";
    }
    out + "</tbody></table></div>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_follow_the_values_and_names_are_escaped() {
        let html = heat(&Heat {
            rows: vec!["<r>".into()],
            columns: vec!["a&b".into(), "c".into()],
            cells: vec![(0.25, "1".into(), "one \"x\"".into()), (f64::NAN, "–".into(), String::new())],
            framed: vec![(0, 0)],
            ..Heat::default()
        });
        assert!(html.contains("&lt;r&gt;") && html.contains("a&amp;b") && html.contains("one &quot;x&quot;"));
        assert!(html.contains("--h:25%") && html.contains("--h:0%") && html.contains("framed"));
    }
}
