//! Huge pages: a pass over dense data touches a new small page every few points, and each costs a walk through the
//! machine's (and on a virtual machine also its host's) page tables.

/// From this many bytes on it is worth asking.
#[cfg(target_os = "linux")]
const LARGE: usize = 16 << 20;

/// An empty vector with room for so many numbers, in huge pages where the system has them.
pub(crate) fn with_room<T>(count: usize) -> Vec<T> {
    let mut room = Vec::with_capacity(count);
    ask_for_huge(room.spare_capacity_mut());
    room
}

/// Before the memory is first used: afterwards its pages would have to be copied.
#[cfg(target_os = "linux")]
fn ask_for_huge<T>(x: &mut [std::mem::MaybeUninit<T>]) {
    let bytes = size_of_val(x);
    if bytes < LARGE {
        return;
    }
    // SAFETY: asks for a constant of the system.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let Ok(page @ 1..) = usize::try_from(page) else { return };
    let (start, end) = (x.as_ptr().addr(), x.as_ptr().addr() + bytes);
    let (from, to) = (start.next_multiple_of(page), end / page * page);
    let address = x.as_mut_ptr().with_addr(from).cast();
    // SAFETY: a hint, which changes neither what the memory holds nor who may use it; the range lies within the slice.
    unsafe { libc::madvise(address, to - from, libc::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn ask_for_huge<T>(_: &mut [std::mem::MaybeUninit<T>]) {}
