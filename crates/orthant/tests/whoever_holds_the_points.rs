//! The same bits whoever holds the points: memory, a file on disk, shards that are reached by bytes alone, any number of
//! threads; and a source that fails says where, and nothing is lost.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::common::*;
use orthant::algorithms::{METHODS, Values};
use orthant::matrix::{
    AnyPoints, Budget, Cut, Data, Dense, Handle, Holder, Load, Sending, Shape, Source, Transport, open,
    shards, stream, stream_within,
};
use orthant::pipeline::{Job, Outcome, cluster};
use orthant::read::blocks::{Blocks, With, Writer};
use orthant::run::Race;
use orthant::start::Start;
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

/// Workers in this process, reached by bytes alone, who come and go.
struct Workshop<'a> {
    points: &'a AnyPoints<'static>,
    /// Bytes of saved arrays that the driver keeps.
    kept_here: usize,
    state: Mutex<Shop>,
}

#[derive(Default)]
struct Shop {
    workers: BTreeMap<String, Arc<Holder>>,
    kept: BTreeMap<Handle, Kept>,
    next: Handle,
    /// Before which orders somebody goes, or comes.
    events: Vec<(usize, Event)>,
    orders: usize,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// The worker with this number, of those who are there, is gone.
    Leave(usize),
    /// It is gone when it has just answered.
    LeaveAfter(usize),
    /// It has lost everything, and is there.
    Restart(usize),
    Join,
}

/// What a worker keeps for the driver.
enum Kept {
    Shard(String, Vec<u8>),
    Answer { worker: String, order: Vec<u8>, inputs: Vec<Vec<u8>>, answer: Vec<u8> },
}

/// All points: a worker asks for those of its shards.
struct All(AnyPoints<'static>, Range<usize>);

impl Source for All {
    fn shape(&self) -> Shape {
        self.0.shape()
    }
    fn points(&self, rows: Range<usize>) -> Result<AnyPoints<'_>> {
        assert!(self.1.start <= rows.start && rows.end <= self.1.end, "{rows:?} of {:?}", self.1);
        Ok(self.0.range(rows))
    }
}

impl Shop {
    fn named(&self, number: usize) -> Option<String> {
        self.workers.keys().nth(number % self.workers.len().max(1)).cloned()
    }

    /// Whatever the worker kept is gone; what it had answered is asked of somebody who knows nothing of it.
    fn leave(&mut self, gone: &str) {
        self.workers.remove(gone);
        for kept in self.kept.values_mut() {
            if let Kept::Answer { worker, order, inputs, answer } = kept
                && worker == gone
            {
                let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
                *answer = Holder::default().answer(order, &inputs);
            }
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Join => {
                let name = format!("later {}", self.next);
                self.workers.insert(name, Arc::default());
            }
            Event::Restart(number) => {
                let name = self.named(number).unwrap();
                self.leave(&name);
                self.workers.insert(name, Arc::default());
            }
            Event::Leave(number) | Event::LeaveAfter(number) if self.workers.len() > 1 => {
                let name = self.named(number).unwrap();
                self.leave(&name);
            }
            Event::Leave(_) | Event::LeaveAfter(_) => {}
        }
    }

    fn keep(&mut self, kept: Kept) -> Handle {
        self.next += 1;
        self.kept.insert(self.next, kept);
        self.next
    }

    fn bytes(&self, handle: Handle) -> Vec<u8> {
        match &self.kept[&handle] {
            Kept::Answer { answer, .. } => answer.clone(),
            Kept::Shard(_, spec) => Holder::not_loaded(spec),
        }
    }
}

