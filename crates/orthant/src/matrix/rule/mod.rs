//! The rules by which points belong to clusters: the trait, the table, one file each.
//!
//! A rule says how a point chooses its cluster, what it adds to the cluster's sum and is worth there, what centroids
//! are made of such sums, and how new points are compared with them. A new one is a file here and a line in the table below.

use std::ops::Deref;

use super::Mat;
use crate::bytes::Bytes;

/// What is known of a rule without looking at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct About {
    /// Its name in results.
    pub name: &'static str,
    /// How a new point finds its cluster, in words.
    pub words: &'static str,
    /// The file of a result that holds what new points are compared with.
    pub file: &'static str,
    /// What the sum over all points is, which methods with this rule improve.
    pub measure: Measure,
    /// Whether it is that of ONMF, `‖M − UV‖²`: centroids are then the clusters' dominant singular vectors.
    pub onmf: bool,
    /// Whether points choose by their distance to centres, which are in the data's units and take zero points too; else
    /// by their products with directions, which have none.
    pub distance: bool,
    /// Whether points add the same whatever the centroids: sums can follow those that change their cluster.
    pub adds_the_same: bool,
    /// Whether a point adds itself times its weight and its score: dense points can do so as soon as they have it.
    pub adds_scores: bool,
    /// Whether what is left of a point counts from its own information (`Slot::Information`).
    pub information: bool,
}

/// What an objective measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Measure {
    /// Squares of what is left, to be seen relative to `‖M‖²`.
    Squares,
    /// Cosines, one for each point.
    Cosines,
    /// A divergence, in the data's units.
    Divergence,
}

/// What sums of points are to a rough iteration, which multiplies points with them as they are and makes up for it in the
/// products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rough {
    /// Directions, to be divided by their norms.
    Directions,
    /// Centres, to be divided by their weights; a product counts less half their squared norm.
    Centres,
    /// Distributions, to be smoothed and divided by their totals; points are multiplied with their logarithms.
    Distributions,
}

/// What a rule computes. Directions, centres and distributions are all called centroids here, features × k.
pub(crate) trait Formulas: Copy {
    const ABOUT: About;

    /// What a point of weight w adds to its cluster's sum, where that does not depend on the centroids.
    fn adds(self, w: f64, _norm2: f64) -> f64 {
        w
    }

    /// What a point with product s adds to its cluster's sum, and its share of the value.
    fn gives(self, w: f64, s: f64, norm2: impl Fn() -> f64) -> (f64, f64);

    /// What a cluster is worth, from its points' shares of the value, the product of their sum with the centroid, their
    /// weight and the centroid's squared norm. Asked where points add the same in every pass.
    fn worth(self, value: f64, _product: f64, _weight: f64, _norm2: f64) -> f64 {
        value
    }

    /// The same in a rough iteration (see `rough.rs`), from what it [adds](Formulas::adds) and its score.
    fn rough_adds(self, adds: f32, _score: f32) -> f32 {
        adds
    }

    /// A point's share of the value in a rough iteration, of which more is better.
    fn rough_value(self, adds: f64, score: f64) -> f64 {
        adds * score
    }

    /// The value of the rule from that of a rough iteration and `Σ w‖m‖²`.
    fn of_rough_value(self, value: f64, _norm2: f64) -> f64 {
        value
    }

    /// What a point's score counts for its share in a cluster, from its squared norm and the total of its entries. (ONMF's
    /// counts squared.)
    fn rough_closeness(self, _norm2: f64, _total: f64) -> f64 {
        1.0
    }

    /// What sums become for a rough iteration.
    const ROUGH: Rough;

    /// What a point has before any centroid is settled, times its weight. Zero points have nothing,
    /// except by distance, where they are as far from a centre as any other.
    fn all_of(self, w: f64, norm2: f64) -> f64;

    /// What a centroid with product `s = mᵀu` and half squared norm `half` leaves of a point.
    fn left(self, w: f64, norm2: f64, s: f64, half: f64, information: f64) -> f64;

    /// What a centroid leaves of what was observed of a point, pairs of an entry and the centroid's, and what it is
    /// multiplied with then. For directions `‖m − v·u‖²` with `v = mᵀu/‖u‖²`.
    fn of_observed(self, seen: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
        let sum = |of: fn((f64, f64)) -> f64| seen.clone().map(of).sum::<f64>();
        let (product, norm2) = (sum(|(m, u)| m * u), sum(|(_, u)| u * u));
        let v = if norm2 > 0.0 { product / norm2 } else { 0.0 };
        (sum(|(m, _)| m * m) - v * product, v)
    }

    /// Centroids from the sums of their points and their weights.
    fn centroids(self, sums: Mat, _weight: &[f64]) -> Mat {
        sums.with_unit_columns()
    }

    /// Points (columns) as centroids.
    fn of_points(self, points: Mat) -> Mat {
        points.with_unit_columns()
    }

    /// What points are multiplied with.
    fn scored(self, centroids: Mat) -> Mat {
        centroids
    }

    /// The centroids again.
    fn unscored(self, scored: Mat) -> Mat {
        scored
    }

    /// Centroids from a file of a result, which may be an older one.
    fn of_file(self, _file: &str, read: Mat) -> Mat {
        read
    }
}

