//! The drawing: rectangles and ellipses in layers, the last one on top.
//!
//! Everything stands in the telescope's own frame, in pixels from the centre of the image: `s` along
//! the tube towards its opening, `t` across. The frame is turned by [`TILT`] in the image.

/// The tube points to the upper right.
const TILT: f64 = 0.62;

/// Materials by number, in the order of the spectra.
const ALUMINIUM: usize = 0;
const SOLAR_CELL: usize = 1;
const COPPER_STRIP: usize = 2;
const GOLD_FOIL: usize = 3;
const HONEYCOMB: usize = 4;
const WHITE_PAINT: usize = 5;
const BLACK_RUBBER: usize = 6;
const STEEL_BOLT: usize = 7;

enum Shape {
    /// From … to, along and across; leaning by `lean` pixels along for each pixel across.
    Rectangle { s: [f64; 2], t: [f64; 2], lean: f64 },
    /// Centre, half axes, and the angle by which they are turned.
    Ellipse { centre: [f64; 2], axes: [f64; 2], turn: f64 },
}

/// How the light falls: always smooth, never quite dark.
enum Light {
    /// Around a tube of that radius, from the side of positive t.
    Tube(f64),
    /// Fading evenly over a flat piece with that centre and half length.
    Flat { centre: [f64; 2], reach: f64 },
    /// Over a small dome.
    Dome { centre: [f64; 2], radius: f64 },
}

struct Layer {
    material: usize,
    shape: Shape,
    light: Light,
}

/// Material and illumination, in (0, 1], of the pixel whose middle is at `x` (right) and `y` (up),
/// measured from the centre of the image; none where the sky is.
pub(super) fn look(layers: &Drawing, x: f64, y: f64) -> Option<(usize, f64)> {
    let (sin, cos) = TILT.sin_cos();
    let (s, t) = (x * cos + y * sin, y * cos - x * sin);
    let seen = layers.0.iter().rev().find(|layer| layer.shape.holds(s, t))?;
    Some((seen.material, seen.light.at(s, t)))
}

/// All layers, from the back to the front.
pub(super) struct Drawing(Vec<Layer>);

impl Shape {
    fn holds(&self, s: f64, t: f64) -> bool {
        match self {
            Shape::Rectangle { s: [s0, s1], t: [t0, t1], lean } => {
                let along = s - lean * t;
                (*s0..*s1).contains(&along) && (*t0..*t1).contains(&t)
            }
            Shape::Ellipse { centre, axes, turn } => {
                let (sin, cos) = turn.sin_cos();
                let (a, b) = (s - centre[0], t - centre[1]);
                let (p, q) = ((a * cos + b * sin) / axes[0], (b * cos - a * sin) / axes[1]);
                p * p + q * q < 1.0
            }
        }
    }
}

impl Light {
    fn at(&self, s: f64, t: f64) -> f64 {
        match self {
            Light::Tube(radius) => {
                let normal = (t / radius).clamp(-1.0, 1.0).asin();
                0.25 + 0.75 * (normal - 0.5).cos().max(0.0).powf(1.5)
            }
            Light::Flat { centre, reach } => {
                let depth = ((s - centre[0]) - 0.6 * (t - centre[1])) / (1.6 * reach);
                0.72 + 0.28 * depth.clamp(-1.0, 1.0)
            }
            Light::Dome { centre, radius } => {
                let (a, b) = (s - centre[0], t - centre[1] - 0.3 * radius);
                1.0 - 0.6 * ((a * a + b * b) / (2.0 * radius * radius)).min(1.0)
            }
        }
    }
}

fn rectangle(s: [f64; 2], t: [f64; 2]) -> Shape {
    Shape::Rectangle { s, t, lean: 0.0 }
}

fn disc(centre: [f64; 2], radius: f64) -> Shape {
    Shape::Ellipse { centre, axes: [radius, radius], turn: 0.0 }
}

impl Drawing {
    /// The telescope.
    pub(super) fn telescope() -> Self {
        let mut drawing = Drawing(vec![]);
        for side in [-1.0, 1.0] {
            drawing.solar_panel(side);
            drawing.antenna(side);
        }
        drawing.door();
        drawing.tube();
        drawing.instrument_bays();
        drawing.bolts();
        drawing
    }

    fn add(&mut self, material: usize, shape: Shape, light: Light) {
        self.0.push(Layer { material, shape, light });
    }

