//! How the pixels of an image stand in a list: shared by readers, generators and reports.

use crate::error::{Error, Result};

/// The order in which pixels are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scan {
    /// Column after column: pixel `p = column · height + row` (MATLAB, Fortran).
    Columns,
    /// Row after row: pixel `p = row · width + column` (C, numpy).
    Rows,
}

/// Height, width and scan order of an image whose pixels are points (or features).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageShape {
    /// Rows of the image.
    pub height: usize,
    /// Columns of the image.
    pub width: usize,
    /// Which pixel follows which.
    pub scan: Scan,
}

impl ImageShape {
    /// How many pixels.
    pub fn pixels(&self) -> usize {
        self.height * self.width
    }

    /// The row of pixel `p`, counted from the top.
    pub fn row(&self, p: usize) -> usize {
        match self.scan {
            Scan::Columns => p % self.height,
            Scan::Rows => p / self.width,
        }
    }

    /// The column of pixel `p`, counted from the left.
    pub fn column(&self, p: usize) -> usize {
        match self.scan {
            Scan::Columns => p / self.height,
            Scan::Rows => p % self.width,
        }
    }

    /// The pixel at a row and a column.
    pub fn pixel(&self, row: usize, column: usize) -> usize {
        match self.scan {
            Scan::Columns => column * self.height + row,
            Scan::Rows => row * self.width + column,
        }
    }

    /// The share of neighbours (right and below) that differ in a list with an entry for each pixel: small where the
    /// picture is smooth, large where it is noise or listed in the wrong order.
    pub fn edges<T: PartialEq>(&self, pixels: &[T]) -> f64 {
        let (mut pairs, mut edges) = (0usize, 0usize);
        for row in 0..self.height {
            for column in 0..self.width {
                let own = &pixels[self.pixel(row, column)];
                let right = (column + 1 < self.width).then(|| self.pixel(row, column + 1));
                let below = (row + 1 < self.height).then(|| self.pixel(row + 1, column));
                for other in [right, below].into_iter().flatten() {
                    pairs += 1;
                    edges += usize::from(pixels[other] != *own);
                }
            }
        }
        edges as f64 / pairs.max(1) as f64
    }

    /// An error unless the image has exactly `points` pixels.
    pub fn check(&self, points: usize) -> Result<()> {
        if self.height.checked_mul(self.width) == Some(points) {
            return Ok(());
        }
        Err(Error::Data(format!(
            "an image of {} rows and {} columns does not have {points} pixels",
            self.height, self.width
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_and_column_lead_back_to_the_pixel() {
        for scan in [Scan::Columns, Scan::Rows] {
            let shape = ImageShape { height: 3, width: 5, scan };
            for p in 0..shape.pixels() {
                assert!(shape.row(p) < 3 && shape.column(p) < 5);
                assert_eq!(shape.pixel(shape.row(p), shape.column(p)), p);
            }
        }
        let columns = ImageShape { height: 3, width: 5, scan: Scan::Columns };
        assert_eq!((columns.row(4), columns.column(4)), (1, 1));
        let rows = ImageShape { height: 3, width: 5, scan: Scan::Rows };
        assert_eq!((rows.row(4), rows.column(4)), (0, 4));
    }

    #[test]
    fn a_picture_in_the_wrong_order_has_more_edges() {
        let shape = ImageShape { height: 6, width: 9, scan: Scan::Rows };
        // Left and right half: in each row one of eight pairs differs, and none below each other.
        let halves: Vec<bool> = (0..shape.pixels()).map(|p| shape.column(p) < 4).collect();
        assert_eq!(shape.edges(&halves), 6.0 / (6.0 * 8.0 + 5.0 * 9.0));
        assert!(ImageShape { scan: Scan::Columns, ..shape }.edges(&halves) > 0.3);
        assert_eq!(ImageShape { height: 1, width: 1, scan: Scan::Rows }.edges(&[1]), 0.0);
    }

    #[test]
    fn a_wrong_number_of_pixels_is_refused() {
        let shape = ImageShape { height: 3, width: 5, scan: Scan::Rows };
        assert!(shape.check(15).is_ok());
        let message = shape.check(14).unwrap_err().to_string();
        assert!(message.contains("3 rows and 5 columns") && message.contains("14"), "{message}");
        assert!(ImageShape { height: usize::MAX, width: 2, scan: Scan::Rows }.check(4).is_err());
    }
}
