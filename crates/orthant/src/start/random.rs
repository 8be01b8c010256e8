//! Random points, each at most once. [P, Sec. 4: "randomly selected among the data points"]

use rand::seq::index;
use rand_chacha::ChaCha8Rng;

use crate::error::Result;
use crate::matrix::Mat;
use crate::prepare::Problem;

pub(super) fn points(problem: &Problem, zero_is_a_point: bool, generator: &mut ChaCha8Rng) -> Result<Mat> {
    let candidates = problem.candidates(zero_is_a_point);
    let numbers = index::sample(generator, candidates.len(), problem.k);
    let points: Vec<usize> = numbers.iter().map(|number| candidates.get(number)).collect();
    problem.data.gather(&points)
}
