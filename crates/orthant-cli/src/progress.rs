//! Progress of runs: what an observer tells goes to the bar, and Ctrl-C to the loop.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use orthant::algorithms::Method;
use orthant::certificate::CERTIFICATE;
use orthant::matrix::rule::Measure;
use orthant::pipeline::DEFAULT_METHOD;
use orthant::read::Kept;
use orthant::run::{Event, Go, Observer, StopAsked};

use crate::bar::Bar;
use crate::interrupt;
use crate::terminal::tell;

/// Watches a run, or several one after another.
pub struct Watch {
    bar: Bar,
    /// What is running, where several things do one after another.
    title: String,
    /// The pieces of the work, none where it is one; the one that is under way, and what the method was called that began it.
    pieces: Vec<Piece>,
    at: Option<usize>,
    called: String,
    saving: Option<Saving>,
}

/// A piece of the work.
pub struct Piece {
    /// A word in the title of what is running by which it is known; none where all are alike.
    pub word: &'static str,
    /// How long it takes, relative to the others.
    pub effort: f64,
}

impl Piece {
    /// Some runs of a method. What it takes is measured in passes over the data, about.
    pub fn of(method: &Method, runs: usize, limit: Option<usize>) -> Piece {
        let most = |most: usize| limit.unwrap_or(most).min(most) as f64;
        let passes = match method.name {
            name if name.starts_with(DEFAULT_METHOD) => 800.0,
            "onp-mf" => most(2500),
            "chnmf" | "o-pnmf" => most(1600),
            _ => A_DESCENT,
        };
        Piece { word: method.name, effort: runs as f64 * passes }
    }
}

/// Passes that a run takes which ends when no point moves any more.
pub const A_DESCENT: f64 = 20.0;

/// Where and how often the work in progress is saved.
struct Saving {
    to: Kept,
    every: Duration,
    last: Instant,
    failed: bool,
}

impl Watch {
    /// Says nothing when quiet.
    pub fn new(quiet: bool) -> Watch {
        Watch {
            bar: Bar::new(quiet),
            title: String::new(),
            pieces: vec![],
            at: None,
            called: String::new(),
            saving: None,
        }
    }

    /// The same for work of several pieces. One begins where what is running is called otherwise than before, or with
    /// [`Watch::begin`]; some may turn out not to be needed.
    pub fn of_pieces(pieces: Vec<Piece>, quiet: bool) -> Watch {
        Watch { pieces, ..Watch::new(quiet) }
    }

    /// Saves the work in progress now and then; what stands there may be replaced only if the work goes on from it.
    pub fn saving(&mut self, path: &Path, every: Duration, goes_on: bool) {
        let to = if goes_on { Kept::going_on(path) } else { Kept::new(path) };
        self.saving = Some(Saving { to, every, last: Instant::now(), failed: false });
    }

    /// Removes the checkpoint, when there is nothing left to go on from.
    pub fn saved_no_more(&mut self) {
        if let Some(saving) = self.saving.take() {
            saving.to.remove();
        }
    }

    /// The next of several things begins.
    pub fn begin(&mut self, title: &str) {
        self.title = title.to_string();
        self.at = Some(self.at.map_or(0, |at| at + 1));
    }

    /// The piece that something running begins: the next of its name, or the next without one.
    fn piece_of(&self, called: &str) -> Option<usize> {
        let next = self.at.map_or(0, |at| at + 1);
        let find =
            |fits: &dyn Fn(&str) -> bool| (next..self.pieces.len()).find(|&i| fits(self.pieces[i].word));
        find(&|word| !word.is_empty() && called.contains(word))
            .or_else(|| find(&|word| word.is_empty()))
            .or(self.at)
    }

    /// Something runs: a piece begins where that is called otherwise than what ran before.
    fn runs(&mut self, called: &str) {
        if self.title.is_empty() && called != self.called {
            self.at = self.piece_of(called);
            self.called = called.to_string();
        }
    }

    /// Tells something while the bar is there.
    pub fn beside(&self, tell: impl FnOnce()) {
        self.bar.beside(tell);
    }

    /// Takes the bar away.
    pub fn end(&self) {
        self.bar.end();
    }

    /// How much is done of all, where a share of what is running is.
    fn of_all(&self, share: f64) -> f64 {
        if self.pieces.is_empty() {
            return share;
        }
        let sum = |pieces: &[Piece]| pieces.iter().map(|piece| piece.effort).sum::<f64>();
        let at = self.at.unwrap_or(0).min(self.pieces.len() - 1);
        let done = sum(&self.pieces[..at]) + self.pieces[at].effort * share;
        done / sum(&self.pieces)
    }