impl Transport for Workshop<'_> {
    fn workers(&self) -> Result<Vec<String>> {
        Ok(self.state.lock().unwrap().workers.keys().cloned().collect())
    }
    fn load(&self, loads: Vec<Load>) -> Result<Vec<Handle>> {
        let mut shop = self.state.lock().unwrap();
        let mut handles = vec![];
        for Load { worker, points, spec } in loads {
            if let Some(holder) = shop.workers.get(&worker) {
                holder.load(&spec, Box::new(All(self.points.clone(), points)))?;
            }
            handles.push(shop.keep(Kept::Shard(worker, spec)));
        }
        Ok(handles)
    }
    fn call(&self, orders: Vec<Sending>) -> Result<Vec<Handle>> {
        let mut shop = self.state.lock().unwrap();
        let mut handles = vec![];
        for Sending { worker, order, inputs, .. } in orders {
            let now = shop.orders;
            shop.orders += 1;
            let events: Vec<Event> =
                shop.events.iter().filter(|(at, _)| *at == now).map(|(_, e)| *e).collect();
            for event in &events {
                if !matches!(event, Event::LeaveAfter(_)) {
                    shop.happen(*event);
                }
            }
            let inputs: Vec<Vec<u8>> = inputs.iter().map(|&handle| shop.bytes(handle)).collect();
            let holder = shop.workers.get(&worker).cloned().unwrap_or_default();
            let slices: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
            let answer = holder.answer(&order, &slices);
            // An order may be carried twice.
            if now % 7 == 3 {
                assert_eq!(holder.answer(&order, &slices), answer);
            }
            handles.push(shop.keep(Kept::Answer { worker, order, inputs, answer }));
            for event in events {
                if matches!(event, Event::LeaveAfter(_)) {
                    shop.happen(event);
                }
            }
        }
        Ok(handles)
    }
    fn fetch(&self, handles: &[Handle]) -> Result<Vec<Vec<u8>>> {
        let shop = self.state.lock().unwrap();
        Ok(handles.iter().map(|&handle| shop.bytes(handle)).collect())
    }
    fn release(&self, handles: &[Handle]) {
        let mut shop = self.state.lock().unwrap();
        for handle in handles {
            if let Some(Kept::Shard(worker, spec)) = shop.kept.remove(handle)
                && let Some(holder) = shop.workers.get(&worker)
            {
                holder.unload(&spec);
            }
        }
    }
    fn kept_here(&self) -> usize {
        self.kept_here
    }
}

impl Drop for Workshop<'_> {
    fn drop(&mut self) {
        let shop = self.state.get_mut().unwrap();
        assert!(shop.kept.is_empty(), "{} answers or shards were left behind", shop.kept.len());
        assert!(shop.workers.values().all(|holder| holder.shards() == 0), "shards were left behind");
    }
}

fn on_workers<'a>(
    points: &'a AnyPoints<'static>,
    weights: &Option<Vec<f64>>,
    workers: usize,
    kept_here: usize,
    events: Vec<(usize, Event)>,
) -> Result<Box<dyn Data + 'a>> {
    let workers = (0..workers).map(|number| (format!("worker {number}"), Arc::default())).collect();
    let state = Mutex::new(Shop { workers, events, ..Shop::default() });
    shards(Box::new(Workshop { points, kept_here, state }), points.shape(), weights.clone(), usize::MAX)
}

fn job(method: &'static orthant::algorithms::Method) -> Job {
    let most = if method.name.starts_with("best") { 60.0 } else { 25.0 };
    // Five runs of a method that takes them together go over rough iterations where points are sparse.
    let runs = if method.batched { 5 } else { 3 };
    Job { values: Values::new().set("max-iterations", most), runs, ..Job::new(method.name, 4).unwrap() }
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
    let mut turn = InTurn::default();
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
                for &workers in turn.next(&[1, 2, 5, 11], 2) {
                    let data = on_workers(&points, &weights, workers, 1 << 20, vec![]).unwrap();
                    assert_same(&whole, &run(&*data, &job), &format!("{what}, {workers} workers"));
                }
            }
        }
    }
}

