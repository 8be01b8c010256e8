//! Ctrl-C: the first one ends the iteration in progress and keeps the best so far, the second one ends
//! the program at once.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// What the shell expects after Ctrl-C.
pub const EXIT: u8 = 130;

static HAPPENED: AtomicBool = AtomicBool::new(false);
static WORKING: AtomicBool = AtomicBool::new(false);
/// Folders that are not finished yet: removed when the program ends at once.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(vec![]);

/// Begins to listen.
pub fn watch() {
    let listening = ctrlc::set_handler(|| {
        let again = HAPPENED.swap(true, Ordering::SeqCst);
        if again || !WORKING.load(Ordering::SeqCst) {
            for folder in unfinished().drain(..) {
                // The program ends whether or not they can be removed.
                let _ = std::fs::remove_dir_all(folder);
            }
            std::process::exit(i32::from(EXIT));
        }
        eprintln!("orthant: stopping with the best so far (Ctrl-C again: stop at once)");
    });
    if listening.is_err() {
        // Without a handler Ctrl-C ends the program at once, as usual.
        WORKING.store(false, Ordering::SeqCst);
    }
}

/// From here on there is something to keep: the first Ctrl-C only asks to stop.
pub fn working() {
    WORKING.store(true, Ordering::SeqCst);
}

/// Whether Ctrl-C was pressed.
pub fn happened() -> bool {
    HAPPENED.load(Ordering::SeqCst)
}

/// A folder to be removed should the program end at once.
pub fn remember(folder: &Path) {
    unfinished().push(folder.to_path_buf());
}

/// The folder is finished, or gone.
pub fn forget(folder: &Path) {
    unfinished().retain(|f| f != folder);
}

fn unfinished() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