    fn show(&mut self, event: &Event) {
        let what = if self.title.is_empty() { event.method } else { &self.title };
        let stage = event.stage.map(|stage| stage.name.to_string());
        let runs = (event.runs > 1).then(|| format!("run {}/{}", event.run + 1, event.runs));
        let course = [reached(event), format!("iteration {}", event.iteration)];
        let now: Vec<String> =
            [what.to_string()].into_iter().chain(stage).chain(runs).chain(course).collect();
        self.bar.show(event.share.map(|share| self.of_all(share)), &now);
    }
}

impl Observer for Watch {
    fn iteration(&mut self, event: &Event) -> Go {
        if interrupt::happened() {
            return Go::Stop;
        }
        self.runs(event.method);
        if self.bar.is_due() {
            self.show(event);
        }
        Go::On
    }

    fn stop_asked(&self) -> Option<StopAsked> {
        Some(Arc::new(interrupt::happened))
    }

    fn wants_to_save(&mut self) -> bool {
        self.saving
            .as_ref()
            .is_some_and(|saving| interrupt::happened() || saving.last.elapsed() >= saving.every)
    }

    fn save(&mut self, checkpoint: &[u8]) -> orthant::Result<()> {
        let Some(saving) = &mut self.saving else { return Ok(()) };
        saving.last = Instant::now();
        // A full disk is no reason to lose the work: it goes on, and the user knows.
        if let Err(error) = saving.to.write(checkpoint)
            && !std::mem::replace(&mut saving.failed, true)
        {
            tell!("orthant: the checkpoint cannot be saved, the work goes on: {error}");
        }
        Ok(())
    }
}

/// The error so far, where the objective is one.
fn reached(event: &Event) -> String {
    let relative = (event.progress.objective / event.norm2).max(0.0).sqrt();
    let objective = event.progress.objective;
    match event.rule.measure {
        _ if event.method == CERTIFICATE => format!("lower bound near {relative:.4}"),
        Measure::Squares => format!("error {relative:.6}"),
        _ if objective.abs() < 1e9 => format!("objective {objective:.4}"),
        _ => format!("objective {objective:.4e}"),
    }
}

/// Seconds for people.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if !s.is_finite() => "unknown".into(),
        s if s < 0.00995 => format!("{:.1} ms", s * 1e3),
        s if s < 0.9995 => format!("{:.0} ms", s * 1e3),
        s if s < 59.95 => format!("{s:.1} s"),
        s if s < 3600.0 => format!("{} min {:02} s", s as u64 / 60, s as u64 % 60),
        s => format!("{} h {:02} min", s as u64 / 3600, s as u64 % 3600 / 60),
    }
}

/// Counts pieces of work that are done side by side.
pub struct Counter {
    pieces: usize,
    state: Mutex<(usize, Bar)>,
}

impl Counter {
    /// Says nothing when quiet.
    pub fn new(pieces: usize, quiet: bool) -> Counter {
        Counter { pieces, state: Mutex::new((0, Bar::new(quiet))) }
    }

    /// One more is done.
    pub fn done(&self, what: &str) {
        let (done, bar) = &mut *self.state.lock().unwrap_or_else(|p| p.into_inner());
        *done += 1;
        if bar.is_due() {
            bar.show(
                Some(*done as f64 / self.pieces.max(1) as f64),
                &[format!("{done} of {}", self.pieces), what.to_string()],
            );
        }
    }

    /// Takes the bar away.
    pub fn end(&self) {
        self.state.lock().unwrap_or_else(|p| p.into_inner()).1.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bar_goes_on_from_the_choice_of_a_model_to_the_certificate() {
        let piece = |word, effort| Piece { word, effort };
        let pieces = vec![piece("", 1.0), piece("", 1.0), piece("best", 6.0), piece(CERTIFICATE, 2.0)];
        let mut watch = Watch::of_pieces(pieces, true);
        let mut shares = vec![];
        // The second fit to the sample turns out not to be needed.
        for called in ["KL-ONMF", "best-kl-onmf", CERTIFICATE] {
            for share in [0.0, 0.5, 1.0] {
                watch.runs(called);
                shares.push(watch.of_all(share));
            }
        }
        assert_eq!(shares, [0.0, 0.05, 0.1, 0.2, 0.5, 0.8, 0.8, 0.9, 1.0]);
        assert_eq!(Watch::new(true).of_all(0.25), 0.25);
    }
}
