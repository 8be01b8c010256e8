//! The swimmer: 256 images of a torso and four limbs with four positions each  [P, section 4.4].
//!
//! The points are the pixels and the features the images: to find parts is to cluster pixels that are
//! lit together. Pixels of one part are equal, parts do not overlap, and each of the 16 limb positions
//! is lit in 64 images. The matrix has rank 13, not 17: the four positions of a limb always sum to the
//! torso.

use super::{Generated, Generator, Parameter, unknown};
use crate::error::{Error, Result};
use crate::image::{ImageShape, Scan};
use crate::matrix::{Dense, Matrix};

/// The size of the images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// 20 × 11 pixels, as circulated with NMF codes.
    Small,
    /// 32 × 32 pixels, as the swimmer was introduced by Donoho and Stodden.
    Square,
}

/// Where the joints are. A limb is a line from its joint in one of four directions: straight away from
/// the body, outwards and away, level, outwards and back.
///
/// ```text
///   \  | |  /
///    \ | | /
///   ---###---   shoulders
///    /  #  \
///   /   #   \   spine, and so on, upside down, to the hips
/// ```
struct Body {
    height: usize,
    width: usize,
    /// The row of the three shoulder pixels.
    shoulders: usize,
    /// The row of the three hip pixels. `hips − shoulders` is odd or more than twice the limb, or
    /// arms that hang and legs that rise would meet.
    hips: usize,
    /// The column of the spine.
    spine: usize,
    /// Pixels of a limb.
    limb: usize,
}

const POSITIONS: usize = 4;
const LIMBS: [&str; 4] = ["left arm", "right arm", "left leg", "right leg"];
const DIRECTIONS: [&str; POSITIONS] = ["straight", "away", "level", "back"];
const IMAGES: usize = POSITIONS.pow(LIMBS.len() as u32);
const TORSO: usize = 0;
const BACKGROUND: usize = 1 + LIMBS.len() * POSITIONS;

impl Layout {
    fn name(self) -> &'static str {
        match self {
            Layout::Small => "20x11",
            Layout::Square => "32x32",
        }
    }

    fn body(self) -> Body {
        match self {
            Layout::Small => Body { height: 20, width: 11, shoulders: 5, hips: 14, spine: 5, limb: 3 },
            Layout::Square => Body { height: 32, width: 32, shoulders: 9, hips: 22, spine: 16, limb: 6 },
        }
    }
}

impl Body {
    /// Pixels (row, column) of a limb at a position.
    fn limb(&self, limb: usize, position: usize) -> impl Iterator<Item = (usize, usize)> {
        let (arm, left) = (limb < 2, limb.is_multiple_of(2));
        let away: isize = if arm { -1 } else { 1 };
        let outwards: isize = if left { -1 } else { 1 };
        let (down, right) = [(away, 0), (away, outwards), (0, outwards), (-away, outwards)][position];
        let joint_row = (if arm { self.shoulders } else { self.hips }) as isize;
        let joint_column = self.spine as isize + outwards;
        (1..=self.limb as isize)
            .map(move |i| ((joint_row + i * down) as usize, (joint_column + i * right) as usize))
    }

    fn torso(&self) -> impl Iterator<Item = (usize, usize)> {
        let across = |row| (self.spine - 1..=self.spine + 1).map(move |column| (row, column));
        let spine = (self.shoulders + 1..self.hips).map(|row| (row, self.spine));
        across(self.shoulders).chain(spine).chain(across(self.hips))
    }
}

/// Pixels × images of a swimming body; every pixel's truth is its part, and the unlit ones are the
/// background.
#[derive(Debug, Clone, PartialEq)]
pub struct Swimmer {
    /// The size of the images.
    pub layout: Layout,
}

impl Default for Swimmer {
    fn default() -> Self {
        Swimmer { layout: Layout::Small }
    }
}

impl Generator for Swimmer {
    fn parameters(&self) -> Vec<Parameter> {
        vec![Parameter::new("layout", "pixels of an image: 20x11 or 32x32", self.layout.name())]
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match name {
            "layout" => {
                self.layout = [Layout::Small, Layout::Square]
                    .into_iter()
                    .find(|layout| layout.name() == value.trim())
                    .ok_or_else(|| Error::parameter(name, format!("{value:?} is neither 20x11 nor 32x32")))?;
                Ok(())
            }
            _ => Err(unknown(name, self)),
        }
    }

    fn generate(&self) -> Result<Generated> {
        let body = self.layout.body();
        let image = ImageShape { height: body.height, width: body.width, scan: Scan::Columns };
        let mut truth = vec![BACKGROUND; image.pixels()];
        for (row, column) in body.torso() {
            truth[image.pixel(row, column)] = TORSO;
        }
        for limb in 0..LIMBS.len() {
            for position in 0..POSITIONS {
                for (row, column) in body.limb(limb, position) {
                    truth[image.pixel(row, column)] = 1 + limb * POSITIONS + position;
                }
            }
        }
        let mut data = Vec::with_capacity(image.pixels() * IMAGES);
        for &part in &truth {
            data.extend((0..IMAGES).map(|i| if lit(part, i) { 1.0 } else { 0.0 }));
        }
        let mut classes = vec!["torso".to_string()];
        for limb in LIMBS {
            classes.extend(DIRECTIONS.map(|direction| format!("{limb} {direction}")));
        }
        classes.push("background".to_string());
        Ok(Generated {
            matrix: Matrix::DenseF64(Dense::new(image.pixels(), IMAGES, data)?),
            truth,
            classes,
            background: Some(BACKGROUND),
            image: Some(image),
        })
    }
}

