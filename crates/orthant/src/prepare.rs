//! Checks at the door: what every method needs of the data and of k.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::error::{Error, Result};
use crate::matrix::passes::{Information, LabelByV};
use crate::matrix::{Data, Facts, Format, Mat, Matrix, Shape, Slots};
use crate::random::{one_of_each_stretch, sample, uniform};
use crate::run::{Race, StopAsked};
use crate::singular::{Singular, top_until};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

impl Matrix {
    /// Entries that are not zero, whether or not zeros are stored.
    pub fn nonzeros(&self) -> usize {
        fn count<T: Copy + Into<f64>>(values: &[T]) -> usize {
            values.iter().filter(|&&x| x.into() != 0.0).count()
        }
        match self {
            Matrix::DenseF32(x) => count(x.data()),
            Matrix::DenseF64(x) => count(x.data()),
            Matrix::SparseF32(x) => count(x.values()),
            Matrix::SparseF64(x) => count(x.values()),
        }
    }
}

/// Data with more entries are given starts by a sample.
const MANY: usize = 1 << 25;
/// Entries of such a sample, about; up to four times as many, so that it has so many points for each cluster.
const SAMPLE: usize = 1 << 22;
const EACH: usize = 100;
/// With fewer points for each cluster it would say little.
const FEWEST: usize = 20;

/// Data and k that were found fit for a method.
pub struct Problem<'a> {
    /// The data.
    pub data: &'a dyn Data,
    /// Number of clusters.
    pub k: usize,
    /// How runs race, where only the best is asked for.
    pub race: Option<Race>,
    stop_asked: Option<StopAsked>,
    deadline: Option<Instant>,
    cut_short: AtomicBool,
    restoring: AtomicBool,
    singular: OnceLock<Singular>,
    information: OnceLock<f64>,
    sample: OnceLock<Box<dyn Data>>,
}

/// What a method takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// Whether it takes negative entries.
    pub signed: bool,
    /// Whether a zero point is a point like any other.
    pub zero_is_a_point: bool,
}

/// Refuses data with an entry that is NaN or infinite.
pub(crate) fn check_finite(facts: &Facts) -> Result<()> {
    match facts.not_finite {
        None => Ok(()),
        Some(entry) => Err(Error::Entry {
            problem: format!("the entry is {}", entry.value),
            row: entry.row,
            column: entry.column,
            advice: "remove or replace entries that are not finite numbers",
        }),
    }
}

impl<'a> Problem<'a> {
    /// Checks data and k for a method.
    pub fn new(data: &'a dyn Data, k: usize, needs: Needs) -> Result<Self> {
        let Shape { points, features, .. } = data.shape();
        let facts = data.facts();
        if points == 0 || features == 0 {
            return Err(Error::Data(format!("the data are empty: {points} points of {features} features")));
        }
        check_finite(facts)?;
        if let (Some(entry), false) = (facts.negative, needs.signed) {
            return Err(Error::Entry {
                problem: format!("the entry is negative ({})", entry.value),
                row: entry.row,
                column: entry.column,
                advice: "this method needs nonnegative data; k-means and spherical-k-means take any sign",
            });
        }
        let least = match data.shape().format {
            Format::F32 => f64::from(f32::MIN_POSITIVE),
            Format::F64 => f64::MIN_POSITIVE,
        };
        if facts.largest > 0.0 && facts.largest < least {
            return Err(Error::Data(format!(
                "the largest entry is {:e}, which has lost its digits: multiply the data by a power of ten",
                facts.largest
            )));
        }
        if let Some(point) = facts.faint {
            return Err(Error::Data(format!(
                "point {point} (counted from 0) is not zero, but less than {:e} of the largest entry ({:e}): remove it, \
                 set it to zero, or bring all points to norm 1",
                data.shape().format.faint(),
                facts.largest
            )));
        }
        if k == 0 {
            return Err(Error::parameter("k", "the number of clusters must be at least 1"));
        }
        let available =
            if needs.zero_is_a_point { points - facts.weightless_points.len() } else { facts.usable_points };
        if available == 0 {
            return Err(Error::Data(
                "every point is zero (or has weight zero): there is nothing to cluster".into(),
            ));
        }
        if k > available {
            let which = if needs.zero_is_a_point { "points" } else { "nonzero points" };
            return Err(Error::parameter(
                "k",
                format!("{k} clusters need at least {k} {which}, there are {available}"),
            ));
        }
        Ok(Problem {
            data,
            k,
            race: None,
            stop_asked: None,
            deadline: None,
            cut_short: AtomicBool::new(false),
            restoring: AtomicBool::new(false),
            singular: OnceLock::new(),
            information: OnceLock::new(),
            sample: OnceLock::new(),
        })
    }

