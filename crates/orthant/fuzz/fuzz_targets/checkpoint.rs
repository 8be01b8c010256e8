//! Edits of checkpoints, with a right checksum: the work goes on, or is refused.
#![no_main]

#[path = "../../tests/targets/mod.rs"]
#[allow(dead_code)]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drop(targets::checkpoint(bytes)));