#[test]
fn points_with_features_of_their_own_give_searches_and_races_the_same_bits_whoever_holds_them() {
    let (count, core, own) = (700, 9, 3);
    let x = clustered(count, core, 4, 71);
    let features = core + own * count;
    let mut wide = vec![0.0; count * features];
    for (j, row) in wide.chunks_exact_mut(features).enumerate() {
        row[..core].copy_from_slice(&x[j * core..(j + 1) * core]);
        row[core + own * j..][..j % (own + 1)].fill(0.25 + (j % 7) as f64);
    }
    for kind in ["sparse f64", "sparse f32"] {
        let points = points(kind, &wide, features);
        let searches = METHODS.iter().filter(|method| method.name.starts_with("best")).map(job);
        let races = ["em-onmf", "k-means", "spherical-k-means"].map(|name| {
            let start = Some(Start::Random);
            Job { runs: 12, race: Some(Race::default()), start, ..Job::new(name, 4).unwrap() }
        });
        for job in searches.chain(races) {
            let what = format!("{} on {kind} with features of their own", job.method.name);
            let whole = run(&*open(points.clone(), None).unwrap(), &job);
            let source = Weighted { points: &points, weights: None };
            assert_same(&whole, &run(&*stream(source).unwrap(), &job), &format!("{what}, streamed"));
            let data = on_workers(&points, &None, 3, 1 << 20, vec![]).unwrap();
            assert_same(&whole, &run(&*data, &job), &format!("{what}, 3 workers"));
        }
    }
}

