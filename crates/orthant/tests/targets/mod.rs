//! What the library reads that others may have written, each as a function of bytes: `readers_mutated.rs` calls them with
//! random ones, `fuzz/` with those that cargo-fuzz learns. They give what was asked for or an error, and never panic.

pub mod hand;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;

use orthant::Result;
use orthant::algorithms::{METHODS, Polish, Values};
use orthant::bytes::Bytes;
use orthant::checkpoint::Checkpoint;
use orthant::evaluate::classes;
use orthant::image::{ImageShape, Scan};
use orthant::matrix::{AnyPoints, Csr, Data, Dense, open};
use orthant::pipeline::{Job, resume};
use orthant::read::blocks::{With, Writer};
use orthant::read::{Options, from_bytes, lines, list, numbers, open_in_place, read};
use orthant::run::{Event, Go, Observer};

use hand::Hand;

/// A target and its name.
pub type Target = (&'static str, fn(&[u8]) -> Result<()>);

/// Those whose input is edits of something sound. (Formats are targets too, with their files as input.)
pub const TARGETS: [Target; 5] = [
    ("blocks", blocks),
    ("checkpoint", checkpoint),
    ("labels", labels),
    ("vocabulary", vocabulary),
    ("weights", weights),
];

/// A file of a format, or of whatever it looks like.
pub fn file(format: Option<&str>, bytes: &[u8]) -> Result<()> {
    let options = Options { format: format.map(str::to_string), ..Options::default() };
    from_bytes(bytes, &options).map(drop)
}

/// Lists as people keep them: a line each, a column of a table, an array.
fn lists() -> [Vec<u8>; 7] {
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }";
    let length = (header.len() as u16).to_le_bytes();
    [
        b"good\nbad\ngood\n".to_vec(),
        b"1.5\n2e0\n.25\n".to_vec(),
        b"title\n\"one, two\"\n\"a \"\"b\"\"\"\nthree\n".to_vec(),
        b"id,kind\n1,good\n2,bad\n3,good\n".to_vec(),
        "W\u{f6}rter\nstra\u{df}e\n\u{65e5}\u{672c}\n".as_bytes().to_vec(),
        b"0\n-1\n1\n".to_vec(),
        [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), &[1; 24]].concat(),
    ]
}

/// An edited list in a file, which is where lists are read from.
fn written(hand: &mut Hand) -> PathBuf {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let path = FOLDER.get_or_init(|| tempfile::tempdir().unwrap()).path().join("list.txt");
    let mut bytes = hand.of(&lists()).clone();
    hand.edit(&mut bytes, 4);
    std::fs::write(&path, &bytes).unwrap();
    path
}

/// Classes of points: as many as there are points, in a column or alone.
pub fn labels(bytes: &[u8]) -> Result<()> {
    let mut hand = Hand(bytes);
    let column = (hand.byte() % 2 == 0).then_some("kind");
    let found = list(&written(&mut hand), column, (3, "points"), None)?;
    assert_eq!(found.len(), 3);
    let (numbers, names) = classes(&found);
    assert!(numbers.len() == 3 && numbers.iter().all(|number| *number < names.len()));
    Ok(())
}

/// Names of features or points, one a line.
pub fn vocabulary(bytes: &[u8]) -> Result<()> {
    lines(&written(&mut Hand(bytes))).map(drop)
}

/// Weights of points, one number a line.
pub fn weights(bytes: &[u8]) -> Result<()> {
    numbers(&written(&mut Hand(bytes))).map(drop)
}

/// A block folder with everything beside the numbers that one can have, its files by name.
fn block_folders() -> &'static [BTreeMap<String, Vec<u8>>; 2] {
    static SOUND: OnceLock<[BTreeMap<String, Vec<u8>>; 2]> = OnceLock::new();
    SOUND.get_or_init(|| {
        let dense = Dense::new(3, 4, (0..12).map(f64::from).collect::<Vec<_>>()).unwrap();
        let sparse = Csr::new(4, vec![0, 2, 2, 3], vec![0i32, 3, 1], vec![1.5f32, 2.0, 0.5]).unwrap();
        [dense.into(), sparse.into()].map(|points: AnyPoints| {
            let folder = tempfile::tempdir().unwrap();
            let (place, shape) = (folder.path().join("x.blocks"), points.shape());
            let mut writer = Writer::begin(&place, shape.sparse, shape.format, "", false).unwrap();
            let list = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
            let (truth, names) = (list(&["a", "b", "a"]), list(&["one", "two", "three"]));
            writer.push(&points, Some(&truth), Some(&names)).unwrap();
            let with = With {
                weights: Some(vec![1.0, 2.0, 1.0]),
                vocabulary: Some(list(&["p", "q", "r", "s"])),
                image: Some(ImageShape { height: 1, width: 3, scan: Scan::Rows }),
                wavelengths: Some(vec![400.0, 500.0, 600.0, 700.0]),
                ..With::default()
            };
            writer.finish(None, &with).unwrap();
            let files = std::fs::read_dir(&place).unwrap().map(|entry| entry.unwrap());
            files
                .map(|file| (file.file_name().into_string().unwrap(), std::fs::read(file.path()).unwrap()))
                .collect()
        })
    })
}

