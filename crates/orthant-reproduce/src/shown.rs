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
    /// Files beside the page.
    pub files: Vec<(String, Vec<u8>)>,
    /// What the paper says of it.
    pub claims: Vec<Claim>,
}

/// Whether a claim of the paper was met again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Holds,
    Fails,
    /// It cannot be judged, and why.
    Open(&'static str),
}

/// Nothing can be said yet.
pub const UNRUN: Verdict = Verdict::Open("Not all of what it needs has been run.");

impl Verdict {
    /// Of a claim whose cells are all there.
    pub fn of(holds: bool) -> Verdict {
        if holds { Verdict::Holds } else { Verdict::Fails }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Fails => "does not hold",
            Verdict::Open(_) => "open",
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
    /// What was found, or why nothing was.
    pub fn found(&self) -> &str {
        match self.verdict {
            Verdict::Open(why) => why,
            _ => &self.evidence,
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
