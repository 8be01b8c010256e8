//! Random points, each at most once. [P, Sec. 4: "randomly selected among the data points"]

use rand_chacha::ChaCha8Rng;

use crate::error::Result;
use crate::matrix::Rule;
use crate::prepare::Problem;

pub(crate) fn points(problem: &Problem, rule: Rule, generator: &mut ChaCha8Rng) -> Result<Vec<usize>> {
    problem.draw(problem.k, rule.distance, generator)
}
