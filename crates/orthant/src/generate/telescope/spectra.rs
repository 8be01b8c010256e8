//! Spectra of the eight materials: smooth curves of reflectance between 0.4 and 2.5 µm.
//!
//! They are invented, after the features by which such materials are told apart (the edge of copper at
//! 0.58 µm, the band gap of silicon at 1.1 µm, absorptions of polymers beyond 1.6 µm), not measured.

/// Bands of the scene.
pub(super) const BANDS: usize = 100;

/// Names in the order of the material numbers.
pub(super) const MATERIALS: [&str; 8] = [
    "aluminium",
    "solar cell",
    "copper strip",
    "gold foil",
    "honeycomb",
    "white paint",
    "black rubber",
    "steel bolt",
];

/// Reflectance = base + Σ edges + Σ bumps.
struct Curve {
    base: f64,
    /// (wavelength, width, height) of smooth steps.
    edges: &'static [[f64; 3]],
    /// (wavelength, width, height) of bell curves; negative heights are absorptions.
    bumps: &'static [[f64; 3]],
}

const CURVES: [Curve; 8] = [
    Curve { base: 0.86, edges: &[], bumps: &[[0.85, 0.10, -0.22]] },
    Curve { base: 0.05, edges: &[[1.12, 0.04, 0.38]], bumps: &[[0.45, 0.06, 0.16], [1.9, 0.20, -0.12]] },
    Curve { base: 0.10, edges: &[[0.58, 0.02, 0.62]], bumps: &[[1.0, 0.30, -0.30], [2.5, 0.40, 0.22]] },
    Curve {
        base: 0.12,
        edges: &[[0.52, 0.03, 0.70], [1.55, 0.10, -0.42]],
        bumps: &[[1.72, 0.05, -0.14], [2.15, 0.12, -0.20]],
    },
    Curve {
        base: 0.12,
        edges: &[[0.72, 0.02, 0.42], [1.35, 0.06, -0.26]],
        bumps: &[[0.55, 0.05, 0.14], [1.65, 0.10, 0.20], [2.2, 0.12, 0.16]],
    },
    Curve { base: 0.90, edges: &[[1.15, 0.18, -0.66]], bumps: &[[0.40, 0.03, -0.50], [1.45, 0.06, -0.10]] },
    Curve { base: 0.03, edges: &[[1.9, 0.15, 0.13]], bumps: &[[1.73, 0.03, -0.02], [2.3, 0.05, -0.07]] },
    Curve { base: 0.14, edges: &[], bumps: &[[0.40, 0.18, 0.30], [1.45, 0.22, 0.34]] },
];

/// The spectrum of a material, between 0 and 1.
pub(super) fn spectrum(material: usize) -> Vec<f64> {
    let curve = &CURVES[material];
    (0..BANDS)
        .map(|band| {
            let wavelength = 0.4 + 2.1 * band as f64 / (BANDS - 1) as f64;
            let edge = |&[at, width, height]: &[f64; 3]| height / (1.0 + (-(wavelength - at) / width).exp());
            let bump =
                |&[at, width, height]: &[f64; 3]| height * (-0.5 * ((wavelength - at) / width).powi(2)).exp();
            curve.base + curve.edges.iter().map(edge).sum::<f64>() + curve.bumps.iter().map(bump).sum::<f64>()
        })
        .collect()
}

/// All spectra, each moved towards the mean of their directions by a share of its norm, which it keeps nearly.
pub(super) fn spectra(closeness: f64) -> Vec<Vec<f64>> {
    let all: Vec<Vec<f64>> = (0..MATERIALS.len()).map(spectrum).collect();
    let norm = |x: &[f64]| x.iter().map(|v| v * v).sum::<f64>().sqrt();
    let mut mean = vec![0.0; BANDS];
    for x in &all {
        let size = norm(x) * all.len() as f64;
        mean.iter_mut().zip(x).for_each(|(m, v)| *m += v / size);
    }
    let towards = |x: &Vec<f64>| {
        let size = norm(x);
        x.iter().zip(&mean).map(|(v, m)| (1.0 - closeness) * v + closeness * size * m).collect()
    };
    all.iter().map(towards).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn spectra_point_in_different_directions() {
        for a in 0..8 {
            for b in 0..a {
                let (x, y) = (spectrum(a), spectrum(b));
                let cosine = dot(&x, &y) / (dot(&x, &x) * dot(&y, &y)).sqrt();
                assert!(cosine < 0.97, "{} and {}: {cosine}", MATERIALS[a], MATERIALS[b]);
            }
        }
    }

    #[test]
    fn closer_spectra_point_in_closer_directions_and_stay_reflectances() {
        let widest = |closeness: f64| {
            let all = spectra(closeness);
            assert!(all.iter().flatten().all(|&r| r > 0.0 && r < 1.0), "{closeness}");
            let cosine = |a: usize, b: usize| {
                dot(&all[a], &all[b]) / (dot(&all[a], &all[a]) * dot(&all[b], &all[b])).sqrt()
            };
            (0..8).flat_map(|a| (0..a).map(move |b| (a, b))).map(|(a, b)| cosine(a, b)).fold(1.0, f64::min)
        };
        assert_eq!(spectra(0.0)[3], spectrum(3));
        let apart: Vec<f64> = [0.0, 0.3, 0.6, 0.9, 1.0].map(widest).to_vec();
        assert!(apart.windows(2).all(|pair| pair[0] < pair[1]), "{apart:?}");
        assert!(apart[4] > 1.0 - 1e-12);
    }

    #[test]
    fn spectra_are_reflectances_and_smooth() {
        for material in 0..8 {
            let x = spectrum(material);
            assert!(x.iter().all(|&r| r > 0.0 && r < 1.0), "{}: {x:?}", MATERIALS[material]);
            let largest = x.iter().cloned().fold(0.0, f64::max);
            let jump = x.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f64::max);
            assert!(jump < 0.4 * largest, "{} jumps by {jump}", MATERIALS[material]);
        }
    }
}
