use proptest::prelude::*;

use super::*;

/// labels, truth, and their scores.
struct Case {
    labels: Vec<i32>,
    truth: Vec<usize>,
    accuracy: f64,
    nmi: f64,
    ari: f64,
    purity: f64,
}

/// Values from scikit-learn 1.9.1 (`normalized_mutual_info_score`, `adjusted_rand_score`) and scipy's
/// `linear_sum_assignment`.
fn known() -> Vec<Case> {
    let case = |labels: &[i32], truth: &[usize], [accuracy, nmi, ari, purity]: [f64; 4]| Case {
        labels: labels.to_vec(),
        truth: truth.to_vec(),
        accuracy,
        nmi,
        ari,
        purity,
    };
    let squares: Vec<i32> = (0..200).map(|i| (i * i) % 7).collect();
    let mixed: Vec<usize> = (0..200).map(|i| (i % 5 / 2 * (i % 3)) % 4).collect();
    vec![
        case(
            &[0, 0, 1, 1, 2, 2, 2, 0, 1, 1],
            &[0, 0, 1, 1, 2, 2, 0, 1, 1, 2],
            [0.7, 0.442_701_283_346_05, 0.204_545_454_545_454_56, 0.7],
        ),
        case(&[0; 6], &[0, 1, 2, 0, 1, 2], [1.0 / 3.0, 0.0, 0.0, 1.0 / 3.0]),
        case(&[0; 3], &[0; 3], [1.0; 4]),
        case(&[0, 1, 2, 3], &[0, 1, 2, 3], [1.0; 4]),
        case(&[0, 1, 0, 1], &[0, 0, 1, 1], [0.5, 0.0, -0.5, 0.5]),
        case(
            &[0, 0, 1, 1, 2, 3, 3, 3],
            &[0, 0, 0, 1, 1, 1, 0, 1],
            [0.5, 0.279_208_155_962_984_54, -0.022_471_910_112_359_55, 0.75],
        ),
        case(&[0, 1, 2, 3], &[0; 4], [0.25, 0.0, 0.0, 1.0]),
        case(&squares, &mixed, [0.29, 0.000_763_848_841_023_558_9, -0.008_846_220_659_956_935, 0.665]),
    ]
}

#[test]
fn scores_equal_those_of_scikit_learn() {
    for Case { labels, truth, accuracy, nmi, ari, purity } in known() {
        let found = scores(&labels, &truth).unwrap();
        for (name, found, expected) in [
            ("accuracy", found.accuracy, accuracy),
            ("nmi", found.nmi, nmi),
            ("ari", found.ari, ari),
            ("purity", found.purity, purity),
        ] {
            assert!((found - expected).abs() < 1e-14, "{name}: {found}, not {expected}, for {labels:?}");
        }
    }
}

#[test]
fn the_table_and_the_struct_agree() {
    for Case { labels, truth, .. } in known() {
        let found = scores(&labels, &truth).unwrap();
        let from_table: Vec<f64> = SCORES.iter().map(|score| (score.compute)(&found.confusion)).collect();
        assert_eq!(from_table, [found.accuracy, found.nmi, found.ari, found.purity]);
    }
    let names: Vec<&str> = SCORES.iter().map(|score| score.name).collect();
    assert_eq!(names, ["accuracy", "nmi", "ari", "purity"]);
}

#[test]
fn points_without_a_cluster_are_left_out() {
    let with = scores(&[0, -1, 1, 1, -1], &[0, 2, 1, 0, 0]).unwrap();
    let without = scores(&[0, 1, 1], &[0, 1, 0]).unwrap();
    assert_eq!(with.scored_points, 3);
    assert_eq!(
        (with.accuracy, with.nmi, with.ari, with.purity),
        (without.accuracy, without.nmi, without.ari, without.purity)
    );
}

#[test]
fn empty_clusters_and_classes_change_nothing() {
    // Clusters 1 and 2 and class 0 are empty: still one cluster and one class.
    let found = scores(&[3, 3], &[1, 1]).unwrap();
    assert_eq!((found.accuracy, found.nmi, found.ari, found.purity), (1.0, 1.0, 1.0, 1.0));
    assert_eq!((found.confusion.clusters(), found.confusion.classes()), (4, 2));
}

#[test]
fn the_matching_names_a_class_for_each_cluster_that_shares_points() {
    let matching = |labels: &[i32], truth: &[usize]| best_matching(&Confusion::new(labels, truth).unwrap());
    assert_eq!(matching(&[0, 0, 1, 1], &[1, 1, 0, 0]), [Some(1), Some(0)]);
    // More clusters than classes: the smaller half of the split class has no partner.
    assert_eq!(matching(&[0, 0, 1, 2, 2], &[0, 0, 0, 1, 1]), [Some(0), None, Some(1)]);
    // An empty cluster is matched with nothing, although a class is free.
    assert_eq!(matching(&[0, 2], &[0, 1]), [Some(0), None, Some(1)]);
}

#[test]
fn greedy_matching_would_be_worse_here() {
    // Cluster 0 holds 3 + 2, cluster 1 holds 3 + 0: taking the first 3 costs the second.
    let labels = [0, 0, 0, 0, 0, 1, 1, 1];
    let truth = [0, 0, 0, 1, 1, 0, 0, 0];
    let found = scores(&labels, &truth).unwrap();
    assert_eq!(found.accuracy, 5.0 / 8.0);
    assert_eq!(best_matching(&found.confusion), [Some(1), Some(0)]);
}

