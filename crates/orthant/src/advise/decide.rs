//! From what was measured to one recommendation, or to none, with the reasons in words.

use super::{Advice, Counts, Model};
use crate::entries::Entries;

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
/// By so many standard errors the clusters of another model must describe points that were held out better.
const OVERRULED: f64 = 3.0;
/// Halves that agree less than this say that the clusters are not to be relied on.
const UNSTABLE: f64 = 0.5;
/// Fewer points for each cluster say nothing.
const FEWEST: usize = 5;

/// What the evidence says.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The model to use; none where the data do not decide.
    pub recommended: Option<Model>,
    /// The best guess: what is recommended, or the likeliest where the data do not decide.
    pub best: Model,
    /// The models that the data do not decide between, where they do not.
    pub between: Vec<Model>,
    /// Why, a sentence each, the decisive one first.
    pub reasons: Vec<String>,
}

impl Default for Verdict {
    fn default() -> Self {
        Verdict::undecided(&[Model::Onmf], String::new())
    }
}

impl Verdict {
    fn of(model: Model, reason: String) -> Verdict {
        Verdict { recommended: Some(model), best: model, between: vec![], reasons: vec![reason] }
    }

    fn undecided(between: &[Model], reason: String) -> Verdict {
        Verdict { recommended: None, best: between[0], between: between.to_vec(), reasons: vec![reason] }
    }
}

/// ONMF is named first: where nothing tells, it is the one that is used.
const THREE: [Model; 3] = [Model::Onmf, Model::SphericalKMeans, Model::KMeans];

/// What the entries alone tell, and the noise of counts where it was measured.
pub(super) fn evident(entries: &Entries, counts: Option<&Counts>) -> Option<Verdict> {
    if let Some(counts) = counts.filter(|c| c.is_poisson_like()) {
        return Some(Verdict::of(
            Model::KlOnmf,
            format!(
                "The entries are counts: whole numbers, {:.0} % of them 0, whose variance grows like their mean to the power {:.2} (1 for counts, 0 for noise of one size), which the Kullback–Leibler divergence is made for.",
                100.0 * counts.zeros,
                counts.slope
            ),
        ));
    }
    entries.sparse.then(|| {
        Verdict::of(
            Model::SphericalKMeans,
            format!(
                "{:.1} % of the entries are 0 and the others are not counts, as in weighted texts: which features a point has tells more than how much of them, so every point counts alike, by its direction.",
                100.0 * entries.zeros
            ),
        )
    })
}

/// Decides.
pub(super) fn decide(advice: &Advice) -> Verdict {
    let mut verdict = match evident(&advice.entries, advice.counts.as_ref()) {
        Some(verdict) => verdict,
        None => by_shape(advice, by_laws(advice)),
    };
    verdict.reasons.extend(beside(advice, &verdict));
    verdict
}

/// The laws of noise are those of three models; where the clusters of another describe points that were held out clearly
/// better, these are nearer to what the points look like. Whether scale matters is left to the laws where they tell: an
/// ellipsoid that is cut in two by length describes a fan better than one, and is the same cluster all the same.
fn by_shape(a: &Advice, laws: Verdict) -> Verdict {
    // Nothing was measured that could tell.
    if a.points.len() < FEWEST * a.k.max(2) || a.features == 1 {
        return laws;
    }
    let likeliest = |models: &[Model]| {
        let better = |best: Model, m: Model| if a.likelier(m, best).0 > 1e-9 { m } else { best };
        models.iter().copied().reduce(better).expect("there are models")
    };
    let among: Vec<Model> = laws.recommended.map_or(laws.between.clone(), |m| vec![m]);
    let favourite = likeliest(&among);
    let possible =
        |m: &Model| laws.recommended.is_none_or(|laws| (laws == Model::KMeans) == (*m == Model::KMeans));
    let best = likeliest(&a.models.iter().map(|m| m.model).filter(possible).collect::<Vec<_>>());
    let (gain, z) = a.likelier(best, favourite);
    if best != favourite && z >= OVERRULED {
        let mut verdict = Verdict::of(
            best,
            format!(
                "The clusters of {} describe points that were held out better than those of {}, by {gain:.2} nats a point ({z:.1} standard errors), each cluster taken as an ellipsoid.",
                best.title(),
                favourite.title()
            ),
        );
        verdict
            .reasons
            .extend(laws.reasons.into_iter().map(|reason| format!("By the laws of noise alone: {reason}")));
        return verdict;
    }
    if laws.recommended.is_some() {
        return laws;
    }
    let mut verdict = Verdict { best: favourite, ..laws };
    verdict.reasons.push(format!("If one has to be named: {}.", favourite.title()));
    verdict
}

fn by_laws(a: &Advice) -> Verdict {
    let n = a.points.len();
    if a.features == 1 {
        return Verdict::of(
            Model::KMeans,
            "There is one feature: all points have the same direction, and only their size can tell them apart.".into(),
        );
    }
    if n < FEWEST * a.k || n < 10 {
        return Verdict::undecided(
            &THREE,
            format!("{n} points in {} clusters are too few to tell the models apart.", a.k),
        );
    }
    let [onmf, spherical, kmeans] = THREE.map(|m| a.model(m).density);
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
            &[angular, Model::KMeans],
            format!(
                "Clusters around centres and clusters along directions explain the points equally well ({:.2} nats a point between them, {:.1} standard errors): the data do not say whether scale matters.",
                scale.0.abs(),
                scale.1.abs()
            ),
        );
    }
    if kmeans.is_nan() || a.slope.is_none() {
        return Verdict::undecided(
            &[Model::Onmf, Model::SphericalKMeans],
            "Scale does not matter: points of a cluster are multiples of one direction. There is no noise around the directions, so nothing tells ONMF from spherical k-means.".into(),
        );
    }
    if a.spread < CONSTANT {
        return Verdict::undecided(
            &[Model::Onmf, Model::SphericalKMeans],
            format!(
                "The norms within the clusters hardly vary (standard deviation of their logarithm {:.2}), so the data cannot tell how noise depends on the norm.",
                a.spread
            ),
        );
    }
    if noise.1 < CLEAR {
        return Verdict::undecided(
            &[Model::Onmf, Model::SphericalKMeans],
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
        // Where the entries decided, centres may well explain the points better.
        let (better, worse) = if gain > 0.0 { ("centres", "directions") } else { ("directions", "centres") };
        reasons.push(format!(
            "Within a cluster the norms vary (standard deviation of their logarithm {:.2}): {better} explain the points better than {worse} by {:.2} nats a point ({:.1} standard errors).",
            a.spread, gain.abs(), z.abs()
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
