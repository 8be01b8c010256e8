//! From what was measured to one recommendation, or to none, with the reasons in words.

use super::{Advice, Model};

/// Partitions that agree this well are the same for all purposes.
pub const SAME: f64 = 0.97;
/// Below this standard deviation of their logarithms, strengths hardly vary.
pub const NARROW: f64 = 0.25;
/// Strengths that vary less than this cannot tell how noise depends on them.
pub const CONSTANT: f64 = 0.1;
/// Centres and directions must differ by so many standard errors of the mean log-density.
const APART: f64 = 1.0;
/// The two laws of noise must differ by so many: they have equally many parameters, and either is as good a guess before.
const CLEAR: f64 = 0.25;
/// By so many each must be better, if the clusters are the same whatever is used.
const TELLING: f64 = 3.0;
/// Halves that agree less than this say that the clusters are not to be relied on.
const UNSTABLE: f64 = 0.5;
/// Fewer points for each cluster say nothing.
const FEWEST: usize = 5;

/// What the evidence says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// The model to use; none where the data do not decide.
    pub recommended: Option<Model>,
    /// The models that the data do not decide between, where they do not.
    pub between: Vec<Model>,
    /// Why, a sentence each, the decisive one first.
    pub reasons: Vec<String>,
}

impl Verdict {
    fn of(model: Model, reason: String) -> Verdict {
        Verdict { recommended: Some(model), between: vec![], reasons: vec![reason] }
    }

    fn undecided(between: &[Model], reason: String) -> Verdict {
        Verdict { recommended: None, between: between.to_vec(), reasons: vec![reason] }
    }
}

const THREE: [Model; 3] = [Model::KMeans, Model::SphericalKMeans, Model::Onmf];

/// Decides.
pub(super) fn decide(advice: &Advice) -> Verdict {
    let mut verdict = decisive(advice);
    verdict.reasons.extend(beside(advice, &verdict));
    verdict
}

