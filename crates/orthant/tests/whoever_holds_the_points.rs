//! The same bits whoever holds the points: memory, a file on disk, shards that are reached by bytes alone, any number of
//! threads; and a source that fails says where, and nothing is lost.

mod common;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::Mutex;

use common::*;
use orthant::algorithms::{METHODS, Values};
use orthant::matrix::{AnyPoints, Cut, Data, Dense, Peer, Shape, Shard, Source, open, shards, stream};
use orthant::pipeline::{Job, Outcome, cluster};
use orthant::{Error, Result};

/// Points of some kind in memory, with weights.
fn points(kind: &str, x: &[f64], features: usize) -> AnyPoints<'static> {
    let count = x.len() / features;
    let single = || x.iter().map(|&v| v as f32).collect::<Vec<f32>>();
    match kind {
        "dense f64" => Dense::new(count, features, x.to_vec()).unwrap().into(),
        "dense f32" => Dense::new(count, features, single()).unwrap().into(),
        "sparse f64" => sparse::<f64, i32>(x, features).into(),
        "sparse f32" => sparse::<f32, i64>(&single(), features).into(),
        _ => panic!("no kind {kind}"),
    }
}

/// A source with weights.
struct Weighted<'a> {
    points: &'a AnyPoints<'static>,
    weights: Option<Vec<f64>>,
}

impl Source for Weighted<'_> {
    fn shape(&self) -> Shape {
        self.points.shape()
    }
    fn points(&self, rows: Range<usize>) -> Result<AnyPoints<'_>> {
        Ok(self.points.range(rows))
    }
    fn weights(&self) -> Option<Vec<f64>> {
        self.weights.clone()
    }
}

/// Dense float64 rows in a file, read anew in every pass.
struct OnDisk {
    file: Mutex<File>,
    points: usize,
    features: usize,
    weights: Option<Vec<f64>>,
}

impl Source for OnDisk {
    fn shape(&self) -> Shape {
        let nonzeros = self.points * self.features;
        let (points, features) = (self.points, self.features);
        Shape { points, features, nonzeros, format: orthant::matrix::Format::F64, sparse: false }
    }
    fn points(&self, rows: Range<usize>) -> Result<AnyPoints<'_>> {
        let failed = |source| Error::Io { path: "rows".into(), source };
        let mut bytes = vec![0; rows.len() * self.features * 8];
        let mut file = self.file.lock().unwrap();
        file.seek(SeekFrom::Start((rows.start * self.features * 8) as u64)).map_err(failed)?;
        file.read_exact(&mut bytes).map_err(failed)?;
        let numbers =
            bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect::<Vec<_>>();
        Ok(Dense::new(rows.len(), self.features, numbers)?.into())
    }
    fn weights(&self) -> Option<Vec<f64>> {
        self.weights.clone()
    }
}

/// The way to a shard in this process: bytes there, bytes back.
struct Here<'a>(Shard<Weighted<'a>>);

impl Peer for Here<'_> {
    fn call(&self, call: &[u8]) -> Result<Vec<u8>> {
        self.0.answer(call)
    }
}

/// Shards that end at these shares of the blocks.
fn in_shards<'a>(
    points: &'a AnyPoints<'static>,
    weights: &Option<Vec<f64>>,
    shares: &[f64],
) -> Box<dyn Data + 'a> {
    let blocks = Cut::of(&points.shape()).blocks();
    let mut ends: Vec<usize> = shares.iter().map(|share| (share * blocks as f64) as usize).collect();
    ends.push(blocks);
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let peers = starts.zip(&ends).map(|(from, &to)| {
        let source = Weighted { points, weights: weights.clone() };
        Box::new(Here(Shard::new(source, from..to).unwrap())) as Box<dyn Peer + 'a>
    });
    shards(peers.collect(), &ends, points.shape(), weights.clone()).unwrap()
}

fn job(method: &'static orthant::algorithms::Method) -> Job {
    let most = if method.name == "best" { 120.0 } else { 25.0 };
    Job { values: Values::new().set("max-iterations", most), runs: 3, ..Job::new(method.name, 4).unwrap() }
}

fn assert_same(a: &Outcome, b: &Outcome, what: &str) {
    assert_eq!(a.solution.labels, b.solution.labels, "{what}");
    assert_eq!(a.solution.u, b.solution.u, "{what}");
    assert_eq!(a.solution.v, b.solution.v, "{what}");
    assert_eq!(a.certificate, b.certificate, "{what}");
    assert_eq!(a.runs.len(), b.runs.len(), "{what}");
    for (a, b) in a.runs.iter().zip(&b.runs) {
        assert_eq!(a.objective.to_bits(), b.objective.to_bits(), "{what}");
        assert_eq!(a.iterations(), b.iterations(), "{what}");
    }
}

