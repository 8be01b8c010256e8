//! Table 3: accuracies on the text sets, each cell beside the printed one; then what goes beyond the paper.

mod claims;
mod footnote;

use anyhow::Result;
use orthant::algorithms::method;
use orthant::report::Mean;
use orthant::report::page::{Table, escape, table};

use crate::cells::Run;
use crate::lab::Lab;
use crate::noise::title;
use crate::plan::{Plan, Request};
use crate::protocol::{BEYOND, PAPER, PLAIN};
use crate::published::{self, Accuracy};
use crate::shown::{Column, Shown, csv, markdown, mean, number, percent};
use orthant::contender::Contender;

/// How a cell compares with the printed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Agreement {
    /// The same printed digits.
    Equal,
    Differs,
    /// Within one of the paper's deviations.
    Within,
    Outside,
}

impl Agreement {
    fn of(ours: Mean, paper: &Accuracy) -> Agreement {
        match paper.deviation {
            None if format!("{:.1}", 100.0 * ours.mean) == paper.printed => Agreement::Equal,
            None => Agreement::Differs,
            // Rounding of the printed values must not decide.
            Some(deviation) if (100.0 * ours.mean - paper.mean).abs() <= deviation + 1e-9 => {
                Agreement::Within
            }
            Some(_) => Agreement::Outside,
        }
    }

    fn agrees(self) -> bool {
        matches!(self, Agreement::Equal | Agreement::Within)
    }

    fn words(self) -> &'static str {
        match self {
            Agreement::Equal => "equal",
            Agreement::Differs => "not equal",
            Agreement::Within => "within one deviation",
            Agreement::Outside => "outside one deviation",
        }
    }
}

/// What there is of a method on a set.
struct Entry {
    set: String,
    method: String,
    title: String,
    runs: Vec<Run>,
    /// How many runs the protocol wants.
    wanted: usize,
    paper: Option<Accuracy>,
}

impl Entry {
    fn mean(&self, column: Column) -> Mean {
        mean(&self.runs, column)
    }

    fn agreement(&self) -> Option<Agreement> {
        let paper = self.paper.as_ref().filter(|_| !self.runs.is_empty())?;
        Some(Agreement::of(self.mean(|r| r.accuracy), paper))
    }

    /// The run with the best objective.
    fn best(&self) -> Option<&Run> {
        let name = self.method.split([':', '+']).next()?;
        let better = method(name).ok()?;
        self.runs.iter().reduce(|a, b| if better.better(b.objective, a.objective) { b } else { a })
    }

    fn difference(&self) -> f64 {
        self.paper.as_ref().map_or(f64::NAN, |p| 100.0 * self.mean(|r| r.accuracy).mean - p.mean)
    }
}

/// Plans the cells.
pub fn plan(lab: &Lab, plan: &mut Plan) -> Result<()> {
    let methods: Vec<&str> = PAPER.iter().chain(BEYOND).copied().collect();
    for (name, set) in lab.sets.texts() {
        let file = format!("text/{name}");
        plan.add(
            lab.protocol,
            Request {
                file,
                set,
                methods: &methods,
                variant: PLAIN,
                runs: lab.protocol.runs,
                pictured: false,
            },
        )?;
    }
    footnote::plan(lab, plan)
}

fn entries(lab: &Lab) -> Result<Vec<Entry>> {
    let published = published::table3();
    let mut entries = vec![];
    for (name, set) in lab.sets.texts() {
        let data = set.fingerprint()?;
        for &method in PAPER.iter().chain(BEYOND) {
            let contender = Contender::parse(method)?.remove(0);
            let key = lab.protocol.key(&contender, set, &data);
            let wanted = if contender.start.is_random() { lab.protocol.runs } else { 1 };
            entries.push(Entry {
                set: name.to_string(),
                method: method.to_string(),
                title: contender.title(),
                runs: lab.runs(&format!("text/{name}"), &key, wanted),
                wanted,
                paper: published.iter().find(|p| p.set == name && p.method == method).cloned(),
            });
        }
    }
    Ok(entries)
}

