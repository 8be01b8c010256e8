//! Progress of a reproduction: a line for each cell in progress, and one for the whole with the time left.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use orthant::run::{Event, StopAsked};
use orthant_reproduce::{Cell, Watch};

use crate::interrupt;
use crate::progress::duration;
use crate::terminal::tell;

/// How often a line is drawn again, and written where there is no terminal.
const DRAW: Duration = Duration::from_millis(200);
const LINE: Duration = Duration::from_secs(10);

/// What is being computed.
pub struct Board {
    /// One line a thread, the last for the whole; none without a terminal.
    bars: Vec<ProgressBar>,
    quiet: bool,
    threads: usize,
    state: Mutex<State>,
}

struct State {
    cells: usize,
    done: usize,
    shown: Vec<Instant>,
    begun: Vec<Instant>,
    /// For each method: multiplications and seconds of the cells that have ended, multiplications of those that have
    /// not. Methods differ in what a multiplication takes.
    methods: BTreeMap<String, (f64, f64, f64)>,
}

impl Board {
    /// Says nothing when quiet.
    pub fn new(cells: &[Cell], threads: usize, quiet: bool) -> Board {
        let mut bars = vec![];
        if !quiet && std::io::stderr().is_terminal() {
            let all = MultiProgress::new();
            let style = |template| {
                ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
            };
            for _ in 0..threads {
                bars.push(all.add(ProgressBar::new(1)).with_style(style("{prefix} {bar:24} {msg}")));
            }
            let whole = all.add(ProgressBar::new(cells.len() as u64));
            bars.push(whole.with_style(style("{pos} of {len} cells {bar:24} {msg}")));
        }
        let mut methods: BTreeMap<String, (f64, f64, f64)> = BTreeMap::new();
        for cell in cells {
            methods.entry(cell.method().to_string()).or_default().2 += cell.cost();
        }
        let now = Instant::now();
        let (shown, begun) = (vec![now; threads], vec![now; threads]);
        let state = Mutex::new(State { cells: cells.len(), done: 0, shown, begun, methods });
        Board { bars, quiet, threads, state }
    }

    /// Takes the lines away.
    pub fn end(&self) {
        self.bars.iter().for_each(ProgressBar::finish_and_clear);
    }

    /// From the speed of each method so far; of all methods where one has not ended a cell yet.
    fn left(&self, state: &State) -> String {
        let sum = |f: fn(&(f64, f64, f64)) -> f64| state.methods.values().map(f).sum::<f64>();
        let overall = sum(|m| m.1) / sum(|m| m.0);
        let left = |m: &(f64, f64, f64)| m.2.max(0.0) * if m.0 > 0.0 { m.1 / m.0 } else { overall };
        let seconds = state.methods.values().map(left).sum::<f64>() / self.threads as f64;
        if seconds.is_finite() { format!(", about {} left", duration(seconds)) } else { String::new() }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Watch for Board {
    fn begin(&self, line: usize, cell: &Cell) {
        self.state().begun[line] = Instant::now();
        if let Some(bar) = self.bars.get(line) {
            bar.set_prefix(cell.title());
            bar.set_position(0);
            bar.set_message("");
        }
    }

    fn iteration(&self, line: usize, cell: &Cell, event: &Event) {
        if self.quiet {
            return;
        }
        let mut state = self.state();
        let every = if self.bars.is_empty() { LINE * self.threads as u32 } else { DRAW };
        if state.shown[line].elapsed() < every {
            return;
        }
        state.shown[line] = Instant::now();
        let limited = event.max_iterations < usize::MAX;
        let limit = if limited { format!(" of at most {}", event.max_iterations) } else { String::new() };
        let told = format!("iteration {}{limit}", event.iteration);
        match self.bars.get(line) {
            Some(bar) => {
                bar.set_length(if limited { event.max_iterations as u64 } else { 1 });
                bar.set_position(if limited { event.iteration as u64 } else { 0 });
                bar.set_message(told);
            }
            None => tell!(
                "orthant: {} of {} cells done{}; {}: {told}",
                state.done,
                state.cells,
                self.left(&state),
                cell.title()
            ),
        }
    }

    fn done(&self, line: usize, cell: &Cell) {
        let mut state = self.state();
        state.done += 1;
        let seconds = state.begun[line].elapsed().as_secs_f64();
        let method = state.methods.entry(cell.method().to_string()).or_default();
        *method = (method.0 + cell.cost(), method.1 + seconds, method.2 - cell.cost());
        if let Some(whole) = self.bars.get(self.threads) {
            whole.set_position(state.done as u64);
            whole.set_message(self.left(&state).trim_start_matches(", ").to_string());
        }
    }

    /// Ctrl-C.
    fn stopped(&self) -> bool {
        interrupt::happened()
    }

    fn stop_asked(&self) -> Option<StopAsked> {
        Some(Arc::new(interrupt::happened))
    }
}
