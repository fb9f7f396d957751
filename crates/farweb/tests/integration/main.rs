//! Tests of whole runs through the public interface, in one binary.

mod breakdown;
mod cache_hierarchies;
mod caches;
mod caches_in_a_row;
mod capture;
mod carriers;
mod chains;
mod closed_form;
mod conservation;
mod determinism;
mod endings;
mod failures;
mod giving_up;
mod held;
mod http11;
mod http2;
mod http_reference;
mod layers;
mod linux_reference;
mod measured;
mod ns2;
mod ns2_clock;
mod result_version;
mod run;
mod transfers;
mod webmux;