/// The table.
pub fn show(lab: &Lab) -> Result<Shown> {
    let entries = entries(lab)?;
    let mut html = String::new();
    for (name, why) in lab.sets.missing_texts() {
        html += &format!("<p class=\"note\">{}: not run, {}.</p>", escape(name), escape(why));
    }
    html += &disagreements(&entries);
    html += &printed_beside_ours(lab, &entries);
    html += "<h3>Beyond the paper</h3>";
    html += &beyond(lab, &entries);
    for (heading, column) in [("NMI", (|r| r.nmi) as Column), ("ARI", |r| r.ari)] {
        html += &format!("<h3>{heading} in percent, average and deviation</h3>");
        html += &grid(lab, &entries, |e| percent(e.mean(column)), "");
    }
    html += "<h3>Relative error of the feasible factors: average, lowest; lower bound from the singular values</h3>";
    html += &grid(lab, &entries, errors, "lower bound");
    let mut claims = claims::claims(lab, &entries);
    claims.push(footnote::claim(lab)?);
    Ok(Shown {
        heading: "Table 3: accuracy on the text sets, in percent".into(),
        html,
        files: vec![
            ("table3.csv".into(), file(&entries)),
            ("table3-disagreements.csv".into(), outside(&entries)),
        ],
        claims,
        markdown: in_markdown(lab, &entries),
        ..Shown::default()
    })
}

fn errors(entry: &Entry) -> String {
    let mean = entry.mean(|r| r.error);
    let lowest = entry.runs.iter().map(|r| r.error).reduce(f64::min);
    match (mean.count, lowest) {
        (0, _) | (_, None) => "–".into(),
        (1, _) => format!("{:.5}", mean.mean),
        (_, Some(lowest)) => format!("{:.4}, {lowest:.5}", mean.mean),
    }
}

/// What does not agree, first.
fn disagreements(entries: &[Entry]) -> String {
    let judged: Vec<(&Entry, Agreement)> = entries.iter().filter_map(|e| Some((e, e.agreement()?))).collect();
    let (exact, random): (Vec<&(&Entry, Agreement)>, _) =
        judged.iter().partition(|(e, _)| e.paper.as_ref().is_some_and(|p| p.deviation.is_none()));
    let agreeing = |all: &[&(&Entry, Agreement)]| all.iter().filter(|(_, a)| a.agrees()).count();
    let mut html = format!(
        "<p>Of {} cells whose start is not random {} are equal to the printed digit; of {} with random starts {} lie \
         within one of the paper's deviations. What does not agree:</p>",
        exact.len(),
        agreeing(&exact),
        random.len(),
        agreeing(&random)
    );
    let rows: Vec<Vec<String>> = judged
        .iter()
        .filter(|(_, agreement)| !agreement.agrees())
        .map(|(e, agreement)| {
            vec![
                e.set.clone(),
                e.title.clone(),
                printed(e.paper.as_ref()),
                percent(e.mean(|r| r.accuracy)),
                format!("{:+.1}", e.difference()),
                runs(e),
                agreement.words().into(),
                limits(e),
            ]
        })
        .collect();
    if rows.is_empty() {
        return html + "<p>Nothing.</p>";
    }
    let columns = ["set", "method", "#paper", "#ours", "#difference", "#runs", "", ""];
    html += &table(&Table { columns: &columns, rows: &rows, best: &[] });
    html
}

fn runs(entry: &Entry) -> String {
    match entry.runs.len() == entry.wanted {
        true => entry.wanted.to_string(),
        false => format!("{} of {}", entry.runs.len(), entry.wanted),
    }
}

/// How many runs ended at the limit rather than by the stopping rule.
fn limits(entry: &Entry) -> String {
    match entry.runs.iter().filter(|r| r.stopped == "max-iterations").count() {
        0 => String::new(),
        count => format!("{count} at the limit of iterations"),
    }
}

fn printed(paper: Option<&Accuracy>) -> String {
    match paper {
        Some(Accuracy { printed, deviation: Some(d), .. }) => format!("{printed} ± {d:.1}"),
        Some(Accuracy { printed, .. }) => printed.to_string(),
        None => "–".into(),
    }
}

/// The paper's eight columns: ours above, the printed value below, the cells that agree in green.
fn printed_beside_ours(lab: &Lab, entries: &[Entry]) -> String {
    let mut html = String::from(
        "<h3>Every cell beside the printed one</h3><p class=\"note\">Ours above, the paper's below. Green: equal to \
         the printed digit, or within one of the paper's deviations; brown: not.</p>\
         <div class=\"scroll\"><table class=\"plain wide\"><thead><tr><th scope=\"col\">set</th>",
    );
    for method in PAPER {
        let title = entries.iter().find(|e| e.method == *method).map_or(*method, |e| &e.title);
        html += &format!("<th scope=\"col\" class=\"n\">{}</th>", escape(title));
    }
    html += "</tr></thead><tbody>";
    for (name, _) in lab.sets.texts() {
        html += &format!("<tr><td>{}</td>", escape(name));
        for method in PAPER {
            let Some(e) = entries.iter().find(|e| e.set == name && e.method == *method) else { continue };
            let colour = match e.agreement().map(Agreement::agrees) {
                Some(true) => "color:var(--good)",
                Some(false) => "color:var(--warn)",
                None => "",
            };
            let partial = match e.runs.len() == e.wanted {
                true => String::new(),
                false => format!(" <small>({} runs)</small>", e.runs.len()),
            };
            html += &format!(
                "<td class=\"n\"><span style=\"{colour}\">{}</span>{partial}<br><small class=\"soft\">{}</small></td>",
                percent(e.mean(|r| r.accuracy)),
                printed(e.paper.as_ref())
            );
        }
        html += "</tr>";
    }
    html + "</tbody></table></div>"
}

