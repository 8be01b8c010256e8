//! Points that others hold, each a few runs of blocks, reached by bytes alone. The driver (`fleet.rs`) sends orders out and
//! joins what comes back in the one tree; a [`Holder`] answers for the shards that it has. Slots live with the points.
//!
//! A **shard** is a node of the tree of blocks: what is loaded, lost and moved as one. Changes of what shards hold are
//! numbered. A shard takes change n + 1 after change n and no other, so that an order may come twice, late, or to the wrong
//! place: who cannot answer for a shard says that it is missing, and the driver has it loaded somewhere and its changes
//! since the last snapshot made again. What a shard holds is a function of its points and its changes, hence the same bits.

mod data;
mod fleet;
mod holder;

pub use data::shards;
pub use fleet::{Handle, Load, Sending, Transport};
pub use holder::{Holder, Spec};

use std::ops::Range;

use super::{Told, join};
use crate::bytes::{Bytes, bytes_of};
use crate::error::Error;
use crate::matrix::cut::Joining;
use crate::matrix::passes;
use crate::matrix::seam::{AnyPass, Array, Slot};

/// Bytes within bytes, copied as a whole.
#[derive(Debug, Clone, PartialEq)]
struct Blob(Vec<u8>);

impl Bytes for Blob {
    fn write(&self, to: &mut Vec<u8>) {
        self.0.len().write(to);
        to.extend_from_slice(&self.0);
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        let length = usize::read(from)?;
        let (head, tail) = from.split_at_checked(length)?;
        *from = tail;
        Some(Blob(head.to_vec()))
    }
}

/// A pass: as bytes with who sends it, as itself with who receives it.
enum Carried {
    Bytes(Vec<u8>),
    Pass(Box<dyn AnyPass>),
}

impl Carried {
    fn here(&self) -> Option<&dyn AnyPass> {
        match self {
            Carried::Pass(pass) => Some(&**pass),
            Carried::Bytes(_) => None,
        }
    }
}

impl Bytes for Carried {
    fn write(&self, to: &mut Vec<u8>) {
        match self {
            Carried::Bytes(bytes) => bytes.write(to),
            Carried::Pass(pass) => pass.write().write(to),
        }
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        let length = usize::read(from)?;
        let (head, tail) = from.split_at_checked(length)?;
        *from = tail;
        Some(Carried::Pass(passes::read(head)?))
    }
}

/// What is asked of shards.
enum Call {
    /// To use this scale, and to find the norms of their points.
    Scale(f64),
    /// One pass over their points and the arrays with this number.
    Sweep(u64, Carried),
    /// To fill a slot of the arrays with this number, or to empty it; what each shard gets.
    Write(u64, Slot, Vec<(usize, Option<Array>)>),
    /// To drop the arrays with this number.
    Drop(u64),
    /// What a slot of the arrays with this number holds.
    Read(u64, Slot),
    /// Some points of each shard, by their numbers in the whole data.
    Points(Vec<(usize, Vec<usize>)>),
    /// Everything that they keep beside the points.
    Save,
    /// To keep what was saved after the change with the call's number: of each shard, or in answers that come along.
    Restore(Vec<(usize, Blob)>),
}

impl Bytes for Call {
    fn write(&self, to: &mut Vec<u8>) {
        match self {
            Call::Scale(scale) => (0u8, *scale).write(to),
            Call::Sweep(slots, pass) => {
                (1u8, *slots).write(to);
                pass.write(to);
            }
            Call::Write(slots, slot, arrays) => {
                (2u8, (*slots, *slot)).write(to);
                arrays.write(to);
            }
            Call::Drop(slots) => (3u8, *slots).write(to),
            Call::Read(slots, slot) => (4u8, (*slots, *slot)).write(to),
            Call::Points(points) => {
                5u8.write(to);
                points.write(to);
            }
            Call::Save => 6u8.write(to),
            Call::Restore(saved) => {
                7u8.write(to);
                saved.write(to);
            }
        }
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        Some(match u8::read(from)? {
            0 => Call::Scale(Bytes::read(from)?),
            1 => Call::Sweep(Bytes::read(from)?, Bytes::read(from)?),
            2 => Call::Write(Bytes::read(from)?, Bytes::read(from)?, Bytes::read(from)?),
            3 => Call::Drop(Bytes::read(from)?),
            4 => Call::Read(Bytes::read(from)?, Bytes::read(from)?),
            5 => Call::Points(Bytes::read(from)?),
            6 => Call::Save,
            7 => Call::Restore(Bytes::read(from)?),
            _ => return None,
        })
    }
}