/// Whether a part is seen in image `i`, whose four digits to the base 4 are the positions of the four
/// limbs, the right leg's changing fastest.
fn lit(part: usize, i: usize) -> bool {
    match part {
        TORSO => true,
        BACKGROUND => false,
        _ => {
            let (limb, position) = ((part - 1) / POSITIONS, (part - 1) % POSITIONS);
            i / POSITIONS.pow((LIMBS.len() - 1 - limb) as u32) % POSITIONS == position
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUTS: [Layout; 2] = [Layout::Small, Layout::Square];

    fn made(layout: Layout) -> Generated {
        Swimmer { layout }.generate().unwrap()
    }

    #[test]
    fn the_body_looks_like_this() {
        let made = made(Layout::Small);
        let image = made.image.unwrap();
        let letter = |p: usize| b".IHBCDKMNOJGFELRQP"[(made.truth[p] + 1) % 18] as char;
        let rows: Vec<String> =
            (0..20).map(|row| (0..11).map(|column| letter(image.pixel(row, column))).collect()).collect();
        let expected = "
            ...........
            ...........
            .B..H.K..M.
            ..B.H.K.M..
            ...BH.KM...
            .CCCIIINNN.
            ...D.I.O...
            ..D..I..O..
            .D...I...O.
            .....I.....
            .....I.....
            .E...I...P.
            ..E..I..P..
            ...E.I.P...
            .FFFIIIQQQ.
            ...GJ.LR...
            ..G.J.L.R..
            .G..J.L..R.
            ...........
            ...........";
        assert_eq!(rows, expected.split_whitespace().collect::<Vec<_>>());
    }

    #[test]
    fn there_are_17_parts_that_do_not_overlap() {
        for (layout, pixels, torso, limb) in [(Layout::Small, 220, 14, 3), (Layout::Square, 1024, 18, 6)] {
            let made = made(layout);
            assert_eq!((made.matrix.points(), made.matrix.features(), made.k()), (pixels, 256, 17));
            let size = |part| made.truth.iter().filter(|&&t| t == part).count();
            // A part that lost pixels to another would be smaller.
            assert_eq!(size(TORSO), torso);
            assert!((1..17).all(|part| size(part) == limb), "{layout:?}");
            assert_eq!(size(BACKGROUND), pixels - torso - 16 * limb);
        }
    }

    #[test]
    fn pixels_of_a_part_are_equal_and_parts_differ() {
        for layout in LAYOUTS {
            let made = made(layout);
            let mut patterns: Vec<Option<Vec<f64>>> = vec![None; 18];
            for j in 0..made.matrix.points() {
                let pattern = patterns[made.truth[j]].get_or_insert_with(|| made.matrix.point(j));
                assert_eq!(*pattern, made.matrix.point(j));
            }
            let lit: Vec<f64> = patterns.iter().map(|p| p.as_ref().unwrap().iter().sum()).collect();
            assert_eq!(lit[TORSO], 256.0);
            assert!(lit[1..17].iter().all(|&sum| sum == 64.0));
            assert_eq!(lit[BACKGROUND], 0.0);
            for part in 0..18 {
                assert!(patterns[..part].iter().all(|other| *other != patterns[part]));
            }
        }
    }

    #[test]
    fn the_rank_is_13() {
        for layout in LAYOUTS {
            let Matrix::DenseF64(m) = made(layout).matrix else { panic!("not float64") };
            let singular =
                nalgebra::DMatrix::from_row_slice(m.points(), m.features(), m.data()).singular_values();
            assert_eq!(singular.iter().filter(|&&s| s > 1e-9 * singular.max()).count(), 13);
        }
    }

    /// The file is not part of the project; the test needs the folder that holds it.
    #[test]
    fn small_images_equal_those_in_circulation() {
        let Some(folder) = std::env::var_os("ORTHANT_DATA") else {
            eprintln!(
                "skipped: set ORTHANT_DATA to the data folder to compare with images/swimmer_20x11.npy"
            );
            return;
        };
        let path = std::path::Path::new(&folder).join("images/swimmer_20x11.npy");
        let Ok(bytes) = std::fs::read(&path) else {
            eprintln!("skipped: {} cannot be read", path.display());
            return;
        };
        // npy version 1: 8 bytes of magic, 2 of header length, the header, then uint8 in C order.
        let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let published = &bytes[start..];
        assert_eq!(published.len(), 220 * 256);
        let matrix = made(Layout::Small).matrix.transposed();
        let mut ours: Vec<Vec<u8>> =
            (0..256).map(|i| matrix.point(i).iter().map(|&x| x as u8).collect()).collect();
        let mut theirs: Vec<Vec<u8>> =
            (0..256).map(|i| (0..220).map(|p| published[p * 256 + i]).collect()).collect();
        ours.sort();
        theirs.sort();
        assert!(ours == theirs, "the images differ from {}", path.display());
    }
}
