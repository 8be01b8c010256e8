//! A method by its name, with what may have been meant where there is none.

use anyhow::{Result, anyhow};
use orthant::Error;
use orthant::algorithms::{METHODS, Method, method};

use crate::args::meant;

/// A method by its name; `place` is where the name was given.
pub fn find(place: &str, name: &str) -> Result<&'static Method> {
    method(name).map_err(|error| match error {
        Error::Parameter { problem, .. } => match meant(name, METHODS.iter().map(|method| method.name)) {
            Some(meant) => anyhow!("{place}: there is no method '{name}': is {meant} meant?"),
            None => anyhow!("{place}: {problem}"),
        },
        other => other.into(),
    })
}
