//! Where threads come in. What is computed never depends on how many there are.

use std::cell::Cell;
use std::sync::Mutex;

use rayon::prelude::*;

/// Multiplications of a pass over sparse points, or over arrays beside them, that is not worth a second thread: it takes
/// up to 0.1 ms to wake.
pub(crate) const SMALL: usize = 1 << 20;

/// The same where sparse points add to few columns: one thread does so while it has the point, several in a second go, over the
/// transposed copy, which takes twice as long in all.
pub(crate) const SMALL_FEW: usize = 1 << 23;

/// The same for dense points, which are quicker.
pub(crate) const SMALL_DENSE: usize = 1 << 22;

thread_local! {
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Whether the work at hand keeps to this thread, because the others have work of their own.
pub(crate) fn alone() -> bool {
    ALONE.get() || rayon::current_num_threads() == 1
}

/// Jobs that share nothing, each on one thread from its beginning to its end where there are enough of them.
pub(crate) fn apart<J: Send, R: Send>(jobs: Vec<J>, work: impl Fn(J) -> R + Sync + Send) -> Vec<R> {
    let keep = jobs.len() >= rayon::current_num_threads();
    in_order(jobs, |job| {
        let before = ALONE.replace(keep || ALONE.get());
        let result = work(job);
        ALONE.set(before);
        result
    })
}

/// Jobs in order, on all threads of the current pool where there is more than one job.
///
/// It names `work` once and has plain loops: a call apart for a single job would compile each of them twice.
pub(crate) fn in_order<J: Send, R: Send>(jobs: Vec<J>, work: impl Fn(J) -> R + Sync + Send) -> Vec<R> {
    let mut places: Vec<Mutex<(Option<J>, Option<R>)>> = Vec::with_capacity(jobs.len());
    for job in jobs {
        places.push(Mutex::new((Some(job), None)));
    }
    on_all_threads(places.len(), &|at| {
        let mut place = places[at].lock().expect("no other job uses this place");
        if let Some(job) = place.0.take() {
            place.1 = Some(work(job));
        }
    });
    let mut results = Vec::with_capacity(places.len());
    for place in places {
        results.extend(place.into_inner().expect("all jobs have ended").1);
    }
    results
}

/// Not generic: a parallel iterator for each kind of work would double the time to compile.
fn on_all_threads(count: usize, work: &(dyn Fn(usize) + Sync)) {
    // A caller outside of the pool would wait for it to wake, each time.
    if count == 1 || alone() {
        return (0..count).for_each(work);
    }
    (0..count).into_par_iter().with_max_len(1).for_each(work);
}
