//! Which model the data ask for: k-means, spherical k-means, ONMF, or KL-ONMF. [P, Sec. 2.3]
//!
//! The paper's two questions, answered by the data: should scaling influence the cluster of a point, and does the
//! noise of a point depend on its norm? All models are fitted, each is turned into a density of the points
//! (`likelihood`), and these are compared; how the noise grows with the norm, how much norms vary within clusters, how
//! stable the clusters are and where the models disagree is measured beside. No labels are used.
//! docs/advice.md says how and why.
//!
//! ```
//! use orthant::advise::{Advise, Model, advise};
//! use orthant::generate::{Generator, Kind, Models};
//! use orthant::matrix::open;
//!
//! let made = Models { kind: Kind::Proportional, ..Models::default() }.generate()?;
//! let data = open(&made.matrix, None)?;
//! let advice = advise(&*data, &Advise { k: Some(6), ..Advise::default() }, &mut ())?;
//! assert_eq!(advice.verdict.recommended, Some(Model::SphericalKMeans));
//! # Ok::<(), orthant::Error>(())
//! ```

mod counts;
mod decide;
mod likelihood;
mod measure;
mod strengths;

pub use crate::model::{MODELS, Model};
pub use counts::Counts;
pub use decide::{CONSTANT, NARROW, SAME, Verdict};
pub use measure::Slope;

use crate::choose_k::{ChooseK, choose_k, middle};
use crate::ellipsoids::{Seen, difference};
use crate::entries::Entries;
use crate::error::{Error, Result};
use crate::evaluate::{Confusion, best_matching};
use crate::finish::{Solution, predict};
use crate::matrix::passes::SumOfLabels;
use crate::matrix::{Data, Mat};
use crate::prepare::Problem;
use crate::resample::{agreement, fit, sample, stability, usable};
use crate::run::Observer;
use crate::start::Stream;
use measure::Polar;

/// Of models that were not fitted to the end none can be recommended.
const STOPPED: Error = Error::Stopped("every model was fitted: there is nothing to recommend one by");

/// What to ask.
#[derive(Debug, Clone, PartialEq)]
pub struct Advise {
    /// Number of clusters; unless given, the first candidate of `choose_k`.
    pub k: Option<usize>,
    /// Starts of every fit.
    pub runs: usize,
    /// Divisions into halves, for the stability.
    pub divisions: usize,
    /// At most so many points are used, drawn at random.
    pub most_points: usize,
    /// Seed of all random numbers.
    pub seed: u64,
}

impl Default for Advise {
    fn default() -> Self {
        Advise { k: None, runs: 10, divisions: 3, most_points: 2000, seed: 0 }
    }
}

/// A model, fitted.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// Which.
    pub model: Model,
    /// Cluster of each point used; numbered so that they match those of ONMF as far as possible.
    pub labels: Vec<usize>,
    /// Mean log-density of the points, in nats, less the price of what was estimated; NaN for KL-ONMF, whose density is
    /// of counts.
    pub density: f64,
    /// Mean log-density of points that were held out, in nats, each cluster taken as an ellipsoid (in few dimensions).
    pub held_out: f64,
    /// Agreement of the clusters that two halves of the points give, for each division.
    pub agreements: Vec<f64>,
    /// What other points are compared with, in the data's units: features × k.
    centroids: Mat,
    densities: Vec<f64>,
    held_outs: Vec<f64>,
}

impl Fitted {
    /// Mean agreement of halves.
    pub fn stability(&self) -> Option<f64> {
        let n = self.agreements.len();
        (n > 0).then(|| self.agreements.iter().sum::<f64>() / n as f64)
    }
}

/// A point on which the models differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disagreement {
    /// Its number in the data.
    pub point: usize,
    /// Its cluster by each model, in the order of [`Advice::models`].
    pub labels: Vec<usize>,
}

