//! Charts as inline SVG or HTML: values on hover and by keyboard, nothing loaded from elsewhere.

mod bars;
mod cloud;
mod dots;
mod file;
mod heat;
mod histogram;
mod lines;
mod scale;

pub use bars::{Bar, bars};
pub use cloud::{Group, cloud};
pub use dots::{Dot, dots};
pub use file::file;
pub use heat::{Heat, heat};
pub use histogram::{Histogram, counts, histogram};
pub use lines::{HorizontalLine, Line, Lines, Mark, Marker, Series, lines};
pub use scale::{Axis, Scale};
