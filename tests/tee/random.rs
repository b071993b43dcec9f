//! Random streams, cut at random, under random options, against a model that has all lines in memory.

use std::io::Write;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use serde_json::Value;

use super::tee;
use crate::harness::pipes::pipe;
use crate::harness::scratch::Scratch;

/// A line with or without its LF; some are objects.
fn line(random: &mut StdRng) -> Vec<u8> {
    let text = |random: &mut StdRng, most: usize| {
        let length = random.random_range(0..most);
        (0..length)
            .map(|_| *["x", "é", "漢", "\\\"", "\\n", " ", "{", "👩‍💻"].choose(random).expect("one"))
            .collect::<String>()
    };
    match random.random_range(0..10) {
        0 => b"noise".to_vec(),
        1 => format!("[{}]", random.random_range(0..99)).into_bytes(),
        2 => [&b"{\"x\":\""[..], b"\xe6\x87", b"\"}"].concat(),
        3 => vec![b' '; random.random_range(0..4)],
        4 => format!("{{\"x\":\"{}\"}}", text(random, 60_000)).into_bytes(),
        5 => format!("{{\"x\":\"{}\"", text(random, 3000)).into_bytes(),
        6 => b"{}\r".to_vec(),
        _ => {
            format!(" {{\"n\":{},\"x\":[\"{}\"]}}", random.random_range(0..9), text(random, 200)).into_bytes()
        }
    }
}

/// A stream of some lines; its last one may lack its LF.
fn stream(random: &mut StdRng) -> Vec<u8> {
    let mut stream = Vec::new();
    for _ in 0..random.random_range(0..60) {
        stream.extend(line(random));
        stream.push(b'\n');
    }
    if random.random_bool(0.5) {
        stream.extend(line(random));
    }
    if random.random_bool(0.2) {
        // A line that fits in no memory, whole or not.
        let end = *["\"}\n", "\"}", "\n"].choose(random).expect("one");
        let text = format!("\n{{\"x\":\"{}{end}", "y".repeat(random.random_range(1_000_000..2_500_000)));
        stream.extend(text.into_bytes());
    }
    stream
}

fn is_object(line: &[u8]) -> bool {
    matches!(serde_json::from_slice(line), Ok(Value::Object(_)))
}

#[test]
fn what_goes_where_is_as_if_all_lines_were_in_memory() {
    for seed in 0..40 {
        let mut random = StdRng::seed_from_u64(seed);
        let scratch = Scratch::new();
        let input = stream(&mut random);
        let only_json = random.random_bool(0.7);
        let mut args = vec!["f"];
        if only_json {
            args.extend(["--only-json", "--reject", "r"]);
        }
        if random.random_bool(0.5) {
            args.push("--status");
        }
        if random.random_bool(0.3) {
            args.push("--detach-stdout");
        }
        let (reader, mut writer) = pipe();
        let running = tee(&scratch).args(&args).stdin_from(reader).start();
        let mut rest = &*input;
        while !rest.is_empty() {
            let most = *[1, 10, 5000, 70_000, 1_000_000].choose(&mut random).expect("one");
            let length = random.random_range(1..=most).min(rest.len());
            writer.write_all(&rest[..length]).expect("feeding");
            rest = &rest[length..];
        }
        drop(writer);
        let ran = running.end();
        let (objects, others): (Vec<&[u8]>, Vec<&[u8]>) =
            input.split_inclusive(|&byte| byte == b'\n').partition(|line| is_object(line));
        let status = if args.contains(&"--status") { 65 } else { 0 };
        ran.exits(status);
        assert!(scratch.read("f") == input, "seed {seed}: the file");
        let expected = if only_json { objects.concat() } else { input.clone() };
        assert!(ran.stdout == expected, "seed {seed}: stdout");
        if only_json {
            assert!(scratch.read("r") == others.concat(), "seed {seed}: what was rejected");
        }
    }
}
