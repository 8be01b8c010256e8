//! Numbers in binary files: element types, byte orders, and what they become in memory.

use std::io::Read;

use super::{Options, Precision};
use crate::matrix::kernels::with_room;
use crate::matrix::{AnyPoints, Csr, Dense, Matrix};

/// What a matrix in memory is made of: `f32` or `f64`.
pub(crate) trait Number: bytemuck::Pod + Default + PartialEq + Send + Sync + Into<f64> {
    /// How this machine's memory holds it, if its least byte comes first.
    const NATIVE: Layout;
    /// Rounds to the nearest.
    fn from_f64(value: f64) -> Self;
    /// A dense matrix of this precision.
    fn dense(x: Dense<'static, Self>) -> Matrix;
    /// The numbers of dense points of this precision.
    fn numbers<'p>(points: &'p AnyPoints) -> &'p [Self];
    /// A sparse matrix of this precision.
    fn sparse(x: Csr<'static, Self, i32>) -> Matrix;
}

impl Number for f32 {
    const NATIVE: Layout = Layout { element: Element::F32, big_endian: false };
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as f32
    }
    fn numbers<'p>(points: &'p AnyPoints) -> &'p [f32] {
        match points {
            AnyPoints::DenseF32(x) => x.data(),
            _ => unreachable!("the shape says otherwise"),
        }
    }
    fn dense(x: Dense<'static, f32>) -> Matrix {
        Matrix::DenseF32(x)
    }
    fn sparse(x: Csr<'static, f32, i32>) -> Matrix {
        Matrix::SparseF32(x)
    }
}

impl Number for f64 {
    const NATIVE: Layout = Layout { element: Element::F64, big_endian: false };
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }
    fn numbers<'p>(points: &'p AnyPoints) -> &'p [f64] {
        match points {
            AnyPoints::DenseF64(x) => x.data(),
            _ => unreachable!("the shape says otherwise"),
        }
    }
    fn dense(x: Dense<'static, f64>) -> Matrix {
        Matrix::DenseF64(x)
    }
    fn sparse(x: Csr<'static, f64, i32>) -> Matrix {
        Matrix::SparseF64(x)
    }
}

/// The element types that the formats here store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
}

/// Elements with their byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    pub element: Element,
    pub big_endian: bool,
}

/// Which index runs fastest in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Rows,
    Columns,
}

impl Element {
    pub fn size(self) -> usize {
        match self {
            Element::I8 | Element::U8 => 1,
            Element::I16 | Element::U16 | Element::F16 => 2,
            Element::I32 | Element::U32 | Element::F32 => 4,
            Element::I64 | Element::U64 | Element::F64 => 8,
        }
    }

    /// float32 stays float32, everything else becomes float64, unless the caller wants otherwise.
    pub fn precision(self, options: &Options) -> Precision {
        let own = if self == Element::F32 { Precision::F32 } else { Precision::F64 };
        options.precision.unwrap_or(own)
    }
}

impl Layout {
    /// Appends all whole elements of `bytes`.
    pub fn decode<T: Number>(self, bytes: &[u8], into: &mut Vec<T>) {
        macro_rules! each {
            ($t:ty, $size:literal, $to:expr) => {{
                let whole = bytes.as_chunks::<$size>().0;
                if self.big_endian {
                    into.extend(whole.iter().map(|b| T::from_f64($to(<$t>::from_be_bytes(*b)))))
                } else {
                    into.extend(whole.iter().map(|b| T::from_f64($to(<$t>::from_le_bytes(*b)))))
                }
            }};
        }
        match self.element {
            Element::I8 => each!(i8, 1, f64::from),
            Element::U8 => each!(u8, 1, f64::from),
            Element::I16 => each!(i16, 2, f64::from),
            Element::U16 => each!(u16, 2, f64::from),
            Element::I32 => each!(i32, 4, f64::from),
            Element::U32 => each!(u32, 4, f64::from),
            Element::I64 => each!(i64, 8, |x| x as f64),
            Element::U64 => each!(u64, 8, |x| x as f64),
            Element::F16 => each!(u16, 2, half),
            Element::F32 => each!(f32, 4, f64::from),
            Element::F64 => each!(f64, 8, |x| x),
        }
    }

