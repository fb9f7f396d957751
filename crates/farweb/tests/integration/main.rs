//! Tests of whole runs through the public interface, in one binary.

mod capture;
mod closed_form;
mod conservation;
mod determinism;
mod endings;
mod linux_reference;
mod ns2;
mod ns2_clock;
mod run;
mod transfers;