/// A block folder with some files edited, mostly its index: read whole and a range at a time, it gives the same points or an
/// error.
pub fn blocks(bytes: &[u8]) -> Result<()> {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let place = FOLDER.get_or_init(|| tempfile::tempdir().unwrap()).path();
    let mut hand = Hand(bytes);
    let mut files = hand.of(block_folders()).clone();
    let names: Vec<String> = files.keys().cloned().collect();
    for _ in 0..1 + hand.byte() % 2 {
        let name = if hand.byte() % 3 > 0 { "blocks.json" } else { hand.of(&names).as_str() };
        hand.edit(files.get_mut(name).expect("one of them"), 3);
    }
    for (name, bytes) in &files {
        std::fs::write(place.join(name), bytes).unwrap();
    }
    let held = read(place, &Options::default());
    let streamed = open_in_place(place, &Options::default(), false);
    let Some(streamed) = streamed? else { return held.map(drop) };
    let shape = streamed.source.shape();
    for point in 0..shape.points {
        // Nothing is known of what lies between points before they are read.
        let points = streamed.source.points(point..point + 1)?;
        assert_eq!((points.shape().points, points.shape().features), (1, shape.features));
    }
    let held = held?.matrix;
    assert_eq!((held.points(), held.features()), (shape.points, shape.features));
    Ok(())
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
    fn save(&mut self, checkpoint: &[u8]) -> Result<()> {
        self.0.push(checkpoint.to_vec());
        Ok(())
    }
}

/// Small work of every method, and what it saved: the bytes between the magic word and the checksum.
struct Works {
    data: Box<dyn Data>,
    jobs: Vec<Job>,
    bodies: Vec<(usize, Vec<u8>)>,
}

fn works() -> &'static Works {
    static WORKS: OnceLock<Works> = OnceLock::new();
    WORKS.get_or_init(|| {
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
        let mut bodies = vec![];
        for (at, job) in jobs.iter().enumerate() {
            let mut kept = Keeping(vec![]);
            orthant::cluster(&*data, job, &mut kept).unwrap();
            assert!(!kept.0.is_empty(), "{}", job.method.name);
            bodies.extend(kept.0.iter().map(|bytes| (at, bytes[8..bytes.len() - 8].to_vec())));
        }
        Works { data, jobs, bodies }
    })
}

/// An edited checkpoint of one of the works, if it can still be read at all.
pub fn edited_checkpoint(bytes: &[u8]) -> Option<(usize, Checkpoint)> {
    let mut hand = Hand(bytes);
    let (at, body) = hand.of(&works().bodies);
    let mut body = body.clone();
    // Mostly fields: little else of a checkpoint can be changed so that it is still read.
    for _ in 0..hand.byte() % 3 {
        if hand.byte() % 4 > 0 { hand.edit_field(&mut body) } else { hand.edit(&mut body, 1) }
    }
    Some((*at, <Checkpoint as Bytes>::from_bytes(&body)?))
}

/// Behind the magic word and before the checksum, which a hostile hand would write anew: whatever fields say, the work goes
/// on to a result or is refused.
pub fn checkpoint(bytes: &[u8]) -> Result<()> {
    let Some((at, mut saved)) = edited_checkpoint(bytes) else { return Ok(()) };
    let Works { data, jobs, .. } = works();
    saved.of = jobs[at].fingerprint(&**data);
    let solution = resume(&**data, &jobs[at], saved, &mut ())?.solution;
    assert!(solution.labels.iter().all(|label| (-1..3).contains(label)));
    assert!(solution.u.data.iter().chain(&solution.v).all(|x| x.is_finite() && *x >= 0.0));
    let mut norms2 = [0.0; 3];
    for (&label, v) in solution.labels.iter().zip(&solution.v) {
        if let Ok(cluster) = usize::try_from(label) {
            norms2[cluster] += v * v;
        }
    }
    assert!(norms2.iter().all(|norm2| (norm2 - 1.0).abs() < 1e-9), "VVᵀ is not I: {norms2:?}");
    Ok(())
}