/// The same as Markdown, ours first; what does not agree is bold.
fn in_markdown(lab: &Lab, entries: &[Entry]) -> String {
    let find = |set: &str, method: &str| entries.iter().find(|e| e.set == set && e.method == method);
    let mut columns = vec!["set".to_string()];
    columns.extend(PAPER.iter().map(|method| format!("#{}", title(method))));
    let cell = |e: &Entry| {
        let partial = if e.whole() { String::new() } else { format!(" ({} runs)", e.runs.len()) };
        let both = format!("{} / {}{partial}", percent(e.mean(|r| r.accuracy)), printed(e.paper.as_ref()));
        if e.agreement().is_none_or(Agreement::agrees) { both } else { format!("**{both}**") }
    };
    let row = |(set, _): (&str, _)| -> Vec<String> {
        let cells = PAPER.iter().map(|m| find(set, m).map_or("–".into(), cell));
        std::iter::once(set.to_string()).chain(cells).collect()
    };
    let rows: Vec<Vec<String>> = lab.sets.texts().map(row).collect();
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let counts: Vec<String> = PAPER
        .iter()
        .map(|method| {
            let judged: Vec<Agreement> =
                entries.iter().filter(|e| e.method == *method).filter_map(Entry::agreement).collect();
            let agreeing = judged.iter().filter(|a| a.agrees()).count();
            format!("{} {agreeing} of {}", title(method), judged.len())
        })
        .collect();
    let missing: Vec<&str> = lab.sets.missing_texts().map(|(name, _)| name).collect();
    let missing =
        if missing.is_empty() { String::new() } else { format!(" Not here: {}.", missing.join(", ")) };
    format!(
        "Ours / the paper's; bold where they disagree.{missing} Cells that agree, to the printed digit or within one of the \
         paper's deviations: {}.\n\n{}Beyond the paper:\n\n{}",
        counts.join(", "),
        markdown(&columns, &rows),
        beyond_in_markdown(lab, entries)
    )
}

/// Best of N by objective, and the methods that the paper does not have.
fn beyond(lab: &Lab, entries: &[Entry]) -> String {
    let (columns, rows) = beyond_the_paper(lab, entries);
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let note = "<p class=\"note\">Accuracy in percent. \"Best of\" is the run with the best objective of its method, \
                chosen without the classes. A better objective is not always a higher accuracy. LDA: scikit-learn's, \
                with its own settings; a document belongs to its largest topic.</p>";
    format!("{note}{}", table(&Table { columns: &columns, rows: &rows, best: &[] }))
}

fn beyond_in_markdown(lab: &Lab, entries: &[Entry]) -> String {
    let (columns, rows) = beyond_the_paper(lab, entries);
    markdown(&columns.iter().map(String::as_str).collect::<Vec<_>>(), &rows)
}

fn beyond_the_paper(lab: &Lab, entries: &[Entry]) -> (Vec<String>, Vec<Vec<String>>) {
    let mut columns = vec!["set".to_string(), "#paper's best".to_string()];
    let random: Vec<&str> = PAPER.iter().chain(BEYOND).copied().filter(|m| m.ends_with(":random")).collect();
    columns.extend(BEYOND.iter().map(|method| format!("#{}", title(method))));
    columns.push("#LDA".into());
    let lda = published::lda();
    columns.extend(random.iter().map(|method| format!("#{}, best of {}", title(method), lab.protocol.runs)));
    let mut rows = vec![];
    for (name, _) in lab.sets.texts() {
        let of = |method: &str| entries.iter().find(|e| e.set == name && e.method == method);
        let best = published::table3().iter().filter(|p| p.set == name).map(|p| p.mean).reduce(f64::max);
        let mut row = vec![name.to_string(), best.map_or("–".into(), |x| format!("{x:.1}"))];
        row.extend(BEYOND.iter().map(|m| of(m).map_or("–".into(), |e| percent(e.mean(|r| r.accuracy)))));
        let topics: Vec<f64> = lda.iter().filter(|l| l.0 == name).map(|l| l.1).collect();
        row.push(percent(Mean::of(&topics)));
        row.extend(random.iter().map(|m| {
            of(m).and_then(Entry::best).map_or("–".into(), |run| format!("{:.1}", 100.0 * run.accuracy))
        }));
        rows.push(row);
    }
    (columns, rows)
}

