//! Points drawn with probabilities proportional to what is not yet explained; of 2 + ⌊ln k⌋ draws the
//! one that leaves least is kept. For k-means this is greedy k-means++; for ONMF the residual of a
//! point is `‖m‖² − maxᵢ(uᵢᵀm)²`. Of large data a sample is drawn from ([`Problem::sample`]).

use rand_chacha::ChaCha8Rng;

use crate::error::Result;
use crate::matrix::passes::{Explain, Settle, Unsettle};
use crate::matrix::{Mat, Rule, Slot, Slots};
use crate::prepare::{Needs, Problem, place};
use crate::random::uniform;

pub(super) fn points(
    problem: &Problem,
    slots: &mut dyn Slots,
    rule: Rule,
    generator: &mut ChaCha8Rng,
) -> Result<Mat> {
    if let Some(sample) = problem.sample()? {
        let needs = Needs { signed: true, zero_is_a_point: rule.distance };
        // It may have too few points that are not zero.
        if let Ok(part) = Problem::new(sample, problem.k, needs) {
            let part = part.asking_as(problem);
            let centroids = points(&part, &mut *sample.slots()?, rule, generator)?;
            problem.is_cut_short_as(&part);
            return Ok(rule.rescaled(centroids, problem.facts().scale / sample.facts().scale));
        }
    }
    let k = problem.k;
    let draws = 2 + (k as f64).ln() as usize;
    let any = |generator: &mut ChaCha8Rng| Ok(problem.draw(1, rule.distance, generator)?[0]);
    slots.tell(&Unsettle { rule })?;
    let mut centroids = Mat::zeros(problem.data.shape().features, k);
    for i in 0..k {
        if problem.is_to_end() {
            // Any points serve for the one iteration that is still to come.
            let rest = problem.draw(k - i, rule.distance, generator)?;
            let columns = rule.of_points(problem.data.gather(&rest)?);
            (i..k).for_each(|to| centroids.set_column(to, &columns.column(to - i)));
            break;
        }
        let fractions: Vec<f64> = (0..draws).map(|_| uniform(generator)).collect();
        let points: Vec<usize> = if i == 0 && rule.distance {
            // Nothing is settled yet: all points are equally far from it.
            (0..draws).map(|_| any(generator)).collect::<Result<_>>()?
        } else {
            let drawn = left(slots, &fractions)?;
            // Where nothing is left to explain, any point will do.
            drawn.into_iter().map(|point| point.map_or_else(|| any(generator), Ok)).collect::<Result<_>>()?
        };
        let columns = rule.of_points(problem.data.gather(&points)?);
        let left = slots.tell(&Explain::new(columns.clone(), rule))?.0;
        let best = (0..draws).min_by(|&a, &b| left[a].total_cmp(&left[b])).unwrap_or(0);
        let column = columns.columns(best..best + 1);
        centroids.set_column(i, &column.data);
        slots.tell(&Settle::new(column, rule))?;
    }
    Ok(centroids)
}

/// The points at the given fractions (in [0, 1)) of what the settled directions leave; none where nothing is left.
pub(crate) fn left(slots: &mut dyn Slots, fractions: &[f64]) -> Result<Vec<Option<usize>>> {
    let mut places = vec![None; fractions.len()];
    slots.with_numbers(Slot::Left, &mut |left| places = place(left, fractions))?;
    Ok(places)
}
