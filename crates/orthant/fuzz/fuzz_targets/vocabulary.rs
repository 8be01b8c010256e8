//! Edits of names in a file: a list or an error.
#![no_main]

#[path = "../../tests/targets/mod.rs"]
#[allow(dead_code)]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drop(targets::vocabulary(bytes)));