/// The advice with everything it rests on.
#[derive(Debug, Clone)]
pub struct Advice {
    /// What the evidence says.
    pub verdict: Verdict,
    /// Number of clusters.
    pub k: usize,
    /// Whether k was given.
    pub k_given: bool,
    /// Numbers of the points used: zero points are left out, and of many points a sample is drawn.
    pub points: Vec<usize>,
    /// How many points have a direction and a weight.
    pub usable: usize,
    /// Features of the data.
    pub features: usize,
    /// The models, fitted.
    pub models: Vec<Fitted>,
    /// Agreement of the partitions of every two models.
    pub agreements: Vec<(Model, Model, f64)>,
    /// Standard deviation of the logarithm of the strengths within the clusters of ONMF.
    pub spread: f64,
    /// How the noise across the directions of ONMF grows with the strength; none where there is no noise.
    pub slope: Option<Slope>,
    /// In how many dimensions that noise is spread.
    pub dimensions: f64,
    /// Strength and size of the noise across of every point used, by the directions of ONMF, in the data's units.
    pub polar: Vec<(f64, f64)>,
    /// What the entries are like.
    pub entries: Entries,
    /// What is known of counts, where all entries are whole numbers.
    pub counts: Option<Counts>,
    /// How many of the points used the first three models do not agree on.
    pub disagreeing: usize,
    /// Some of those points, the longest first.
    pub disagreements: Vec<Disagreement>,
    /// Whether the observer stopped the work before its end.
    pub cancelled: bool,
}

impl Advice {
    /// What was fitted for a model.
    pub fn model(&self, model: Model) -> &Fitted {
        self.models.iter().find(|m| m.model == model).expect("the four models are always fitted")
    }

    /// Mean difference of the log-densities of two models, and how many standard errors it is from 0.
    pub fn difference(&self, a: Model, b: Model) -> (f64, f64) {
        difference(&self.model(a).densities, &self.model(b).densities)
    }

    /// By how much the clusters of a model describe points that were held out better than those of another, in nats a
    /// point, and how many standard errors that is.
    pub fn likelier(&self, a: Model, b: Model) -> (f64, f64) {
        difference(&self.model(a).held_outs, &self.model(b).held_outs)
    }

    /// The least agreement of any two of the three models.
    pub fn least_agreement(&self) -> f64 {
        let three = self.agreements.iter().filter(|a| a.0 != Model::KlOnmf && a.1 != Model::KlOnmf);
        three.map(|a| a.2).fold(1.0, f64::min)
    }

    /// The stability of the most stable of the three, where it is known.
    fn most_stability(&self) -> Option<f64> {
        let three = self.models.iter().filter(|m| m.model != Model::KlOnmf);
        three.filter_map(Fitted::stability).reduce(f64::max)
    }

    /// The cluster of every point by each model, also of those that the advice was not measured on; -1 for zero points, on which
    /// there is no advice.
    ///
    /// # Errors
    /// When the data are not those that the advice is about.
    pub fn everywhere(&self, data: &dyn Data) -> Result<Vec<Vec<i32>>> {
        let of = |m: &Fitted| {
            let mut labels = predict(data, &m.centroids, m.model.method().rule)?;
            data.facts().zero_points.iter().for_each(|&j| labels[j] = -1);
            Ok(labels)
        };
        self.models.iter().map(of).collect()
    }

    /// The recommended model's name, or "undecided".
    pub fn answer(&self) -> &'static str {
        self.verdict.recommended.map_or("undecided", Model::name)
    }

    /// The advice in words, a line for each reason.
    pub fn summary(&self) -> String {
        let head = match self.verdict.recommended {
            Some(model) => format!("Use {} (k = {}).", model.title(), self.k),
            None => {
                let between: Vec<&str> = self.verdict.between.iter().map(|m| m.title()).collect();
                let best = self.verdict.best.title();
                format!(
                    "Undecided between {} (k = {}): {best} is the best guess.",
                    between.join(", "),
                    self.k
                )
            }
        };
        let mut lines = vec![head];
        lines.extend(self.verdict.reasons.iter().cloned());
        if self.points.len() < self.usable {
            lines.push(format!("Measured on a sample of {} of {} points.", self.points.len(), self.usable));
        }
        if self.cancelled {
            lines.push("Stopped before the end: the stability is not known.".into());
        }
        lines.join("\n")
    }
}

/// So many points on which the models differ are listed.
const LISTED: usize = 12;

