//! Data of one's own, never all in memory: rows that are made (or read, or fetched) a block at a time.
//! `cargo run --release -p orthant --example own_source`

use std::ops::Range;

use orthant::matrix::{AnyPoints, Data, Dense, Format, Shape, Source, open, stream};
use orthant::{Job, Result, cluster};

/// Points near one of four directions, made on the fly from their number.
struct Made {
    points: usize,
    features: usize,
}

impl Made {
    fn entry(&self, point: usize, feature: usize) -> f64 {
        let noise = ((point * 7919 + feature * 104_729) % 1009) as f64 / 1009.0;
        let strength = 1.0 + (point % 5) as f64;
        if feature % 4 == point % 4 { strength } else { 0.0 }.max(0.3 * noise)
    }
}

impl Source for Made {
    fn shape(&self) -> Shape {
        let Made { points, features } = *self;
        Shape { points, features, nonzeros: points * features, format: Format::F64, sparse: false }
    }

    fn points(&self, rows: Range<usize>) -> Result<AnyPoints<'_>> {
        let count = rows.len();
        let entries = rows.flat_map(|j| (0..self.features).map(move |f| self.entry(j, f)));
        Ok(Dense::new(count, self.features, entries.collect::<Vec<f64>>())?.into())
    }
}

fn main() -> Result<()> {
    let source = Made { points: 5000, features: 24 };
    // The same points in memory, only to compare with.
    let held = open(source.points(0..5000)?, None)?;
    let streamed = stream(&source)?;
    for method in ["em-onmf", "onp-mf", "best"] {
        let solve = |data: &dyn Data| cluster(data, &Job::new(method, 4)?, &mut ());
        let (a, b) = (solve(&*streamed)?, solve(&*held)?);
        let same = a.solution.labels == b.solution.labels && a.solution.u == b.solution.u;
        assert!(same && a.certificate == b.certificate, "{method} has other bits than in memory");
        println!("{method:8} error {:.6}, the same bits as in memory", a.certificate.relative_error);
    }
    Ok(())
}
