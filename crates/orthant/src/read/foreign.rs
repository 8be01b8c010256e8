//! Code of others that panics where a file is damaged: such a panic is an answer here, and nobody is told of it on standard
//! error. The hook that would tell is the program's, which may have one of its own: ours stands before it while such code is at
//! work, is silent on the threads that are in that code, and is gone afterwards.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::{Arc, Mutex, PoisonError};

type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>;

/// Where a thread is.
#[derive(Clone, Copy, PartialEq)]
enum At {
    Home,
    /// In the code of others.
    Abroad,
    /// In it, and this crate's own code has panicked.
    Failed,
}

thread_local! {
    static AT: Cell<At> = const { Cell::new(At::Home) };
}

/// What the code of others returns; nothing where it panics. A panic of this crate's own code is a defect and goes on.
pub(super) fn unless_it_panics<T>(call: impl FnOnce() -> T) -> Option<T> {
    let silence = Silence::begin();
    AT.set(At::Abroad);
    let returned = panic::catch_unwind(AssertUnwindSafe(call));
    let at = AT.replace(At::Home);
    drop(silence);
    match returned {
        Ok(value) => Some(value),
        Err(defect) if at == At::Failed => panic::resume_unwind(defect),
        Err(_) => None,
    }
}

/// Our hook is there as long as one of these is.
struct Silence;

/// How many of them there are, what was there before, and which hook is ours.
static STATE: Mutex<(usize, Option<Arc<Hook>>, usize)> = Mutex::new((0, None, 0));

impl Silence {
    /// Hooks cannot be changed while a panic is under way.
    fn begin() -> Option<Silence> {
        if std::thread::panicking() {
            return None;
        }
        let (users, before, ours) = &mut *STATE.lock().unwrap_or_else(PoisonError::into_inner);
        *users += 1;
        if *users == 1 {
            let told = Arc::new(panic::take_hook());
            *before = Some(told.clone());
            let hook: Hook = Box::new(move |panic| listen(panic, &**told));
            *ours = place(&hook);
            panic::set_hook(hook);
        }
        Some(Silence)
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        let (users, before, ours) = &mut *STATE.lock().unwrap_or_else(PoisonError::into_inner);
        *users -= 1;
        if *users > 0 {
            return;
        }
        let current = panic::take_hook();
        // Who has set another hook in the meantime keeps it.
        if place(&current) != *ours {
            panic::set_hook(current);
            return;
        }
        drop(current);
        if let Some(Ok(before)) = before.take().map(Arc::try_unwrap) {
            panic::set_hook(before);
        }
    }
}

/// By what a hook is known again.
fn place(hook: &Hook) -> usize {
    (&raw const **hook).cast::<()>() as usize
}

fn listen(panic: &PanicHookInfo<'_>, tell: &(dyn Fn(&PanicHookInfo<'_>) + Send + Sync)) {
    let is_own = panic.location().is_some_and(|place| place.file().starts_with(own_code()));
    match AT.get() {
        At::Abroad if !is_own => (),
        at => {
            if at == At::Abroad {
                AT.set(At::Failed);
            }
            tell(panic);
        }
    }
}

/// How the names of this crate's files begin.
fn own_code() -> &'static str {
    let here = file!();
    &here[..here.len() - "read/foreign.rs".len()]
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    use super::*;

    /// One test, because the hook belongs to the whole program.
    #[test]
    fn only_panics_of_others_are_silent_and_the_hook_is_as_it_was() {
        static TOLD: AtomicUsize = AtomicUsize::new(0);
        let before = Arc::new(panic::take_hook());
        let others = before.clone();
        // Other tests may panic meanwhile.
        let counted: Hook = Box::new(move |panic| match panic.payload_as_str() {
            Some(told) if told.contains("for the test") || told.contains("overflow when adding") => {
                TOLD.fetch_add(1, Ordering::Relaxed);
            }
            _ => others(panic),
        });
        let known = place(&counted);
        panic::set_hook(counted);
        // The standard library panics in a file of its own.
        let foreign = || Instant::now() + Duration::MAX;
        let all_caught = std::thread::scope(|scope| {
            let caught = || (0..50).all(|_| unless_it_panics(foreign).is_none());
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(caught)).collect();
            threads.into_iter().all(|thread| thread.join().unwrap())
        });
        let silent = TOLD.load(Ordering::Relaxed);
        let returned = unless_it_panics(|| 7);
        // Our own, and those of threads that are elsewhere, are told of.
        let own = panic::catch_unwind(|| unless_it_panics(|| panic!("ours, for the test")));
        let elsewhere = unless_it_panics(|| std::thread::spawn(foreign).join().is_err());
        let told = TOLD.load(Ordering::Relaxed);
        let current = panic::take_hook();
        let is_as_before = place(&current) == known;
        panic::set_hook(Box::new(move |panic| before(panic)));
        assert!(all_caught && own.is_err() && is_as_before);
        assert_eq!((returned, elsewhere), (Some(7), Some(true)));
        assert_eq!((silent, told), (0, 2));
    }
}