    /// Integers as they are, for indices; floats are cut to whole numbers.
    pub fn integers(self, bytes: &[u8]) -> Vec<i64> {
        match self.element {
            Element::I64 if self.big_endian => {
                bytes.as_chunks().0.iter().map(|b| i64::from_be_bytes(*b)).collect()
            }
            Element::I64 => bytes.as_chunks().0.iter().map(|b| i64::from_le_bytes(*b)).collect(),
            _ => {
                let mut values: Vec<f64> = Vec::new();
                self.decode(bytes, &mut values);
                values.into_iter().map(|x| x as i64).collect()
            }
        }
    }

    /// Reads `count` elements. Memory grows with what is really there and not ahead of it, unless the
    /// count is `proven` by the size of the file; the error is the number of bytes at which the
    /// content ended or reading failed.
    pub fn read<T: Number>(self, mut reader: impl Read, count: u64, proven: bool) -> Result<Vec<T>, Short> {
        const PIECE: u64 = 1 << 18;
        let size = self.element.size() as u64;
        let wanted = count.checked_mul(size).ok_or(Short { bytes: 0, error: None })?;
        let mut values = with_room(if proven { count as usize } else { 0 });
        let mut buffer = Vec::new();
        let mut done = 0;
        while done < wanted {
            let piece = PIECE.min(wanted - done);
            buffer.clear();
            let read = reader.by_ref().take(piece).read_to_end(&mut buffer);
            let bytes = done + buffer.len() as u64;
            if let Err(error) = read {
                return Err(Short { bytes, error: Some(error) });
            }
            if (buffer.len() as u64) < piece {
                return Err(Short { bytes, error: None });
            }
            self.decode(&buffer, &mut values);
            done += piece;
        }
        Ok(values)
    }
}

/// The content ended (or reading it failed) after so many bytes.
#[derive(Debug)]
pub(crate) struct Short {
    pub bytes: u64,
    pub error: Option<std::io::Error>,
}

/// IEEE 754 half precision.
pub(super) fn half(bits: u16) -> f64 {
    let (sign, exponent, fraction) = (bits >> 15, (bits >> 10) & 0x1f, f64::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (fraction + 1024.0) * 2f64.powi(i32::from(exponent) - 25),
    };
    if sign == 1 { -size } else { size }
}

/// A dense matrix from its numbers in the order of the file; the caller has checked the count.
pub(crate) fn dense<T: Number>(points: usize, features: usize, values: Vec<T>, order: Order) -> Matrix {
    let checked = "the caller counted the numbers";
    match order {
        // Of nothing there is nothing to turn, however many empty rows the shape claims.
        _ if values.is_empty() => T::dense(Dense::new(points, features, values).expect(checked)),
        Order::Rows => T::dense(Dense::new(points, features, values).expect(checked)),
        Order::Columns => T::dense(Dense::new(features, points, values).expect(checked).transposed()),
    }
}

/// A dense matrix of numbers from text.
pub(crate) fn dense_text(
    points: usize,
    features: usize,
    values: Vec<f64>,
    order: Order,
    options: &Options,
) -> Matrix {
    match options.precision {
        Some(Precision::F32) => dense(points, features, values.iter().map(|&x| x as f32).collect(), order),
        _ => dense(points, features, values, order),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_follows_ieee_754() {
        let known = [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 2f64.powi(-24)),
            (0x3555, 0.333251953125),
            (0x7c00, f64::INFINITY),
        ];
        for (bits, value) in known {
            assert_eq!(half(bits), value);
        }
        assert!(half(0x7e00).is_nan());
    }

    #[test]
    fn both_byte_orders_decode() {
        let mut values: Vec<f64> = Vec::new();
        Layout { element: Element::U16, big_endian: true }.decode(&[1, 2, 0, 3], &mut values);
        Layout { element: Element::I16, big_endian: false }.decode(&[0xff, 0xff], &mut values);
        assert_eq!(values, [258.0, 3.0, -1.0]);
    }
}
