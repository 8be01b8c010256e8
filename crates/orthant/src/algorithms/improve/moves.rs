//! Moves of single points (Hartigan's idea, for σ₁²): a point changes its cluster where the sum of both σ₁² is
//! certain to grow. EM looks at fixed directions only; here the directions follow the point.
//!
//! A sweep is one pass with the cheap bound of `matrix/passes/moves.rs`, which is never below the gain of a plain
//! reassignment. When it finds nothing more, the exact `g = eᵀGe` is computed for a short list. Nothing is as
//! large as points × points.

use crate::error::Result;
use crate::matrix::passes::{self, Forms, Move, change};
use crate::matrix::{Format, Mat, Slots};
use crate::prepare::Problem;
use crate::run::{Conclusion, Progress, State};
use crate::saved::Saved;
use crate::singular::{Dominant, Stopping, TOLERANCE, dominant_within};

/// At most so many points move in one sweep.
const MOST: usize = 256;
/// For so many points the exact form is computed when the cheap one finds nothing.
const SHORT_LIST: usize = 32;
/// Numbers of the points that are multiplied with all others in one pass for it, at most (for a single point what it takes).
const TOGETHER: usize = 8 << 20;

/// Moves until none gains.
pub(crate) struct Moves<'a> {
    problem: &'a Problem<'a>,
    slots: Box<dyn Slots + 'a>,
    /// Dominant vectors of the clusters, and their σ₁².
    u: Mat,
    sigma2: Vec<f64>,
}

impl<'a> Moves<'a> {
    /// From labels, and their directions as well as they are known (zero columns where they are not).
    pub(crate) fn begin(problem: &'a Problem<'a>, labels: &[i32], guess: &Mat) -> Result<Self> {
        let mut slots = problem.data.slots()?;
        slots.set_labels(0, labels)?;
        let found = vectors(problem, &mut *slots, guess, &|| problem.is_to_stop())?;
        Ok(Moves { problem, slots, u: found.u, sigma2: found.sigma2 })
    }

    fn explained(&self) -> f64 {
        self.sigma2.iter().sum()
    }

    /// Gains below this are rounding.
    fn least_gain(&self) -> f64 {
        let relative = if self.problem.data.shape().format == Format::F32 { 1e-7 } else { 1e-12 };
        relative * self.problem.facts().norm2
    }

    /// Makes the moves if Σσ₁² really grows, which is computed and not believed.
    fn attempt(&mut self, moves: &[Move]) -> Result<bool> {
        let problem = self.problem;
        self.slots.relabel(0, moves.iter().map(|m| (m.point, m.to)))?;
        let found = vectors(problem, &mut *self.slots, &self.u, &|| problem.stop_is_asked())?;
        let given_up = problem.go_on();
        if given_up.is_ok() && found.sigma2.iter().sum::<f64>() > self.explained() {
            (self.u, self.sigma2) = (found.u, found.sigma2);
            return Ok(true);
        }
        self.slots.relabel(0, moves.iter().map(|m| (m.point, m.from)))?;
        given_up.map(|()| false)
    }

    /// The moves of some points with the exact g of every cluster, best first.
    fn sharpen(&mut self, moves: &[Move]) -> Result<Vec<Move>> {
        let each = self.problem.data.shape().features;
        let mut sharp = vec![];
        for moves in moves.chunks((TOGETHER / each.max(1)).max(1)) {
            self.problem.go_on()?;
            sharp.extend(self.sharpened(moves)?);
        }
        sharp.sort_by(|a, b| b.gain.total_cmp(&a.gain).then(a.point.cmp(&b.point)));
        Ok(sharp)
    }

