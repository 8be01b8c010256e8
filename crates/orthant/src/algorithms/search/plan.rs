//! How much work a search puts in, and in which order.

use std::cmp::Ordering;

use super::super::OnpMf;
use super::super::improve::Patience;
use super::super::parameters::Field;
use super::soften::Sharpening;
use crate::start::Start;

/// How much work to put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
#[non_exhaustive]
pub enum Effort {
    /// A continuation, a few starts, moves.
    Quick,
    /// More starts and their children.
    Normal,
    /// Several times that.
    Thorough,
    /// Until it is stopped.
    Endless,
}

/// With more points than this normal effort has one population, not two that meet: two find a lower error on some texts, but on
/// large data the search is not to take longer than what people would use instead.
const MANY: usize = 5000;

impl Effort {
    /// Their names, in order.
    pub const NAMES: &[&str] = &["quick", "normal", "thorough", "endless"];

    /// So many generations of children without a better one are the last.
    pub(super) fn patience(self) -> usize {
        if self < Effort::Thorough { 4 } else { 10 }
    }

    /// The stages of ONMF, in order.
    fn of_onmf(self, k: usize, points: usize) -> Vec<Step> {
        let mut plan = vec![Step::Continue(FAST)];
        match self {
            Effort::Quick => plan.extend([Step::Soften(6), Step::Moves]),
            Effort::Normal => {
                plan.push(Step::Soften(8));
                plan.extend(generations(12, 8));
                if points <= MANY {
                    plan.extend([Step::Afresh, Step::Soften(8)]);
                    plan.extend(generations(12, 8));
                    plan.push(Step::Meet);
                    plan.extend(generations(12, 8));
                }
                plan.extend([Step::Moves, Step::Moves]);
            }
            Effort::Thorough | Effort::Endless => {
                plan.extend([STEADY, SLOW, MULTIPLIERS].map(Step::Continue));
                plan.extend([Step::Seed(200), Step::Soften(32)]);
                plan.extend(generations(40, 16));
                plan.extend([Step::Moves; 4]);
                plan.extend([swaps(8, k), Step::Moves]);
                for _ in 0..3 {
                    plan.extend([Step::Afresh, Step::SoftenSlowly(32)]);
                    plan.extend(generations(40, 16));
                    plan.extend([Step::Moves, Step::Moves, Step::Kicks(64), Step::Moves]);
                }
                plan.push(Step::Meet);
                plan.extend(generations(40, 16));
                plan.extend([Step::Moves, Step::Moves, swaps(8, k), Step::Kicks(64), Step::Moves]);
            }
        }
        plan
    }

    /// Those of the other models.
    fn of_others(self, k: usize) -> Vec<Step> {
        let mut plan = vec![];
        match self {
            Effort::Quick => plan.push(Step::Soften(6)),
            Effort::Normal => {
                plan.extend([Step::Seed(6), Step::Soften(10)]);
                plan.extend(generations(12, 8));
            }
            Effort::Thorough | Effort::Endless => {
                plan.extend([Step::Seed(32), Step::Soften(32)]);
                plan.extend(generations(40, 16));
                plan.extend([swaps(8, k), Step::Afresh, Step::SoftenSlowly(32)]);
                plan.extend(generations(40, 16));
                plan.push(Step::Meet);
                plan.extend(generations(40, 16));
            }
        }
        plan
    }

    /// All stages, in order.
    pub(super) fn plan(self, onmf: bool, start: &Start, k: usize, points: usize) -> Vec<Step> {
        // The continuations of ONMF begin at the SVD themselves.
        let given = (!onmf || *start != Start::Svd).then_some(Step::Given);
        let own = if onmf { self.of_onmf(k, points) } else { self.of_others(k) };
        given.into_iter().chain(own).chain([Step::Descend]).collect()
    }
}

impl Field for Effort {
    fn from_number(number: f64) -> Self {
        [Effort::Quick, Effort::Normal, Effort::Thorough, Effort::Endless][number as usize]
    }
    fn number(self) -> f64 {
        self as usize as f64
    }
}

