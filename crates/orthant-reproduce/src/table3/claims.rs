//! What the paper says of Table 3.

use super::Entry;
use crate::estimate::{Estimate, Side, at_least, everywhere, mostly};
use crate::lab::Lab;
use crate::protocol::PAPER;
use crate::published;
use crate::shown::{Claim, Column};

/// The paper's own.
const OURS: &[&str] = &["em-onmf:random", "onp-mf:svd"];
/// Few iterations are fewer than this.
const FEW: f64 = 100.0;

impl Entry {
    /// A column's average over the runs; exact where the start is not random.
    fn estimate(&self, column: Column) -> Estimate {
        let values: Vec<f64> = self.runs.iter().map(column).collect();
        match values[..] {
            [one] if self.wanted == 1 => Estimate::exact(one),
            _ => Estimate::of(&values),
        }
    }

    pub(super) fn whole(&self) -> bool {
        self.runs.len() == self.wanted
    }
}

/// The paper's sentences about the table.
pub fn claims(lab: &Lab, entries: &[Entry]) -> Vec<Claim> {
    let sets = published::table2();
    let find = |set: &str, method: &str| entries.iter().find(|e| e.set == set && e.method == method);
    // On each set of the paper: the better of ours against the best of the others. Sets that are not here may be either.
    let compared = |methods: &[&str]| -> Vec<(&'static str, Side)> {
        let best = |set: &str, methods: &mut dyn Iterator<Item = &&str>| {
            let of = methods.map(|m| Some(find(set, m)?.estimate(|r| r.accuracy)));
            of.collect::<Option<Vec<_>>>()?.into_iter().max_by(|a, b| a.value.total_cmp(&b.value))
        };
        let side = |set: &'static str| {
            let ours = best(set, &mut OURS.iter());
            let others = best(set, &mut methods.iter().filter(|m| !OURS.contains(m)));
            match (ours, others) {
                // Equal in print is equal.
                (Some(a), Some(b)) if format!("{:.3}", a.value) == format!("{:.3}", b.value) => Side::Equal,
                (Some(a), Some(b)) => a.minus(&b).side(),
                _ => Side::Unclear,
            }
        };
        sets.iter().map(|s| (s.set, side(s.set))).collect()
    };
    let sides = |of: &[(&'static str, Side)]| of.iter().map(|s| s.1).collect::<Vec<_>>();
    let told = |of: &[(&'static str, Side)]| {
        let names = |which: &[Side]| {
            let names: Vec<&str> = of.iter().filter(|s| which.contains(&s.1)).map(|s| s.0).collect();
            if names.is_empty() { "none".to_string() } else { names.join(", ") }
        };
        format!(
            "Best: {}; not best: {}; not to be told from the best: {}.",
            names(&[Side::Above, Side::Equal]),
            names(&[Side::Below]),
            names(&[Side::Unclear])
        )
    };
    let here: Vec<&str> = lab.sets.texts().map(|(name, _)| name).collect();
    let whole = !here.is_empty()
        && here.iter().all(|set| PAPER.iter().all(|m| find(set, m).is_some_and(Entry::whole)));
    let (all, onmf) = (compared(PAPER), compared(&PAPER[2..]));
    let against = |one: &str, other: &str, column: Column| -> Vec<Side> {
        let of = |set: &&str| {
            Some(find(set, one)?.estimate(column).minus(&find(set, other)?.estimate(column)).side())
        };
        here.iter().filter_map(of).collect()
    };
    let iterations = |method: &str| -> Vec<f64> {
        here.iter()
            .filter_map(|set| Some(find(set, method)?.estimate(|r| r.iterations as f64).value))
            .collect()
    };
    let few: Vec<Side> =
        iterations(OURS[0]).iter().map(|x| if *x < FEW { Side::Above } else { Side::Below }).collect();
    let range = |method: &str| {
        let x = iterations(method);
        let (low, high) =
            (x.iter().copied().fold(f64::INFINITY, f64::min), x.iter().copied().fold(0.0, f64::max));
        format!("{low:.0} to {high:.0}")
    };
    // Without any of the sets there is nothing to tell.
    let of_runs = |words: String| if here.is_empty() { String::new() } else { words };
    let above = |sides: &[Side]| sides.iter().filter(|s| **s == Side::Above).count();
    let (more, slower) = (
        against(OURS[1], "chnmf:random", |r| r.iterations as f64),
        against(OURS[1], "chnmf:random", |r| r.seconds),
    );
    vec![
        Claim {
            place: "Table 3",
            claim: "For more than half of the sets the best average is that of EM-ONMF or ONP-MF.",
            verdict: lab.judge(whole, at_least(&sides(&all), sets.len() / 2 + 1)),
            evidence: format!(
                "{} (By the printed values of the paper: 6 of 12, ties included.)",
                of_runs(told(&all))
            ),
        },
        Claim {
            place: "Table 3",
            claim: "Among the ONMF methods EM-ONMF or ONP-MF is best on ten of the twelve sets.",
            verdict: lab.judge(whole, at_least(&sides(&onmf), 10)),
            evidence: of_runs(told(&onmf)),
        },
        Claim {
            place: "Section 4.2",
            claim: "EM-ONMF takes few iterations (fewer than 100 on every set).",
            verdict: lab.judge(whole, everywhere(&few)),
            evidence: of_runs(format!("Mean iterations a set: {}.", range(OURS[0]))),
        },
        Claim {
            place: "Section 4.2",
            claim: "ONP-MF needs more iterations and more time than CHNMF, on most sets.",
            verdict: lab.judge(whole, crate::estimate::all([mostly(&more), mostly(&slower)])),
            evidence: of_runs(format!(
                "More iterations on {} and more seconds on {} of {} sets; mean iterations a set {} against {}.",
                above(&more),
                above(&slower),
                here.len(),
                range(OURS[1]),
                range("chnmf:random")
            )),
        },
    ]
}
