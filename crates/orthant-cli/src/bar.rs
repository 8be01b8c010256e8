//! One bar for the whole of a command: how much is done, about how long it takes still, and what is going on now. Elsewhere
//! than on a terminal it is a line now and then.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use unicode_width::UnicodeWidthStr;

use crate::terminal::{columns_of_errors, cut, harmless, tell};

/// How often a bar is drawn.
const DRAW: Duration = Duration::from_millis(100);
/// How often a line is written where there is no terminal.
const LINE: Duration = Duration::from_secs(10);
/// Nothing is said of the time left before so much has passed, nor before so much is done: what begins slowly would seem to take
/// for ever, and that would be believed for a while. After a minute less is enough.
const SOON: f64 = 2.0;
const LITTLE: f64 = 0.05;
const LESS: f64 = 0.01;
/// An estimate of the end is a mean over the last part of the time that has passed, and over so many seconds at least: what
/// takes longer or shorter than expected does not make it jump, however often one looks.
const PART: f64 = 0.5;
const LEAST: f64 = 4.0;
/// The parts that a bar has on a terminal.
const STEPS: u64 = 1000;
/// How wide it is there.
const WIDE: usize = 16;

/// The bar.
pub struct Bar {
    drawn: Option<ProgressBar>,
    quiet: bool,
    begun: Instant,
    shown: Instant,
    /// What was shown last, from 0 to 1: what turns out to be more work than was thought does not go back.
    share: f64,
    end: Estimate,
}

impl Bar {
    /// Says nothing when quiet.
    pub fn new(quiet: bool) -> Bar {
        let drawn = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new(STEPS);
            // The words take what the terminal has left, and no more.
            let style = ProgressStyle::with_template(&format!("{{bar:{WIDE}}} {{wide_msg}}"));
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        let now = Instant::now();
        Bar { drawn, quiet, begun: now, shown: now, share: 0.0, end: Estimate::default() }
    }

    /// Whether it is time to show something new.
    pub fn is_due(&self) -> bool {
        !self.quiet && self.shown.elapsed() >= if self.drawn.is_some() { DRAW } else { LINE }
    }

    /// Shows how much is done, from 0 to 1 where that is known, and what is going on, the most important first.
    pub fn show(&mut self, share: Option<f64>, now: &[String]) {
        self.shown = Instant::now();
        let passed = self.begun.elapsed().as_secs_f64();
        let left = share.and_then(|share| self.end.left(passed, share));
        self.share = self.share.max(share.unwrap_or(0.0)).clamp(0.0, 0.99);
        let told = share.map(|_| format!("{:.0} %", 100.0 * self.share));
        let left = left.map(|left| format!("{} left", about(left)));
        let parts: Vec<String> = told.into_iter().chain(left).chain(now.iter().cloned()).collect();
        match &self.drawn {
            Some(bar) => {
                let room = columns_of_errors().map_or(usize::MAX, |columns| columns - WIDE - 1);
                let words = harmless(&as_many_as_fit(&parts, room)).into_owned();
                bar.set_message(words);
                bar.set_position((self.share * STEPS as f64) as u64);
            }
            None => tell!("orthant: {}", parts.join(", ")),
        }
    }

    /// Tells something while the bar is there, which would be drawn into it.
    pub fn beside(&self, tell: impl FnOnce()) {
        match &self.drawn {
            Some(bar) => bar.suspend(tell),
            None => tell(),
        }
    }

    /// Takes it away.
    pub fn end(&self) {
        if let Some(bar) = &self.drawn {
            bar.finish_and_clear();
        }
    }
}

/// The first parts, as many as have room; what is going on is cut rather than left out.
fn as_many_as_fit(parts: &[String], room: usize) -> String {
    let mut words = String::new();
    for part in parts {
        let longer = if words.is_empty() { part.clone() } else { format!("{words}, {part}") };
        if longer.width() > room {
            let rest = room.saturating_sub(words.width());
            return if rest > room / 3 { cut(&longer, room).into_owned() } else { words };
        }
        words = longer;
    }
    words
}

/// When it will end, in seconds from the beginning, and when that was said.
#[derive(Default)]
struct Estimate(Option<(f64, f64)>);

impl Estimate {
    /// Seconds left when a share is done after some time; none before anything can be said.
    fn left(&mut self, passed: f64, share: f64) -> Option<f64> {
        let least = if passed < 60.0 { LITTLE } else { LESS };
        if passed < SOON || share < least {
            return None;
        }
        let end = passed / share.min(1.0);
        let follow = |(old, said): (f64, f64)| {
            let share = 1.0 - (-(passed - said) / LEAST.max(PART * passed)).exp();
            old + share * (end - old)
        };
        let known = self.0.map_or(end, follow).max(passed);
        self.0 = Some((known, passed));
        Some(known - passed)
    }
}

/// A time in steps that do not change with every look.
fn about(seconds: f64) -> String {
    let rounded = |unit: f64| (seconds / unit).ceil() as u64;
    match seconds {
        s if s < 10.0 => "seconds".into(),
        s if s < 60.0 => format!("{} s", 10 * rounded(10.0)),
        s if s < 3600.0 => format!("{} min", rounded(60.0)),
        _ => format!("{} h {:02} min", rounded(600.0) / 6, 10 * (rounded(600.0) % 6)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_falls_steadily_though_the_work_does_not() {
        // Pieces of very different length: after each second, how much is done.
        let shares = [0.05, 0.08, 0.3, 0.32, 0.34, 0.36, 0.5, 0.7, 0.72, 0.8, 0.9, 0.95];
        for looks in [1, 10] {
            let mut estimate = Estimate::default();
            let mut last: Option<f64> = None;
            for (second, share) in shares.into_iter().enumerate() {
                let at = |look: usize| second as f64 + look as f64 / looks as f64;
                let left = (1..=looks).map(|look| estimate.left(at(look), share)).last().flatten();
                if let (Some(left), Some(last)) = (left, last) {
                    assert!((left - last).abs() < 0.35 * last.max(10.0), "{looks}: {last} then {left}");
                }
                last = left.or(last);
            }
        }
        assert!(Estimate::default().left(1.0, 0.5).is_none());
        assert!(Estimate::default().left(100.0, 0.001).is_none());
        assert!(Estimate::default().left(20.0, 0.02).is_none());
        assert!(Estimate::default().left(100.0, 0.02).is_some());
        assert_eq!(Estimate::default().left(30.0, 0.75), Some(10.0));
    }

    #[test]
    fn the_words_fit() {
        let parts = ["32 %", "20 s left", "k = 12", "run 3/10", "iteration 17"].map(String::from);
        assert_eq!(as_many_as_fit(&parts, 80), parts.join(", "));
        assert_eq!(as_many_as_fit(&parts, 43), "32 %, 20 s left, k = 12, run 3/10");
        let long = ["32 %".to_string(), "a stage with a long name".into()];
        assert_eq!(as_many_as_fit(&long, 20), "32 %, a stage with …");
    }

    #[test]
    fn times_are_round() {
        let told = [3.0, 12.0, 59.0, 61.0, 3599.0, 3601.0, 7300.0].map(about);
        assert_eq!(told, ["seconds", "20 s", "60 s", "2 min", "60 min", "1 h 10 min", "2 h 10 min"]);
    }
}
