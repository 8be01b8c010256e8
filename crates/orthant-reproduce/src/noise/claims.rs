//! What the paper says of Figures 2 and 4.
//!
//! Methods are compared in pairs on the same sets. At noise 0.5 and 1 everything is near chance, and nothing is decided.

use anyhow::Result;
use orthant::report::number::percent;

use super::{Course, ONMF, OP_SVD, Pairs, by_set, title};
use crate::estimate::{Estimate, Side, all, at_least, everywhere, mostly, share_of_perfect_draws};
use crate::lab::Lab;
use crate::protocol::{PAPER, POLISHED, SETS};
use crate::sets::synthetic::Level;
use crate::shown::{Claim, Verdict};

/// The level at which the paper finds ONP-MF and O-P(SVD) perfect.
pub const SMALL: f64 = 0.01;
/// Below this share of all draws the paper's ten sets cannot well have been perfect; above the other they must have.
const RARE: f64 = 0.05;
const COMMON: f64 = 0.95;
/// Methods that differ by less perform similarly.
const SIMILAR: f64 = 0.05;

/// ONMF above both, at every level.
pub fn above(lab: &Lab, pairs: &[Pairs]) -> Claim {
    let least = pairs.iter().map(|p| p.differences.len()).min().unwrap_or(0);
    let sides: Vec<Side> = pairs.iter().map(|p| p.estimate().side()).collect();
    let told = |side: Side| -> Vec<String> {
        let of =
            |p: &Pairs| format!("noise {} against {}: {}", p.noise, title(p.other), p.estimate().points());
        pairs.iter().filter(|p| p.estimate().side() == side).map(of).collect()
    };
    let count = |side: Side| sides.iter().filter(|s| **s == side).count();
    let mut evidence = format!(
        "On {least} sets a level: above in {} of {} comparisons, equal on every set in {}.",
        count(Side::Above),
        sides.len(),
        count(Side::Equal)
    );
    for (words, side) in [("Below", Side::Below), ("Not to be told", Side::Unclear)] {
        if !told(side).is_empty() {
            evidence += &format!(" {words}: {} (percent points ± standard error).", told(side).join("; "));
        }
    }
    Claim {
        place: "Figure 2",
        claim: "ONMF outperforms k-means and spherical k-means (noise up to 0.3, in pairs on the same sets).",
        verdict: lab.judge(least >= SETS, everywhere(&sides)),
        evidence,
    }
}

/// Accuracies of a method on all sets of the small level that have been run.
fn at_small_noise(lab: &Lab, method: &str) -> Result<Vec<f64>> {
    let mut known = vec![];
    for level in lab.sets.levels.iter().filter(|level| level.noise == SMALL) {
        known = by_set(lab, level, method, usize::MAX)?.into_iter().flatten().collect();
    }
    Ok(known)
}

/// Whether ten sets may have been perfect.
fn of_share(share: f64) -> Verdict {
    match share {
        share if share >= COMMON => Verdict::Holds,
        share if share <= RARE => Verdict::Fails,
        _ => Verdict::Uncertain,
    }
}

/// Perfect on all of ten sets of the small level.
pub fn perfect_model(lab: &Lab) -> Result<Claim> {
    let known = at_small_noise(lab, ONMF)?;
    let perfect = known.iter().filter(|a| **a == 1.0).count();
    let share = share_of_perfect_draws(&known, SETS);
    Ok(Claim {
        place: "Figures 2 and 4",
        claim: "ONP-MF identifies all clusters perfectly at noise 0.01.",
        verdict: lab.judge_single_runs(known.len() >= 2 * SETS, of_share(share)),
        evidence: format!(
            "{perfect} of {} sets are perfect, mean accuracy {:.4}. Of all draws of {SETS} sets from these, as many as the \
             paper has, {} would be perfect.",
            known.len(),
            Estimate::of(&known).value,
            percent(share)
        ),
    })
}

/// A method's accuracy less another's, set by set.
fn difference(lab: &Lab, level: &Level, one: &str, other: &str) -> Result<Estimate> {
    let (a, b) = (by_set(lab, level, one, lab.protocol.sets)?, by_set(lab, level, other, lab.protocol.sets)?);
    Ok(Estimate::of(&a.iter().zip(b).filter_map(|(a, b)| Some((*a)? - b?)).collect::<Vec<_>>()))
}

