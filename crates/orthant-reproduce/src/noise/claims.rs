//! What the paper says of Figures 2 and 4.

use anyhow::Result;
use orthant::report::Mean;

use super::{Course, ONMF, Pairs, by_set};
use crate::lab::Lab;
use crate::protocol::POLISHED;
use crate::shown::{Claim, UNRUN, Verdict};

/// The level at which the paper finds ONP-MF and O-P(SVD) perfect, and what counts as that.
const SMALL: f64 = 0.01;
const PERFECT: f64 = 0.999;

/// ONMF above both, at every level.
pub fn above(pairs: &[Pairs]) -> Claim {
    let least = pairs.iter().map(|p| p.differences.len()).min().unwrap_or(0);
    let tied: Vec<String> = pairs
        .iter()
        .filter(|p| p.count(|d| d == 0.0) == p.differences.len())
        .map(|p| format!("noise {} with {}", p.noise, p.other.replace(":random", "")))
        .collect();
    // Where nobody errs there is nothing to be above of.
    let below: Vec<String> = pairs
        .iter()
        .filter(|p| p.mean().mean <= 0.0 && p.count(|d| d == 0.0) < p.differences.len())
        .map(|p| {
            format!(
                "noise {} against {}: {:+.1}",
                p.noise,
                p.other.replace(":random", ""),
                100.0 * p.mean().mean
            )
        })
        .collect();
    let clear = pairs.iter().filter(|p| p.mean().mean > 2.0 * p.standard_error()).count();
    let told = match below.is_empty() {
        true => format!(
            "Above both on {least} sets a level, by more than two standard errors in {clear} of {} comparisons{}.",
            pairs.len(),
            if tied.is_empty() {
                String::new()
            } else {
                format!("; equal on every set at {}", tied.join(", "))
            }
        ),
        false => format!("On {least} sets each: not above at {}.", below.join("; ")),
    };
    Claim {
        place: "Figure 2",
        claim: "ONMF outperforms k-means and spherical k-means (noise up to 0.3, in pairs on the same sets).",
        verdict: if least < 2 { UNRUN } else { Verdict::of(below.is_empty()) },
        evidence: told,
    }
}

/// Perfect on all sets of the small level.
pub fn perfect_model(lab: &Lab) -> Result<Claim> {
    let mut known = vec![];
    for level in lab.sets.levels.iter().filter(|level| level.noise == SMALL) {
        known = by_set(lab, level, ONMF, usize::MAX)?.into_iter().flatten().collect();
    }
    let first: Vec<f64> = known.iter().copied().take(lab.protocol.sets).collect();
    let perfect = known.iter().filter(|a| **a == 1.0).count();
    let mean = Mean::of(&known).mean;
    Ok(Claim {
        place: "Figures 2 and 4",
        claim: "ONP-MF identifies all clusters perfectly at noise 0.01 (mean accuracy at least 0.999).",
        verdict: if known.is_empty() { UNRUN } else { Verdict::of(mean >= PERFECT) },
        evidence: format!(
            "{perfect} of {} sets are perfect, mean accuracy {mean:.4}; on the first {} sets alone, as many as the \
             paper has, {:.4}. Sets differ: ten in a row reach 0.999 about every second time, so the paper's ten may \
             well have been perfect.",
            known.len(),
            first.len(),
            Mean::of(&first).mean
        ),
    })
}

/// What the paper says of Figure 4.
pub fn of_methods(lab: &Lab, courses: &[Course]) -> Vec<Claim> {
    let paper: Vec<&Course> = courses.iter().filter(|c| c.method != POLISHED).collect();
    let find = |method: &str| paper.iter().find(|c| c.method == method);
    let (Some(onp), Some(op_svd), Some(em)) = (find(ONMF), find("o-pnmf:nndsvd"), find("em-onmf:random"))
    else {
        return vec![];
    };
    let levels: Vec<f64> = lab.sets.levels.iter().map(|l| l.noise).filter(|x| *x > 0.0).collect();
    let whole = paper.iter().all(|c| levels.iter().all(|x| c.at(*x).is_finite()));
    let judge = |holds: bool| if whole { Verdict::of(holds) } else { UNRUN };
    let best_at = |x: f64| {
        let most = paper.iter().map(|c| c.at(x)).fold(0.0, f64::max);
        paper.iter().find(|c| c.at(x) == most).map_or("", |c| c.title.as_str())
    };
    let best: Vec<String> = levels.iter().map(|x| format!("{x}: {}", best_at(*x))).collect();
    let theirs =
        levels.iter().filter(|x| [onp.title.as_str(), &op_svd.title].contains(&best_at(**x))).count();
    let perfect: Vec<String> =
        paper.iter().filter(|c| c.at(SMALL) >= PERFECT).map(|c| c.title.clone()).collect();
    let only_those =
        [&onp.title, &op_svd.title].iter().all(|title| perfect.contains(title)) && perfect.len() == 2;
    let three = ["chnmf:random", "o-pnmf:random", "chnmf:nndsvd"];
    let (mut lower, mut compared, mut apart) = (0, 0, 0.0f64);
    for x in &levels {
        let values: Vec<f64> = three.iter().filter_map(|m| Some(find(m)?.at(*x))).collect();
        let spread = values.iter().copied().fold(0.0, f64::max) - values.iter().copied().fold(1.0, f64::min);
        apart = apart.max(spread);
        compared += 2 * values.len();
        lower += values
            .iter()
            .map(|v| usize::from(*v < onp.at(*x)) + usize::from(*v < op_svd.at(*x)))
            .sum::<usize>();
    }
    let lowest = levels.iter().filter(|x| paper.iter().all(|c| c.at(**x) >= em.at(**x))).count();
    let list = |words: &[String]| if words.is_empty() { "none".into() } else { words.join(", ") };
    vec![
        Claim {
            place: "Figure 4",
            claim: "ONP-MF or O-P(SVD) perform best among all ONMF methods.",
            verdict: judge(2 * theirs > levels.len()),
            evidence: format!("Best at {theirs} of {} levels with noise. {}.", levels.len(), best.join("; ")),
        },
        Claim {
            place: "Figure 4",
            claim: "ONP-MF and O-P(SVD) are the only ones that find all clusters perfectly at noise 0.01.",
            verdict: judge(only_those),
            evidence: format!(
                "Mean accuracy of at least {PERFECT} on {} sets: {}. ONP-MF {:.4}, O-P(SVD) {:.4}.",
                lab.protocol.sets,
                list(&perfect),
                onp.at(SMALL),
                op_svd.at(SMALL)
            ),
        },
        Claim {
            place: "Figure 4",
            claim: "CHNMF, O-PNMF and CH(SVD) perform similarly, in most cases below ONP-MF and O-P(SVD).",
            verdict: judge(2 * lower > compared),
            evidence: format!(
                "Below in {lower} of {compared} comparisons; the three are at most {:.1} percent points apart.",
                100.0 * apart
            ),
        },
        Claim {
            place: "Figure 4",
            claim: "EM-ONMF performs rather poorly (average over random starts).",
            verdict: judge(em.at(SMALL) < onp.at(SMALL) && em.at(0.05) < onp.at(0.05)),
            evidence: format!(
                "The lowest of the six at {lowest} of {} levels with noise; {:.3} against {:.3} of ONP-MF at 0.01, \
                 {:.3} against {:.3} at 0.05.",
                levels.len(),
                em.at(SMALL),
                onp.at(SMALL),
                em.at(0.05),
                onp.at(0.05)
            ),
        },
    ]
}
