//! Bounds against brute force: from groups that are no good, where most is left outside them, and from single points by way of
//! float32, as where they are many.

use super::dual::{Dual, explained_at_most};
use super::reduced::Reduced;
use crate::matrix::{Dense, Mat, open};
use crate::run::Go;
use crate::singular::gram;

#[path = "../../tests/common/brute_force.rs"]
mod brute_force;

#[test]
fn any_groups_and_any_format_give_a_bound_that_holds() {
    let mut state = 12345u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let (mut told, mut tight) = (0, 0);
    for problem in 0..300 {
        let (n, features) = (5 + problem % 5, 2 + problem % 4);
        let (groups, k) = (3 + problem % 3, 1 + problem % 2);
        let spread = next();
        let directions: Vec<f64> = (0..groups * features).map(|_| next()).collect();
        let labels: Vec<i32> = (0..n).map(|j| (j % groups) as i32).collect();
        let x: Vec<f64> = (0..n * features)
            .map(|at| directions[(at / features % groups) * features + at % features] + spread * next())
            .collect();
        let weights: Option<Vec<f64>> = (problem % 3 == 0).then(|| (0..n).map(|_| 0.2 + next()).collect());
        let best = brute_force::least_error2(&x, features, weights.as_deref(), k);
        let data = open(Dense::new(n, features, x).unwrap(), weights).unwrap();
        let mut slots = data.slots().unwrap();
        slots.set_labels(0, &labels).unwrap();
        let u = Mat::from_fn(features, groups, |f, g| directions[g * features + f] + 0.1).with_unit_columns();
        let grouped = super::groups::grouped(&*data, &mut *slots, &u).unwrap();
        let reduced = Reduced::groups(grouped, data.facts().norm2, n);
        if let Some(explained) = explained_at_most(reduced, k, 40, &mut |_, _| Go::On) {
            let bound2 = 1.0 - explained;
            assert!(bound2 <= best + 1e-12, "problem {problem}: {bound2:e} above {best:e}");
            told += 1;
            tight += usize::from(bound2 > 0.5 * best);
        }
        let of_points = || Reduced::points(gram(&*data).unwrap(), data.facts().norm2, features);
        let [single, double] = [
            Dual::<f32>::new(of_points(), k).unwrap().maximise(60, &mut |_, _| Go::On).unwrap(),
            Dual::<f64>::new(of_points(), k).unwrap().maximise(60, &mut |_, _| Go::On).unwrap(),
        ];
        assert!(1.0 - single <= best + 1e-12, "problem {problem}: {:e} above {best:e}", 1.0 - single);
        assert!((single - double).abs() < 1e-4, "problem {problem}: {single}, in float64 {double}");
    }
    assert!(told > 250 && tight > 50, "{told} bounds, {tight} of use");
}
