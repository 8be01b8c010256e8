//! What a table or figure is made of once its cells are there: a piece of the page, files, claims.

use orthant::report::Mean;

use crate::cells::Run;

/// A table or figure.
#[derive(Default)]
pub struct Shown {
    /// Its heading: `Figure 5: …`.
    pub heading: String,
    /// Its piece of the page. HTML.
    pub html: String,
    /// What of it the Markdown document shows.
    pub markdown: String,
    /// Files beside the page.
    pub files: Vec<(String, Vec<u8>)>,
    /// The engines of its cells, each after its method.
    pub engines: Vec<String>,
    /// What the paper says of it.
    pub claims: Vec<Claim>,
}

/// Whether a claim of the paper was met again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Holds,
    Fails,
    /// What was found is compatible with it and with its opposite.
    Uncertain,
    /// Not testable here, and why.
    Untestable(String),
}

impl Verdict {
    /// Of a claim about something that has no random part.
    pub fn of(holds: bool) -> Verdict {
        if holds { Verdict::Holds } else { Verdict::Fails }
    }

    /// Not testable, and why.
    pub fn untestable(why: &str) -> Verdict {
        Verdict::Untestable(why.into())
    }

    /// In words.
    pub fn words(&self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Fails => "does not hold",
            Verdict::Uncertain => "within the uncertainty",
            Verdict::Untestable(_) => "not testable here",
        }
    }
}

/// A sentence of the paper, and what was found.
pub struct Claim {
    /// Where it stands.
    pub place: &'static str,
    /// What is claimed, in our words.
    pub claim: &'static str,
    pub verdict: Verdict,
    /// What was found.
    pub evidence: String,
}

impl Claim {
    /// What was found, after the reason why it decides nothing where it does not.
    pub fn found(&self) -> String {
        match &self.verdict {
            Verdict::Untestable(why) => format!("{why} {}", self.evidence).trim_end().to_string(),
            _ => self.evidence.clone(),
        }
    }
}

/// A column of the runs.
pub type Column = fn(&Run) -> f64;

/// Mean and deviation of a column.
pub fn mean(runs: &[Run], column: Column) -> Mean {
    Mean::of(&runs.iter().map(column).collect::<Vec<_>>())
}

/// In percent with one digit: mean ± deviation where there are several.
pub fn percent(mean: Mean) -> String {
    match mean.count {
        0 => "–".into(),
        1 => format!("{:.1}", 100.0 * mean.mean),
        _ => format!("{:.1} ± {:.1}", 100.0 * mean.mean, 100.0 * mean.deviation),
    }
}

/// A table as Markdown, from the same columns and rows as on the page.
pub fn markdown(columns: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let cells: Vec<String> = cells.map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut text = line(&mut columns.iter().map(|c| c.trim_start_matches('#')));
    text += &line(&mut columns.iter().map(|c| if c.starts_with('#') { "--:" } else { "---" }));
    rows.iter().for_each(|row| text += &line(&mut row.iter().map(String::as_str)));
    text + "\n"
}

/// Lines of comma-separated values.
pub fn csv(head: &str, rows: impl IntoIterator<Item = Vec<String>>) -> Vec<u8> {
    let mut text = format!("{head}\n");
    for row in rows {
        let quoted = |field: &String| match field.contains([',', '"']) {
            true => format!("\"{}\"", field.replace('"', "\"\"")),
            false => field.clone(),
        };
        text += &(row.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n");
    }
    text.into_bytes()
}

/// A number for a table of values; nothing where there is none.
pub fn number(x: f64) -> String {
    if x.is_nan() { String::new() } else { x.to_string() }
}
