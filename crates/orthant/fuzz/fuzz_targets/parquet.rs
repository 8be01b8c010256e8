//! Any bytes as the format parquet: a matrix or an error, never a panic.
#![no_main]

#[path = "../../tests/targets/mod.rs"]
#[allow(dead_code)]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drop(targets::file(Some("parquet"), bytes)));
