//! Tests of the public interface, in one binary.
