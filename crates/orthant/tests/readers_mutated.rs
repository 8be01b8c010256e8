//! Real small files, lists and checkpoints, damaged at random: every reader answers with what was asked for or an error,
//! without a panic and without asking for memory that the file does not justify. `ORTHANT_FUZZ=N` tries N times as many.
#![cfg(feature = "read")]

mod targets;

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use orthant::read::{FORMATS, Loaded, Options, from_bytes, write};
use proptest::prelude::*;
use targets::hand::Hand;

/// The largest single request since it was last looked at.
static LARGEST: AtomicUsize = AtomicUsize::new(0);
/// No file here has a thousandth of it.
const LIMIT: usize = 64 << 20;
/// Longer than anything here takes on a busy machine: what takes longer hangs.
const HANGS: Duration = Duration::from_secs(60);

/// So many of each kind; fuzz/ has the same targets for a search that learns from what it finds.
fn runner(usual: u32) -> proptest::test_runner::TestRunner {
    let times = std::env::var("ORTHANT_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: usual * times,
        failure_persistence: None,
        ..ProptestConfig::default()
    })
}

struct Watching;

// SAFETY: every call goes to the system's allocator as it is; only its size is noted.
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: what is asked of us is asked of the system.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: what is asked of us is asked of the system.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LARGEST.fetch_max(size, Ordering::Relaxed);
        // SAFETY: what is asked of us is asked of the system.
        unsafe { System.realloc(pointer, layout, size) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: what is asked of us is asked of the system.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static WATCHING: Watching = Watching;

fn kept(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)).unwrap()
}

/// Sound files of one format.
fn sound(format: &str) -> Vec<Vec<u8>> {
    let text = |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    let written = |ending: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("x{ending}"));
        let matrix = from_bytes(&kept("csc.npz"), &Options::default()).unwrap().matrix;
        write(&path, &Loaded::from(matrix)).unwrap();
        std::fs::read(path).unwrap()
    };
    match format {
        "matrix-market" => text(&[
            "%%MatrixMarket matrix coordinate real general\n% note\n3 4 4\n1 2 2.5\n2 1 1\n2 4 3e0\n3 4 .5\n",
            "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n",
            "%%MatrixMarket matrix array integer general\n2 2\n1\n2\n3\n4\n",
            "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n",
        ]),
        "npy" => vec![written(".npy")],
        "npz" => vec![kept("csc.npz"), kept("coo.npz"), kept("dense.npz"), written(".npz")],
        "matlab" => ["mixture.mat", "mixture_compressed.mat", "cube.mat", "two.mat"].map(kept).to_vec(),
        "pictures" => {
            let mut picture = Vec::new();
            let mut writer = png::Encoder::new(&mut picture, 3, 2).write_header().unwrap();
            writer.write_image_data(&[1; 6]).unwrap();
            drop(writer);
            vec![kept("gradient.jpg"), picture]
        }
        "envi" => {
            let header = "ENVI\nsamples = 3\nlines = 2\nbands = 2\nheader offset = 1\ndata type = 12\ninterleave = bil\n\
                          byte order = 1\ndata ignore value = 7\nwavelength = {1, 2}\nband names = {a,\n b}\n\0";
            vec![[header.as_bytes(), &[7; 25]].concat()]
        }
        "hdf5" => ["cells.h5ad", "tenx.h5", "cells.loom", "v73.mat"].map(kept).to_vec(),
        "parquet" => ["table.parquet", "texts.parquet"].map(kept).to_vec(),
        "blocks" => text(&["{}"]),
        "tiff" => ["contig.tif", "planar.tif", "pages.tif"].map(kept).to_vec(),
        "10x" => text(&["%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 4\n2 2 1\n"]),
        "jsonl" => text(&[
            "{\"text\": \"some words are in here\", \"n\": 1}\n{\"text\": \"more of these words here\", \"n\": 2}\n",
        ]),
        "lines" => text(&["some words are in here\nmore of these words here\n"]),
        "texts" => text(&["<p>some words &amp; more<script>hidden</script> words</p><!-- none -->\n"]),
        "bag-of-words" => text(&["2\n3\n3\n1 1 4\n2 3 1\n1 2 1\n"]),
        "cluto" => text(&["3 4 4\n2 2.5\n4 3 1 1\n\n4 .5\n", "2 3\n1 2 3\n4 5 6\n"]),
        "svmlight" => text(&["# note\n+1 2:2.5 # note\n-1 qid:3 4:3 1:1\n2\n+1 4:.5\n"]),
        "csv" | "tsv" => text(&[
            "id,one,two\n\"first\",1,2.5\nsecond,3,\n",
            "id,one,kind\n7,1,good\n8,3,bad\n9,2,good\n",
            "1;2,5\n3;4,0\n",
            "1\t2\r\n3\tNA\r\n",
            "  1 2 3\n4 5 6\n",
        ]),
        other => panic!("{other} has no sound file in this test: add one"),
    }
}

