//! From values to places on an axis, and where the ticks go.

use crate::report::number::significant;

/// An axis as the caller describes it.
#[derive(Debug, Clone, Default)]
pub struct Axis {
    /// What it shows.
    pub label: String,
    /// Whether equal steps are equal factors.
    pub log: bool,
    /// First and last value; by default those of the points.
    pub range: Option<(f64, f64)>,
}

impl Axis {
    /// A plain axis.
    pub fn new(label: &str) -> Self {
        Axis { label: label.into(), ..Axis::default() }
    }

    /// One on which equal steps are equal factors.
    pub fn log(label: &str) -> Self {
        Axis { label: label.into(), log: true, range: None }
    }
}

/// A range of values on a range of places.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    low: f64,
    high: f64,
    log: bool,
    from: f64,
    to: f64,
}

impl Scale {
    /// Values to be shown (those that are not finite, or not positive on a logarithmic axis, are left
    /// out) on the places `from` to `to`. `air` is the share of the range that is added at both ends.
    pub fn new(axis: &Axis, values: impl Iterator<Item = f64>, from: f64, to: f64, air: f64) -> Self {
        let mut log = axis.log;
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for x in values.filter(|x| x.is_finite() && (!log || *x > 0.0)) {
            (low, high) = (low.min(x), high.max(x));
        }
        if let Some((first, last)) = axis.range {
            (low, high) = (first, last);
        }
        if log && !(low > 0.0 && high.is_finite()) {
            (low, high) = (f64::INFINITY, f64::NEG_INFINITY);
            log = false;
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        if log {
            (low, high) = (low.ln(), high.ln());
        }
        if high - low <= 1e-12 * high.abs().max(low.abs()) {
            let half = if log { 1.0 } else { (0.1 * high.abs()).max(if high == 0.0 { 0.5 } else { 0.0 }) };
            (low, high) = (low - half, high + half);
        } else if axis.range.is_none() {
            let more = air * (high - low);
            // Not below zero for what cannot be negative.
            let floor = !log && low >= 0.0;
            low = if floor { (low - more).max(0.0) } else { low - more };
            high += more;
        }
        Scale { low, high, log, from, to }
    }

    /// Two scales of which the one with the smaller units gets room, so that a unit is as long on both.
    pub fn equal(x: Scale, y: Scale) -> (Scale, Scale) {
        let unit = |s: &Scale| ((s.to - s.from) / (s.high - s.low)).abs();
        let widened = |s: Scale, unit: f64| {
            let (middle, half) = ((s.low + s.high) / 2.0, (s.to - s.from).abs() / unit / 2.0);
            Scale { low: middle - half, high: middle + half, ..s }
        };
        let (a, b) = (unit(&x), unit(&y));
        if a > b { (widened(x, b), y) } else { (x, widened(y, a)) }
    }

    /// The place of a value; none where it has no place.
    pub fn place(&self, x: f64) -> Option<f64> {
        let x = match self.log {
            true if x > 0.0 => x.ln(),
            true => return None,
            false => x,
        };
        let share = (x - self.low) / (self.high - self.low);
        share.is_finite().then_some(self.from + share * (self.to - self.from))
    }

    /// Round values within the range, about `wanted` of them, with their labels.
    pub fn ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        if self.log {
            return self.decades(wanted);
        }
        let rough = (self.high - self.low) / wanted.max(1) as f64;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|s| s * power)
            .into_iter()
            .find(|s| *s >= rough * 0.999)
            .unwrap_or(rough);
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        let decimals = (-(step.log10() + 1e-9).floor()).clamp(0.0, 12.0) as usize;
        (first..=last.min(first + 50))
            .map(|i| {
                let x = i as f64 * step;
                let plain = x.abs() < 1e6 && (x == 0.0 || step >= 1e-6);
                let text =
                    if plain { format!("{x:.decimals$}").replace('-', "−") } else { significant(x, 6) };
                (x, text)
            })
            .collect()
    }

    /// The same where only whole numbers have a meaning.
    pub fn whole_ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        let whole = |ticks: &Vec<(f64, String)>| ticks.iter().all(|tick| !tick.1.contains('.'));
        let every = || self.ticks(wanted);
        (1..=wanted).rev().map(|wanted| self.ticks(wanted)).find(whole).unwrap_or_else(every)
    }

    fn decades(&self, wanted: usize) -> Vec<(f64, String)> {
        let ten = std::f64::consts::LN_10;
        let (first, last) = ((self.low / ten - 1e-9).ceil() as i32, (self.high / ten + 1e-9).floor() as i32);
        if last > first {
            let step = ((last - first) as usize).div_ceil(wanted.max(1)).max(1);
            return (first..=last).step_by(step).map(|e| (10f64.powi(e), power_of_ten(e))).collect();
        }
        // Less than two decades: 1, 2, 5 and their tenfolds.
        (first - 1..=last + 1)
            .flat_map(|e| [1.0, 2.0, 5.0].map(|d| d * 10f64.powi(e)))
            .filter(|x| (self.low - 1e-9..=self.high + 1e-9).contains(&x.ln()))
            .map(|x| (x, significant(x, 3)))
            .collect()
    }
}

