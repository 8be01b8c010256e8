//! Everything that tables and figures are made from.

use crate::cells::Cells;
use crate::protocol::Protocol;
use crate::sets::Sets;
use crate::shown::Verdict;

/// The data, the protocol, and what has been computed.
pub struct Lab<'a> {
    pub sets: &'a Sets,
    pub protocol: &'a Protocol,
    pub cells: &'a Cells,
}

impl Lab<'_> {
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
