//! Edits of a block folder: its points, whole or a range at a time, or an error.
#![no_main]

#[path = "../../tests/targets/mod.rs"]
#[allow(dead_code)]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drop(targets::blocks(bytes)));