#[test]
fn workers_that_leave_restart_and_join_at_any_moment_change_no_bit() {
    let x = clustered(700, 9, 4, 71);
    for (kind, kept_here) in [("dense f64", usize::MAX), ("sparse f32", 0)] {
        let points = points(kind, &x, 9);
        for name in ["em-onmf", "onp-mf", "best", "spherical-k-means", "chnmf"] {
            let job = job(METHODS.iter().find(|method| method.name == name).unwrap());
            let whole = run(&*open(points.clone(), None).unwrap(), &job);
            for trial in 0..how_many(6, 40) {
                let mut random = Numbers(trial + 1);
                let mut draw = |below: usize| (random.next() * below as f64) as usize;
                let mut events = vec![];
                // Without the driver's copy, two that go at once may take everything with them: one at a time.
                let mut at = draw(10);
                while at < 400 {
                    let event = [
                        Event::Leave(draw(9)),
                        Event::LeaveAfter(draw(9)),
                        Event::Join,
                        Event::Restart(draw(9)),
                    ];
                    events.push((at, event[draw(4)]));
                    at += 60 + draw(100);
                }
                let what = format!("{name} on {kind}, {events:?}");
                let outcome = on_workers(&points, &None, 3, kept_here, events).map(|data| run(&*data, &job));
                assert_same(&whole, &outcome.unwrap(), &what);
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

#[test]
fn arrays_that_do_not_fit_the_budget_lie_in_files_and_give_the_same_bits() {
    let (count, features) = (3000, 40);
    let x = clustered(count, features, 4, 78);
    let place = tempfile::tempdir().unwrap();
    for kind in ["dense f64", "sparse f32"] {
        let points = points(kind, &x, features);
        let held = open(points.clone(), None).unwrap();
        // So small that nothing fits; nothing is left in the folder.
        let budget = Budget { bytes: 1, folder: Some(place.path().into()) };
        let data = stream_within(Weighted { points: &points, weights: None }, budget).unwrap();
        for method in METHODS.iter().filter(|method| !method.name.starts_with("best")) {
            let what = format!("{} on {kind}, arrays in files", method.name);
            assert_same(&run(&*held, &job(method)), &run(&*data, &job(method)), &what);
        }
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }
}

/// Points in memory that count how many of them were asked for.
struct Counted<'a> {
    points: &'a AnyPoints<'static>,
    read: AtomicUsize,
}

impl Source for &Counted<'_> {
    fn shape(&self) -> Shape {
        self.points.shape()
    }
    fn points(&self, rows: Range<usize>) -> Result<AnyPoints<'_>> {
        self.read.fetch_add(rows.len(), Ordering::Relaxed);
        Ok(self.points.range(rows))
    }
}

#[test]
fn starts_of_large_data_are_looked_for_in_a_sample_and_give_the_same_bits() {
    // More than 2²⁵ entries, and one that is larger than what the sample has: its scale is another one.
    let (count, features, k) = (530_000, 64, 4);
    let mut x = vec![0f32; count * features];
    for (j, row) in x.chunks_exact_mut(features).enumerate() {
        for (f, entry) in row.iter_mut().enumerate() {
            let noise = ((j * 64 + f).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32 / 16e6;
            *entry = if f / 16 == j % k { 1.0 } else { 0.0 } + 0.3 * noise;
        }
    }
    let outlier = 77 * k;
    x[outlier * features + 3] = 12.0;
    let points: AnyPoints<'static> = Dense::new(count, features, x).unwrap().into();
    let held = open(points.clone(), None).unwrap();
    let source = Counted { points: &points, read: AtomicUsize::new(0) };
    let streamed = stream(&source).unwrap();
    let apart = on_workers(&points, &None, 2, usize::MAX, vec![]).unwrap();
    for method in ["em-onmf", "k-means"] {
        let values = Values::new().set("max-iterations", 1.0);
        let job = Job { start: Some(Start::Residual), runs: 3, values, ..Job::new(method, k).unwrap() };
        let whole = run(&*held, &job);
        let labels = &whole.solution.labels;
        let wrong = (0..count).filter(|&j| j != outlier && labels[j] != labels[j % k]).count();
        assert_eq!(wrong, 0, "{method}: a draw in every cluster, at the scale of the data");
        source.read.store(0, Ordering::Relaxed);
        assert_same(&whole, &run(&*streamed, &job), &format!("{method} from a source"));
        // Two passes for each centroid of each run would be twice as many.
        let passes = source.read.load(Ordering::Relaxed) / count;
        assert!(passes < k * 3, "{method} went {passes} times over the data");
        assert_same(&whole, &run(&*apart, &job), &format!("{method} on two workers"));
    }
}

/// Writes points into a block folder, a few at a time, in blocks of about 64 kB.
fn into_blocks(points: &AnyPoints<'static>, weights: &Option<Vec<f64>>, folder: &Path) {
    let shape = points.shape();
    let mut writer = Writer::within(folder, shape.sparse, shape.format, "", false, 1 << 20).unwrap();
    for from in (0..shape.points).step_by(97) {
        writer.push(&points.range(from..(from + 97).min(shape.points)), None, None).unwrap();
    }
    writer.finish(None, &With { weights: weights.clone(), ..With::default() }).unwrap();
}

#[test]
fn block_folders_give_the_same_bits_as_memory() {
    let (count, features) = (3000, 40);
    let x = clustered(count, features, 4, 75);
    let weights: Vec<f64> = (0..count).map(|j| 0.5 + (j % 3) as f64).collect();
    for kind in ["dense f64", "dense f32", "sparse f64", "sparse f32"] {
        let points = points(kind, &x, features);
        for weights in [None, Some(weights.clone())] {
            let place = tempfile::tempdir().unwrap();
            let folder = place.path().join("x.blocks");
            into_blocks(&points, &weights, &folder);
            let files = std::fs::read_dir(place.path()).unwrap().count();
            assert_eq!(files, 1, "nothing else is left");
            let blocks = Blocks::open(&folder).unwrap();
            assert_eq!(blocks.shape(), points.shape(), "{kind}");
            let data = stream(&blocks).unwrap();
            let held = open(points.clone(), weights.clone()).unwrap();
            assert_eq!(data.facts(), held.facts(), "{kind}");
            for method in ["em-onmf", "onp-mf"] {
                let job = job(orthant::algorithms::method(method).unwrap());
                assert_same(&run(&*held, &job), &run(&*data, &job), &format!("{method} on {kind}"));
            }
        }
    }
}

#[test]
fn a_block_folder_that_was_damaged_or_changes_is_refused_in_a_line() {
    let x = clustered(3000, 40, 4, 76);
    let points = points("dense f64", &x, 40);
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("x.blocks");
    into_blocks(&points, &None, &folder);
    let second = folder.join("000001.data.npy");
    let bytes = std::fs::read(&second).unwrap();
    let refusal = || match Blocks::open(&folder).and_then(|blocks| stream(&blocks).map(|_| ())) {
        Ok(()) => String::new(),
        Err(error) => error.to_string(),
    };
    assert_eq!(refusal(), "");
    let mut other = bytes.clone();
    other[1000] ^= 1;
    std::fs::write(&second, &other).unwrap();
    assert!(refusal().contains("checksum"), "{}", refusal());
    std::fs::write(&second, &bytes[..bytes.len() - 8]).unwrap();
    assert!(refusal().contains("changed or cut"), "{}", refusal());
    std::fs::remove_file(&second).unwrap();
    assert!(refusal().contains("000001.data.npy"), "{}", refusal());
    std::fs::write(&second, &bytes).unwrap();
    // After it was opened, between two passes.
    let blocks = Blocks::open(&folder).unwrap();
    let data = stream(&blocks).unwrap();
    std::fs::File::options().write(true).open(&second).unwrap().set_len(200).unwrap();
    let method = orthant::algorithms::method("em-onmf").unwrap();
    let error = cluster(&*data, &job(method), &mut ()).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("000001.data.npy") && error.contains("changed or shrunk"), "{error}");
    let index = folder.join("blocks.json");
    let text = std::fs::read_to_string(&index).unwrap();
    std::fs::write(&second, &bytes).unwrap();
    std::fs::write(&index, text.replace("000001.data.npy", "../secret.npy")).unwrap();
    assert!(refusal().contains("not the name of a file in the folder"), "{}", refusal());
    // Nor do lists lie elsewhere.
    let outside = "\"names\": {\"name\": \"../names.txt\", \"bytes\": 2, \"crc32\": 0}, \"points\"";
    std::fs::write(place.path().join("names.txt"), "a\n").unwrap();
    std::fs::write(&index, text.replacen("\"points\"", outside, 1)).unwrap();
    assert!(refusal().contains("not the name of a file in the folder"), "{}", refusal());
}

#[test]
fn what_an_interrupted_run_has_written_of_a_block_folder_is_taken_over() {
    let x = clustered(3000, 40, 4, 77);
    let points = points("dense f64", &x, 40);
    let shape = points.shape();
    let place = tempfile::tempdir().unwrap();
    let (whole, again) = (place.path().join("whole.blocks"), place.path().join("again.blocks"));
    into_blocks(&points, &None, &whole);
    let begin = || Writer::within(&again, false, shape.format, "the same work", false, 1 << 20).unwrap();
    let mut writer = begin();
    writer.push(&points.range(0..1500), None, None).unwrap();
    let refusal = Writer::begin(&again, false, shape.format, "", false).map(|_| ()).unwrap_err().to_string();
    assert!(refusal.contains("another run is writing it"), "{refusal}");
    // As if it had been killed: nothing is put in order.
    let unfinished = again.join(".unfinished");
    let copy = place.path().join("copy");
    copy_folder(&unfinished, &copy);
    drop(writer);
    assert!(!again.exists(), "a run that fails leaves nothing");
    std::fs::create_dir(&again).unwrap();
    std::fs::rename(&copy, &unfinished).unwrap();
    let unread = Blocks::open(&again).map(|_| ()).unwrap_err().to_string();
    assert!(unread.contains("is not finished"), "{unread}");
    let mut writer = begin();
    let written = writer.written();
    assert!(written > 1000 && written <= 1500, "{written}");
    writer.push(&points.range(written..3000), None, None).unwrap();
    writer.finish(None, &With::default()).unwrap();
    let (a, b) = (Blocks::open(&whole).unwrap(), Blocks::open(&again).unwrap());
    assert_eq!(stream(&a).unwrap().facts().digest, stream(&b).unwrap().facts().digest);
    assert!(!unfinished.exists() && !again.join("journal").exists() && !again.join("lock").exists());
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match entry.path().is_dir() {
            true => copy_folder(&entry.path(), &to.join(entry.file_name())),
            false => drop(std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
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
        if *calls > self.after && rows.contains(&cut.points_of_blocks(&(3..4)).start) {
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
