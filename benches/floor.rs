//! Iterations against the floor that the machine sets: `orthant-floor FILE K THREADS ITERATIONS`; or how long a
//! file takes to read: `orthant-floor read FILE THREADS`.
//!
//! The floor is max(bytes / bandwidth, operations / peak). Bytes are those of the data once and of the method's
//! points × k state; the bandwidth is that of reading this very buffer with as many threads, measured in turn with
//! the iterations, so that whatever else the machine does meets both. Prints one JSON object.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use orthant::matrix::machine::{instructions, multiply_add, read};
use orthant::matrix::passes::Normal;
use orthant::matrix::{Data, Mat, Matrix, Real, open, open_with};
use orthant::run::{Event, Go, Observer};
use orthant::{Error, Job, Result, algorithms::Values, cluster};
use rayon::prelude::*;

/// Seconds that some work takes.
fn seconds(work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64()
}

/// Seconds that this thread has spent on a processor: on a machine that others use too, the iterations of one
/// thread are better judged by it (Linux; 0 elsewhere).
fn processor() -> f64 {
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    spent.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) * 1e-9
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of.get(of.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Reads the buffer on all threads.
fn read_all<T: Real>(x: &[T], streams: usize) {
    let threads = rayon::current_num_threads();
    if threads == 1 {
        black_box(read(x, streams));
        return;
    }
    x.par_chunks(x.len().div_ceil(threads).max(1)).for_each(|part| {
        black_box(read(part, streams));
    });
}

/// The buffers of a matrix: what a pass has to read of it.
fn read_matrix(matrix: &Matrix, streams: usize) {
    match matrix {
        Matrix::DenseF32(x) => read_all(x.data(), streams),
        Matrix::DenseF64(x) => read_all(x.data(), streams),
        // Columns are read as well, but a kernel that adds integers measures nothing else.
        Matrix::SparseF32(x) => read_all(x.values(), streams),
        Matrix::SparseF64(x) => read_all(x.values(), streams),
    }
}

fn bytes(matrix: &Matrix) -> usize {
    match matrix {
        Matrix::DenseF32(x) => 4 * x.data().len(),
        Matrix::DenseF64(x) => 8 * x.data().len(),
        Matrix::SparseF32(x) => 8 * x.nonzeros(),
        Matrix::SparseF64(x) => 12 * x.nonzeros(),
    }
}

/// Operations a second in registers, on all threads.
fn peak(single: bool) -> f64 {
    const ROUNDS: usize = 1 << 20;
    let work = |_| {
        let (count, total) = if single {
            let (count, total) = multiply_add(ROUNDS, black_box(0.5f32));
            (count, f64::from(total))
        } else {
            multiply_add(ROUNDS, black_box(0.5f64))
        };
        black_box(total);
        count
    };
    let threads = rayon::current_num_threads();
    let speeds = (0..9).map(|_| {
        let begun = Instant::now();
        let count: usize = (0..threads).into_par_iter().with_max_len(1).map(work).sum();
        count as f64 / begun.elapsed().as_secs_f64()
    });
    median(speeds.collect())
}

/// Times iterations, and reads the data in turn with them.
struct Watch<'a> {
    matrix: &'a Matrix,
    streams: usize,
    begun: Option<(Instant, f64)>,
    iterations: Vec<f64>,
    processor: f64,
    reads: Vec<f64>,
}

impl Observer for Watch<'_> {
    fn iteration(&mut self, _: &Event) -> Go {
        if let Some((begun, spent)) = self.begun {
            self.iterations.push(begun.elapsed().as_secs_f64());
            self.processor += processor() - spent;
        }
        self.reads.push(seconds(|| read_matrix(self.matrix, self.streams)));
        self.begun = Some((Instant::now(), processor()));
        Go::On
    }
}

struct Measured {
    /// The median of the iterations.
    seconds: f64,
    /// The mean of what they spent on a processor.
    processor: f64,
    read: f64,
    count: usize,
}

fn iterations(data: &dyn Data, matrix: &Matrix, streams: usize, job: &Job) -> Result<Measured> {
    let mut watch = Watch { matrix, streams, begun: None, iterations: vec![], processor: 0.0, reads: vec![] };
    cluster(data, job, &mut watch)?;
    let count = watch.iterations.len();
    Ok(Measured {
        count,
        seconds: median(watch.iterations),
        processor: watch.processor / count.max(1) as f64,
        read: median(watch.reads),
    })
}

