//! Arguments that were never meant: understood or refused.
#![no_main]

#[path = "../../../orthant-cli/tests/targets/mod.rs"]
#[allow(dead_code)]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drop(targets::arguments(bytes)));
