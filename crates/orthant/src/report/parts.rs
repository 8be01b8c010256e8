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
    chart: bool,
}

/// The sections in the making.
#[derive(Debug, Default)]
pub(super) struct Parts(Vec<Part>);

impl Parts {
    /// A section with HTML: a chart, or anything else.
    pub(super) fn add(&mut self, title: &str, content: String, caption: &str, chart: bool) {
        let id = format!("part-{}", self.0.len() + 1);
        self.0.push(Part { id, title: title.into(), content, caption: caption.into(), chart });
    }

    /// The page of them; `lead` is HTML.
    pub(super) fn page(self, title: &str, kicker: &str, lead: String, made: &Made) -> Result<String> {
        #[derive(Serialize)]
        struct Context<'a> {
            parts: &'a [Part],
            command: Option<&'a str>,
            notes: &'a [String],
            facts: Vec<(&'static str, String)>,
        }
        let version = made.version.unwrap_or(env!("CARGO_PKG_VERSION"));
        let mut facts = vec![("version", format!("Orthant {version}"))];
        facts.extend(made.date.map(|d| ("date", d.to_string())));
        facts.extend(made.threads.map(|t| ("threads", t.to_string())));
        facts.extend(made.read_seconds.map(|s| ("reading", seconds(s))));
        let body = fill(
            include_str!("templates/comparison.html"),
            Context { parts: &self.0, command: made.command, notes: made.notes, facts },
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
