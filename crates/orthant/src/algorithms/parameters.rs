//! Parameters of methods: each is declared once, beside its algorithm, by [`declare!`].
//!
//! A declaration gives the field of the struct with its default, and the line of the table from which the program takes
//! its flag and help, and Python its argument, annotation and documentation.

use super::{Algorithm, Method};
use crate::error::{Error, Result, Short};

/// A parameter of a method: declared once, set from the command line, Python and Rust.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name, in kebab-case.
    pub name: &'static str,
    /// Its value unless set; NaN where it depends on the start.
    pub default: f64,
    /// Least and greatest value allowed.
    pub range: (f64, f64),
    /// Whether only whole numbers make sense.
    pub whole: bool,
    /// Names of the values 0, 1, … where it has names instead of numbers.
    pub names: &'static [&'static str],
    /// One line of help.
    pub help: &'static str,
}

impl Parameter {
    /// Whether a value is one of this parameter.
    fn check(&self, value: f64) -> Result<()> {
        let (least, most) = self.range;
        if (least..=most).contains(&value) && (!self.whole || value.fract() == 0.0) {
            return Ok(());
        }
        let kind = if self.whole { "a whole number" } else { "a number" };
        let [value, least, most] = [value, least, most].map(Short);
        let problem = format!("{value} was given, {kind} from {least} to {most} is needed");
        Err(Error::parameter(self.name, problem))
    }
}

const BLANK: Parameter =
    Parameter { name: "", default: f64::NAN, range: (0.0, 0.0), whole: false, names: &[], help: "" };

/// A number in a range.
pub(super) const fn real(default: f64, least: f64, most: f64) -> Parameter {
    Parameter { default, range: (least, most), ..BLANK }
}

/// A whole number from `least`.
pub(super) const fn whole(default: f64, least: f64) -> Parameter {
    Parameter { default, range: (least, 1e15), whole: true, ..BLANK }
}

/// One of several names, by its number.
pub(super) const fn named(default: usize, names: &'static [&'static str]) -> Parameter {
    let range = (0.0, names.len() as f64 - 1.0);
    Parameter { default: default as f64, range, whole: true, names, ..BLANK }
}

/// `max_iterations` → `max-iterations`.
pub(super) const fn kebab<const LENGTH: usize>(field: &str) -> [u8; LENGTH] {
    let (mut name, mut at) = ([0; LENGTH], 0);
    while at < LENGTH {
        let letter = field.as_bytes()[at];
        name[at] = if letter == b'_' { b'-' } else { letter };
        at += 1;
    }
    name
}

/// What a field of a method's struct can be.
pub(super) trait Field {
    fn from_number(number: f64) -> Self;
    fn number(self) -> f64;
}

impl Field for f64 {
    fn from_number(number: f64) -> Self {
        number
    }
    fn number(self) -> f64 {
        self
    }
}

impl Field for usize {
    fn from_number(number: f64) -> Self {
        number as usize
    }
    fn number(self) -> f64 {
        self as f64
    }
}

/// NaN means that the method chooses.
impl<T: Field> Field for Option<T> {
    fn from_number(number: f64) -> Self {
        (!number.is_nan()).then(|| T::from_number(number))
    }
    fn number(self) -> f64 {
        self.map_or(f64::NAN, T::number)
    }
}

/// A method by the struct of its parameters: `Job::new(OnpMf { rho: 0.1, ..OnpMf::default() }, 9)`.
pub trait Declared: Algorithm + Copy + 'static {
    /// Its line of the table.
    const METHOD: Method;
    /// With a number for each parameter, in order; NaN where it depends on the start.
    fn from_numbers(numbers: &[f64]) -> Self;
    /// The numbers of all parameters.
    fn numbers(&self) -> Vec<f64>;
}