#[test]
fn many_points_do_not_overflow_the_pair_counts() {
    let n = 3_000_000;
    let labels: Vec<i32> = (0..n).map(|j| (j % 2) as i32).collect();
    let truth: Vec<usize> = (0..n).map(|j| j % 2).collect();
    let found = scores(&labels, &truth).unwrap();
    assert_eq!((found.accuracy, found.ari), (1.0, 1.0));
    let shuffled: Vec<usize> = (0..n).map(|j| j / 2 % 2).collect();
    let found = scores(&labels, &shuffled).unwrap();
    assert_eq!(found.nmi, 0.0);
    assert!(found.ari.abs() < 1e-6, "{}", found.ari);
}

#[test]
fn refusals_name_the_culprit() {
    let message = |labels: &[i32], truth: &[usize]| scores(labels, truth).unwrap_err().to_string();
    let lengths = message(&[0, 1, 0], &[0, 1]);
    assert!(lengths.contains('3') && lengths.contains('2'), "{lengths}");
    assert!(message(&[-1, -1], &[0, 1]).contains("none of the 2 points"));
    assert!(message(&[], &[]).contains("none of the 0 points"));
    assert!(message(&[0, -7], &[0, 1]).contains("point 1 has the label -7"));
    assert!(message(&[i32::MAX, 0], &[0, 1]).contains("2147483647"));
    assert!(message(&[0, 0], &[usize::MAX, 0]).contains("without gaps"));
}

/// Accuracy by trying every way to give the clusters different classes, or none.
fn accuracy_by_trying_all(confusion: &Confusion) -> f64 {
    fn most(confusion: &Confusion, cluster: usize, taken: &mut Vec<bool>) -> u64 {
        if cluster == confusion.clusters() {
            return 0;
        }
        let mut best = most(confusion, cluster + 1, taken);
        for class in 0..confusion.classes() {
            if !taken[class] {
                taken[class] = true;
                best = best.max(confusion.count(cluster, class) + most(confusion, cluster + 1, taken));
                taken[class] = false;
            }
        }
        best
    }
    most(confusion, 0, &mut vec![false; confusion.classes()]) as f64 / confusion.points() as f64
}

/// Up to 40 points in up to 5 clusters (or none) and up to 5 classes; at least one has a cluster.
fn partitions() -> impl Strategy<Value = Vec<(i32, usize)>> {
    prop::collection::vec((-1..5i32, 0..5usize), 1..40)
        .prop_filter("a point with a cluster", |points| points.iter().any(|point| point.0 >= 0))
}

fn score(points: &[(i32, usize)]) -> Scores {
    let (labels, truth): (Vec<i32>, Vec<usize>) = points.iter().copied().unzip();
    scores(&labels, &truth).unwrap()
}

proptest! {
    #[test]
    fn accuracy_is_the_best_over_all_matchings(points in partitions()) {
        let found = score(&points);
        prop_assert_eq!(found.accuracy, accuracy_by_trying_all(&found.confusion));
    }

    #[test]
    fn scores_stay_within_their_bounds(points in partitions()) {
        let found = score(&points);
        prop_assert!(found.accuracy > 0.0 && found.accuracy <= found.purity && found.purity <= 1.0);
        prop_assert!((0.0..=1.0).contains(&found.nmi));
        prop_assert!((-0.5..=1.0).contains(&found.ari));
        prop_assert_eq!(found.scored_points, points.iter().filter(|point| point.0 >= 0).count());
    }

    #[test]
    fn renaming_clusters_and_classes_changes_nothing(
        points in partitions(),
        clusters in Just([0, 1, 2, 3, 4]).prop_shuffle(),
        classes in Just([0, 1, 2, 3, 4]).prop_shuffle(),
    ) {
        let renamed: Vec<(i32, usize)> = points
            .iter()
            .map(|&(label, class)| (if label < 0 { -1 } else { clusters[label as usize] }, classes[class]))
            .collect();
        let (before, after) = (score(&points), score(&renamed));
        prop_assert_eq!(before.accuracy, after.accuracy);
        prop_assert_eq!(before.purity, after.purity);
        prop_assert!((before.nmi - after.nmi).abs() < 1e-12);
        prop_assert!((before.ari - after.ari).abs() < 1e-12);
    }

    #[test]
    fn the_truth_itself_scores_one(truth in prop::collection::vec(0..5usize, 1..40)) {
        let labels: Vec<i32> = truth.iter().map(|&class| 4 - class as i32).collect();
        let found = scores(&labels, &truth).unwrap();
        prop_assert_eq!((found.accuracy, found.ari, found.purity), (1.0, 1.0, 1.0));
        prop_assert!((found.nmi - 1.0).abs() < 1e-12);
    }

    #[test]
    fn nmi_and_ari_are_symmetric(points in partitions()) {
        let scored: Vec<(i32, usize)> = points.into_iter().filter(|point| point.0 >= 0).collect();
        let swapped: Vec<(i32, usize)> = scored.iter().map(|&(label, class)| (class as i32, label as usize)).collect();
        let (one, other) = (score(&scored), score(&swapped));
        prop_assert!((one.nmi - other.nmi).abs() < 1e-12);
        prop_assert!((one.ari - other.ari).abs() < 1e-12);
        prop_assert_eq!(one.accuracy, other.accuracy);
    }
}
