//! What is not a run: the record of all calls, and `codex login status`.

use std::fs::OpenOptions;
use std::io::Write;

/// Adds the arguments of this call to the file in `FAKE_CODEX_CALLS`, if there is one.
pub(crate) fn record(arguments: &[String]) {
    if let Some(file) = std::env::var_os("FAKE_CODEX_CALLS") {
        let mut file = OpenOptions::new().append(true).create(true).open(file).expect("the file of calls");
        // One write, so that calls side by side do not mix.
        file.write_all(format!("{}\n", arguments.join(" ")).as_bytes()).expect("writing the file of calls");
    }
}

/// Answers `codex login status`.
pub(crate) fn login_status() {
    match std::env::var("FAKE_CODEX_LOGIN").as_deref() {
        Ok("fail") => {
            eprintln!("Not logged in");
            std::process::exit(1)
        }
        Ok("hang") => loop {
            std::thread::park();
        },
        Ok(other) => panic!("FAKE_CODEX_LOGIN is {other:?}, not fail or hang"),
        Err(_) => eprintln!("Logged in using ChatGPT"),
    }
}
