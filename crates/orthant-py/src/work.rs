//! Work without the interpreter's lock: on threads of its own, while the calling thread looks out for
//! Ctrl-C and runs the user's callback.
//!
//! Every call has a pool of its own, so that nothing is left behind that a fork could break, and
//! several calls at once do not wait for one another.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use orthant::certificate::CERTIFICATE;
use orthant::read::Kept;
use orthant::run::{Event, Go, Observer, StopAsked};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{OrthantError, raise};

/// How often the calling thread looks for signals.
const LOOK: Duration = Duration::from_millis(50);

/// An event on its way to the calling thread, and the way back.
struct Notice {
    method: String,
    event: Event<'static>,
    answer: SyncSender<Go>,
}

/// Tells the calling thread of iterations, and hears from it when to stop.
pub(crate) struct Watcher {
    stop: Arc<AtomicBool>,
    /// Where events go; it hangs up when the work has ended.
    notices: SyncSender<Notice>,
    /// Least time between two events; `None`: nobody wants any.
    interval: Option<Duration>,
    last: Option<Instant>,
    pub(crate) saving: Option<Saving>,
}

/// Where work under way is saved.
pub(crate) struct Saving {
    pub(crate) to: Kept,
    pub(crate) every: Duration,
    pub(crate) last: Instant,
    /// Why that failed, the first time: no reason to lose the work.
    pub(crate) failed: Option<String>,
}

impl Observer for Watcher {
    fn stop_asked(&self) -> Option<StopAsked> {
        let stop = self.stop.clone();
        Some(Arc::new(move || stop.load(Ordering::Relaxed)))
    }

    fn wants_to_save(&mut self) -> bool {
        let stopping = self.stop.load(Ordering::Relaxed);
        self.saving.as_ref().is_some_and(|saving| stopping || saving.last.elapsed() >= saving.every)
    }

    fn save(&mut self, checkpoint: &[u8]) -> orthant::Result<()> {
        if let Some(saving) = &mut self.saving {
            if let Err(error) = saving.to.write(checkpoint) {
                saving.failed.get_or_insert(error.to_string());
            }
            saving.last = Instant::now();
        }
        Ok(())
    }

    fn iteration(&mut self, event: &Event) -> Go {
        // Numbers that are not finite come of data that changed under way: there is nothing to go on with.
        if self.stop.load(Ordering::Relaxed) || !event.progress.objective.is_finite() {
            return Go::Stop;
        }
        let Some(interval) = self.interval else { return Go::On };
        if self.last.is_some_and(|last| last.elapsed() < interval) {
            return Go::On;
        }
        self.last = Some(Instant::now());
        let (answer, heard) = sync_channel(1);
        let notice = Notice { method: event.method.into(), event: event.named(""), answer };
        if self.notices.send(notice).is_err() {
            return Go::On;
        }
        heard.recv().unwrap_or(Go::Stop)
    }
}

/// Python's side of the watch: a callable that gets a dict and says whether to stop.
pub(crate) struct Watch<'py> {
    pub(crate) call: Option<Bound<'py, PyAny>>,
    /// Least time between two calls.
    pub(crate) interval: Duration,
}

/// What was computed, and the exception that ended it early, if any.
pub(crate) struct Done<R> {
    pub(crate) result: R,
    pub(crate) exception: Option<PyErr>,
}

/// Runs `work` on a pool of `threads` without the lock.
pub(crate) fn detached<R: Send>(
    py: Python<'_>,
    threads: usize,
    watch: Watch<'_>,
    work: impl FnOnce(&mut Watcher) -> orthant::Result<R> + Send,
) -> PyResult<Done<R>> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| OrthantError::new_err(format!("threads could not be started: {e}")))?;
    let stop = Arc::new(AtomicBool::new(false));
    let call = watch.call.map(Bound::unbind);
    let interval = call.is_some().then_some(watch.interval);
    let (result, exception) = py.detach(|| {
        let (notices, heard) = sync_channel(0);
        let (mut result, mut exception) = (None, None);
        let (slot, heeded) = (&mut result, stop.clone());
        pool.in_place_scope(|scope| {
            scope.spawn(move |_| {
                let mut watcher = Watcher { stop: heeded, notices, interval, last: None, saving: None };
                *slot = Some(catch_unwind(AssertUnwindSafe(|| work(&mut watcher))));
            });
            exception = attend(&heard, &stop, call.as_ref());
        });
        (result, exception)
    });
    match result {
        Some(Ok(Ok(result))) => Ok(Done { result, exception }),
        Some(Ok(Err(error))) => Err(exception.unwrap_or_else(|| raise(error))),
        // What was checked at the door no longer held, or there is a mistake in the library: in any case an
        // exception that callers can catch, and memory that is whole.
        Some(Err(_)) => Err(OrthantError::new_err(
            "the computation broke down: X was changed during the fit, or this is a mistake in orthant",
        )),
        None => Err(OrthantError::new_err("the computation ended without a result")),
    }
}

/// Until the work has ended: answers notices and checks signals. Returns the first exception.
fn attend(notices: &Receiver<Notice>, stop: &AtomicBool, call: Option<&Py<PyAny>>) -> Option<PyErr> {
    let mut exception = None;
    let mut decide = |result: PyResult<Go>| {
        let go = result.unwrap_or_else(|error| {
            exception.get_or_insert(error);
            Go::Stop
        });
        if go == Go::Stop {
            stop.store(true, Ordering::Relaxed);
        }
        go
    };
    loop {
        match notices.recv_timeout(LOOK) {
            Ok(notice) => {
                let told = Python::attach(|py| py.check_signals().and_then(|()| tell(py, &notice, call)));
                // A work that no longer listens has ended.
                let _ = notice.answer.send(decide(told));
            }
            Err(RecvTimeoutError::Timeout) => {
                decide(Python::attach(|py| py.check_signals().map(|()| Go::On)));
            }
            Err(RecvTimeoutError::Disconnected) => return exception,
        }
    }
}

/// Calls the callable with what the event says.
fn tell(py: Python<'_>, notice: &Notice, call: Option<&Py<PyAny>>) -> PyResult<Go> {
    let Some(call) = call else { return Ok(Go::On) };
    let event = &notice.event;
    let info = PyDict::new(py);
    info.set_item("method", &notice.method)?;
    info.set_item("stage", event.stage.map(|stage| stage.name))?;
    info.set_item("share", event.share)?;
    info.set_item("run", event.run)?;
    info.set_item("n_runs", event.runs)?;
    info.set_item("n_ended", event.ended)?;
    info.set_item("n_iter", event.iteration)?;
    info.set_item("max_iter", Some(event.max_iterations).filter(|&most| most != usize::MAX))?;
    // Squared errors are of the scaled data, so they are told relative to it; other objectives have no unit.
    let relative = (event.progress.objective / event.norm2).max(0.0).sqrt();
    match event.rule {
        _ if notice.method == CERTIFICATE => info.set_item("lower_bound", relative)?,
        rule if rule.onmf => info.set_item("relative_error", relative)?,
        _ => info.set_item("objective", event.progress.objective)?,
    }
    info.set_item("residual", event.progress.residual)?;
    info.set_item("converged", event.progress.converged)?;
    let answer = call.bind(py).call1((info,))?;
    Ok(if answer.is_truthy()? { Go::Stop } else { Go::On })
}