/// Fits the models, measures, and advises.
pub fn advise(data: &dyn Data, ask: &Advise, observer: &mut dyn Observer) -> Result<Advice> {
    // Whatever ONMF refuses cannot be advised on.
    Problem::new(data, ask.k.unwrap_or(1), Model::Onmf.method().needs())?;
    let usable = usable(data);
    let points = sample(&usable, ask.most_points.max(1), Stream { seed: ask.seed, run: 1 << 52 });
    let part = data.select(&points)?;
    let k = match ask.k {
        Some(k) => k.min(points.len()),
        None => first_candidate(&*part, ask, observer)?,
    };
    let mut advice = fit_and_measure(&*part, k, ask, observer)?;
    advice.usable = usable.len();
    advice.disagreements.iter_mut().for_each(|d| d.point = points[d.point]);
    advice.points = points;
    advice.verdict = decide::decide(&advice);
    Ok(advice)
}

/// The verdict alone, by as little work as it takes: fits are made where the entries do not tell.
pub(crate) fn quickly(data: &dyn Data, ask: &Advise, observer: &mut dyn Observer) -> Result<Verdict> {
    let k = ask.k.unwrap_or(1);
    Problem::new(data, k, Model::Onmf.method().needs())?;
    let points = sample(&usable(data), ask.most_points.max(k), Stream { seed: ask.seed, run: 1 << 52 });
    let part = data.select(&points)?;
    let entries = Entries::of(&*part)?;
    let counts = match entries.whole {
        true => {
            let (model, runs) = (Model::KlOnmf, ask.runs.max(1));
            let found = fit(&*part, model.method(), k, runs, ask.seed, model.title(), observer)?;
            counts_of(&*part, k, &found.ok_or(STOPPED)?, &entries)?
        }
        false => None,
    };
    match decide::evident(&entries, counts.as_ref()) {
        Some(verdict) => Ok(verdict),
        None => Ok(advise(data, ask, observer)?.verdict),
    }
}

/// How many clusters `choose_k` finds in a sample, of the model that the data ask for at a middling number.
fn first_candidate(data: &dyn Data, ask: &Advise, observer: &mut dyn Observer) -> Result<usize> {
    const MOST: usize = 12;
    let most = MOST.min(data.shape().points);
    let few = Advise { k: Some(middle(data, 1, most)), divisions: 0, ..ask.clone() };
    let model = quickly(data, &few, observer)?.best;
    let range =
        ChooseK { model, least: 2.min(most), most, divisions: 0, seed: ask.seed, ..ChooseK::default() };
    let choice = choose_k(data, &range, observer)?;
    if choice.cancelled {
        return Err(Error::Stopped("the number of clusters was chosen: give one"));
    }
    Ok(choice.candidates.first().map_or(1, |c| c.k))
}

