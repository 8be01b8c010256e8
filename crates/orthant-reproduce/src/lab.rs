//! Everything that tables and figures are made from.

use std::cell::RefCell;

use crate::cells::{Cells, Key, Run};
use crate::engine::Seen;
use crate::protocol::Protocol;
use crate::sets::Sets;
use crate::shown::Verdict;

/// The data, the protocol, and what has been computed.
pub struct Lab<'a> {
    pub sets: &'a Sets,
    pub protocol: &'a Protocol,
    pub cells: &'a Cells,
    /// What was asked for, by the engine that computed it.
    seen: RefCell<Seen>,
}

impl<'a> Lab<'a> {
    /// Nothing has been looked at yet.
    pub fn new(sets: &'a Sets, protocol: &'a Protocol, cells: &'a Cells) -> Lab<'a> {
        Lab { sets, protocol, cells, seen: RefCell::default() }
    }

    /// Those of the first `most` runs that there are: of this engine, or where it has none, of an older one.
    pub fn runs(&self, file: &str, key: &Key, most: usize) -> Vec<Run> {
        let mut runs = self.cells.runs(file, key, most);
        if runs.is_empty() {
            runs = self.cells.older(file, key, most);
        }
        for run in &runs {
            let Key { engine, set, method, .. } = &run.key;
            let mut seen = self.seen.borrow_mut();
            seen.entry(engine.clone()).or_default().insert((set.clone(), method.clone()));
        }
        runs
    }

    /// What was looked at since this was asked last.
    pub fn take_seen(&self) -> Seen {
        self.seen.take()
    }

    /// The verdict, if everything it needs is there and nothing was cut short.
    pub fn judge(&self, whole: bool, verdict: Verdict) -> Verdict {
        match self.protocol.cut_short() {
            _ if !whole => Verdict::untestable("Not all of what it needs has been run."),
            Some(how) => Verdict::Untestable(how),
            None => verdict,
        }
    }

    /// The same where only methods without a random start and without a shortened limit take part.
    pub fn judge_single_runs(&self, whole: bool, verdict: Verdict) -> Verdict {
        if whole { verdict } else { self.judge(false, verdict) }
    }
}
