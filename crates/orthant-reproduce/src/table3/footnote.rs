//! The footnote on when CHNMF stops: 1e-8 instead of 1e-7 takes much longer and gains no accuracy.

use anyhow::Result;
use orthant::contender::Contender;

use crate::cells::Run;
use crate::estimate::{Estimate, Side};
use crate::lab::Lab;
use crate::noise::title;
use crate::plan::{Plan, Request};
use crate::protocol::Variant;
use crate::sets::Shared;
use crate::shown::{Claim, Verdict, mean};

/// On small sets, where a long run takes seconds.
const SETS: &[&str] = &["tr11", "tr23", "tr41", "tr45"];
const METHODS: &[&str] = &["chnmf:random", "chnmf:nndsvd"];
/// The two that the footnote compares. (Our own is finer still: docs/learned.md.)
const COARSER: Variant = &[("tolerance", 1e-7)];
const FINER: Variant = &[("tolerance", 1e-8)];
/// Random starts.
const RUNS: usize = 10;
/// Much longer is at least this many times as long.
const MUCH: f64 = 2.0;

fn sets<'a>(lab: &'a Lab) -> impl Iterator<Item = (&'a str, &'a Shared)> {
    lab.sets.texts().filter(|(name, _)| SETS.contains(name))
}

/// Plans the cells.
pub fn plan(lab: &Lab, plan: &mut Plan) -> Result<()> {
    for (name, set) in sets(lab) {
        let (file, runs) = (format!("text/{name}"), RUNS.min(lab.protocol.runs));
        for variant in [COARSER, FINER] {
            let file = file.clone();
            let request = Request { file, set, methods: METHODS, variant, runs, pictured: false };
            plan.add(lab.protocol, request)?;
        }
    }
    Ok(())
}

/// Runs to both tolerances, from the same starts.
fn both(lab: &Lab, name: &str, set: &Shared, method: &str) -> Result<(Vec<Run>, Vec<Run>)> {
    let (contender, data) = (Contender::parse(method)?.remove(0), set.fingerprint()?);
    let runs = if contender.start.is_random() { RUNS.min(lab.protocol.runs) } else { 1 };
    let of = |variant| {
        lab.runs(&format!("text/{name}"), &lab.protocol.key_of(&contender, set, &data, variant), runs)
    };
    let (usual, finer) = (of(COARSER), of(FINER));
    let pairs = usual.len().min(finer.len());
    Ok((usual[..pairs].to_vec(), finer[..pairs].to_vec()))
}

/// The claim.
pub fn claim(lab: &Lab) -> Result<Claim> {
    let (mut told, mut longer, mut gains, mut stopped, mut whole) = (vec![], vec![], vec![], false, true);
    for (name, set) in sets(lab) {
        for &method in METHODS {
            let (usual, finer) = both(lab, name, set, method)?;
            if usual.is_empty() {
                whole = false;
                continue;
            }
            stopped |= usual.iter().any(|run| run.stopped == "converged");
            let iterations = |runs: &[Run]| mean(runs, |r| r.iterations as f64).mean;
            let times = iterations(&finer) / iterations(&usual);
            let gain: Vec<f64> = usual.iter().zip(&finer).map(|(a, b)| b.accuracy - a.accuracy).collect();
            let gain = if gain.len() == 1 { Estimate::exact(gain[0]) } else { Estimate::of(&gain) };
            told.push(format!("{} on {name} {times:.1} × the iterations, {}", title(method), gain.points()));
            longer.push(times);
            gains.push(gain.side());
        }
    }
    let verdict = match told.len() {
        0 => Verdict::untestable("Not all of what it needs has been run."),
        _ if !stopped => Verdict::untestable("No run meets 1e-7 before the limit of iterations."),
        cells => {
            let much = 2 * longer.iter().filter(|times| **times >= MUCH).count() > cells;
            // A gain that cannot be told from none is not significant.
            let gained = 2 * gains.iter().filter(|side| **side == Side::Above).count() > cells;
            Verdict::of(much && !gained)
        }
    };
    Ok(Claim {
        place: "Section 4, footnote",
        claim: "Stopping CHNMF at 1e-8 instead of 1e-7 takes much longer and does not improve the accuracy significantly.",
        verdict: lab.judge(whole && !told.is_empty(), verdict),
        evidence: match told.is_empty() {
            true => String::new(),
            false => format!(
                "Iterations, and accuracy gained in percent points ± standard error: {}.",
                told.join("; ")
            ),
        },
    })
}