/// What the paper says of Figure 4.
pub fn of_methods(lab: &Lab, courses: &[Course]) -> Result<Vec<Claim>> {
    let paper: Vec<&Course> = courses.iter().filter(|c| c.method != POLISHED).collect();
    let levels: Vec<&Level> = lab.sets.levels.iter().filter(|l| l.noise > 0.0 && l.tells()).collect();
    let whole = paper.iter().all(|c| levels.iter().all(|l| c.sets_at(l.noise) >= lab.protocol.sets));
    let ours = [ONMF, OP_SVD];
    let others: Vec<&str> = PAPER[2..].iter().copied().filter(|m| !ours.contains(m)).collect();
    let best = |methods: &[&'static str], noise: f64| {
        let of =
            |method: &&'static str| paper.iter().find(|c| c.method == *method).map_or(0.0, |c| c.at(noise));
        methods.iter().copied().max_by(|a, b| of(a).total_cmp(&of(b))).unwrap_or(ONMF)
    };
    let mut best_sides = vec![];
    let mut best_told = vec![];
    let (mut lower, mut similar, mut apart) = (vec![], vec![], 0.0f64);
    let (mut poor, mut poor_told) = (vec![], vec![]);
    for level in &levels {
        let noise = level.noise;
        let all_others: Vec<&'static str> =
            PAPER[2..].iter().copied().filter(|m| !ours.contains(m)).collect();
        let (mine, theirs) = (best(&ours, noise), best(&all_others, noise));
        let d = difference(lab, level, mine, theirs)?;
        best_told.push(format!("{noise}: {} against {} {}", title(mine), title(theirs), d.points()));
        best_sides.push(d.side());
        let three = ["chnmf:random", "o-pnmf:random", "chnmf:nndsvd"];
        for (i, one) in three.iter().enumerate() {
            for other in &three[..i] {
                let d = difference(lab, level, one, other)?;
                apart = apart.max(d.value.abs());
                similar.push(d.within(SIMILAR));
            }
            for mine in ours {
                lower.push(difference(lab, level, mine, one)?.side());
            }
        }
        let mut behind = vec![];
        for method in PAPER[2..].iter().filter(|m| **m != "em-onmf:random") {
            behind.push(difference(lab, level, method, "em-onmf:random")?);
        }
        let sides: Vec<Side> = behind.iter().map(Estimate::side).collect();
        let above = sides.iter().filter(|side| **side == Side::Above).count();
        poor_told.push(format!("{noise}: behind {above} of {}", sides.len()));
        poor.extend(sides);
    }
    let small = others.iter().map(|m| Ok((*m, share_of_perfect_draws(&at_small_noise(lab, m)?, SETS))));
    let small = small.collect::<Result<Vec<_>>>()?;
    let shares: Vec<(&str, f64)> = ours
        .iter()
        .map(|m| Ok((*m, share_of_perfect_draws(&at_small_noise(lab, m)?, SETS))))
        .collect::<Result<_>>()?;
    let told: Vec<String> =
        shares.iter().chain(&small).map(|(m, share)| format!("{} {}", title(m), percent(*share))).collect();
    let together: f64 =
        shares.iter().map(|s| s.1).product::<f64>() * small.iter().map(|s| 1.0 - s.1).product::<f64>();
    let count = |sides: &[Side], side: Side| sides.iter().filter(|s| **s == side).count();
    Ok(vec![
        Claim {
            place: "Figure 4",
            claim: "ONP-MF or O-P(SVD) perform best among all ONMF methods (noise up to 0.3).",
            verdict: lab.judge(whole, mostly(&best_sides)),
            evidence: format!(
                "The better of the two against the best of the others, on {} sets in pairs, percent points ± standard \
                 error: {}.",
                lab.protocol.sets,
                best_told.join("; ")
            ),
        },
        Claim {
            place: "Figure 4",
            claim: "ONP-MF and O-P(SVD) are the only ones that find all clusters perfectly at noise 0.01.",
            verdict: lab.judge(whole && together.is_finite(), of_share(together)),
            evidence: format!("Share of draws of {SETS} sets that would be perfect: {}.", told.join(", ")),
        },
        Claim {
            place: "Figure 4",
            claim: "CHNMF, O-PNMF and CH(SVD) perform similarly (differences below 5 percent points).",
            verdict: lab.judge(whole, all(similar)),
            evidence: format!("Up to noise 0.3 they are at most {:.1} percent points apart.", 100.0 * apart),
        },
        Claim {
            place: "Figure 4",
            claim: "In most cases they are below ONP-MF and O-P(SVD).",
            verdict: lab.judge(whole, mostly(&lower)),
            evidence: format!(
                "Of {} comparisons in pairs: below in {}, above in {}, not to be told in {}.",
                lower.len(),
                count(&lower, Side::Above) + count(&lower, Side::Equal),
                count(&lower, Side::Below),
                count(&lower, Side::Unclear)
            ),
        },
        Claim {
            place: "Figure 4",
            claim: "EM-ONMF performs rather poorly (average over random starts, against the five others).",
            verdict: lab.judge(whole, at_least(&poor, poor.len() / 2 + 1)),
            evidence: format!("At noise {}.", poor_told.join("; ")),
        },
    ])
}