/// A schedule of ONP-MF.
#[derive(Debug)]
pub(super) struct Schedule {
    name: &'static str,
    pub(super) parameters: OnpMf,
}

/// The norm at which the figures below were found: ONP-MF depends on the scale of the data.
const NORM: f64 = 24.0;

const fn schedule(name: &'static str, alpha: f64, rho: f64, growth: f64, tolerance: f64) -> Schedule {
    let parameters = OnpMf { tolerance, max_iterations: 3000, alpha, rho, growth, scale: Some(NORM) };
    Schedule { name, parameters }
}

static FAST: &Schedule = &schedule("continuation, fast", 0.0, 20.0, 1.1, 0.1);
static STEADY: &Schedule = &schedule("continuation, steady", 0.0, 1.0, 1.05, 1e-2);
static SLOW: &Schedule = &schedule("continuation, slow", 0.0, 1.0, 1.015, 1e-2);
static MULTIPLIERS: &Schedule = &schedule("continuation with multipliers", 100.0, 0.1, 1.02, 1e-2);

/// Shares sharpen from where points belong to most clusters to where they belong to one or two. What is left of a point
/// counts relative to what points have on the average: on raw counts, unit norms and spectra alike. Normal effort begins a little
/// softer: its few starts find the lowest errors on more texts so, the many of thorough effort the other way round.
pub(super) const fn starts(effort: Effort) -> Sharpening {
    Sharpening { from: if matches!(effort, Effort::Normal) { 8.0 } else { 10.0 }, to: 80.0, steps: 20 }
}
/// Children have the clusters of their parents, and only settle what these differ in.
pub(super) const CHILDREN: Sharpening = Sharpening { from: 60.0, to: 200.0, steps: 5 };
/// The same for the divergence, which counts relative to the size of each point: long texts would never doubt.
pub(super) const STARTS_BY_SIZE: Sharpening = Sharpening { from: 2.0, to: 40.0, steps: 20 };
pub(super) const CHILDREN_BY_SIZE: Sharpening = Sharpening { from: 10.0, to: 40.0, steps: 5 };

#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// The descent from a start that the user gave.
    Given,
    /// A continuation (ONMF), then the descent.
    Continue(&'static Schedule),
    /// The descent from so many residual starts.
    Seed(usize),
    /// The same from shares that sharpen.
    Soften(usize),
    /// The same from softer ones at half the pace.
    SoftenSlowly(usize),
    /// A generation of so many children of the partitions found, from shares that sharpen.
    Cross(usize),
    /// The same, each with a centroid that is new; shares would melt it away.
    Exchange(usize),
    /// No work: what was found is put aside, and others are looked for without it. A population whose partitions are children of
    /// each other no longer finds what is far from them.
    Afresh,
    /// No work: what was put aside comes back.
    Meet,
    /// Moves (ONMF), from the best partition that has not had them.
    Moves,
    /// Swaps, from the best partition that has not had them.
    Swaps(Patience),
    /// The descent from directions of random halves of the best partition's clusters (ONMF), so often.
    Kicks(usize),
    /// The descent from the best: labels that are those of the nearest centroid.
    Descend,
}

