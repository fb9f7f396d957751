//! Tests of the agents: whole transfers over a link, and what each dated constant changes.

mod constants;
mod delayed_acks;
mod loss;
mod properties;
mod transfer;
mod wire;