fn decisive(a: &Advice) -> Verdict {
    let n = a.points.len();
    if let Some(counts) = &a.counts
        && counts.is_poisson_like()
    {
        return Verdict::of(
            Model::KlOnmf,
            format!(
                "All entries are whole numbers, and the variance of an entry grows like its mean to the power {:.2} (1 for counts, 0 for noise of one size): the noise is that of counts, which the Kullback–Leibler divergence is made for.",
                counts.slope
            ),
        );
    }
    if n < FEWEST * a.k || n < 10 {
        return Verdict::undecided(
            &THREE,
            format!("{n} points in {} clusters are too few to tell the models apart.", a.k),
        );
    }
    if a.features == 1 {
        return Verdict::of(
            Model::KMeans,
            "There is one feature: all points have the same direction, and only their size can tell them apart.".into(),
        );
    }
    let [kmeans, spherical, onmf] = THREE.map(|m| a.model(m).density);
    let (angular, other) = if spherical > onmf {
        (Model::SphericalKMeans, Model::Onmf)
    } else {
        (Model::Onmf, Model::SphericalKMeans)
    };
    // Should scaling influence the cluster? [P, Sec. 2.3, question 1]
    let scale = a.difference(Model::KMeans, angular);
    // Does the noise added to each point depend on its norm? [P, Sec. 2.3, question 2]
    let noise = a.difference(angular, other);
    // Models that differ no more than halves of the data do under the steadiest find the same clusters.
    let same = a.least_agreement();
    let coincide = same >= a.most_stability().map_or(SAME, |s| s.min(SAME));
    let telling = a.spread >= CONSTANT && -scale.1 >= TELLING && noise.1 >= TELLING;
    if coincide && a.spread < NARROW && !telling {
        return Verdict::undecided(
            &THREE,
            format!(
                "All three models find the same clusters (agreement {same:.3}), and the norms within them hardly vary (standard deviation of their logarithm {:.2}): nothing here tells the models apart, use any of them.",
                a.spread
            ),
        );
    }
    if scale.1 >= APART {
        return Verdict::of(
            Model::KMeans,
            format!(
                "Scale matters: clusters around centres explain the points better than clusters along directions, by {:.2} nats a point ({:.1} standard errors). Points of the same direction but different norm belong to different clusters here.",
                scale.0, scale.1
            ),
        );
    }
    if scale.1 > -APART {
        return Verdict::undecided(
            &[Model::KMeans, angular],
            format!(
                "Clusters around centres and clusters along directions explain the points equally well ({:.2} nats a point between them, {:.1} standard errors): the data do not say whether scale matters.",
                scale.0.abs(),
                scale.1.abs()
            ),
        );
    }
    if kmeans.is_nan() || a.slope.is_none() {
        return Verdict::undecided(
            &[Model::SphericalKMeans, Model::Onmf],
            "Scale does not matter: points of a cluster are multiples of one direction. There is no noise around the directions, so nothing tells ONMF from spherical k-means.".into(),
        );
    }
    if a.spread < CONSTANT {
        return Verdict::undecided(
            &[Model::SphericalKMeans, Model::Onmf],
            format!(
                "The norms within the clusters hardly vary (standard deviation of their logarithm {:.2}), so the data cannot tell how noise depends on the norm.",
                a.spread
            ),
        );
    }
    if noise.1 < CLEAR {
        return Verdict::undecided(
            &[Model::SphericalKMeans, Model::Onmf],
            format!(
                "Scale does not matter, but noise that is independent of the norm and noise proportional to it explain the points equally well ({:.2} nats a point between them, {:.1} standard errors).",
                noise.0, noise.1
            ),
        );
    }
    let slope = a.slope.map_or(f64::NAN, |s| s.slope);
    let (law, then) = match angular {
        Model::Onmf => (
            "independent of the norm",
            "long points are relatively less noisy, and ONMF gives them more weight",
        ),
        _ => (
            "proportional to the norm",
            "long points are as noisy as short ones, and spherical k-means gives all the same weight",
        ),
    };
    Verdict::of(
        angular,
        format!(
            "Scale does not matter, and the noise is {law}: it grows like the norm to the power {slope:.2} (0: independent, 1: proportional), and this law explains the points better than the other by {:.2} nats a point ({:.1} standard errors). So {then}.",
            noise.0, noise.1
        ),
    )
}

/// What else is worth knowing.
fn beside(a: &Advice, verdict: &Verdict) -> Vec<String> {
    let mut reasons = vec![];
    let scale = |m: Model| a.difference(Model::KMeans, m);
    if let Some(angular) = verdict.recommended.filter(|m| matches!(m, Model::Onmf | Model::SphericalKMeans)) {
        let (gain, z) = scale(angular);
        reasons.push(format!(
            "Within a cluster the norms vary freely (standard deviation of their logarithm {:.2}): directions explain the points better than centres by {:.2} nats a point ({:.1} standard errors).",
            a.spread, -gain, -z
        ));
    }
    let stable: Vec<String> = a
        .models
        .iter()
        .filter_map(|m| m.stability().map(|s| format!("{} {s:.2}", m.model.title())))
        .collect();
    if !stable.is_empty() {
        reasons.push(format!(
            "Two halves of the data give the same clusters to this degree (1: equal, 0: chance): {}.",
            stable.join(", ")
        ));
    }
    let judged = verdict.recommended.filter(|m| *m != Model::KlOnmf);
    let unstable = judged.and_then(|m| a.model(m).stability()).is_some_and(|s| s < UNSTABLE);
    if unstable {
        reasons.push("These clusters change from one half of the data to the other: with so much noise the advice is a guess.".into());
    }
    let same = a.least_agreement();
    if a.disagreeing > 0 {
        let share = 100.0 * a.disagreeing as f64 / a.points.len().max(1) as f64;
        reasons.push(format!(
            "The models differ on {} of {} points ({share:.1} %).",
            a.disagreeing,
            a.points.len()
        ));
        if verdict.recommended.is_some() && same >= SAME {
            reasons.push("Their clusters are nearly the same here, whichever is used.".into());
        }
    } else if !a.models.is_empty() {
        reasons.push("All models put every point into the same cluster.".into());
    }
    reasons
}
