//! How points are cut, by the shape of the data alone, and the one tree in which parts and sums are joined: whoever holds
//! which points, on however many threads, the bits are the same.
//!
//! A **strip** is a few dozen to a thousand points: what a pass tells of it is one part. A **block** is a power of two of
//! strips whose sums are added up point after point. Above that, neighbours are joined pairwise: node i of level l is
//! what strips `i·2ˡ` to `(i + 1)·2ˡ` tell. Where points are dense a block is one strip; sums of sparse points are as long
//! as features × k, so that a block has enough entries to be worth an array of its own.

use std::ops::Range;

use super::Shape;

/// A cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    points: usize,
    /// Points of a strip, a power of two.
    pub strip: usize,
    /// Strips of a block, a power of two.
    pub block: usize,
}

/// Entries of a strip at most, and of a block of sparse points: it must fit into memory several times.
const ENTRIES: usize = 1 << 22;

/// Entries of a sparse block for each feature: arrays of sums then cost little beside the pass.
const EACH_FEATURE: usize = 64;

impl Cut {
    /// The cut of data of this shape.
    pub fn of(shape: &Shape) -> Cut {
        let each = (shape.nonzeros / shape.points.max(1)).max(1);
        let usual = shape.points.div_ceil(64).next_power_of_two().clamp(64, 1024);
        let fits = ((ENTRIES / each).max(8) + 1).next_power_of_two() / 2;
        let strip = usual.min(fits);
        let wanted = if shape.sparse { ENTRIES.min(EACH_FEATURE.saturating_mul(shape.features)) } else { 0 };
        let block = wanted.div_ceil(strip * each).next_power_of_two();
        Cut { points: shape.points, strip, block }
    }

    /// How many strips there are.
    pub fn strips(&self) -> usize {
        self.points.div_ceil(self.strip)
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> usize {
        self.strips().div_ceil(self.block)
    }

    /// The points of some strips.
    pub fn points_of(&self, strips: &Range<usize>) -> Range<usize> {
        (strips.start * self.strip).min(self.points)..(strips.end * self.strip).min(self.points)
    }

    /// The points of some blocks.
    pub fn points_of_blocks(&self, blocks: &Range<usize>) -> Range<usize> {
        self.points_of(&(blocks.start * self.block..blocks.end * self.block))
    }

    /// The strips that hold whole blocks from the first to the last of some points.
    pub(super) fn strips_of(&self, points: &Range<usize>) -> Range<usize> {
        points.start / self.strip..points.end.div_ceil(self.strip)
    }
}

/// Where the strips of a node part into those of its two children.
pub(super) fn middle(strips: &Range<usize>) -> usize {
    strips.start + strips.len().next_power_of_two() / 2
}

/// The largest nodes of the tree of `count` strips that a run of them consists of, in order.
pub(super) fn nodes(strips: Range<usize>, count: usize) -> Vec<Range<usize>> {
    let mut nodes = vec![];
    let mut from = strips.start;
    while from < strips.end {
        // As large as the alignment of its first strip and what is left allow; only the last of all may be short.
        let aligned = if from == 0 { usize::MAX } else { 1 << from.trailing_zeros() };
        let left = strips.end - from;
        let short = strips.end == count && aligned >= left.next_power_of_two();
        let size = if short { left } else { aligned.min((left + 1).next_power_of_two() / 2) };
        nodes.push(from..from + size);
        from += size;
    }
    nodes
}

/// Joins what neighbouring nodes tell, in the order of the tree; nodes come in the order of their strips.
pub(super) struct Joining<T> {
    /// Nodes that wait for their right neighbour, the leftmost first.
    waiting: Vec<(Range<usize>, T)>,
    /// How many strips there are in all.
    count: usize,
}

impl<T> Joining<T> {
    /// Of a tree of so many strips.
    pub(super) fn new(count: usize) -> Self {
        Joining { waiting: vec![], count }
    }

    /// One more node. There may be gaps, which whoever has the nodes within them closes later.
    pub(super) fn push(&mut self, strips: Range<usize>, told: T, join: &mut impl FnMut(&mut T, T)) {
        let (mut strips, mut told) = (strips, told);
        // Two whole nodes of one size whose union is a node too; the last of all may be short.
        while let Some((left, _)) = self.waiting.last()
            && left.end == strips.start
            && (left.len() == strips.len() || left.len() > strips.len() && strips.end == self.count)
            && left.start.is_multiple_of(2 * left.len())
        {
            let (left, mut sum) = self.waiting.pop().expect("there is a last one");
            join(&mut sum, told);
            (strips, told) = (left.start..strips.end, sum);
        }
        self.waiting.push((strips, told));
    }

    /// The nodes that are left, in order.
    pub(super) fn into_nodes(self) -> Vec<(Range<usize>, T)> {
        self.waiting
    }

    /// What all of them tell. The last nodes are short of strips and are joined from the right.
    pub(super) fn end(mut self, join: &mut impl FnMut(&mut T, T)) -> Option<T> {
        let (_, mut told) = self.waiting.pop()?;
        while let Some((_, mut left)) = self.waiting.pop() {
            join(&mut left, told);
            told = left;
        }
        Some(told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tree as text, by halves from the top.
    fn tree(strips: Range<usize>) -> String {
        if strips.len() == 1 {
            return strips.start.to_string();
        }
        let middle = middle(&strips);
        format!("({} {})", tree(strips.start..middle), tree(middle..strips.end))
    }

    #[test]
    fn whoever_holds_which_strips_the_tree_is_the_same() {
        for count in 1..70 {
            let whole = tree(0..count);
            for cuts in [
                vec![],
                vec![count / 3],
                vec![1, count / 2],
                vec![count / 5, count / 4, count / 2, count - 1],
            ] {
                let mut edges = vec![0];
                edges.extend(cuts.into_iter().filter(|&c| c < count));
                edges.push(count);
                edges.sort_unstable();
                edges.dedup();
                let mut joining = Joining::new(count);
                let mut join = |a: &mut String, b: String| *a = format!("({a} {b})");
                for pair in edges.windows(2) {
                    // Whoever has these strips, one by one, is left with the fewest nodes.
                    let mut own = Joining::new(count);
                    (pair[0]..pair[1]).for_each(|s| own.push(s..s + 1, s.to_string(), &mut join));
                    let nodes = nodes(pair[0]..pair[1], count);
                    assert_eq!(own.waiting.len(), nodes.len(), "{count}: {pair:?}");
                    for (node, (strips, told)) in nodes.into_iter().zip(own.into_nodes()) {
                        assert_eq!((&node, &told), (&strips, &tree(node.clone())));
                        joining.push(node, told, &mut join);
                    }
                }
                assert_eq!(joining.end(&mut join).unwrap(), whole, "{count}: {edges:?}");
            }
        }
    }
}
