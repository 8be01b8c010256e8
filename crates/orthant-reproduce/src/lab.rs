//! Everything that tables and figures are made from.

use crate::cells::Cells;
use crate::protocol::Protocol;
use crate::sets::Sets;

/// The data, the protocol, and what has been computed.
pub struct Lab<'a> {
    pub sets: &'a Sets,
    pub protocol: &'a Protocol,
    pub cells: &'a Cells,
}
