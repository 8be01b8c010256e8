//! Colours that hold for colour-blind readers, in both themes and in print.

/// Red, green, blue.
pub type Rgb = [u8; 3];

/// Categorical colours: Okabe and Ito's seven, then whichever is farthest from all before it (and from
/// both backgrounds), the nearest of normal, protanopic and deuteranopic sight deciding.
const CATEGORIES: [u32; 40] = [
    0x0072b2, 0xe69f00, 0x009e73, 0xcc79a7, 0xd55e00, 0x56b4e9, 0xf0e442, 0x693c00, 0x5a0f78, 0x0000ff,
    0x0fe1b4, 0x963c69, 0x8778ff, 0x2d3cb4, 0xb4e1ff, 0x691e3c, 0xa54b1e, 0x69ffa5, 0xff4b69, 0xe10fd2,
    0xc3c378, 0xc32d96, 0xff78d2, 0x96b496, 0x5a3c87, 0x3c5aff, 0xc3d200, 0xa5c3ff, 0x87f0d2, 0xe1004b,
    0xa50f3c, 0x3c3c5a, 0x7896ff, 0x5a78d2, 0xd2871e, 0xa55a69, 0x3c00a5, 0x0000d2, 0x006987, 0xf0d278,
];

/// Anchors of viridis, evenly spaced: perceptually uniform and safe for colour-blind readers.
const VIRIDIS: [u32; 10] =
    [0x440154, 0x482878, 0x3e4989, 0x31688e, 0x26828e, 0x1f9e89, 0x35b779, 0x6ece58, 0xb5de2b, 0xfde725];

/// The colour of what has no cluster.
pub const NOWHERE: Rgb = [128, 132, 138];

fn rgb(hex: u32) -> Rgb {
    [(hex >> 16) as u8, (hex >> 8) as u8, hex as u8]
}

/// The colour of a cluster. From the 41st on they repeat: legends carry numbers too.
pub fn category(i: usize) -> Rgb {
    rgb(CATEGORIES[i % CATEGORIES.len()])
}

/// The colour of a share in [0, 1]: dark is little, bright is much.
pub fn sequential(t: f64) -> Rgb {
    let t = if t.is_nan() { 0.0 } else { t.clamp(0.0, 1.0) } * (VIRIDIS.len() - 1) as f64;
    let i = (t as usize).min(VIRIDIS.len() - 2);
    let (a, b) = (rgb(VIRIDIS[i]), rgb(VIRIDIS[i + 1]));
    std::array::from_fn(|c| {
        (f64::from(a[c]) + (t - i as f64) * (f64::from(b[c]) - f64::from(a[c]))).round() as u8
    })
}

/// As CSS writes it.
pub fn hex([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// The colour of a cluster as CSS writes it.
pub fn css(i: usize) -> String {
    hex(category(i))
}

/// Whether dark text reads better on it than light text.
pub fn is_light([r, g, b]: Rgb) -> bool {
    0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b) > 140.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_differ_and_the_scale_gets_brighter() {
        for i in 0..40 {
            for j in 0..i {
                assert_ne!(category(i), category(j), "{i} and {j}");
            }
        }
        let light = |t: f64| sequential(t).iter().map(|&c| f64::from(c)).sum::<f64>();
        assert!((0..100).all(|i| light(i as f64 / 100.0) < light((i + 1) as f64 / 100.0) + 4.0));
        assert_eq!(sequential(0.0), [0x44, 0x01, 0x54]);
        assert_eq!(sequential(2.0), [0xfd, 0xe7, 0x25]);
        assert_eq!(sequential(f64::NAN), sequential(0.0));
    }
}