    /// Whether several runs go faster each on a thread of its own: the centroids of one fit its cache.
    pub(crate) fn is_apart(&self, runs: usize) -> bool {
        runs > 1 && self.data.in_memory() && self.data.shape().sparse
    }

    /// Lets runs race.
    pub fn racing(self, race: Option<Race>) -> Self {
        Problem { race, ..self }
    }

    /// Whom to ask whether to stop where there is no iteration to tell of.
    pub fn asking(self, stop_asked: Option<StopAsked>) -> Self {
        Problem { stop_asked, ..self }
    }

    /// Asks whom another problem asks: for a part of its data.
    pub(crate) fn asking_as(self, other: &Problem) -> Self {
        self.asking(other.stop_asked.clone())
    }

    /// When the time of starts and descents is over; what is computed of their end takes the time that it needs.
    pub fn until(self, deadline: Option<Instant>) -> Self {
        Problem { deadline, ..self }
    }

    /// [`Problem::is_to_stop`], also when the time is over.
    pub(crate) fn is_to_end(&self) -> bool {
        let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if late {
            self.cut_short.store(true, Ordering::Relaxed);
        }
        late || self.is_to_stop()
    }

    /// Whether to stop with what there is. What is being computed is then cut short, and nothing to go on from.
    pub(crate) fn is_to_stop(&self) -> bool {
        let stop = self.stop_is_asked();
        if stop {
            self.cut_short.store(true, Ordering::Relaxed);
        }
        stop
    }

    /// The same where the answer changes nothing of what is computed.
    pub(crate) fn stop_is_asked(&self) -> bool {
        self.stop_asked.as_ref().is_some_and(|asked| asked())
    }

    /// Whether anything was cut short: a checkpoint would not go on to the same bits.
    pub(crate) fn was_cut_short(&self) -> bool {
        self.cut_short.load(Ordering::Relaxed)
    }

    /// Takes over that something was cut short in a part of the work.
    pub(crate) fn is_cut_short_as(&self, part: &Problem) {
        self.cut_short.fetch_or(part.was_cut_short(), Ordering::Relaxed);
    }

    /// Whether a state is begun only to be restored: what its start gives is overwritten, and need not be computed.
    pub(crate) fn is_restoring(&self) -> bool {
        self.restoring.load(Ordering::Relaxed)
    }

    pub(crate) fn set_restoring(&self, restoring: bool) {
        self.restoring.store(restoring, Ordering::Relaxed);
    }

    /// What one look at the data told.
    pub fn facts(&self) -> &Facts {
        self.data.facts()
    }

    /// Gives up what is under way when it is to stop: for work that leaves everything as it was before.
    pub(crate) fn go_on(&self) -> Result<()> {
        if self.stop_is_asked() { Err(Error::Stopped("an iteration had ended")) } else { Ok(()) }
    }

    /// The k largest singular values and left vectors of the data, computed when first asked for; [`Error::Stopped`]
    /// where that is to stop.
    pub fn singular(&self) -> Result<&Singular> {
        if let Some(singular) = self.singular.get() {
            return Ok(singular);
        }
        let singular = top_until(self.data, self.k, &|| self.stop_is_asked())?;
        Ok(self.singular.get_or_init(|| singular))
    }

    /// Takes over the singular values of other data with the same products of points, whose left vectors are `unfolded` by the
    /// caller. (They are computed where they were not needed yet: work that was resumed may have gone on without them.)
    pub(crate) fn knows_singular(&self, of: &Problem, unfolded: impl Fn(&Mat) -> Mat) -> Result<()> {
        let Singular { values, left, slack } = match of.singular() {
            Err(Error::Stopped(_)) => return Ok(()),
            known => known?,
        };
        let scale = self.facts().scale / of.facts().scale;
        let values = values.iter().map(|x| x * scale).collect();
        let _ = self.singular.set(Singular { values, left: unfolded(left), slack: slack * scale * scale });
        Ok(())
    }

    /// `Σⱼ wⱼ·Σ_f m log(m/Σm)`: the part of the KL divergence that no factors change.
    pub(crate) fn information(&self) -> Result<f64> {
        if let Some(known) = self.information.get() {
            return Ok(*known);
        }
        let told = self.data.slots()?.tell(&Information)?;
        Ok(*self.information.get_or_init(|| told))
    }

