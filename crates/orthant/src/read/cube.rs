//! What cubes of pixels and bands have in common, whatever file they came from.

use super::values::Number;

/// Values that mean "no data" become zero, so that a pixel without data is a zero point, which gets no cluster.
/// How many pixels held nothing else, and in how many places of other pixels it stood.
pub(super) fn zero_out<T: Number>(pixels: &mut [T], bands: usize, ignore: T) -> (usize, usize) {
    let (mut empty, mut single) = (0, 0);
    // NaN is never equal to itself.
    let same = |value: T| value == ignore || (ignore.into().is_nan() && value.into().is_nan());
    for pixel in pixels.chunks_exact_mut(bands) {
        let hits = pixel.iter().filter(|value| same(**value)).count();
        if hits == bands {
            empty += 1;
        } else {
            single += hits;
        }
        if hits > 0 {
            pixel.iter_mut().filter(|value| same(**value)).for_each(|value| *value = T::default());
        }
    }
    (empty, single)
}

/// What is to be said about it, if it happened.
pub(super) fn ignored(value: f64, (empty, single): (usize, usize)) -> Option<String> {
    let others =
        if single > 0 { format!("; other places where it stands for 0: {single}") } else { String::new() };
    (empty + single > 0).then(|| {
        format!(
            "pixels that hold only the data ignore value {value}, and so are zero points: {empty}{others}"
        )
    })
}
