//! The four rules by which points belong to clusters.

use crate::bytes::Bytes;

/// How a point chooses its cluster, and what it then adds to the cluster's sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// ONMF: the largest `mᵀu`; adds `w·(mᵀu)·m`, so that the sum is a power step. Value: `Σ w(mᵀu)²`.
    Power,
    /// Spherical k-means: the largest `mᵀu/‖m‖`; adds `w·m/‖m‖`. Value: `Σ w·mᵀu/‖m‖`, the sum times the direction.
    Cosine,
    /// k-means: the smallest `‖m − c‖²`; adds `w·m`. Value: `Σ w‖m‖²`, the part of `Σ w‖m − c‖²` that no centre changes.
    Euclid,
    /// KL: the largest `mᵀl` for given logarithms l of distributions; adds `w·m`. Value: `Σ w·mᵀl`.
    Kl,
}

const RULES: [Rule; 4] = [Rule::Power, Rule::Cosine, Rule::Euclid, Rule::Kl];

impl Bytes for Rule {
    fn write(&self, to: &mut Vec<u8>) {
        (*self as u8).write(to);
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        RULES.get(usize::from(u8::read(from)?)).copied()
    }
}

impl Rule {
    /// What a point of weight w adds to its cluster's sum, where that does not depend on the centroids.
    #[inline(always)]
    pub fn adds(self, w: f64, norm2: f64) -> f64 {
        match self {
            Rule::Cosine if norm2 > 0.0 => w / norm2.sqrt(),
            Rule::Cosine => 0.0,
            _ => w,
        }
    }

    /// Whether that is so: then sums can follow the points that change their cluster.
    pub fn adds_the_same(self) -> bool {
        matches!(self, Rule::Cosine | Rule::Euclid)
    }

    /// Whether a zero point can belong to a cluster.
    pub fn takes_zero(self) -> bool {
        self == Rule::Euclid
    }

    /// What a point has before any direction is settled, times its weight. Zero points have nothing,
    /// except for k-means, where they are as far from a centre as any other.
    pub fn all_of(self, w: f64, norm2: f64) -> f64 {
        match self {
            Rule::Cosine => w * f64::from(u8::from(norm2 > 0.0)),
            Rule::Euclid | Rule::Kl => f64::INFINITY,
            Rule::Power => w * norm2,
        }
    }

    /// What a direction (or centre) with product `s = mᵀu` and half squared norm `half` leaves of a point; `information`
    /// is the point's own part of the divergence (KL alone).
    #[inline(always)]
    pub fn left(self, w: f64, norm2: f64, s: f64, half: f64, information: f64) -> f64 {
        match self {
            Rule::Power => w * (norm2 - s * s).max(0.0),
            Rule::Kl => w * (information - s).max(0.0),
            Rule::Cosine if norm2 > 0.0 => w * (1.0 - s / norm2.sqrt()).max(0.0),
            Rule::Cosine => 0.0,
            Rule::Euclid => w * (norm2 - 2.0 * (s - half)).max(0.0),
        }
    }
}