/// Seconds of two products with the data, as a pass of any method has them.
fn two_products(data: &dyn Data, k: usize, times: usize) -> Result<f64> {
    let u = Mat::from_fn(data.shape().features, k, |f, i| ((f * 7 + i * 3) % 11) as f64);
    let mut slots = data.slots()?;
    let pass = Normal::new(u);
    Ok(median((0..times).map(|_| seconds(|| drop(black_box(slots.sweep(&pass))))).collect()))
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Err(error) = measure(&arguments) {
        eprintln!("orthant-floor: {error}");
        std::process::exit(2);
    }
}

fn measure(arguments: &[String]) -> Result<()> {
    let usage = || {
        Error::Data(
            "usage: orthant-floor FILE K THREADS ITERATIONS, or orthant-floor read FILE THREADS".into(),
        )
    };
    let number = |text: &String| text.parse::<usize>().ok().filter(|&n| n > 0).ok_or_else(usage);
    let load = |file: &str| orthant::read::read(Path::new(file), &Default::default());
    match arguments {
        [read, file, threads] if read == "read" => with_threads(number(threads)?, || {
            let begun = Instant::now();
            black_box(load(file)?);
            println!("{{\"seconds\": {:e}}}", begun.elapsed().as_secs_f64());
            Ok(())
        }),
        [file, k, threads, limit] => {
            let (k, limit) = (number(k)?, number(limit)?);
            with_threads(number(threads)?, || floors(&load(file)?.matrix, k, limit))
        }
        _ => Err(usage()),
    }
}

fn with_threads(threads: usize, work: impl FnOnce() -> Result<()> + Send) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|e| Error::Computation(format!("threads could not be started: {e}")))?.install(work)
}

fn floors(matrix: &Matrix, k: usize, limit: usize) -> Result<()> {
    let threads = rayon::current_num_threads();
    let data = open(matrix, None)?;
    let shape = data.shape();
    let single = matches!(matrix, Matrix::DenseF32(_));
    let (nonzeros, points) = (shape.nonzeros as f64, shape.points as f64);

    // As many streams as are fastest here.
    let once = |streams| median((0..5).map(|_| seconds(|| read_matrix(matrix, streams))).collect());
    let streams = [1, 4, 8].into_iter().min_by(|&a, &b| once(a).total_cmp(&once(b))).unwrap_or(1);
    let peak = peak(single);
    let values = |job: Job, more: &[(&str, f64)]| Job {
        values: more.iter().fold(Values::new(), |v, (name, value)| v.set(name, *value)),
        ..job
    };
    // So many runs that there are some iterations to take the median of.
    let em = values(Job::new("em-onmf", k)?, &[("max-iterations", limit as f64)]);
    let em = iterations(&*data, matrix, streams, &em)?;
    let onp = [("max-iterations", limit as f64), ("tolerance", 0.0)];
    let onp = iterations(&*data, matrix, streams, &values(Job::new("onp-mf", k)?, &onp))?;

    let two = two_products(&*data, k, limit)?;
    // The same without the transposed copy that sparse data have by themselves.
    let plain = two_products(&*open_with(matrix.into(), None, Some(false))?, k, limit)?;

    let data_bytes = bytes(matrix) as f64;
    let state = points * k as f64;
    println!("{{");
    println!("  \"instructions\": \"{}\", \"threads\": {threads}, \"streams\": {streams},", instructions());
    println!("  \"bytes\": {data_bytes}, \"peak\": {peak:e}, \"two_products\": {two:e},");
    println!("  \"two_products_without_copy\": {plain:e},");
    let line = |name: &str, m: &Measured, bytes: f64, operations: f64, end: &str| {
        let bandwidth = data_bytes / m.read;
        let floor = (bytes / bandwidth).max(operations / peak);
        println!(
            "  \"{name}\": {{\"seconds\": {:e}, \"processor\": {:e}, \"iterations\": {}, \"bandwidth\": {bandwidth:e}, \"floor\": {floor:e}, \
                 \"by_memory\": {:e}, \"by_arithmetic\": {:e}}}{end}",
            m.seconds,
            m.processor,
            m.count,
            bytes / bandwidth,
            operations / peak
        );
    };
    // Labels are what EM keeps; V, D and Λ what ONP-MF does.
    let em_operations = 2.0 * nonzeros * (k as f64 + 1.0);
    line("em", &em, data_bytes + 4.0 * points, em_operations, ",");
    line("onp", &onp, data_bytes + 24.0 * state, 4.0 * nonzeros * k as f64, "");
    println!("}}");
    Ok(())
}
