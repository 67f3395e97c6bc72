//! Implementation detail of `tsc-runtime`.