/// Everything but the verdict; points are numbered as in `data`, which has no zero points.
fn fit_and_measure(data: &dyn Data, k: usize, ask: &Advise, observer: &mut dyn Observer) -> Result<Advice> {
    let entries = Entries::of(data)?;
    let mut fits = vec![];
    for model in MODELS {
        let found = fit(data, model.method(), k, ask.runs.max(1), ask.seed, model.title(), observer)?;
        let solution = found.ok_or(STOPPED)?;
        fits.push((model, numbers(&solution.labels), solution));
    }
    let scale = data.facts().scale;
    let onmf = fits.iter().find(|f| f.0 == Model::Onmf).expect("it was asked for");
    let (directions, own) = (onmf.2.directions.clone(), onmf.1.clone());
    let along = measure::see(data, &directions, true, &own)?;
    let polar = measure::polar(&along);
    let dimensions = measure::dimensions(data, &polar, &own, k, ask.seed)?;
    let mut models = vec![];
    let mut known = None;
    for (model, labels, solution) in fits {
        let densities = match model {
            Model::KMeans => {
                let centres = solution.centroids.clone().map(|x| x * scale);
                likelihood::centres(&measure::see(data, &centres, false, &labels)?, dimensions + 1.0)
            }
            Model::SphericalKMeans => likelihood::directions(
                &measure::see(data, &solution.centroids, true, &labels)?,
                dimensions,
                1.0,
            ),
            Model::Onmf => likelihood::directions(&along, dimensions, 0.0),
            Model::KlOnmf => {
                known = counts_of(data, k, &solution, &entries)?;
                vec![]
            }
        };
        let names = matching(&labels, &own, k)?;
        let mut centroids = Mat::zeros(solution.centroids.rows, k);
        for (i, &name) in names.iter().enumerate() {
            centroids.set_column(name, &solution.centroids.column(i));
        }
        let labels = labels.iter().map(|&l| names[l]).collect();
        let density = densities.iter().sum::<f64>() / densities.len() as f64;
        let (held_out, held_outs) = (f64::NAN, vec![]);
        let agreements = vec![];
        models.push(Fitted { model, labels, density, held_out, agreements, centroids, densities, held_outs });
    }
    let seen = Seen::new(data, k, ask.seed)?;
    for fitted in &mut models {
        fitted.held_outs = seen.held_out(&fitted.labels, k);
        fitted.held_out = fitted.held_outs.iter().sum::<f64>() / own.len() as f64;
    }
    let mut cancelled = false;
    for fitted in &mut models {
        if cancelled {
            break;
        }
        let runs = ask.runs.div_ceil(2).max(1);
        (fitted.agreements, cancelled) =
            stability(data, fitted.model.method(), k, ask.divisions, runs, ask.seed, observer)?;
    }
    let mut agreements = vec![];
    for (at, a) in models.iter().enumerate() {
        for b in &models[at + 1..] {
            agreements.push((a.model, b.model, agreement_of(&a.labels, &b.labels)?));
        }
    }
    let differ = |&j: &usize| models.iter().take(3).any(|m| m.labels[j] != models[0].labels[j]);
    let mut disagreeing: Vec<usize> = (0..own.len()).filter(differ).collect();
    disagreeing.sort_by(|&a, &b| polar.strength[b].total_cmp(&polar.strength[a]).then(a.cmp(&b)));
    let listed = disagreeing.iter().take(LISTED);
    let labels = |j: usize| models.iter().map(|m| m.labels[j]).collect();
    Ok(Advice {
        verdict: Verdict::default(),
        k,
        k_given: ask.k.is_some(),
        points: vec![],
        usable: own.len(),
        features: data.shape().features,
        agreements,
        spread: measure::spread(&polar, &own, k),
        slope: measure::slope(&polar, &own, k),
        dimensions,
        polar: pairs(&polar, scale),
        entries,
        counts: known,
        disagreeing: disagreeing.len(),
        disagreements: listed.map(|&point| Disagreement { point, labels: labels(point) }).collect(),
        models,
        cancelled,
    })
}

/// The noise of counts around the clusters of KL-ONMF, where entries are whole numbers.
fn counts_of(data: &dyn Data, k: usize, found: &Solution, entries: &Entries) -> Result<Option<Counts>> {
    if !entries.whole {
        return Ok(None);
    }
    let mut slots = data.slots()?;
    slots.set_labels(0, &found.labels)?;
    let sums = slots.sweep(&SumOfLabels { k, rule: Model::KlOnmf.method().rule, run: 0 })?.1;
    counts::measure(data, &sums, &numbers(&found.labels), entries.zeros)
}

/// Labels of points that all have a cluster.
fn numbers(labels: &[i32]) -> Vec<usize> {
    labels.iter().map(|&l| l.max(0) as usize).collect()
}

fn pairs(polar: &Polar, scale: f64) -> Vec<(f64, f64)> {
    polar.strength.iter().zip(&polar.across2).map(|(s, q)| (s / scale, q.sqrt() / scale)).collect()
}

fn signed(labels: &[usize]) -> Vec<i32> {
    labels.iter().map(|&l| l as i32).collect()
}

fn agreement_of(a: &[usize], b: &[usize]) -> Result<f64> {
    agreement(&signed(a), &signed(b))
}

/// Other numbers for clusters, by which their labels agree with others as far as possible.
fn matching(labels: &[usize], with: &[usize], k: usize) -> Result<Vec<usize>> {
    let mut names = best_matching(&Confusion::new(&signed(labels), with)?);
    names.resize(k, None);
    let mut free: Vec<usize> = (0..k).filter(|i| !names.contains(&Some(*i))).collect();
    Ok(names.into_iter().map(|n| n.unwrap_or_else(|| free.pop().unwrap_or(0))).collect())
}
