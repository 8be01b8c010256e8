//! Values as bytes: what crosses to another process, and what a checkpoint holds.
//!
//! Little-endian, arrays behind their lengths; no length is believed before the bytes are there. Written by hand: it is a
//! page of code, and a serialisation library with its derive macros would be the largest dependency of the crate.

/// Can be written as bytes and read back; `None` where the bytes end too early or make no sense.
pub trait Bytes: Sized {
    /// Appends the value.
    fn write(&self, to: &mut Vec<u8>);
    /// Takes a value from the front.
    fn read(from: &mut &[u8]) -> Option<Self>;

    /// Appends many values.
    fn write_all(values: &[Self], to: &mut Vec<u8>) {
        values.iter().for_each(|value| value.write(to));
    }
    /// Takes so many values from the front.
    fn read_all(count: usize, from: &mut &[u8]) -> Option<Vec<Self>> {
        // Values without bytes, or fewer of them than were promised, must not take memory first.
        let mut values = Vec::with_capacity(count.min(from.len()));
        for _ in 0..count {
            values.push(Self::read(from)?);
            if size_of::<Self>() == 0 && values.len() > from.len() {
                return None;
            }
        }
        Some(values)
    }

    /// The value alone.
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![];
        self.write(&mut bytes);
        bytes
    }

    /// From all of the bytes.
    fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let value = Self::read(&mut bytes)?;
        bytes.is_empty().then_some(value)
    }
}

macro_rules! numbers {
    ($($t:ty),*) => { $(impl Bytes for $t {
        fn write(&self, to: &mut Vec<u8>) {
            to.extend_from_slice(&self.to_le_bytes());
        }
        fn read(from: &mut &[u8]) -> Option<Self> {
            let (head, tail) = from.split_first_chunk()?;
            *from = tail;
            Some(<$t>::from_le_bytes(*head))
        }
        // Arrays are long: in one piece each.
        fn write_all(values: &[Self], to: &mut Vec<u8>) {
            let at = to.len();
            to.resize(at + size_of_val(values), 0);
            let (places, _) = to[at..].as_chunks_mut();
            places.iter_mut().zip(values).for_each(|(place, value)| *place = value.to_le_bytes());
        }
        fn read_all(count: usize, from: &mut &[u8]) -> Option<Vec<Self>> {
            let (head, tail) = from.split_at_checked(count.checked_mul(size_of::<Self>())?)?;
            *from = tail;
            Some(head.as_chunks().0.iter().map(|bytes| <$t>::from_le_bytes(*bytes)).collect())
        }
    })* };
}
numbers!(u8, u32, u64, u128, i32, f32, f64);

impl Bytes for usize {
    fn write(&self, to: &mut Vec<u8>) {
        (*self as u64).write(to);
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        u64::read(from)?.try_into().ok()
    }
}

impl Bytes for bool {
    fn write(&self, to: &mut Vec<u8>) {
        u8::from(*self).write(to);
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        match u8::read(from)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Bytes for () {
    fn write(&self, _to: &mut Vec<u8>) {}
    fn read(_from: &mut &[u8]) -> Option<Self> {
        Some(())
    }
}

impl Bytes for String {
    fn write(&self, to: &mut Vec<u8>) {
        self.len().write(to);
        to.extend_from_slice(self.as_bytes());
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        let length = usize::read(from)?;
        let (head, tail) = from.split_at_checked(length)?;
        *from = tail;
        String::from_utf8(head.to_vec()).ok()
    }
}

impl<T: Bytes> Bytes for Vec<T> {
    fn write(&self, to: &mut Vec<u8>) {
        self.len().write(to);
        T::write_all(self, to);
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        T::read_all(usize::read(from)?, from)
    }
}

impl<T: Bytes> Bytes for Option<T> {
    fn write(&self, to: &mut Vec<u8>) {
        self.is_some().write(to);
        self.iter().for_each(|value| value.write(to));
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        Some(if bool::read(from)? { Some(T::read(from)?) } else { None })
    }
}

impl<A: Bytes, B: Bytes> Bytes for (A, B) {
    fn write(&self, to: &mut Vec<u8>) {
        self.0.write(to);
        self.1.write(to);
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        Some((A::read(from)?, B::read(from)?))
    }
}

impl Bytes for std::ops::Range<usize> {
    fn write(&self, to: &mut Vec<u8>) {
        (self.start, self.end).write(to);
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        let (start, end) = Bytes::read(from)?;
        Some(start..end)
    }
}

/// Bytes of a struct, field by field in the order given.
macro_rules! bytes_of {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::bytes::Bytes for $name {
            fn write(&self, _to: &mut Vec<u8>) {
                $($crate::bytes::Bytes::write(&self.$field, _to);)*
            }
            fn read(_from: &mut &[u8]) -> Option<Self> {
                Some($name { $($field: $crate::bytes::Bytes::read(_from)?),* })
            }
        }
    };
}
pub(crate) use bytes_of;

/// Tells a torn or changed text from a whole one (FNV-1a).
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &b| (hash ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

/// Tells other numbers from these.
pub(crate) fn digest(words: impl IntoIterator<Item = u64>) -> u64 {
    words
        .into_iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ word).wrapping_mul(0x100_0000_01b3).rotate_left(23))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Mat;

    #[test]
    fn values_come_back_and_no_cut_of_their_bytes_does() {
        type Value = (Vec<Option<f64>>, (Mat, (usize, String)));
        let value: Value =
            (vec![Some(1.5), None, Some(f64::NAN)], (Mat::identity(3), (7, "βeta".to_string())));
        let bytes = value.to_bytes();
        let back = Value::from_bytes(&bytes).unwrap();
        assert_eq!(back.1, value.1);
        assert_eq!(back.0[0], Some(1.5));
        assert!(back.0[2].unwrap().is_nan());
        for cut in 0..bytes.len() {
            assert!(Value::from_bytes(&bytes[..cut]).is_none(), "{cut}");
        }
    }

    #[test]
    fn lengths_are_not_believed() {
        let huge = u64::MAX.to_bytes();
        assert!(Vec::<f64>::from_bytes(&huge).is_none());
        assert!(String::from_bytes(&huge).is_none());
        assert!(Vec::<()>::from_bytes(&huge).is_none());
    }
}
