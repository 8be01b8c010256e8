//! Random points, each at most once. [P, Sec. 4: "randomly selected among the data points"]

use rand_chacha::ChaCha8Rng;

use crate::error::Result;
use crate::matrix::{Mat, Rule};
use crate::prepare::Problem;

pub(super) fn points(problem: &Problem, rule: Rule, generator: &mut ChaCha8Rng) -> Result<Mat> {
    problem.data.gather(&problem.draw(problem.k, rule.distance, generator)?)
}
