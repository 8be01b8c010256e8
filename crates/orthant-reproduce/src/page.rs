//! `index.html`: the claims, every table and figure, what was run, and how.

use anyhow::Result;
use orthant::report::page::{Page, Table, escape, page, section, table};

use crate::Settings;
use crate::lab::Lab;
use crate::shown::{Claim, Shown, Verdict, markdown};

/// What the page tells beside the tables and figures.
pub struct Told<'a> {
    /// Cells that the plan has, and those that are still missing.
    pub cells: usize,
    pub missing: usize,
    /// What methods refused.
    pub problems: &'a [String],
    pub settings: &'a Settings,
}

/// The page.
pub fn index(lab: &Lab, shown: &[Shown], told: &Told) -> Result<String> {
    let id = |heading: &str| heading.split(':').next().unwrap_or(heading).replace(' ', "-").to_lowercase();
    let claims: Vec<&Claim> = shown.iter().flat_map(|s| &s.claims).collect();
    let mut contents = vec![];
    let mut body = String::new();
    if !claims.is_empty() {
        contents.push(("claims".to_string(), "Claims".to_string()));
        body += &section("claims", "The paper's claims, one by one", &in_a_table(&claims));
    }
    for part in shown {
        let name = part.heading.split(':').next().unwrap_or(&part.heading).to_string();
        contents.push((id(&part.heading), name));
        let names: Vec<String> =
            part.files.iter().map(|(name, _)| format!("<a href=\"{0}\">{0}</a>", escape(name))).collect();
        let files = match names.is_empty() {
            true => String::new(),
            false => format!("<p class=\"note\">Files: {}</p>", names.join(", ")),
        };
        body += &section(&id(&part.heading), &part.heading, &format!("{}{files}", part.html));
    }
    contents.push(("made".into(), "How it was made".into()));
    body += &section("made", "How it was made", &how(lab, told));
    Ok(page(&Page {
        title: "The paper, reproduced".into(),
        kicker: "Orthant · Pompili, Gillis, Absil, Glineur: Two algorithms for orthogonal NMF (2014)".into(),
        lead: lead(lab, &claims, told),
        contents,
        body,
        footer: format!(
            "Made by Orthant {}. This page is one file and loads nothing.",
            env!("CARGO_PKG_VERSION")
        ),
    })?)
}

/// The same for a text that lies beside other texts: the claims and the main tables, nothing of this machine or day.
pub fn document(lab: &Lab, shown: &[Shown], missing: usize) -> String {
    let p = lab.protocol;
    let claims: Vec<&Claim> = shown.iter().flat_map(|s| &s.claims).collect();
    let mut engines: Vec<&str> = shown.iter().flat_map(|s| &s.engines).map(String::as_str).collect();
    engines.sort_unstable();
    engines.dedup();
    let cut = p.cut_short().map_or(String::new(), |how| format!("**{how}** "));
    let left = if missing == 0 { String::new() } else { format!(" {missing} cells are missing.") };
    let rows: Vec<Vec<String>> = claims
        .iter()
        .map(|c| vec![c.place.into(), c.claim.into(), c.verdict.words().into(), c.found()])
        .collect();
    let mut text = format!(
        "# The paper, reproduced\n\nMade by `orthant reproduce` from its cells; do not edit. {cut}{} repetitions where the \
         start is random ({} on the synthetic sets, {} sets a level), seed {}. Engines of the cells: {}.{left}\n\n## \
         Claims\n\n{}\n\n{}",
        p.runs,
        p.synthetic_runs,
        p.sets,
        p.seed,
        if engines.is_empty() { "none".into() } else { engines.join(", ") },
        counted(&claims),
        markdown(&["where", "claim", "", "what was found"], &rows)
    );
    for part in shown.iter().filter(|part| !part.markdown.is_empty()) {
        text += &format!("## {}\n\n{}\n\n", part.heading, part.markdown.trim_end());
    }
    text.trim_end().to_string() + "\n"
}

fn lead(lab: &Lab, claims: &[&Claim], told: &Told) -> String {
    let mut lead = String::new();
    if let Some(how) = lab.protocol.cut_short() {
        let quick = if lab.protocol.quick { "<strong>This is the quick protocol.</strong> " } else { "" };
        lead += &format!(
            "<p class=\"warn\">{quick}{} The page shows that everything runs, not what the paper's protocol gives; what \
             was cut short is not judged.</p>",
            escape(&how)
        );
    }
    lead += &format!(
        "<p>The tables and figures of the paper, computed again beside what it printed. {}</p>",
        counted(claims)
    );
    if told.settings.lacks_data() {
        lead += "<p class=\"warn\">The published data sets are not here, and what needs them is left out: \
                 <code>--data DIR</code> names their folder.</p>";
    }
    if told.missing > 0 {
        lead += &format!(
            "<p class=\"warn\">{} of {} cells are not there yet: figures are of the runs that are. The same command \
             goes on where it stopped.</p>",
            told.missing, told.cells
        );
    }
    lead
}

/// How many claims have which verdict.
pub fn counted(claims: &[&Claim]) -> String {
    let count = |words: &str| claims.iter().filter(|c| c.verdict.words() == words).count();
    format!(
        "Claims: {}; {} hold, {} do not hold, {} are within the uncertainty, {} are not testable here.",
        claims.len(),
        count("holds"),
        count("does not hold"),
        count("within the uncertainty"),
        count("not testable here")
    )
}

fn in_a_table(claims: &[&Claim]) -> String {
    let rows: Vec<Vec<String>> = claims
        .iter()
        .map(|c| vec![c.place.into(), c.claim.into(), c.verdict.words().into(), c.found()])
        .collect();
    let holds: Vec<(usize, usize)> =
        (0..claims.len()).filter(|&i| claims[i].verdict == Verdict::Holds).map(|i| (i, 2)).collect();
    table(&Table { columns: &["where", "claim", "", "what was found"], rows: &rows, best: &holds })
}

fn how(lab: &Lab, told: &Told) -> String {
    let p = lab.protocol;
    let limit = match p.limit {
        Some(limit) => format!("{limit} (the paper's: 5000 from random starts, 20000 from the SVD)"),
        None => "5000 from random starts, 20000 from the SVD, as in the paper".into(),
    };
    let fact = |name: &str, value: String| vec![name.to_string(), value];
    let rows = [
        fact("version", format!("Orthant {}", env!("CARGO_PKG_VERSION"))),
        fact("date", told.settings.date.clone()),
        fact("threads", format!("{}; every cell on one", told.settings.threads)),
        fact("repetitions where the start is random", p.runs.to_string()),
        fact("the same on the synthetic sets", format!("{}, on {} sets a level", p.synthetic_runs, p.sets)),
        fact("limit of iterations of CHNMF and O-PNMF", limit),
        fact("seed", p.seed.to_string()),
        fact("engine, of all methods together", p.engines.together()),
        fact("cells", format!("{}, of which {} are missing", told.cells, told.missing)),
    ];
    let mut html = format!("<pre><code>{}</code></pre>", escape(&told.settings.command));
    html += &table(&Table { columns: &["", ""], rows: &rows, best: &[] });
    for problem in told.problems {
        html += &format!("<p class=\"warn\">{}</p>", escape(problem));
    }
    html + "<p class=\"note\">Texts are raw counts, without weighting. Deviations have the number of runs in the \
            denominator. Every run is a line of a file in <code>cells</code>.</p>"
}
