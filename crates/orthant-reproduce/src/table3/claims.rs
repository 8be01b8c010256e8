//! What the paper says of Table 3.

use super::Entry;
use crate::cells::Run;
use crate::lab::Lab;
use crate::protocol::PAPER;
use crate::shown::{Claim, Column, UNRUN, Verdict, mean};

/// The paper's sentences about the table.
pub fn claims(lab: &Lab, entries: &[Entry]) -> Vec<Claim> {
    let mut sets: Vec<&str> = entries.iter().map(|e| e.set.as_str()).collect();
    sets.dedup();
    let accuracy = |set: &str, method: &str| {
        let entry = entries.iter().find(|e| e.set == set && e.method == method && !e.runs.is_empty())?;
        Some(entry.mean(|r| r.accuracy).mean)
    };
    // Sets of which every method of the paper has at least one run.
    let whole: Vec<&str> =
        sets.iter().copied().filter(|set| PAPER.iter().all(|m| accuracy(set, m).is_some())).collect();
    let winners = |methods: &[&str]| {
        let won = whole.iter().filter(|set| {
            let best = methods.iter().filter_map(|m| accuracy(set, m)).fold(0.0, f64::max);
            // Equal in print is equal.
            let ours =
                ["em-onmf:random", "onp-mf:svd"].iter().filter_map(|m| accuracy(set, m)).fold(0.0, f64::max);
            format!("{:.1}", 100.0 * best) == format!("{:.1}", 100.0 * ours)
        });
        won.copied().collect::<Vec<_>>()
    };
    let (all, onmf) = (winners(PAPER), winners(&PAPER[2..]));
    let mean_of = |method: &str, column: Column| {
        let runs: Vec<Run> =
            entries.iter().filter(|e| e.method == method).flat_map(|e| e.runs.clone()).collect();
        mean(&runs, column).mean
    };
    let iterations = |method: &str| mean_of(method, |r| r.iterations as f64);
    let seconds = |method: &str| mean_of(method, |r| r.seconds);
    let verdict = |holds: bool| if whole.is_empty() { UNRUN } else { Verdict::of(holds) };
    vec![
        Claim {
            place: "Table 3",
            claim: "For more than half of the sets the best average is that of EM-ONMF or ONP-MF.",
            verdict: verdict(2 * all.len() > whole.len()),
            evidence: format!(
                "{} of {} sets: {}. (By the printed values of the paper: 6 of 12, ties included.)",
                all.len(),
                whole.len(),
                list(&all)
            ),
        },
        Claim {
            place: "Table 3",
            claim: "Among the ONMF methods EM-ONMF or ONP-MF is best on ten of the twelve sets.",
            verdict: verdict(6 * onmf.len() >= 5 * whole.len()),
            evidence: format!("{} of {} sets: {}.", onmf.len(), whole.len(), list(&onmf)),
        },
        Claim {
            place: "Section 4.2",
            claim: "EM-ONMF is very fast with few iterations; ONP-MF needs more iterations and time than CHNMF.",
            verdict: match lab.protocol.limit {
                Some(_) => Verdict::Open("The limit of CHNMF was shortened: its time says nothing."),
                None => verdict(
                    iterations("em-onmf:random") < 100.0
                        && iterations("onp-mf:svd") > iterations("chnmf:random")
                        && seconds("onp-mf:svd") > seconds("chnmf:random"),
                ),
            },
            evidence: format!(
                "Mean iterations and seconds a run over the sets: EM-ONMF {:.0} and {:.2}, ONP-MF {:.0} and {:.1}, \
                 CHNMF {:.0} and {:.1}.",
                iterations("em-onmf:random"),
                seconds("em-onmf:random"),
                iterations("onp-mf:svd"),
                seconds("onp-mf:svd"),
                iterations("chnmf:random"),
                seconds("chnmf:random")
            ),
        },
    ]
}

fn list(words: &[&str]) -> String {
    if words.is_empty() { "none".into() } else { words.join(", ") }
}
