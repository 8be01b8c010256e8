//! The passes on one thread, for several widths: `cargo bench -p orthant-benches`.

// What criterion's macro makes has no documentation.
#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use orthant::matrix::passes::{Assign, Normal};
use orthant::matrix::{Csr, Data, Dense, Mat, open, rule};

fn points(c: &mut Criterion, name: &str, data: &dyn Data) {
    let shape = data.shape();
    let mut group = c.benchmark_group(name);
    for k in [2, 6, 10, 20, 50] {
        let u =
            Mat::from_fn(shape.features, k, |f, i| ((f * 7 + i * 3) % 11) as f64 + 1.0).with_unit_columns();
        group.throughput(Throughput::Elements((shape.nonzeros * k) as u64));
        let mut slots = data.slots().expect("room beside the data");
        group.bench_function(BenchmarkId::new("two products", k), |b| {
            let pass = Normal::new(u.clone());
            b.iter(|| black_box(slots.sweep(&pass).expect("a pass in memory")))
        });
        group.bench_function(BenchmarkId::new("assign and sum", k), |b| {
            let pass = Assign::new(rule::Power.into(), vec![u.clone()], vec![0]);
            b.iter(|| black_box(slots.sweep(&pass).expect("a pass in memory")))
        });
    }
    group.finish();
}

fn kernels(c: &mut Criterion) {
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().expect("the first pool of this process");
    let (n, m) = (8192, 162);
    let value = |at: usize| ((at * 2_654_435_761) % 1009) as f32 / 1009.0;
    let dense: Vec<f32> = (0..n * m).map(value).collect();
    let wide: Vec<f64> = dense.iter().map(|&x| x.into()).collect();
    let data = open(Dense::new(n, m, dense).expect("the shape fits"), None).expect("clean data");
    points(c, "dense float32", &*data);
    let data = open(Dense::new(n, m, wide).expect("the shape fits"), None).expect("clean data");
    points(c, "dense float64", &*data);

    // 60 entries a point, spread over the features as words are.
    let (features, entries) = (12000usize, 60usize);
    let columns: Vec<i32> = (0..n)
        .flat_map(|j| (0..entries).map(move |e| (e * features / entries + (j * 37 + e * 101) % 200) as i32))
        .collect();
    let offsets: Vec<usize> = (0..=n).map(|j| j * entries).collect();
    let values: Vec<f64> = (0..n * entries).map(|at| f64::from(value(at)) + 0.1).collect();
    let rows = Csr::<f64, i32>::new(features, offsets, columns, values).expect("sorted columns");
    points(c, "sparse", &*open(rows, None).expect("clean data"));
}

criterion_group!(all, kernels);
criterion_main!(all);