fn power_of_ten(e: i32) -> String {
    if (-3..=3).contains(&e) {
        return significant(10f64.powi(e), 1);
    }
    let raised = |c| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32('⁰' as u32 + (digit as u32 - '0' as u32)).unwrap_or(digit),
    };
    format!("10{}", e.to_string().chars().map(raised).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_the_range_are_ends_of_the_axis() {
        let scale = Scale::new(&Axis::new("x"), [1.0, 3.0, f64::NAN].into_iter(), 10.0, 110.0, 0.0);
        assert_eq!(scale.place(1.0), Some(10.0));
        assert_eq!(scale.place(2.0), Some(60.0));
        assert_eq!(scale.place(3.0), Some(110.0));
        assert_eq!(scale.place(f64::NAN), None);
        let turned = Scale::new(&Axis::log("y"), [0.01, 1.0, 0.0].into_iter(), 200.0, 0.0, 0.0);
        assert!((turned.place(0.1).unwrap() - 100.0).abs() < 1e-9);
        assert_eq!(turned.place(0.0), None);
    }

    #[test]
    fn ticks_are_round_and_inside() {
        let labels = |low, high, log| {
            let axis = Axis { label: String::new(), log, range: Some((low, high)) };
            let scale = Scale::new(&axis, std::iter::empty(), 0.0, 1.0, 0.0);
            scale.ticks(5).into_iter().map(|t| t.1).collect::<Vec<_>>()
        };
        assert_eq!(labels(0.0, 1.0, false), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(0.2068, 0.2091, false), ["0.2070", "0.2075", "0.2080", "0.2085", "0.2090"]);
        assert_eq!(labels(1e-4, 1.0, true), ["10⁻⁴", "0.001", "0.01", "0.1", "1"]);
        assert_eq!(labels(0.3, 2.5, true), ["0.5", "1", "2"]);
        assert!(labels(0.0, 2100.0, false).contains(&"1000".to_string()));
    }

    #[test]
    fn ticks_of_numbers_of_clusters_are_whole() {
        for (low, high, wanted) in [
            (2.0, 4.0, vec!["2", "3", "4"]),
            (3.0, 3.0, vec!["3"]),
            (2.0, 8.0, vec!["2", "3", "4", "5", "6", "7", "8"]),
        ] {
            let scale = Scale::new(&Axis::new("k"), [low, high].into_iter(), 0.0, 100.0, 0.05);
            assert_eq!(scale.whole_ticks(7).into_iter().map(|t| t.1).collect::<Vec<_>>(), wanted);
        }
    }

    #[test]
    fn one_value_and_no_value_still_make_an_axis() {
        for values in [vec![], vec![0.0], vec![5.0], vec![-3.0, -3.0], vec![1e300, 1e300], vec![1e-300]] {
            for axis in [Axis::new("x"), Axis::log("x")] {
                let scale = Scale::new(&axis, values.iter().copied(), 0.0, 100.0, 0.05);
                let ticks = scale.ticks(5);
                assert!(ticks.iter().all(|t| scale.place(t.0).is_some()), "{values:?} {ticks:?}");
                assert!(ticks.len() < 60);
            }
        }
    }
}
