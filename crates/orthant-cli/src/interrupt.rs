//! Ctrl-C: the first one ends the iteration in progress and keeps the best so far, the second one ends
//! the program at once. The same for the system's requests to end, unless the program was started with them
//! ignored (`nohup`, or in the background of a script).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use orthant::read::Traces;

use crate::terminal::tell;

/// What the shell expects after Ctrl-C.
pub const EXIT: u8 = 130;

static HAPPENED: AtomicBool = AtomicBool::new(false);
static WORKING: AtomicBool = AtomicBool::new(false);
/// Files in the making: removed when the program ends at once.
static UNFINISHED: Mutex<Vec<Traces>> = Mutex::new(vec![]);

/// Begins to listen.
pub fn watch() {
    listen(|| {
        let again = HAPPENED.swap(true, Ordering::SeqCst);
        if again || !WORKING.load(Ordering::SeqCst) {
            // Files that are being moved into their place get there first.
            let mut unfinished = unfinished();
            unfinished.drain(..).for_each(|traces| traces.remove());
            std::process::exit(i32::from(EXIT));
        }
        tell!("orthant: stopping with the best so far (Ctrl-C again: stop at once)");
    });
}

/// From here on there is something to keep: the first Ctrl-C only asks to stop.
pub fn working() {
    WORKING.store(true, Ordering::SeqCst);
}

/// Whether Ctrl-C was pressed.
pub fn happened() -> bool {
    HAPPENED.load(Ordering::SeqCst)
}

/// Makes something that is to be removed should the program end at once, which it does not do in between.
pub fn making<T, E>(make: impl FnOnce() -> Result<T, E>, traces: impl FnOnce(&T) -> Traces) -> Result<T, E> {
    let mut unfinished = unfinished();
    let made = make()?;
    unfinished.push(traces(&made));
    Ok(made)
}

/// Removes them, for a program that ends at once. Files that are being moved into their place are left to the next run.
pub fn clean_up() {
    if let Ok(mut unfinished) = UNFINISHED.try_lock() {
        unfinished.drain(..).for_each(|traces| traces.remove());
    }
}

/// It is finished, or gone.
pub fn forget(traces: &Traces) {
    unfinished().retain(|t| t != traces);
}

/// As long as this is held, the program does not end at once.
pub fn hold() -> impl Sized {
    unfinished()
}

fn unfinished() -> MutexGuard<'static, Vec<Traces>> {
    UNFINISHED.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Calls `act` for every request to end. Where that is not possible, such a request ends the program at once, as
/// usual.
#[cfg(unix)]
fn listen(act: impl Fn() + Send + 'static) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;

    let ignored = ignored();
    let wanted: Vec<i32> =
        [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| (ignored >> (signal - 1)) & 1 == 0).collect();
    let (ready, wait) = std::sync::mpsc::channel();
    let listener = move || {
        let signals = Signals::new(wanted);
        // The other side has given up only if the program is over.
        let _ = ready.send(());
        if let Ok(mut signals) = signals {
            signals.forever().for_each(|_| act());
        }
    };
    if std::thread::Builder::new().name("signals".into()).spawn(listener).is_ok() {
        let _ = wait.recv();
    }
    // With anything but the default in its place, a file beyond `ulimit -f` is a failed write, not the end.
    let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
}

/// The signals that whoever started the program wants ignored, as bits from signal 1.
#[cfg(target_os = "linux")]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Elsewhere it cannot be told: the end of a terminal is left to what the program was started with.
#[cfg(all(unix, not(target_os = "linux")))]
fn ignored() -> u64 {
    1 << (signal_hook::consts::SIGHUP - 1)
}

#[cfg(not(unix))]
fn listen(act: impl Fn() + Send + 'static) {
    // Without a handler Ctrl-C ends the program at once, as usual.
    let _ = ctrlc::set_handler(act);
}
