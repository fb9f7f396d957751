//! Tests of the agents: whole transfers over a link, and the effect of each dated constant.

mod constants;
mod delayed_acks;
mod loss;
mod properties;
mod transfer;
mod wire;
