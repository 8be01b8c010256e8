//! Any bytes as the format tiff: a matrix or an error, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use orthant::read::{Options, from_bytes};

fuzz_target!(|bytes: &[u8]| {
    let options = Options { format: Some("tiff".into()), ..Options::default() };
    let _ = from_bytes(bytes, &options);
});
