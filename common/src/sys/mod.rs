//! What touches the kernel: the only unsafe code and the only `cfg(target_os)`.