#[test]
fn all_methods_on_all_kinds_give_the_same_bits_whoever_holds_the_points() {
    let (count, features) = (700, 9);
    let x = clustered(count, features, 4, 71);
    let weights: Vec<f64> = (0..count).map(|j| [1.0, 0.0, 2.5, 0.3][j % 4]).collect();
    for kind in ["dense f64", "dense f32", "sparse f64", "sparse f32"] {
        let points = points(kind, &x, features);
        let cut = Cut::of(&points.shape());
        assert!(cut.blocks() >= 5, "{kind}: {} blocks are too few to tell", cut.blocks());
        for weights in [None, Some(weights.clone())] {
            for method in METHODS {
                let what = format!("{} on {kind}, weights: {}", method.name, weights.is_some());
                let job = job(method);
                let whole = run(&*open(points.clone(), weights.clone()).unwrap(), &job);
                let source = Weighted { points: &points, weights: weights.clone() };
                assert_same(&whole, &run(&*stream(source).unwrap(), &job), &format!("{what}, streamed"));
                for shares in [&[][..], &[0.3], &[0.1, 0.15, 0.5, 0.9]] {
                    let data = in_shards(&points, &weights, shares);
                    assert_same(&whole, &run(&*data, &job), &format!("{what}, {} shards", shares.len() + 1));
                }
            }
        }
    }
}

#[test]
fn blocks_from_disk_on_any_number_of_threads_give_the_same_bits() {
    let (count, features) = (3000, 40);
    let x = clustered(count, features, 4, 72);
    let weights: Vec<f64> = (0..count).map(|j| 0.5 + (j % 3) as f64).collect();
    let mut file = tempfile::tempfile().unwrap();
    x.iter().for_each(|v| file.write_all(&v.to_le_bytes()).unwrap());
    let file = Mutex::new(file);
    let source = OnDisk { file, points: count, features, weights: Some(weights.clone()) };
    let data = stream(source).unwrap();
    for method in METHODS {
        let job = job(method);
        let whole = run(&*open_kind("dense f64", &x, features, Some(weights.clone())), &job);
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let outcome = pool.install(|| run(&*data, &job));
            assert_same(&whole, &outcome, &format!("{} from disk on {threads} threads", method.name));
        }
    }
}

/// Fails on one block from a certain call on.
struct Failing<'a> {
    points: &'a AnyPoints<'static>,
    calls: Mutex<usize>,
    after: usize,
}

impl Source for Failing<'_> {
    fn shape(&self) -> Shape {
        self.points.shape()
    }
    fn points(&self, rows: Range<usize>) -> Result<AnyPoints<'_>> {
        let cut = Cut::of(&self.points.shape());
        let mut calls = self.calls.lock().unwrap();
        *calls += 1;
        if *calls > self.after && rows == cut.points_of_blocks(&(3..4)) {
            return Err(Error::Data("block 3 of the disk is gone".into()));
        }
        Ok(self.points.range(rows))
    }
}

#[test]
fn a_source_that_fails_on_a_block_says_so_wherever_it_happens() {
    let x = clustered(700, 9, 4, 73);
    let points = points("dense f64", &x, 9);
    let blocks = Cut::of(&points.shape()).blocks();
    for after in [0, 2 * blocks, 20 * blocks] {
        let source = Failing { points: &points, calls: Mutex::new(0), after };
        let error = stream(source).and_then(|data| {
            for method in METHODS {
                cluster(&*data, &job(method), &mut ())?;
            }
            Ok(())
        });
        let error = error.unwrap_err().to_string();
        assert!(error.contains("block 3 of the disk is gone"), "after {after}: {error}");
    }
}

#[test]
fn a_source_that_gives_other_points_than_it_promised_is_refused() {
    struct Short(AnyPoints<'static>);
    impl Source for Short {
        fn shape(&self) -> Shape {
            self.0.shape()
        }
        fn points(&self, rows: Range<usize>) -> Result<AnyPoints<'_>> {
            Ok(self.0.range(rows.start..rows.end.min(500)))
        }
    }
    let x = clustered(700, 9, 4, 74);
    let error = stream(Short(points("dense f64", &x, 9))).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("the source gave"), "{error}");
}
