//! Memory that is used again: pages that are given back to the system and asked for again in every pass cost more than the
//! numbers in them.

use std::cell::RefCell;

/// Arrays kept for each thread.
const KEPT: usize = 4;
/// Smaller arrays are not kept: the allocator does that by itself.
const LARGE: usize = 1 << 13;

thread_local! {
    static ROOM: RefCell<Vec<Vec<f64>>> = const { RefCell::new(vec![]) };
}

/// So many zeros.
pub(crate) fn zeros(length: usize) -> Vec<f64> {
    let old = ROOM.with_borrow_mut(|room| {
        let fits = |old: &Vec<f64>| (length..=2 * length).contains(&old.capacity());
        room.iter().position(fits).map(|at| room.swap_remove(at))
    });
    match old {
        Some(mut old) => {
            old.clear();
            old.resize(length, 0.0);
            old
        }
        None => {
            // Zeros that are written, where `vec!` has the system promise them: a page that is read before it is written,
            // as that of a sum is, is mapped twice, and the other processors are told of it.
            let mut new = Vec::with_capacity(length);
            std::hint::black_box(new.as_mut_ptr());
            new.resize(length, 0.0);
            new
        }
    }
}

/// Takes back what is no longer needed.
pub(crate) fn give(numbers: Vec<f64>) {
    if numbers.capacity() >= LARGE {
        ROOM.with_borrow_mut(|room| {
            room.insert(0, numbers);
            room.truncate(KEPT);
        });
    }
}
