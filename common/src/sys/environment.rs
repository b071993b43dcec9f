//! The environment that this process was started with.

use nix::libc::{self, c_char};
use std::ffi::CStr;

/// Removes every variable with one of these names, and overwrites it in memory. Other processes can read the initial
/// environment of this one (/proc/PID/environ), so removing alone is not enough. This process has one thread.
pub fn erase(names: &[&str]) {
    // SAFETY: `environ` is an array of pointers to strings that a null pointer ends (environ(7)), or null itself. There is
    // one thread, so nobody else reads or changes it. The strings stand in memory of this process, which may be written,
    // and nobody has kept a reference into them.
    unsafe {
        let mut from = list();
        let mut to = from;
        while !from.is_null() && !(*from).is_null() {
            let variable = *from;
            if has_name(CStr::from_ptr(variable).to_bytes(), names) {
                libc::memset(variable.cast(), 0, libc::strlen(variable));
            } else {
                *to = variable;
                to = to.add(1);
            }
            from = from.add(1);
        }
        if !to.is_null() {
            *to = std::ptr::null_mut();
        }
    }
}

fn has_name(variable: &[u8], names: &[&str]) -> bool {
    let end = variable.iter().position(|&byte| byte == b'=');
    end.is_some_and(|end| names.iter().any(|name| name.as_bytes() == &variable[..end]))
}

#[cfg(target_vendor = "apple")]
unsafe fn list() -> *mut *mut c_char {
    // SAFETY: it always points to the array.
    unsafe { *libc::_NSGetEnviron() }
}

#[cfg(not(target_vendor = "apple"))]
unsafe fn list() -> *mut *mut c_char {
    unsafe extern "C" {
        static mut environ: *mut *mut c_char;
    }
    // SAFETY: the C library defines it, and the one thread of this process does not change it meanwhile.
    unsafe { environ }
}
