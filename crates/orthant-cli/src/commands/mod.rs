//! One file for each command.

pub mod advise;
pub mod choose_k;
pub mod cluster;
pub mod compare;
pub mod completions;
pub mod convert;
pub mod demo;
pub mod evaluate;
pub mod generate;
pub mod info;
pub mod manual;
pub mod methods;
pub mod predict;
pub mod reproduce;
mod table;