impl Step {
    /// In a search whose descent is called so.
    pub(super) fn name(&self, descent: &'static str) -> &'static str {
        match self {
            Step::Given => "the given start",
            Step::Continue(schedule) => schedule.name,
            Step::Seed(_) => "residual starts",
            Step::Soften(_) | Step::SoftenSlowly(_) => "starts that sharpen",
            Step::Cross(_) | Step::Exchange(_) => "children of the best",
            Step::Moves => "moves",
            Step::Swaps(_) => "swaps",
            Step::Kicks(_) => "halves of the best",
            Step::Afresh | Step::Meet => "populations",
            Step::Descend => descent,
        }
    }

    /// About how many iterations each of its runs takes.
    pub(super) fn iterations(&self) -> f64 {
        match self {
            // EM goes on from it.
            Step::Continue(schedule) => schedule.parameters.iterations(NORM * NORM) + 20.0,
            // To find the starts takes time too.
            Step::Soften(_) | Step::Seed(_) => 40.0,
            Step::SoftenSlowly(_) => 60.0,
            Step::Cross(_) | Step::Exchange(_) => 15.0,
            Step::Moves => 60.0,
            Step::Swaps(patience) => 2.0 * patience.failures as f64,
            Step::Given | Step::Kicks(_) | Step::Descend => 20.0,
            Step::Afresh | Step::Meet => 1.0,
        }
    }

    /// Whether it has children of the partitions found.
    pub(super) fn is_a_generation(&self) -> bool {
        matches!(self, Step::Cross(_) | Step::Exchange(_))
    }

    /// How many runs it has.
    pub(super) fn runs(&self) -> usize {
        match self {
            Step::Seed(runs)
            | Step::Soften(runs)
            | Step::SoftenSlowly(runs)
            | Step::Cross(runs)
            | Step::Exchange(runs)
            | Step::Kicks(runs) => *runs,
            _ => 1,
        }
    }
}

/// So many generations of so many children: with shares that sharpen and with a new centroid, in turn.
fn generations(count: usize, children: usize) -> impl Iterator<Item = Step> {
    [Step::Cross(children), Step::Exchange(children)].into_iter().cycle().take(count)
}

/// How much of a plan is done, where the stage at a position is under way for so many iterations. Generations that come only if
/// those before gained something count the less, the later they are.
pub(super) fn share(plan: &[Step], position: usize, iteration: usize, patience: usize) -> f64 {
    let (mut generation, mut done, mut all) = (0usize, 0.0, 0.0);
    for (at, step) in plan.iter().enumerate() {
        generation = if step.is_a_generation() { generation + 1 } else { 0 };
        let likely = 0.5f64.powi(generation.saturating_sub(patience) as i32);
        // An iteration of a continuation takes about as long as three of a descent.
        let each = if matches!(step, Step::Continue(_)) { 3.0 } else { 1.0 };
        let effort = likely * each * step.runs() as f64 * step.iterations();
        all += effort;
        match at.cmp(&position) {
            Ordering::Less => done += effort,
            Ordering::Equal => done += effort * (iteration as f64 / step.iterations()).min(0.9),
            Ordering::Greater => {}
        }
    }
    done / all
}

fn swaps(tries: usize, k: usize) -> Step {
    Step::Swaps(Patience { failures: tries * k, ..Patience::normal(k) })
}

/// What an endless search goes on with: random numbers depend on the position in the plan, and so are others.
pub(super) fn another_round(onmf: bool, k: usize) -> Vec<Step> {
    let mut round = vec![Step::Soften(16)];
    round.extend(generations(20, 16));
    if onmf {
        round.extend([Step::Moves, swaps(8, k), Step::Kicks(16), Step::Moves]);
    } else {
        round.push(swaps(8, k));
    }
    round.push(Step::Descend);
    round
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_a_plan_grows_from_stage_to_stage_and_within_them() {
        for (effort, onmf) in [(Effort::Quick, true), (Effort::Normal, false), (Effort::Thorough, true)] {
            let plan = effort.plan(onmf, &Start::Svd, 8, 100);
            let is_work = |at: &usize| !matches!(plan[*at], Step::Afresh | Step::Meet);
            let stages = (0..plan.len()).filter(is_work);
            let all = stages.flat_map(|at| [0, 5, 1000].map(|iteration| (at, iteration)));
            let shares: Vec<f64> =
                all.map(|(at, iteration)| share(&plan, at, iteration, effort.patience())).collect();
            assert_eq!(shares[0], 0.0);
            assert!(shares.windows(2).all(|pair| pair[0] < pair[1]), "{shares:?}");
            assert!((0.9..1.0).contains(shares.last().unwrap()));
        }
    }
}
