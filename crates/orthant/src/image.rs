//! How a flat list of pixels makes a picture.

/// The order in which the pixels of a picture were laid out flat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scan {
    /// Column after column, as MATLAB does: pixel = column · height + row.
    Columns,
    /// Row after row: pixel = row · width + column.
    Rows,
}

/// A picture of `height` × `width` pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageShape {
    /// Rows of pixels.
    pub height: usize,
    /// Pixels in a row.
    pub width: usize,
    /// How the pixels follow each other.
    pub scan: Scan,
}
