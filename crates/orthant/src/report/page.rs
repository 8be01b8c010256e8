//! The shell of every page: one file, nothing loaded, light and dark, phone and print.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use serde::Serialize;

use crate::error::{Error, Result};

/// A page whose body is ready.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Page {
    /// The page's title.
    pub title: String,
    /// What stands above the title.
    pub kicker: String,
    /// The first sentence. HTML.
    pub lead: String,
    /// The contents: identifier and name of the sections.
    pub contents: Vec<(String, String)>,
    /// Everything else. HTML.
    pub body: String,
    /// The last line.
    pub footer: String,
}

/// Text made safe for HTML, in elements and in quoted attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // What no document may hold, and what would turn the direction of the text around it.
            '\u{0}'..='\u{8}'
            | '\u{b}'
            | '\u{c}'
            | '\u{e}'..='\u{1f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Text no longer than `most` characters; an ellipsis says that there was more.
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_string(),
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// Text whose first letter is large.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Fills a template; everything in the context is escaped there unless the template says `safe`.
pub(crate) fn fill(template: &str, context: impl Serialize) -> Result<String> {
    let failed = |e: minijinja::Error| Error::Computation(format!("the report could not be written: {e:#}"));
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    // The library's own way lets control characters through.
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => Ok(out.write_str(&escape(text))?),
        _ => minijinja::escape_formatter(out, state, value),
    });
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build().map_err(failed)?;
    environment.set_syntax(syntax);
    environment.render_str(template, Serde(context)).map_err(failed)
}

/// The whole page.
pub fn page(page: &Page) -> Result<String> {
    #[derive(Serialize)]
    struct Whole<'a> {
        page: &'a Page,
        style: &'static str,
        script: &'static str,
    }
    let (style, script) = (include_str!("templates/page.css"), include_str!("templates/page.js"));
    fill(include_str!("templates/page.html"), Whole { page, style, script })
}

/// A section with a heading. `body` is HTML.
pub fn section(id: &str, heading: &str, body: &str) -> String {
    format!(r#"<section id="{0}"><h2>{1}</h2>{body}</section>"#, escape(id), escape(heading))
}

/// Cells of a table: text that is escaped.
pub struct Table<'a> {
    /// Names of the columns; a name that begins with `#` marks numbers.
    pub columns: &'a [&'a str],
    /// Row after row.
    pub rows: &'a [Vec<String>],
    /// Cells (row, column) that are the best of their column.
    pub best: &'a [(usize, usize)],
}

/// From so many columns on a table is set closer, so that it fits a page 1280 pixels wide.
const WIDE: usize = 8;

/// A table as HTML; it scrolls only on narrow screens.
pub fn table(table: &Table) -> String {
    let number = |c: usize| table.columns.get(c).is_some_and(|name| name.starts_with('#'));
    let class = if table.columns.len() >= WIDE { "plain wide" } else { "plain" };
    let mut out = format!(r#"<div class="scroll"><table class="{class}"><thead><tr>"#);
    for (c, name) in table.columns.iter().enumerate() {
        let class = if number(c) { r#" class="n""# } else { "" };
        out += &format!(r#"<th scope="col"{class}>{}</th>"#, escape(name.trim_start_matches('#')));
    }
    out += "</tr></thead><tbody>";
    for (r, row) in table.rows.iter().enumerate() {
        out += "<tr>";
        for (c, cell) in row.iter().enumerate() {
            let best = table.best.contains(&(r, c));
            let class = match (number(c), best) {
                (true, true) => r#" class="n best""#,
                (true, false) => r#" class="n""#,
                (false, true) => r#" class="best""#,
                (false, false) => "",
            };
            out += &format!("<td{class}>{}</td>", escape(cell));
        }
        out += "</tr>";
    }
    out + "</tbody></table></div>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_users_write_becomes_markup() {
        assert_eq!(escape(r#"<script>"&'</script>"#), "&lt;script&gt;&quot;&amp;&#39;&lt;/script&gt;");
        assert_eq!(escape("a\u{0}\u{202e}b\tc"), "a\u{fffd}\u{fffd}b\tc");
        let html = page(&Page { title: "<script>alert(1)</script>".into(), ..Page::default() }).unwrap();
        assert!(!html.contains("<script>alert"));
        let filled =
            fill("{{ word }}|{{ word | safe }}", std::collections::BTreeMap::from([("word", "a\u{1b}'<i>")]));
        assert_eq!(filled.unwrap(), "a\u{fffd}&#39;&lt;i&gt;|a\u{1b}'<i>");
        let cells = [vec!["<td>".to_string()]];
        assert!(table(&Table { columns: &["<th>"], rows: &cells, best: &[(0, 0)] }).contains("&lt;td&gt;"));
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(shortened("ééééé", 4), "ééé…");
        assert_eq!(shortened("éééé", 4), "éééé");
    }

    #[test]
    fn the_page_forbids_itself_to_load_anything() {
        let html = page(&Page { title: "t".into(), ..Page::default() }).unwrap();
        assert!(html.starts_with("<!doctype html>"));
        assert!(html.contains("default-src 'none'"));
        assert!(!html.contains("http://") && !html.contains("https://"));
    }
}
