//! Page loads that browsers recorded: the bytes of a HAR, its pages, and each as a [`Recording`].

mod recording;
mod sent;

pub use recording::Recording;
pub use sent::{Kind, Protocol, Sent, Stated};