/// The table. (`$d` is a dollar of the macro within.)
macro_rules! rules {
    ($d:tt $($file:ident::$name:ident,)*) => {
        $(mod $file; pub use $file::$name;)*

        /// How a point chooses its cluster, and what follows from that. What is [known](About) of it are its fields.
        #[derive(Debug, Clone, Copy, PartialEq)]
        #[non_exhaustive]
        pub enum Rule {
            $(#[doc = concat!("See [`", stringify!($name), "`].")] $name($name),)*
        }

        /// One of each, with its usual parameters.
        pub const RULES: &[Rule] = &[$(Rule::$name($name::USUAL)),*];

        $(impl From<$name> for Rule {
            fn from(rule: $name) -> Rule {
                Rule::$name(rule)
            }
        })*

        /// The same expression for whichever rule it is.
        macro_rules! by {
            ($d rule:expr, $d each:ident => $d body:expr) => {
                match $d rule {
                    $($crate::matrix::Rule::$name($d each) => $d body,)*
                }
            };
        }
        pub(crate) use by;
    };
}

rules! { $
    power::Power,
    cosine::Cosine,
    euclid::Euclid,
    kl::Kl,
}

impl Deref for Rule {
    type Target = About;

    fn deref(&self) -> &About {
        fn about<F: Formulas>(_: &F) -> &'static About {
            &F::ABOUT
        }
        by!(self, rule => about(rule))
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Rule {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Rule {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        Rule::named(&name).ok_or_else(|| serde::de::Error::custom(format!("there is no rule '{name}'")))
    }
}

/// Which it is suffices to others: parameters have their say where centroids are made.
impl Bytes for Rule {
    fn write(&self, to: &mut Vec<u8>) {
        let at = RULES.iter().position(|rule| rule.name == self.name);
        at.write(to);
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        RULES.get(Option::<usize>::read(from)??).copied()
    }
}

impl Rule {
    /// One by its name, with its usual parameters.
    pub fn named(name: &str) -> Option<Rule> {
        RULES.iter().find(|rule| rule.name == name).copied()
    }

    /// What a point of weight w adds to its cluster's sum, where that does not depend on the centroids.
    #[inline(always)]
    pub(crate) fn adds(self, w: f64, norm2: f64) -> f64 {
        by!(self, rule => rule.adds(w, norm2))
    }

    /// What a point adds in a rough iteration, from what it adds at most and its score.
    #[inline(always)]
    pub(crate) fn rough_adds(self, adds: f32, score: f32) -> f32 {
        by!(self, rule => rule.rough_adds(adds, score))
    }

    /// A point's share of the value in a rough iteration, of which more is better.
    #[inline(always)]
    pub(crate) fn rough_value(self, adds: f64, score: f64) -> f64 {
        by!(self, rule => rule.rough_value(adds, score))
    }

    /// The value from that of a rough iteration and `Σ w‖m‖²`.
    pub(crate) fn of_rough_value(self, value: f64, norm2: f64) -> f64 {
        by!(self, rule => rule.of_rough_value(value, norm2))
    }

    /// What a point's score counts for its share in a cluster, from its squared norm and the total of its entries.
    pub(crate) fn rough_closeness(self, norm2: f64, total: f64) -> f64 {
        by!(self, rule => rule.rough_closeness(norm2, total))
    }

    /// What is added to sums before they become distributions, relative to their mean entry.
    pub(crate) fn smoothing(self) -> f64 {
        match self {
            Rule::Kl(kl) => kl.smoothing,
            _ => 0.0,
        }
    }

    /// What sums become for a rough iteration.
    pub(crate) fn rough(self) -> Rough {
        fn of<F: Formulas>(_: F) -> Rough {
            F::ROUGH
        }
        by!(self, rule => of(rule))
    }

    /// What a point has before any centroid is settled, times its weight.
    #[inline(always)]
    pub(crate) fn all_of(self, w: f64, norm2: f64) -> f64 {
        by!(self, rule => rule.all_of(w, norm2))
    }

    /// What a centroid with product `s = mᵀu` and half squared norm `half` leaves of a point; `information`
    /// is the point's own part of the divergence, where the rule has one.
    #[inline(always)]
    pub(crate) fn left(self, w: f64, norm2: f64, s: f64, half: f64, information: f64) -> f64 {
        by!(self, rule => rule.left(w, norm2, s, half, information))
    }

    /// What a centroid leaves of what was observed of a point (entries of the point and of the centroid), and what the
    /// centroid is multiplied with then.
    pub(crate) fn of_observed(self, seen: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
        by!(self, rule => rule.of_observed(seen))
    }

    /// What a cluster is worth: its points' value, their sum times the centroid, their weight, the centroid's ‖·‖².
    pub(crate) fn worth(self, value: f64, product: f64, weight: f64, norm2: f64) -> f64 {
        by!(self, rule => rule.worth(value, product, weight, norm2))
    }

    /// Centroids (features × k) from sums of points and their weights. (Those of ONMF are singular vectors: sums made by
    /// [`passes::Power`](super::passes::Power) are a step towards them.)
    pub fn centroids(self, sums: Mat, weight: &[f64]) -> Mat {
        by!(self, rule => rule.centroids(sums, weight))
    }

    /// Points (columns) as centroids.
    pub(crate) fn of_points(self, points: Mat) -> Mat {
        by!(self, rule => rule.of_points(points))
    }

    /// Centroids of data that are so many times as large: only where lengths count do they differ.
    pub(crate) fn rescaled(self, centroids: Mat, scale: f64) -> Mat {
        if self.distance { centroids.map(|x| x * scale) } else { centroids }
    }

    /// What points are multiplied with to be compared with centroids.
    pub(crate) fn scored(self, centroids: Mat) -> Mat {
        by!(self, rule => rule.scored(centroids))
    }

    /// Centroids from what a file of a result held, which may be an older one.
    pub fn of_file(self, file: &str, read: Mat) -> Mat {
        by!(self, rule => rule.of_file(file, read))
    }

    /// The centroids again.
    pub(crate) fn unscored(self, scored: Mat) -> Mat {
        by!(self, rule => rule.unscored(scored))
    }
}
