//! Real small files, lists and checkpoints, damaged at random: every reader answers with what was asked for or an error,
//! without a panic and without asking for memory that the file does not justify. `ORTHANT_FUZZ=N` tries N times as many.
#![cfg(feature = "read")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use orthant::algorithms::{METHODS, Polish, Values};
use orthant::bytes::Bytes;
use orthant::checkpoint::Checkpoint;
use orthant::matrix::{Dense, open};
use orthant::pipeline::{Job, resume};
use orthant::read::{FORMATS, Loaded, Options, from_bytes, lines, list, numbers, write};
use orthant::run::{Event, Go, Observer};
use proptest::prelude::*;

/// The largest single request since it was last looked at.
static LARGEST: AtomicUsize = AtomicUsize::new(0);
/// No file here has a thousandth of it.
const LIMIT: usize = 64 << 20;
/// Longer than anything here takes on a busy machine: what takes longer hangs.
const HANGS: Duration = Duration::from_secs(60);

/// So many of each kind; a search that learns from what it finds is what crates/orthant/fuzz is for.
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

#[derive(Debug, Clone)]
enum Damage {
    Set(prop::sample::Index, u8),
    Flip(prop::sample::Index, u8),
    Truncate(prop::sample::Index),
    Remove(prop::sample::Index, usize),
    Insert(prop::sample::Index, &'static [u8]),
    Repeat(prop::sample::Index, usize),
    Splice(prop::sample::Index, prop::sample::Index),
}

/// Bytes that have broken readers before.
const TRICKY: [&[u8]; 20] = [
    b"999999999999999999",
    b"18446744073709551616",
    b"-1",
    b"0",
    b"4294967296",
    b"nan",
    b"-inf",
    b"1e999",
    b"\n",
    b"\n\n",
    b"\r",
    b"\t",
    b"\0",
    b"\"",
    b"#",
    b":",
    b"%",
    b"\xff\xff\xff\xff",
    b"\x00\x00\x00\x80",
    b" 1 1 1\n",
];

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        (at(), 0..8u8).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        at().prop_map(Damage::Truncate),
        (at(), 1..20usize).prop_map(|(at, count)| Damage::Remove(at, count)),
        (at(), 0..TRICKY.len()).prop_map(|(at, which)| Damage::Insert(at, TRICKY[which])),
        (at(), 1..40usize).prop_map(|(at, count)| Damage::Repeat(at, count)),
        (at(), at()).prop_map(|(from, to)| Damage::Splice(from, to)),
    ]
}

fn apply(bytes: &mut Vec<u8>, damage: &[Damage]) {
    for damage in damage {
        if bytes.is_empty() {
            return;
        }
        let length = bytes.len();
        match damage {
            Damage::Set(at, byte) => bytes[at.index(length)] = *byte,
            Damage::Flip(at, bit) => bytes[at.index(length)] ^= 1 << bit,
            Damage::Truncate(at) => bytes.truncate(at.index(length)),
            Damage::Remove(at, count) => {
                let at = at.index(length);
                bytes.drain(at..(at + count).min(length));
            }
            Damage::Insert(at, new) => {
                let at = at.index(length);
                bytes.splice(at..at, new.iter().copied());
            }
            Damage::Repeat(at, count) => {
                let at = at.index(length);
                let piece = bytes[at..(at + count).min(length)].to_vec();
                bytes.splice(at..at, piece);
            }
            Damage::Splice(from, to) => {
                let piece = bytes[from.index(length)..].to_vec();
                bytes.truncate(to.index(length));
                bytes.extend(piece);
            }
        }
    }
}

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
        // Known, and always refused: the second is a folder.
        "parquet" => text(&["PAR1 PAR1"]),
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
    let refused =
        ["parquet", "blocks"].contains(&format) || (format == "hdf5" && cfg!(not(feature = "hdf5")));
    assert!(sound || refused, "{format}: no file is sound");
    let cases = (0..files.len(), prop::collection::vec(damage(), 1..4), any::<bool>());
    runner(400)
        .run(&cases, |(which, damage, recognised)| {
            let mut bytes = files[which].clone();
            apply(&mut bytes, &damage);
            let options = if recognised { Options::default() } else { named.clone() };
            answered(|| from_bytes(&bytes, &options).map(drop))
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

#[test]
fn damaged_lists_give_a_list_or_an_error() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list.txt");
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }";
    let array = [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), &[1; 24]]
        .concat();
    let sound: [&[u8]; 6] = [
        b"good\nbad\ngood\n",
        b"1.5\n2e0\n.25\n",
        b"title\n\"one, two\"\n\"a \"\"b\"\"\"\nthree\n",
        b"id,kind\n1,good\n2,bad\n3,good\n",
        "Wörter\nstraße\n\u{65e5}\u{672c}\n".as_bytes(),
        &array,
    ];
    let cases = (0..sound.len(), prop::collection::vec(damage(), 0..4), any::<bool>());
    runner(600)
        .run(&cases, |(which, damage, named)| {
            let mut bytes = sound[which].to_vec();
            apply(&mut bytes, &damage);
            std::fs::write(&path, &bytes).unwrap();
            answered(|| lines(&path).map(drop))?;
            answered(|| numbers(&path).map(drop))?;
            answered(|| list(&path, named.then_some("kind"), (3, "points"), None).map(drop))
        })
        .unwrap();
}

