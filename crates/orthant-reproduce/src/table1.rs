//! Table 1: average time of one execution on a synthetic set.

use anyhow::Result;
use orthant::report::page::{Table, table};

use crate::lab::Lab;
use crate::noise;
use crate::plan::{Plan, Request};
use crate::published;
use crate::shown::{Claim, Shown, UNRUN, Verdict, csv, mean, number};
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
            let request = Request { file: file(level.noise), set, methods: ALONE, runs: 1, pictured: false };
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
                runs.extend(lab.cells.runs(&file, &key, wanted));
            }
        }
        let paper = published::table1().iter().find(|row| row.0 == method).map_or(f64::NAN, |row| row.1);
        let seconds = mean(&runs, |r| r.seconds);
        let iterations = mean(&runs, |r| r.iterations as f64);
        let mut sorted: Vec<f64> = runs.iter().map(|r| r.seconds).collect();
        sorted.sort_by(f64::total_cmp);
        let median = sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN);
        times.push((method, median));
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
    })
}

fn claims(lab: &Lab, times: &[(&str, f64)]) -> Vec<Claim> {
    let of = |method: &str| times.iter().find(|t| t.0 == method).map_or(f64::NAN, |t| t.1);
    let others: Vec<f64> = METHODS[..4].iter().map(|m| of(m)).collect();
    let (em, onp) = (of("em-onmf:random"), of("onp-mf:svd"));
    let judge = |holds: bool| match lab.protocol.limit {
        _ if times.iter().any(|t| !t.1.is_finite()) => UNRUN,
        Some(_) => Verdict::Open("The limits of CHNMF and O-PNMF were shortened: their times say nothing."),
        None => Verdict::of(holds),
    };
    let told = format!(
        "EM-ONMF {em:.4} s, ONP-MF {onp:.3} s, the others {:.3} to {:.3} s.",
        others.iter().copied().fold(f64::INFINITY, f64::min),
        others.iter().copied().fold(0.0, f64::max)
    );
    vec![
        Claim {
            place: "Table 1",
            claim: "EM-ONMF is much faster than the other ONMF methods.",
            verdict: judge(others.iter().chain([&onp]).all(|t| *t > 3.0 * em)),
            evidence: told.clone(),
        },
        Claim {
            place: "Table 1",
            claim: "ONP-MF is slightly slower than CHNMF and O-PNMF.",
            verdict: judge(others.iter().all(|t| *t < onp)),
            evidence: told,
        },
    ]
}