    /// A wing of cells in a rubber frame, crossed by copper, on an aluminium arm.
    fn solar_panel(&mut self, side: f64) {
        let lean = 0.12 * side;
        let across = |near: f64, far: f64| if side > 0.0 { [near, far] } else { [-far, -near] };
        let piece = |s: [f64; 2], t: [f64; 2]| Shape::Rectangle { s, t, lean };
        let light = || Light::Flat { centre: [0.0, side * 38.0], reach: 20.0 };
        self.add(
            ALUMINIUM,
            piece([-2.5, 1.5], across(8.0, 20.0)),
            Light::Flat { centre: [0.0, 0.0], reach: 20.0 },
        );
        self.add(BLACK_RUBBER, piece([-17.0, 16.0], across(19.0, 57.0)), light());
        self.add(SOLAR_CELL, piece([-15.0, 14.0], across(21.0, 55.0)), light());
        for strip in 0..3 {
            let t = 28.5 + 8.5 * f64::from(strip);
            self.add(COPPER_STRIP, piece([-15.0, 14.0], across(t, t + 1.7)), light());
        }
        self.add(COPPER_STRIP, piece([-1.4, 0.4], across(21.0, 55.0)), light());
    }

    /// A dish on a boom.
    fn antenna(&mut self, side: f64) {
        let (t0, t1) = if side > 0.0 { (9.0, 24.0) } else { (-24.0, -9.0) };
        self.add(
            ALUMINIUM,
            rectangle([29.0, 31.5], [t0, t1]),
            Light::Flat { centre: [30.0, 0.0], reach: 25.0 },
        );
        let centre = [30.0, side * 24.5];
        let dish = Shape::Ellipse { centre, axes: [7.0, 5.5], turn: 0.3 * side };
        self.add(WHITE_PAINT, dish, Light::Dome { centre, radius: 7.0 });
        self.add(BLACK_RUBBER, disc(centre, 1.6), Light::Dome { centre, radius: 1.6 });
    }

    /// The lid over the opening, swung open.
    fn door(&mut self) {
        let centre = [52.0, 17.0];
        let lid = |axes| Shape::Ellipse { centre, axes, turn: -0.75 };
        self.add(BLACK_RUBBER, lid([5.2, 11.2]), Light::Flat { centre, reach: 10.0 });
        self.add(HONEYCOMB, lid([4.0, 10.0]), Light::Flat { centre, reach: 10.0 });
    }

    fn tube(&mut self) {
        // Aft shroud with its rounded bulkhead, forward shell, the opening with its dark baffles.
        let bulkhead = Shape::Ellipse { centre: [-47.0, 0.0], axes: [6.0, 16.0], turn: 0.0 };
        self.add(HONEYCOMB, bulkhead, Light::Tube(16.0));
        self.add(GOLD_FOIL, rectangle([-46.0, -8.0], [-16.0, 16.0]), Light::Tube(16.0));
        self.add(ALUMINIUM, rectangle([-8.0, 46.0], [-11.5, 11.5]), Light::Tube(11.5));
        for s in [-10.0, 18.0] {
            let radius = if s < 0.0 { 16.5 } else { 12.0 };
            self.add(HONEYCOMB, rectangle([s, s + 4.5], [-radius, radius]), Light::Tube(radius));
        }
        let opening = |axes| Shape::Ellipse { centre: [46.0, 0.0], axes, turn: 0.0 };
        self.add(ALUMINIUM, opening([5.5, 11.5]), Light::Tube(11.5));
        self.add(BLACK_RUBBER, opening([4.3, 10.0]), Light::Flat { centre: [46.0, 0.0], reach: 10.0 });
    }

    /// White doors in the shroud, with rubber seals.
    fn instrument_bays(&mut self) {
        for s in [-42.0, -26.0] {
            for (t0, t1) in [(-11.5, -1.5), (1.5, 11.5)] {
                self.add(BLACK_RUBBER, rectangle([s, s + 12.5], [t0, t1]), Light::Tube(16.0));
                self.add(
                    WHITE_PAINT,
                    rectangle([s + 1.3, s + 11.2], [t0 + 1.3, t1 - 1.3]),
                    Light::Tube(16.0),
                );
            }
        }
    }

    /// Bolts around the two rings, on the bays and along the shroud.
    fn bolts(&mut self) {
        let mut bolt = |s: f64, t: f64| {
            let centre = [s, t];
            self.add(STEEL_BOLT, disc(centre, 1.5), Light::Dome { centre, radius: 1.5 });
        };
        for i in -2..=2 {
            bolt(-7.75, 6.2 * f64::from(i));
            bolt(20.25, 4.6 * f64::from(i));
        }
        for s in [-35.75, -19.75] {
            for t in [-6.5, 6.5] {
                bolt(s, t);
            }
        }
        for s in [-44.0, -28.0, -12.8] {
            for t in [-13.7, 13.7] {
                bolt(s, t);
            }
        }
    }
}