/// What goes to a worker.
enum Order {
    /// Calls for some shards, in turn, each with the number of the change that it makes, or that must have been the last.
    /// The answer is that to the last call.
    Do(Vec<usize>, Vec<(u64, Call)>),
    /// To merge the answers that come with it.
    Merge,
    /// To give back the answer that comes with it, so that it is kept here too.
    Copy,
    /// To say what is missing in the answers that come with it, and no more.
    Confirm,
}

impl Bytes for Order {
    fn write(&self, to: &mut Vec<u8>) {
        match self {
            Order::Do(shards, calls) => {
                0u8.write(to);
                shards.write(to);
                calls.write(to);
            }
            Order::Merge => 1u8.write(to),
            Order::Copy => 2u8.write(to),
            Order::Confirm => 3u8.write(to),
        }
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        Some(match u8::read(from)? {
            0 => Order::Do(Bytes::read(from)?, Bytes::read(from)?),
            1 => Order::Merge,
            2 => Order::Copy,
            3 => Order::Confirm,
            _ => return None,
        })
    }
}

/// An error on its way: whether better input would help, and its text.
struct Failure {
    bad_input: bool,
    text: String,
}
bytes_of!(Failure { bad_input, text });

impl Failure {
    fn into_error(self) -> Error {
        if self.bad_input { Error::Data(self.text) } else { Error::Computation(self.text) }
    }
}

/// What shards answer. Answers of several can be merged on the way.
#[derive(Default)]
struct Answer {
    /// Shards that nobody answered for.
    missing: Vec<usize>,
    failed: Option<Failure>,
    /// The pass that the nodes are of.
    pass: String,
    /// How many strips the tree has.
    count: usize,
    /// What nodes of the tree tell, in the order of their strips.
    nodes: Vec<(Range<usize>, Told)>,
    /// What each shard gave, by itself.
    pieces: Vec<(usize, Blob)>,
}

impl Answer {
    /// That somebody without these shards gives.
    fn missing(shards: Vec<usize>) -> Self {
        Answer { missing: shards, ..Answer::default() }
    }

    fn failed(error: &Error) -> Self {
        let failure = Failure { bad_input: error.is_bad_input(), text: error.to_string() };
        Answer { failed: Some(failure), ..Answer::default() }
    }

    /// Joins nodes as far as the tree allows.
    fn merge(&mut self, other: Answer) {
        self.missing.extend(other.missing);
        self.failed = self.failed.take().or(other.failed);
        self.pieces.extend(other.pieces);
        if !other.nodes.is_empty() {
            self.pass = other.pass;
            let mut nodes = std::mem::take(&mut self.nodes);
            nodes.extend(other.nodes);
            nodes.sort_by_key(|(strips, _)| strips.start);
            self.count = other.count;
            let mut joining = Joining::new(self.count);
            for (strips, told) in nodes {
                joining.push(strips.clone(), (strips, told), &mut |a: &mut (Range<usize>, Told), b| {
                    a.0.end = b.0.end;
                    join(&mut a.1, b.1);
                });
            }
            self.nodes = joining.into_nodes().into_iter().map(|(_, node)| node).collect();
        }
    }

    fn of_all(answers: impl IntoIterator<Item = Answer>) -> Self {
        let mut all = Answer::default();
        answers.into_iter().for_each(|answer| all.merge(answer));
        all
    }
}

impl Bytes for Answer {
    fn write(&self, to: &mut Vec<u8>) {
        self.missing.write(to);
        self.failed.write(to);
        self.pass.write(to);
        self.count.write(to);
        self.nodes.len().write(to);
        for (strips, (part, sums)) in &self.nodes {
            strips.write(to);
            part.write(to);
            sums.write(to);
        }
        self.pieces.write(to);
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        let (missing, failed, pass) = (Bytes::read(from)?, Bytes::read(from)?, String::read(from)?);
        let (count, length) = (Bytes::read(from)?, usize::read(from)?);
        let mut nodes = vec![];
        if length > 0 {
            let part = passes::part_reader(&pass)?;
            for _ in 0..length {
                nodes.push((Bytes::read(from)?, (part(from)?, Bytes::read(from)?)));
            }
        }
        Some(Answer { missing, failed, pass, count, nodes, pieces: Bytes::read(from)? })
    }
}