/// Keeps every checkpoint that it is offered, and stops after some.
struct Keeping(Vec<Vec<u8>>);

impl Observer for Keeping {
    fn iteration(&mut self, _event: &Event) -> Go {
        if self.0.len() < 40 { Go::On } else { Go::Stop }
    }
    fn wants_to_save(&mut self) -> bool {
        true
    }
    fn save(&mut self, checkpoint: &[u8]) -> orthant::Result<()> {
        self.0.push(checkpoint.to_vec());
        Ok(())
    }
}

/// What a field of a checkpoint may be changed to: lengths, counts, and numbers that are none.
const WORDS: [u64; 12] = [
    0,
    1,
    2,
    7,
    1 << 20,
    1 << 40,
    u64::MAX,
    i64::MAX as u64,
    0x7ff8_0000_0000_0000,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x0000_0000_0000_0001,
];

/// Behind the magic word and before the checksum, which a hostile hand would write anew: whatever fields say, the work goes
/// on to a result or is refused.
#[test]
fn damaged_checkpoints_go_on_or_are_refused() {
    let _alone = alone();
    let (points, features) = (12, 5);
    let x: Vec<f64> = (0..points * features).map(|i| ((i * 7919) % 23) as f64 + 0.5).collect();
    let data = open(Dense::new(points, features, x).unwrap(), None).unwrap();
    let few = |name: &str| {
        let job = Job { runs: 2, seed: 4, ..Job::new(name, 3).unwrap() };
        let limits = job.method.parameters.iter().any(|p| p.name == "max-iterations");
        let values = if limits { Values::new().set("max-iterations", 12.0) } else { Values::new() };
        let values = if name.starts_with("best") { values.set("effort", 0.0) } else { values };
        Job { values, ..job }
    };
    let mut jobs: Vec<Job> = METHODS.iter().map(|method| few(method.name)).collect();
    let polish = ["em", "moves", "swaps"].map(|name| Polish::named(name).unwrap()).to_vec();
    jobs.push(Job { polish, ..few("em-onmf") });
    let mut bodies: Vec<(usize, Vec<u8>)> = vec![];
    for (at, job) in jobs.iter().enumerate() {
        let mut kept = Keeping(vec![]);
        orthant::cluster(&*data, job, &mut kept).unwrap();
        assert!(!kept.0.is_empty(), "{}", job.method.name);
        let body = |bytes: &Vec<u8>| bytes[8..bytes.len() - 8].to_vec();
        bodies.extend(kept.0.iter().map(|bytes| (at, body(bytes))));
    }
    let word = (any::<prop::sample::Index>(), 0..WORDS.len());
    let change = prop_oneof![3 => word.prop_map(Ok), 1 => damage().prop_map(Err)];
    let cases = (any::<prop::sample::Index>(), prop::collection::vec(change, 0..3));
    let tried = std::cell::Cell::new((0, 0));
    runner(300)
        .run(&cases, |(which, changes)| {
            let (at, body) = &bodies[which.index(bodies.len())];
            let mut body = body.clone();
            for change in changes {
                match change {
                    Ok((place, word)) => {
                        // Fields are not aligned: lengths of texts come before them.
                        let place = place.index(body.len().saturating_sub(8).max(1));
                        let end = (place + 8).min(body.len());
                        body[place..end].copy_from_slice(&WORDS[word].to_le_bytes()[..end - place]);
                    }
                    Err(damage) => apply(&mut body, &[damage]),
                }
            }
            let (all, sound) = tried.get();
            let Some(mut saved) = <Checkpoint as Bytes>::from_bytes(&body) else {
                tried.set((all + 1, sound));
                return Ok(());
            };
            tried.set((all + 1, sound + 1));
            saved.of = jobs[*at].fingerprint(&*data);
            answered(|| {
                let outcome = resume(&*data, &jobs[*at], saved, &mut ())?;
                assert!(outcome.solution.labels.iter().all(|label| (-1..3).contains(label)));
                assert!(outcome.solution.u.data.iter().chain(&outcome.solution.v).all(|x| x.is_finite()));
                Ok(())
            })
        })
        .unwrap();
    let (all, sound) = tried.get();
    assert!(sound * 10 > all, "only {sound} of {all} checkpoints could be read at all");
}
