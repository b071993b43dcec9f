//! What touches the kernel: the only unsafe code and the only `cfg(target_os)`.
//!
//! One facade, the same words on every platform. Where a platform cannot do a thing the answer says so, and edge
//! goes on without it.
#![allow(unsafe_code)]

pub(crate) mod descent;
pub(crate) mod descriptor;
pub(crate) mod disposition;
pub(crate) mod notice;
pub(crate) mod process;