    /// The same for a few of them, in one pass.
    fn sharpened(&mut self, moves: &[Move]) -> Result<Vec<Move>> {
        let (k, count) = (self.problem.k, moves.len());
        let points: Vec<usize> = moves.iter().map(|m| m.point).collect();
        // x = √w·m of each point, and xᵀGx with the Gram matrix of every cluster.
        let mut x = self.problem.data.gather(&points)?;
        x.scale_columns(&moves.iter().map(|m| m.weight.sqrt()).collect::<Vec<_>>());
        // xᵀu of each with every direction; most of a text is zero.
        let (mut products, mut norms2) = (Mat::zeros(count, k), vec![0.0; count]);
        for (f, row) in x.data.chunks_exact(count.max(1)).enumerate() {
            for (c, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                norms2[c] += value * value;
                products.row_mut(c).iter_mut().zip(self.u.row(f)).for_each(|(p, u)| *p += value * u);
            }
        }
        let forms = self.slots.tell(&Forms::new(x, k, 0))?.0;
        let bound = |c: usize, i: usize, sign: f64| {
            let (q, p, norm2) = (forms[c * k + i], products[(c, i)], norms2[c]);
            let r2 = (norm2 - p * p).max(0.0);
            let least = if sign > 0.0 { 0.0 } else { r2 };
            // A point on u itself has no e, and g no meaning.
            let g = if r2 > 1e-12 * norm2 { (q - p * p * self.sigma2[i]) / r2 } else { least };
            change(self.sigma2[i], sign, p * p, r2, g.max(least))
        };
        let sharp = moves.iter().enumerate().map(|(c, m)| {
            // The best cluster may be another one than by the cheap form.
            let others = (0..k).filter(|&i| i != m.from).map(|i| (i, bound(c, i, 1.0)));
            let (to, come) =
                others.fold((m.to, f64::NEG_INFINITY), |best, new| if new.1 > best.1 { new } else { best });
            Move { to, gain: bound(c, m.from, -1.0) + come, ..*m }
        });
        Ok(sharp.collect())
    }
}

/// The clusters' dominant vectors, or what is known of them when it is to stop.
fn vectors(problem: &Problem, slots: &mut dyn Slots, guess: &Mat, is_to_stop: Stopping) -> Result<Dominant> {
    Ok(dominant_within(problem.data, slots, &[0], &[guess], TOLERANCE, is_to_stop)?.remove(0))
}

/// The best moves of which no two touch the same cluster: their gains add up.
fn apart(moves: &[Move], k: usize) -> Vec<Move> {
    let mut touched = vec![false; k];
    let mut chosen = vec![];
    for m in moves {
        if !touched[m.from] && !touched[m.to] {
            (touched[m.from], touched[m.to]) = (true, true);
            chosen.push(*m);
        }
    }
    chosen
}

impl State for Moves<'_> {
    fn step(&mut self, _runs: &[usize]) -> Result<Vec<Progress>> {
        let least = self.least_gain();
        let pass = || passes::Moves::new(self.u.clone(), self.sigma2.clone(), 0, MOST);
        let all = if self.problem.k > 1 { self.slots.tell(&pass())?.moves } else { vec![] };
        let mut moves: Vec<Move> = all.iter().copied().filter(|m| m.gain > least).collect();
        if moves.is_empty() && !all.is_empty() {
            moves = self.sharpen(&all[..all.len().min(SHORT_LIST)])?;
            moves.retain(|m| m.gain > least);
        }
        // All at once if that gains, otherwise those that do not touch each other.
        let mut moved = 0;
        if !moves.is_empty() {
            if self.attempt(&moves)? {
                moved = moves.len();
            } else {
                let few = apart(&moves, self.problem.k);
                if self.attempt(&few)? {
                    moved = few.len();
                }
            }
        }
        let points = self.problem.data.shape().points;
        Ok(vec![Progress {
            objective: (self.problem.facts().norm2 - self.explained()).max(0.0),
            residual: moved as f64 / points as f64,
            converged: moved == 0,
        }])
    }

    fn conclude(&mut self, _run: usize) -> Result<Conclusion> {
        Ok(Conclusion {
            labels: self.slots.labels(0)?,
            directions: self.u.clone(),
            explained: Some(self.explained()),
            objective: None,
            negativity: 0.0,
            orthogonality: 0.0,
        })
    }

    fn save(&mut self) -> Result<Saved> {
        let mut saved = Saved::default();
        saved.put("directions", &self.u);
        saved.put("sigma2", &self.sigma2);
        saved.put("labels", &self.slots.labels(0)?);
        Ok(saved)
    }

    fn restore(&mut self, mut saved: Saved) -> Result<()> {
        let (shape, k) = (self.problem.data.shape(), self.problem.k);
        self.u = saved.take_mat("directions", shape.features, k)?;
        self.sigma2 =
            saved.take_if("sigma2", |s: &Vec<f64>| s.len() == k && s.iter().all(|x| x.is_finite()))?;
        saved.take_labels_into(&mut *self.slots, 0, shape.points, k)
    }
}
