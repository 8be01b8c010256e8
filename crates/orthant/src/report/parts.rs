//! A page of parts, one after the other: comparisons, advice, the choice of k.

use serde::Serialize;

use super::Made;
use super::number::seconds;
use super::page::{Page, escape, fill, page, shortened};
use crate::error::Result;

/// A section of a page.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Part {
    id: String,
    title: String,
    content: String,
    caption: String,
    #[serde(skip)]
    print: Print,
}

/// How a section stands on a printed sheet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Print {
    /// It takes the whole width.
    Wide,
    /// Half of it: two such sections stand beside each other, and one alone as the next kind.
    Half,
    /// What is said of it stands beside it.
    Aside,
}

/// Sections that stand beside each other in print, or one that does not.
#[derive(Serialize)]
struct Row<'a> {
    parts: &'a [Part],
    beside: bool,
    aside: bool,
}

impl<'a> Row<'a> {
    fn new(parts: &'a [Part]) -> Row<'a> {
        let beside = parts.len() > 1;
        Row { parts, beside, aside: !beside && parts.iter().all(|part| part.print != Print::Wide) }
    }
}

/// The sections in the making.
#[derive(Debug, Default)]
pub(super) struct Parts(Vec<Part>);

impl Parts {
    /// A section with HTML.
    pub(super) fn add(&mut self, title: &str, content: String, caption: &str, print: Print) {
        let id = format!("part-{}", self.0.len() + 1);
        self.0.push(Part { id, title: title.into(), content, caption: caption.into(), print });
    }

    /// A section with a chart.
    pub(super) fn chart(&mut self, title: &str, chart: String, caption: &str) {
        self.add(title, format!(r#"<figure class="panel">{chart}</figure>"#), caption, Print::Half);
    }

    /// The page of them; `lead` is HTML.
    pub(super) fn page(self, title: &str, kicker: &str, lead: String, made: &Made) -> Result<String> {
        #[derive(Serialize)]
        struct Context<'a> {
            rows: Vec<Row<'a>>,
            command: Option<&'a str>,
            notes: &'a [String],
            facts: Vec<(&'static str, String)>,
        }
        let version = made.version.unwrap_or(env!("CARGO_PKG_VERSION"));
        let mut facts = vec![("version", format!("Orthant {version}"))];
        facts.extend(made.date.map(|d| ("date", d.to_string())));
        facts.extend(made.threads.map(|t| ("threads", t.to_string())));
        facts.extend(made.read_seconds.map(|s| ("reading", seconds(s))));
        let halves = |a: &Part, b: &Part| a.print == Print::Half && b.print == Print::Half;
        let rows = self.0.chunk_by(halves).flat_map(|run| run.chunks(2)).map(Row::new).collect();
        let body = fill(
            include_str!("templates/comparison.html"),
            Context { rows, command: made.command, notes: made.notes, facts },
        )?;
        let mut contents: Vec<(String, String)> =
            self.0.iter().map(|p| (p.id.clone(), shortened(&p.title, 40))).collect();
        contents.push(("made".into(), "How it was made".into()));
        page(&Page {
            title: shortened(title, 200),
            kicker: kicker.into(),
            lead,
            contents,
            body,
            footer: format!("Made by Orthant {version}. This page is one file and loads nothing."),
        })
    }
}

/// A paragraph of plain text.
pub(super) fn paragraph(text: &str) -> String {
    format!("<p>{}</p>", escape(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_print_two_halves_stand_in_a_row_and_one_beside_its_words() {
        let mut parts = Parts::default();
        parts.add("a", String::new(), "", Print::Wide);
        ["b", "c", "d"].iter().for_each(|title| parts.chart(title, String::new(), ""));
        parts.add("e", String::new(), "", Print::Wide);
        parts.chart("f", String::new(), "");
        let html = parts.page("t", "", String::new(), &Made::default()).unwrap();
        let body = html.split("<main>").nth(1).unwrap();
        let rows: Vec<&str> = body.split("<h2>").collect();
        let opens = |at: usize| rows[at].contains(r#"<div class="beside">"#);
        let aside = |at: usize| rows[at].contains(r#"class="aside""#);
        // What stands before the heading of a, b, c, d, e, f.
        assert_eq!([0, 1, 2, 3, 4, 5].map(opens), [false, true, false, false, false, false]);
        assert_eq!([0, 1, 2, 3, 4, 5].map(aside), [false, false, false, true, false, true]);
        assert_eq!(rows[3].matches("</div>").count(), 1, "the row ends with its second half: {}", rows[3]);
    }
}
