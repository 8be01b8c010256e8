//! Memory that cannot be had: asked about before it is needed, and a last word where it fails all the same.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// Whether the system would give so many bytes at once. They are asked for and given back: limits of the process
/// are known to the system alone.
fn could_have(bytes: u128) -> bool {
    let Some(layout) =
        usize::try_from(bytes).ok().and_then(|size| Layout::from_size_align(size.max(1), 8).ok())
    else {
        return false;
    };
    // SAFETY: the layout has a size, and what is given back is what was got.
    unsafe {
        let got = System.alloc(layout);
        if !got.is_null() {
            System.dealloc(got, layout);
        }
        !got.is_null()
    }
}

/// Refuses, before anything is reserved, what would not fit into memory: the `free` bytes, if they are known, or what
/// the system gives. `what` needs them; the advice says how to need less.
pub(crate) fn check_room(what: &str, bytes: u128, free: Option<u64>, advice: &str) -> Result<()> {
    let refuse = |free: &str| {
        let needed = amount(bytes);
        Err(Error::Computation(format!("{what} needs about {needed} of memory, {free}: {advice}")))
    };
    match free {
        Some(free) if bytes > free.into() => refuse(&format!("{} may be used", amount(free.into()))),
        _ if !could_have(bytes) => refuse("more than the system gives"),
        _ => Ok(()),
    }
}

/// Bytes for people.
pub fn amount(bytes: u128) -> String {
    match bytes as f64 {
        bytes if bytes < 1e6 => format!("{:.1} kB", bytes / 1e3),
        bytes if bytes < 1e9 => format!("{:.1} MB", bytes / 1e6),
        bytes => format!("{:.2} GB", bytes / 1e9),
    }
}

/// The system's memory, for a program that wants a last word where there is no more: the standard library would abort.
///
/// ```no_run
/// use orthant::matrix::Memory;
///
/// #[global_allocator]
/// static MEMORY: Memory = Memory::new(|bytes| {
///     eprintln!("{bytes} bytes more cannot be had");
///     std::process::exit(1)
/// });
/// # fn main() {}
/// ```
#[derive(Debug)]
pub struct Memory {
    refused: fn(usize) -> !,
    /// Some thread has met the end.
    ended: AtomicBool,
}

thread_local! {
    /// This thread has, and is saying so.
    static ENDING: Cell<bool> = const { Cell::new(false) };
}

impl Memory {
    /// `refused` is called, once, with the bytes that could not be had, and ends the process. It may need a little memory;
    /// should that be refused too, the process aborts.
    pub const fn new(refused: fn(usize) -> !) -> Memory {
        Memory { refused, ended: AtomicBool::new(false) }
    }

    /// Where addresses are limited (`ulimit -v`), all threads take memory from one place: glibc sets 64 MB of addresses
    /// apart for each of them otherwise. For the beginning of a program, when there are no other threads yet.
    pub fn spare_addresses(&self) {
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        {
            let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
            // SAFETY: the limit is written to what is ours, and the number of places may be set at any time.
            unsafe {
                libc::getrlimit(libc::RLIMIT_AS, &mut limit);
                if limit.rlim_cur != libc::RLIM_INFINITY {
                    libc::mallopt(libc::M_ARENA_MAX, 1);
                }
            }
        }
    }

    fn checked(&self, got: *mut u8, bytes: usize) -> *mut u8 {
        if got.is_null() {
            self.end(bytes);
        }
        got
    }

    #[cold]
    fn end(&self, bytes: usize) {
        if ENDING.replace(true) {
            return;
        }
        if !self.ended.swap(true, Ordering::SeqCst) {
            (self.refused)(bytes)
        }
        // Another thread is ending the process: this one has nothing to go on with.
        loop {
            std::thread::park();
        }
    }
}

// SAFETY: every call goes to the system's allocator as it is; its refusals end the process, or are passed on.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: what is asked of us is asked of the system.
        self.checked(unsafe { System.alloc(layout) }, layout.size())
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: what is asked of us is asked of the system.
        self.checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: what is asked of us is asked of the system.
        self.checked(unsafe { System.realloc(pointer, layout, size) }, size)
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: what is asked of us is asked of the system.
        unsafe { System.dealloc(pointer, layout) }
    }
}