/// Sets × methods, each cell in words; with the lower bound of each set where its column has a name.
fn grid(lab: &Lab, entries: &[Entry], cell: impl Fn(&Entry) -> String, bound: &str) -> String {
    let methods: Vec<&str> = PAPER.iter().chain(BEYOND).copied().collect();
    let title =
        |method: &str| entries.iter().find(|e| e.method == method).map_or(method.into(), |e| e.title.clone());
    let mut columns = vec!["set".to_string()];
    columns.extend(methods.iter().map(|m| format!("#{}", title(m))));
    if !bound.is_empty() {
        columns.push(format!("#{bound}"));
    }
    let mut rows = vec![];
    for (name, _) in lab.sets.texts() {
        let all: Vec<&Entry> = entries.iter().filter(|e| e.set == name).collect();
        let mut row = vec![name.to_string()];
        row.extend(all.iter().map(|e| cell(e)));
        if !bound.is_empty() {
            let known = all.iter().flat_map(|e| &e.runs).map(|r| r.lower_bound).reduce(f64::max);
            row.push(known.map_or("–".into(), |x| format!("{x:.5}")));
        }
        rows.push(row);
    }
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    table(&Table { columns: &columns, rows: &rows, best: &[] })
}

fn file(entries: &[Entry]) -> Vec<u8> {
    let rows = entries.iter().map(|e| {
        let mut row = vec![e.set.clone(), e.method.clone(), e.runs.len().to_string()];
        let paper = e.paper.as_ref();
        row.push(paper.map_or(String::new(), |p| p.printed.into()));
        row.push(paper.and_then(|p| p.deviation).map_or(String::new(), |d| d.to_string()));
        let accuracy = e.mean(|r| r.accuracy);
        row.extend([
            number(100.0 * accuracy.mean),
            number(100.0 * accuracy.deviation),
            number(e.difference()),
        ]);
        row.push(e.agreement().map_or("", Agreement::words).into());
        for column in [(|r| r.nmi) as Column, |r| r.ari] {
            let m = e.mean(column);
            row.extend([number(100.0 * m.mean), number(100.0 * m.deviation)]);
        }
        let error = e.mean(|r| r.error);
        row.extend([number(error.mean), number(error.deviation), number(e.mean(|r| r.lower_bound).mean)]);
        row.push(e.best().map_or(String::new(), |r| number(100.0 * r.accuracy)));
        row.push(e.best().map_or(String::new(), |r| number(r.error)));
        row.push(number(e.mean(|r| r.iterations as f64).mean));
        row.push(e.runs.iter().filter(|r| r.stopped == "max-iterations").count().to_string());
        row.push(number(e.mean(|r| r.seconds).mean));
        row
    });
    csv(
        "set,method,runs,paper,paper_deviation,accuracy,accuracy_deviation,difference,agreement,nmi,nmi_deviation,ari,\
         ari_deviation,relative_error,relative_error_deviation,lower_bound,accuracy_of_best_objective,\
         error_of_best_objective,iterations,runs_at_limit,seconds",
        rows,
    )
}

/// The disagreements alone.
fn outside(entries: &[Entry]) -> Vec<u8> {
    let outside = entries.iter().filter_map(|e| Some((e, e.agreement().filter(|a| !a.agrees())?)));
    let rows = outside.map(|(e, agreement)| {
        vec![
            e.set.clone(),
            e.method.clone(),
            printed(e.paper.as_ref()),
            percent(e.mean(|r| r.accuracy)),
            format!("{:+.1}", e.difference()),
            e.runs.len().to_string(),
            agreement.words().into(),
        ]
    });
    csv("set,method,paper,ours,difference,runs,agreement", rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_is_to_the_printed_digit_or_within_one_deviation() {
        let paper = |printed: &'static str, deviation| Accuracy {
            set: "s",
            method: "m",
            printed,
            mean: printed.parse().unwrap(),
            deviation,
        };
        let judge = |ours: f64, paper: &Accuracy| Agreement::of(Mean::of(&[ours]), paper);
        assert_eq!(judge(0.46135, &paper("46.1", None)), Agreement::Equal);
        assert_eq!(judge(0.46051, &paper("46.1", None)), Agreement::Equal);
        assert_eq!(judge(0.4604, &paper("46.1", None)), Agreement::Differs);
        assert_eq!(judge(0.40, &paper("42.0", Some(2.0))), Agreement::Within);
        assert_eq!(judge(0.3999, &paper("42.0", Some(2.0))), Agreement::Outside);
        assert_eq!(judge(0.4401, &paper("42.0", Some(2.0))), Agreement::Outside);
    }
}
