//! Progress of a reproduction: one bar for the whole, with the time left and what is being computed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use orthant::run::{Event, StopAsked};
use orthant_reproduce::{Cell, Watch};

use crate::bar::Bar;
use crate::interrupt;

/// What is being computed.
pub struct Board {
    state: Mutex<State>,
}

struct State {
    bar: Bar,
    cells: usize,
    done: usize,
    begun: Vec<Instant>,
    /// For each method: multiplications and seconds of the cells that have ended, multiplications of those that have
    /// not. Methods differ in what a multiplication takes.
    methods: BTreeMap<String, (f64, f64, f64)>,
}

impl State {
    /// The share of the time that has passed, from the speed of each method so far; of all methods where one has not ended
    /// a cell yet.
    fn share(&self) -> Option<f64> {
        let sum = |f: fn(&(f64, f64, f64)) -> f64| self.methods.values().map(f).sum::<f64>();
        let (passed, overall) = (sum(|m| m.1), sum(|m| m.1) / sum(|m| m.0));
        let left = |m: &(f64, f64, f64)| m.2.max(0.0) * if m.0 > 0.0 { m.1 / m.0 } else { overall };
        let share = passed / (passed + self.methods.values().map(left).sum::<f64>());
        share.is_finite().then_some(share)
    }
}

impl Board {
    /// Says nothing when quiet.
    pub fn new(cells: &[Cell], threads: usize, quiet: bool) -> Board {
        let mut methods: BTreeMap<String, (f64, f64, f64)> = BTreeMap::new();
        for cell in cells {
            methods.entry(cell.method().to_string()).or_default().2 += cell.cost();
        }
        let begun = vec![Instant::now(); threads];
        let state = State { bar: Bar::new(quiet), cells: cells.len(), done: 0, begun, methods };
        Board { state: Mutex::new(state) }
    }

    /// Takes the bar away.
    pub fn end(&self) {
        self.state().bar.end();
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Watch for Board {
    fn begin(&self, line: usize, _cell: &Cell) {
        self.state().begun[line] = Instant::now();
    }

    fn iteration(&self, _line: usize, cell: &Cell, event: &Event) {
        let state = &mut *self.state();
        if state.bar.is_due() {
            let (done, cells, iteration) = (state.done, state.cells, event.iteration);
            let now = [cell.title(), format!("{done} of {cells} cells"), format!("iteration {iteration}")];
            let share = state.share();
            state.bar.show(share, &now);
        }
    }

    fn done(&self, line: usize, cell: &Cell) {
        let mut state = self.state();
        state.done += 1;
        let seconds = state.begun[line].elapsed().as_secs_f64();
        let method = state.methods.entry(cell.method().to_string()).or_default();
        *method = (method.0 + cell.cost(), method.1 + seconds, method.2 - cell.cost());
    }

    /// Ctrl-C.
    fn stopped(&self) -> bool {
        interrupt::happened()
    }

    fn stop_asked(&self) -> Option<StopAsked> {
        Some(Arc::new(interrupt::happened))
    }
}