/// Declares a method: its line of the table, then the struct of its parameters. The first line of a field's
/// documentation is its help.
macro_rules! declare {
    (
        $($key:ident: $value:expr,)* ..$base:expr;
        $(#[$about:meta])*
        pub struct $name:ident {
            $(#[doc = $help:literal] $(#[doc = $more:literal])* $field:ident: $type:ty = $parameter:expr,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct $name {
            $(#[doc = $help] $(#[doc = $more])* pub $field: $type,)*
        }

        impl $crate::algorithms::Declared for $name {
            const METHOD: $crate::algorithms::Method = $crate::algorithms::Method {
                $($key: $value,)*
                parameters: &[$($crate::algorithms::Parameter {
                    name: {
                        const NAME: [u8; stringify!($field).len()] =
                            $crate::algorithms::parameters::kebab(stringify!($field));
                        match std::str::from_utf8(&NAME) {
                            Ok(name) => name,
                            Err(_) => unreachable!(),
                        }
                    },
                    help: $help.trim_ascii(),
                    ..$parameter
                }),*],
                build: |numbers| Box::new(<$name as $crate::algorithms::Declared>::from_numbers(numbers)),
                ..$base
            };

            fn from_numbers(numbers: &[f64]) -> Self {
                let mut numbers = numbers.iter();
                let mut next = || *numbers.next().expect("a number for each parameter");
                $name { $($field: $crate::algorithms::parameters::Field::from_number(next())),* }
            }

            fn numbers(&self) -> Vec<f64> {
                vec![$($crate::algorithms::parameters::Field::number(self.$field)),*]
            }
        }

        impl Default for $name {
            fn default() -> Self {
                let defaults = <$name as $crate::algorithms::Declared>::METHOD.parameters.iter().map(|p| p.default);
                $crate::algorithms::Declared::from_numbers(&defaults.collect::<Vec<_>>())
            }
        }
    };
}
pub(super) use declare;

/// Values for some of a method's parameters.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Values(Vec<(String, f64)>);

impl Values {
    /// None set.
    pub fn new() -> Self {
        Values::default()
    }

    /// Sets one.
    pub fn set(mut self, name: &str, value: f64) -> Self {
        self.0.retain(|(n, _)| n != name);
        self.0.push((name.to_string(), value));
        self
    }

    /// The value of one, where it was set.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, v)| *v)
    }

    /// All that were set.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(n, v)| (n.as_str(), *v))
    }
}

impl Method {
    /// The algorithm with the given values, after checking them against the table.
    pub fn with(&self, values: &Values) -> Result<Box<dyn Algorithm>> {
        for (name, value) in values.iter() {
            let Some(parameter) = self.parameters.iter().find(|p| p.name == name) else {
                let known: Vec<&str> = self.parameters.iter().map(|p| p.name).collect();
                return Err(Error::parameter(
                    name,
                    format!("{} has no such parameter; it has {}", self.name, known.join(", ")),
                ));
            };
            parameter.check(value)?;
        }
        let numbers: Vec<f64> =
            self.parameters.iter().map(|p| values.get(p.name).unwrap_or(p.default)).collect();
        Ok((self.build)(&numbers))
    }
}

/// What names a method: its name, its line of the table, or its parameters.
pub trait Asked {
    /// The method, and the values that differ from its defaults.
    fn asked(self) -> Result<(&'static Method, Values)>;
}

impl Asked for &str {
    fn asked(self) -> Result<(&'static Method, Values)> {
        Ok((super::method(self)?, Values::new()))
    }
}

impl Asked for &'static Method {
    fn asked(self) -> Result<(&'static Method, Values)> {
        Ok((self, Values::new()))
    }
}

impl<D: Declared> Asked for D {
    fn asked(self) -> Result<(&'static Method, Values)> {
        let method = super::method(D::METHOD.name)?;
        let mut values = Values::new();
        for (parameter, number) in method.parameters.iter().zip(self.numbers()) {
            // Values are compared as they are written: what is not a number is the default, or refused.
            if number.to_bits() != parameter.default.to_bits()
                && !(number.is_nan() && parameter.default.is_nan())
            {
                parameter.check(number)?;
                values = values.set(parameter.name, number);
            }
        }
        Ok((method, values))
    }
}
