//! Progress on standard error: a bar on a terminal, a line now and then elsewhere, nothing when quiet.
//! The same observer passes Ctrl-C on to the loop.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use orthant::certificate::CERTIFICATE;
use orthant::matrix::rule::Measure;
use orthant::read::write_whole;
use orthant::run::{Event, Go, Observer, StopAsked};

use crate::interrupt;
use crate::terminal::tell;

/// How often a bar is drawn.
const DRAW: Duration = Duration::from_millis(100);
/// How often a line is written where there is no terminal.
const LINE: Duration = Duration::from_secs(10);

/// Watches a run.
pub struct Watch {
    bar: Option<ProgressBar>,
    quiet: bool,
    /// What is running, where several things do one after another.
    title: String,
    begun: Instant,
    shown: Instant,
    /// When the stage in progress began, and which it is.
    stage: (Instant, String, usize),
    saving: Option<Saving>,
}

/// Where and how often the work in progress is saved.
struct Saving {
    path: PathBuf,
    every: Duration,
    last: Instant,
    failed: bool,
}

impl Watch {
    /// Says nothing when quiet.
    pub fn new(quiet: bool) -> Watch {
        let now = Instant::now();
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new(1);
            let style = ProgressStyle::with_template("{prefix} {bar:24} {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Watch {
            bar,
            quiet,
            title: String::new(),
            begun: now,
            shown: now,
            stage: (now, String::new(), 0),
            saving: None,
        }
    }

    /// Saves the work in progress now and then.
    pub fn saving(&mut self, path: &Path, every: Duration) {
        self.saving = Some(Saving { path: path.into(), every, last: Instant::now(), failed: false });
    }

    /// The next of several things begins.
    pub fn begin(&mut self, title: &str) {
        self.title = title.to_string();
        self.begun = Instant::now();
        if let Some(bar) = &self.bar {
            bar.set_position(0);
            bar.set_prefix(self.title.clone());
            bar.set_message("");
        }
    }

    /// Takes the bar away.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn show(&mut self, event: &Event) {
        let what = if self.title.is_empty() { event.method } else { &self.title };
        let stage = event
            .stage
            .map_or(String::new(), |s| format!(", stage {}/{}: {}", s.stage + 1, s.planned, s.name));
        let what = &format!("{what}{stage}");
        let prefix = if event.runs > 1 {
            format!("{what}, run {}/{}", event.run + 1, event.runs)
        } else {
            what.to_string()
        };
        let left = self.time_left(event);
        let reached = reached(event);
        match &self.bar {
            Some(bar) => {
                let (done, all) = match event.stage {
                    Some(stage) => (stage.stage, stage.planned),
                    None => (event.iteration, event.max_iterations),
                };
                bar.set_length(all as u64);
                bar.set_position(done as u64);
                bar.set_prefix(prefix);
                bar.set_message(format!("iteration {}, {reached}{left}", event.iteration));
            }
            None => {
                let most = event.max_iterations;
                let limit = if most == usize::MAX { String::new() } else { format!(" of at most {most}") };
                tell!("orthant: {prefix}: iteration {}{limit}, {reached}{left}", event.iteration);
            }
        }
    }

    /// From the runs that have ended, or else from the limit of iterations, which is seldom reached.
    fn time_left(&self, event: &Event) -> String {
        // Stages differ too much to tell from some how long others will take.
        if event.max_iterations == usize::MAX && event.ended == 0 {
            return String::new();
        }
        let limit = event.max_iterations.saturating_sub(event.iteration) as f64;
        let mut left = self.stage.0.elapsed().as_secs_f64() / event.iteration.max(1) as f64 * limit;
        let mut word = "at most ";
        if event.ended > 0 && event.ended < event.runs {
            let each = self.begun.elapsed().as_secs_f64() / event.ended as f64;
            left = each * (event.runs - event.ended) as f64;
            word = "about ";
        } else if event.runs > 1 {
            left *= (event.runs - event.run) as f64;
        }
        format!(", {word}{} left", duration(left))
    }
}

impl Observer for Watch {
    fn iteration(&mut self, event: &Event) -> Go {
        if interrupt::happened() {
            return Go::Stop;
        }
        if self.quiet {
            return Go::On;
        }
        let now = Instant::now();
        if event.iteration == 1 && (self.stage.1 != event.method || self.stage.2 != event.run) {
            self.stage = (now, event.method.to_string(), event.run);
        }
        if now.duration_since(self.shown) >= if self.bar.is_some() { DRAW } else { LINE } {
            self.shown = now;
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
        if let Err(error) = write_whole(&saving.path, |out| out.write_all(checkpoint))
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
    bar: Option<ProgressBar>,
    /// Without a terminal: how many are done, of how many, and when that was told last.
    told: Option<Mutex<(usize, usize, Instant)>>,
}

impl Counter {
    /// Says nothing when quiet.
    pub fn new(pieces: usize, quiet: bool) -> Counter {
        let terminal = std::io::stderr().is_terminal();
        let bar = (!quiet && terminal).then(|| {
            let bar = ProgressBar::new(pieces as u64);
            let style = ProgressStyle::with_template("{bar:24} {pos}/{len}, about {eta} left, {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        let told = (!quiet && !terminal).then(|| Mutex::new((0, pieces, Instant::now())));
        Counter { bar, told }
    }

    /// One more is done.
    pub fn done(&self, what: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(what.to_string());
            bar.inc(1);
        }
        if let Some(told) = &self.told {
            let (done, pieces, last) = &mut *told.lock().unwrap_or_else(|p| p.into_inner());
            *done += 1;
            if last.elapsed() >= LINE {
                *last = Instant::now();
                tell!("orthant: {done} of {pieces} done");
            }
        }
    }

    /// Takes the bar away.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
