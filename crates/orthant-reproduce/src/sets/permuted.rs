//! The same data in several orders of points and features.

use std::sync::Arc;

use anyhow::Result;
use orthant::matrix::{Dense, Matrix};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::{Set, Shared};

/// How many orders; the first is that of the data.
const ORDERS: u64 = 20;

/// A set in all its orders.
pub fn orders(set: &Shared) -> Result<Vec<Shared>> {
    (0..ORDERS).map(|order| Ok(Arc::new(permuted(set, order)?))).collect()
}

fn permuted(set: &Set, order: u64) -> Result<Set> {
    let mut rng = ChaCha8Rng::seed_from_u64(order);
    let mut shuffled = |n: usize| {
        let mut all: Vec<usize> = (0..n).collect();
        if order > 0 {
            all.shuffle(&mut rng);
        }
        all
    };
    let (points, features) = (shuffled(set.matrix.points()), shuffled(set.matrix.features()));
    let rows = points.iter().flat_map(|&j| {
        let point = set.matrix.point(j);
        features.iter().map(move |&i| point[i]).collect::<Vec<_>>()
    });
    Ok(Set {
        name: format!("{} order {order}", set.name),
        matrix: Matrix::DenseF64(Dense::new(points.len(), features.len(), rows.collect::<Vec<f64>>())?),
        k: set.k,
        truth: set.truth.as_ref().map(|truth| points.iter().map(|&j| truth[j]).collect()),
        classes: set.classes.clone(),
        image: None,
        pixels: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_hold_the_same_points_and_the_first_is_the_data() {
        let data = vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0];
        let set = Arc::new(Set {
            name: "s".into(),
            matrix: Matrix::DenseF64(Dense::new(4, 3, data).unwrap()),
            k: 2,
            truth: Some(vec![0, 0, 1, 1]),
            classes: vec![],
            image: None,
            pixels: None,
        });
        let orders = orders(&set).unwrap();
        assert_eq!(orders[0].matrix, set.matrix);
        assert!(orders.iter().any(|o| o.truth != set.truth));
        for order in &orders {
            let mut seen = vec![];
            for j in 0..4 {
                let mut point = order.matrix.point(j);
                point.sort_by(f64::total_cmp);
                seen.push((point[0], order.truth.as_ref().unwrap()[j]));
            }
            seen.sort_by(|a, b| a.0.total_cmp(&b.0));
            assert_eq!(seen, [(0.0, 0), (3.0, 0), (6.0, 1), (9.0, 1)]);
        }
        let names: std::collections::BTreeSet<_> = orders.iter().map(|o| &o.name).collect();
        assert_eq!(names.len(), orders.len());
    }
}