/// Known, and refused: the first is a folder, the second read only with its feature.
const ALWAYS_REFUSED: &[&str] = if cfg!(feature = "parquet") { &["blocks"] } else { &["blocks", "parquet"] };

/// The largest request is that of the whole process: one test at a time.
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let alone = ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    LARGEST.store(0, Ordering::Relaxed);
    alone
}

/// An answer in time, with little memory, and in one line if it is a refusal.
fn answered(ask: impl FnOnce() -> orthant::Result<()>) -> Result<(), TestCaseError> {
    let start = Instant::now();
    let message = ask().err().map(|error| error.to_string()).unwrap_or_default();
    prop_assert!(!message.contains('\n'), "one line: {}", message);
    prop_assert!(start.elapsed() < HANGS, "it hangs");
    let largest = LARGEST.swap(0, Ordering::Relaxed);
    prop_assert!(largest < LIMIT, "{} bytes were asked for", largest);
    Ok(())
}

fn survives(format: &'static str) -> Result<(), TestCaseError> {
    let files = sound(format);
    let named = Options { format: Some(format.into()), ..Options::default() };
    let sound = files.iter().any(|file| from_bytes(file, &named).is_ok());
    let refused = ALWAYS_REFUSED.contains(&format) || (format == "hdf5" && cfg!(not(feature = "hdf5")));
    assert!(sound || refused, "{format}: no file is sound");
    runner(400)
        .run(&prop::collection::vec(any::<u8>(), 8..32), |bytes| {
            let mut hand = Hand(&bytes);
            let recognised = hand.byte() % 2 == 0;
            let mut bytes = hand.of(&files).clone();
            hand.edit(&mut bytes, 3);
            answered(|| targets::file((!recognised).then_some(format), &bytes))
        })
        .map_err(|error| TestCaseError::fail(format!("{format}: {error}")))
}

#[test]
fn damaged_files_give_a_matrix_or_an_error() {
    let _alone = alone();
    for format in FORMATS {
        survives(format.name).unwrap();
    }
}

#[test]
fn damaged_compressed_text_gives_a_matrix_or_an_error() {
    let _alone = alone();
    let text = &sound("matrix-market")[0];
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, text).unwrap();
    for packed in [gzip.finish().unwrap(), zstd::encode_all(&text[..], 1).unwrap()] {
        assert!(from_bytes(&packed, &Options::default()).is_ok());
        for at in 0..packed.len() {
            let mut bytes = packed.clone();
            bytes[at] ^= 0x55;
            let _ = from_bytes(&bytes, &Options::default());
            let cut = from_bytes(&packed[..at], &Options::default());
            assert!(cut.is_err(), "a stream cut at {at} is no whole file");
        }
    }
}

