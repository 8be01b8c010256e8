//! Table 1: average time of one execution on a synthetic set.

use anyhow::Result;
use orthant::report::page::{Table, table};

use crate::estimate::{Side, everywhere};
use crate::lab::Lab;
use crate::noise;
use crate::plan::{Plan, Request};
use crate::protocol::PLAIN;
use crate::published;
use crate::shown::{Claim, Shown, csv, markdown, mean, number};
use orthant::contender::Contender;

/// EM-ONMF shares passes between runs elsewhere: one execution is timed alone.
const ALONE: &[&str] = &["em-onmf:random"];
/// Sets of a level that are timed.
const TIMED: usize = 3;

fn file(noise: f64) -> String {
    format!("times/noise-{noise}")
}

/// Plans the cells.
pub fn plan(lab: &Lab, plan: &mut Plan) -> Result<()> {
    noise::plan_methods(lab, plan, &METHODS[..4])?;
    noise::plan_methods(lab, plan, &METHODS[5..])?;
    for level in &lab.sets.levels {
        for set in level.sets.iter().take(TIMED) {
            let request = Request {
                file: file(level.noise),
                set,
                methods: ALONE,
                variant: PLAIN,
                runs: 1,
                pictured: false,
            };
            plan.add(lab.protocol, request)?;
        }
    }
    Ok(())
}

/// In the order of the paper.
const METHODS: &[&str] =
    &["chnmf:random", "chnmf:nndsvd", "o-pnmf:random", "o-pnmf:nndsvd", "em-onmf:random", "onp-mf:svd"];

/// The table.
pub fn show(lab: &Lab) -> Result<Shown> {
    let (mut rows, mut lines, mut times) = (vec![], vec![], vec![]);
    for &method in METHODS {
        let contender = Contender::parse(method)?.remove(0);
        let mut runs = vec![];
        for level in &lab.sets.levels {
            for set in level.sets.iter().take(if ALONE.contains(&method) { TIMED } else { lab.protocol.sets })
            {
                let key = lab.protocol.key(&contender, set, &set.fingerprint()?);
                let file = if ALONE.contains(&method) { file(level.noise) } else { level.file() };
                let wanted = if ALONE.contains(&method) { 1 } else { lab.protocol.synthetic_runs };
                runs.extend(lab.runs(&file, &key, wanted));
            }
        }
        let paper = published::table1().iter().find(|row| row.0 == method).map_or(f64::NAN, |row| row.1);
        let seconds = mean(&runs, |r| r.seconds);
        let iterations = mean(&runs, |r| r.iterations as f64);
        let mut sorted: Vec<f64> = runs.iter().map(|r| r.seconds).collect();
        sorted.sort_by(f64::total_cmp);
        let at = |quarter: usize| sorted.get(sorted.len() * quarter / 4).copied().unwrap_or(f64::NAN);
        let median = at(2);
        times.push(Time { method, quartiles: [at(1), median, at(3)] });
        let ratio = paper / median;
        rows.push(vec![
            contender.title(),
            format!("{paper:.2}"),
            if runs.is_empty() { "–".into() } else { format!("{:.4}", seconds.mean) },
            if runs.is_empty() { "–".into() } else { format!("{median:.4}") },
            if runs.is_empty() { "–".into() } else { format!("{ratio:.0} ×") },
            if runs.is_empty() { "–".into() } else { format!("{:.0}", iterations.mean) },
            runs.len().to_string(),
        ]);
        lines.push(vec![
            method.to_string(),
            number(paper),
            number(seconds.mean),
            number(seconds.deviation),
            number(median),
            number(iterations.mean),
            runs.len().to_string(),
        ]);
    }
    let columns =
        ["method", "#paper, s", "#ours, s", "#median, s", "#paper / median", "#iterations", "#runs"];
    let mut html = table(&Table { columns: &columns, rows: &rows, best: &[] });
    html += "<p class=\"note\">Seconds of one execution on one thread, over all levels of noise; the paper's machine \
             was another (Core i7-2630QM, MATLAB), so that only the order can be compared. A run that waited for others, or was paused, counts in the average \
             as it stands; claims are judged by the median.";
    if let Some(limit) = lab.protocol.limit {
        html += &format!(" CHNMF and O-PNMF were stopped after {limit} iterations here.");
    }
    html += "</p>";
    Ok(Shown {
        heading: "Table 1: average time on the synthetic sets, in seconds".into(),
        html,
        files: vec![(
            "table1.csv".into(),
            csv("method,paper,seconds,deviation,median,iterations,runs", lines),
        )],
        claims: claims(lab, &times),
        markdown: markdown(&columns, &rows),
        ..Shown::default()
    })
}

/// Seconds of a method: the middle half of its runs, and the median.
struct Time {
    method: &'static str,
    quartiles: [f64; 3],
}

/// Seconds differ from run to run, also with what else the machine does: only what the middle halves agree on counts.
fn slower(a: &Time, b: &Time, times: f64) -> Side {
    match (a.quartiles, b.quartiles) {
        ([low, ..], [.., high]) if low > times * high => Side::Above,
        ([.., high], [low, ..]) if high < times * low => Side::Below,
        _ => Side::Unclear,
    }
}

/// Much faster is at least this many times as fast.
const MUCH: f64 = 3.0;

fn claims(lab: &Lab, times: &[Time]) -> Vec<Claim> {
    let find = |method: &str| times.iter().find(|t| t.method == method);
    let (Some(em), Some(onp)) = (find("em-onmf:random"), find("onp-mf:svd")) else { return vec![] };
    let others: Vec<&Time> = times.iter().filter(|t| METHODS[..4].contains(&t.method)).collect();
    let whole = times.iter().all(|t| t.quartiles[1].is_finite());
    let told = times
        .iter()
        .map(|t| format!("{} {:.4} s", noise::title(t.method), t.quartiles[1]))
        .collect::<Vec<_>>()
        .join(", ");
    let much: Vec<Side> = others.iter().chain([&onp]).map(|t| slower(t, em, MUCH)).collect();
    let slowest: Vec<Side> = others.iter().map(|t| slower(onp, t, 1.0)).collect();
    vec![
        Claim {
            place: "Table 1",
            claim: "EM-ONMF is much faster than the other ONMF methods (three times).",
            verdict: lab.judge(whole, everywhere(&much)),
            evidence: format!("Medians: {told}."),
        },
        Claim {
            place: "Table 1",
            claim: "ONP-MF is slower than CHNMF and O-PNMF, from random starts and from the SVD.",
            verdict: lab.judge(whole, everywhere(&slowest)),
            evidence: format!("Medians, of this implementation: {told}."),
        },
    ]
}