    /// Points of large data that stand for all of them where starts are looked for, in memory; none where the data are small. The
    /// same ones for all runs, which then differ by what they draw among them.
    ///
    /// A start takes two passes for each centroid, which on a disk or a cluster would be most of the work. How many points there
    /// are hangs on the shape and k alone: not on memory or on who holds the data, so that the bits do not either.
    pub(crate) fn sample(&self) -> Result<Option<&dyn Data>> {
        let Shape { points, nonzeros, .. } = self.data.shape();
        let within = |entries: usize| entries / (nonzeros / points).max(1);
        // Many clusters of long points: fewer points for each, so that it stays small beside any budget of memory.
        let size = within(SAMPLE).max(EACH * self.k).min(within(4 * SAMPLE));
        if nonzeros <= MANY || size >= points / 2 || size < FEWEST * self.k {
            return Ok(None);
        }
        if self.sample.get().is_none() {
            let mut generator = ChaCha8Rng::seed_from_u64(nonzeros as u64);
            let chosen = self.data.select(&one_of_each_stretch(&mut generator, points, size))?;
            let _ = self.sample.set(chosen);
        }
        Ok(self.sample.get().map(|sample| &**sample))
    }

    /// Labels by the largest entry of each column of V, whose rows are multiplied by factors.
    pub(crate) fn label_by_v(&self, slots: &mut dyn Slots, factors: Vec<f64>) -> Result<Vec<i32>> {
        slots.tell(&LabelByV { factors, run: 0, tie: self.data.shape().format.tie() })?;
        slots.labels(0)
    }

    /// Random points, none twice, each with a probability proportional to its weight.
    pub(crate) fn draw(
        &self,
        count: usize,
        zero_is_a_point: bool,
        generator: &mut ChaCha8Rng,
    ) -> Result<Vec<usize>> {
        if self.facts().weighted {
            let fractions: Vec<f64> = (0..count).map(|_| uniform(generator)).collect();
            return self.draw_by_weight(&fractions, zero_is_a_point);
        }
        let candidates = self.candidates(zero_is_a_point);
        let numbers = sample(generator, candidates.len(), count);
        Ok(numbers.into_iter().map(|number| candidates.get(number)).collect())
    }

    /// The points at the given fractions (in [0, 1)) of the summed weights, one after the other and none
    /// twice. Zero points take part where they are points like any other.
    pub fn draw_by_weight(&self, fractions: &[f64], zero_is_a_point: bool) -> Result<Vec<usize>> {
        let mut weights = self.data.weights().unwrap_or(&[]).to_vec();
        if !zero_is_a_point {
            self.facts().zero_points.iter().for_each(|&j| weights[j] = 0.0);
        }
        let draw = |fraction: &f64| {
            let j = place(&weights, &[*fraction])[0]?;
            weights[j] = 0.0;
            Some(j)
        };
        let drawn: Option<Vec<usize>> = fractions.iter().map(draw).collect();
        drawn.ok_or_else(|| Error::Data(format!("{} points were to be drawn of fewer", fractions.len())))
    }

    /// Points that may start a cluster: nonzero (where that matters) and with a weight.
    fn candidates(&self, zero_is_a_point: bool) -> Candidates {
        let facts = self.facts();
        let mut left_out: Vec<usize> = facts.weightless_points.clone();
        if !zero_is_a_point {
            left_out.extend(&facts.zero_points);
            left_out.sort_unstable();
            left_out.dedup();
        }
        Candidates { points: self.data.shape().points, left_out }
    }
}

/// All points but a few, numbered without gaps.
struct Candidates {
    points: usize,
    left_out: Vec<usize>,
}

impl Candidates {
    fn len(&self) -> usize {
        self.points - self.left_out.len()
    }

    /// The point with the given number among the candidates.
    fn get(&self, number: usize) -> usize {
        // The smallest j with number + 1 candidates among 0..=j.
        let (mut low, mut high) = (number, number + self.left_out.len());
        while low < high {
            let middle = (low + high) / 2;
            if middle + 1 - self.left_out.partition_point(|&x| x <= middle) < number + 1 {
                low = middle + 1
            } else {
                high = middle
            }
        }
        low
    }
}

/// The places at the given fractions of a sum of nonnegative shares; none where all are zero.
pub(crate) fn place(shares: &[f64], fractions: &[f64]) -> Vec<Option<usize>> {
    let mut sum = 0.0;
    let add = |&x: &f64| {
        sum += if x.is_finite() { x } else { 0.0 };
        sum
    };
    let sums: Vec<f64> = shares.iter().map(add).collect();
    // The first place whose running sum exceeds the target has itself a share.
    let place = |fraction: &f64| {
        let j = sums.partition_point(|&s| s <= fraction * sum);
        (j < sums.len()).then_some(j)
    };
    fractions.iter().map(place).collect()
}