#[test]
fn headers_that_claim_too_much_cost_nothing() {
    let _alone = alone();
    let huge = "1000000000000000000";
    let npy = |shape: &str, order: &str| {
        let header = format!("{{'descr': '<f8', 'fortran_order': {order}, 'shape': ({shape}), }}");
        [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), &[0; 64]].concat()
    };
    let envi = "ENVI\nsamples = 1000000000\nlines = 1000000000\nbands = 5\ndata type = 1\n\0";
    let claims = [
        format!("%%MatrixMarket matrix coordinate real general\n{huge} 5 {huge}\n1 1 1\n").into_bytes(),
        b"%%MatrixMarket matrix coordinate real general\n4000000000 5 1\n1 1 1\n".to_vec(),
        b"%%MatrixMarket matrix coordinate real general\n5 2000000000 1\n1 1 1\n".to_vec(),
        format!("%%MatrixMarket matrix array real general\n{huge} {huge}\n1\n").into_bytes(),
        format!("%%MatrixMarket matrix array real symmetric\n{huge} {huge}\n1\n").into_bytes(),
        format!("{huge}\n5\n1\n1 1 1\n").into_bytes(),
        format!("{huge} 5 1\n1 1\n").into_bytes(),
        format!("{huge} 5\n1 2 3 4 5\n").into_bytes(),
        b"1 2147483646:1\n".to_vec(),
        b"%%MatrixMarket matrix coordinate real general\n3 400000000 3\n1 1 1\n2 2 1\n3 3 1\n".to_vec(),
        npy(&format!("{huge}, 5"), "False"),
        npy(&format!("{huge}, {huge}"), "False"),
        npy(&format!("{huge}, 0"), "True"),
        npy(&format!("0, {huge}"), "True"),
        envi.as_bytes().to_vec(),
    ];
    for bytes in claims {
        let _ = from_bytes(&bytes, &Options::default());
        let shown = String::from_utf8_lossy(&bytes).into_owned();
        assert!(LARGEST.swap(0, Ordering::Relaxed) < LIMIT, "{shown}");
    }
}

#[test]
fn every_single_byte_of_a_matlab_file_may_be_wrong() {
    let _alone = alone();
    for name in ["mixture.mat", "mixture_compressed.mat"] {
        let bytes = kept(name);
        for at in 128..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0xff;
            let _ = from_bytes(&damaged, &Options::default());
            let _ = from_bytes(&bytes[..at], &Options::default());
        }
    }
}

/// Bytes that steer a target, so many times.
fn driven(target: fn(&[u8]) -> orthant::Result<()>, times: u32) {
    let bytes = prop::collection::vec(any::<u8>(), 4..40);
    runner(times).run(&bytes, |bytes| answered(|| target(&bytes))).unwrap();
}

#[test]
fn damaged_lists_give_a_list_or_an_error() {
    let _alone = alone();
    for target in [targets::labels, targets::vocabulary, targets::weights] {
        driven(target, 300);
    }
}

#[test]
fn damaged_block_folders_give_points_or_an_error() {
    let _alone = alone();
    driven(targets::blocks, 600);
}

#[test]
fn damaged_checkpoints_go_on_or_are_refused() {
    let _alone = alone();
    let tried = std::cell::Cell::new((0, 0));
    runner(200)
        .run(&prop::collection::vec(any::<u8>(), 4..30), |bytes| {
            let (all, sound) = tried.get();
            let read = targets::edited_checkpoint(&bytes).is_some();
            tried.set((all + 1, sound + usize::from(read)));
            LARGEST.store(0, Ordering::Relaxed);
            answered(|| targets::checkpoint(&bytes))
        })
        .unwrap();
    let (all, sound) = tried.get();
    assert!(sound * 10 > all, "only {sound} of {all} checkpoints could be read at all");
}

/// cargo-fuzz has a program for every target, which is nothing but the call of it.
#[test]
fn every_target_has_its_program_for_cargo_fuzz() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    // A package has no folder with a manifest of its own.
    let Ok(manifest) = std::fs::read_to_string(fuzz.join("Cargo.toml")) else { return };
    let program = |name: &str, call: &str| {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name} is not in fuzz/Cargo.toml");
        let text = std::fs::read_to_string(fuzz.join(format!("fuzz_targets/{name}.rs"))).unwrap();
        assert!(text.contains(call), "{name} does not call {call}");
    };
    for (name, _) in targets::TARGETS {
        program(name, &format!("targets::{name}(bytes)"));
    }
    for format in FORMATS.iter().map(|format| format.name).filter(|name| !ALWAYS_REFUSED.contains(name)) {
        let name = if format == "10x" { "tenx".into() } else { format.replace('-', "_") };
        program(&name, &format!("file(Some(\"{format}\"), bytes)"));
    }
}
