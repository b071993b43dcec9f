//! Many files, and long ones.

use std::fmt::Write;
use std::time::Duration;

use crate::harness::filter::filter;
use crate::harness::pipes::{feed_line, pipe};
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, lines};

const FILES: usize = 10_000;

/// A run of thread `thread` with a total of `total` input tokens.
fn run(thread: usize, total: usize) -> String {
    let usage = format!(r#"{{"input_tokens":{total},"cached_input_tokens":0,"output_tokens":{total}}}"#);
    format!(
        "{{\"type\":\"thread.started\",\"thread_id\":\"t{thread}\"}}\n{{\"type\":\"turn.completed\",\"usage\":{usage}}}\n"
    )
}

#[test]
fn ten_thousand_files_are_read_one_after_the_other() {
    let scratch = Scratch::new();
    let mut list = String::new();
    for number in 0..FILES {
        let name = format!("run{number:05}.jsonl");
        writeln!(list, "{name}").expect("a string");
        scratch.write(&name, run(number % 5000, 10 * (number / 5000 + 1)));
    }
    scratch.write("list", &list);
    // Standard input, output and error, the list, one file, and some that the runtime may want.
    let limited = ["bash", "-c", r#"ulimit -n 16; exec "$@""#, "bash"];
    let listed = filter("usage-diff").args(["--files-from", "list"]).dir(scratch.dir()).under(&limited).run();
    listed.exits(0).peak_under_mib(16);
    let records = listed.stdout_text();
    assert_eq!(records.lines().count(), FILES + 5000 + 1);
    assert!(records.ends_with(
        "{\"type\":\"usage.total\",\"files\":10000,\"threads\":5000,\"runs\":10000,\"unknown_runs\":0,\
         \"reset_runs\":0,\"incomplete_runs\":0,\"usage\":{\"input_tokens\":100000,\"cached_input_tokens\":0,\"output_tokens\":100000,\
         \"total_tokens\":200000}}\n"
    ));
    let second = records.lines().nth(5000).expect("a record");
    assert!(
        second.contains(r#""run":2,"basis":"thread","basis_from":"assumed","baseline":"previous-run","usage":{"input_tokens":10,"#)
    );
    let from_stdin = filter("usage-diff").args(["--files-from", "-"]).stdin(list.as_str());
    from_stdin.dir(scratch.dir()).run().exits(0).stdout_is(&records);
    let named = filter("usage-diff").args(list.lines()).dir(scratch.dir()).run();
    named.exits(0).stdout_is(&records);
}

#[test]
fn a_line_of_a_gibibyte_is_read_in_little_memory() {
    let (head, tail) = (r#"{"type":"item.completed","item":{"aggregated_output":""#, r#""}}"#);
    let (input, writer) = pipe();
    let fed = feed_line(writer, head, 1 << 30, tail, lines([C]));
    let ran = filter("usage-diff").args(["--field", "total_tokens", "-"]).stdin_from(input).run();
    ran.exits(0).stdout_is("2\n").peak_under_mib(16);
    assert_eq!(ran.stderr_text(), "");
    fed.join().expect("the feeder");
}

#[test]
fn a_usage_on_a_line_beyond_the_cap_is_named() {
    let padded = |padding: usize| {
        format!(
            "{{\"usage\":{{\"output_tokens\":7}},\"type\":\"turn.completed\",\"x\":\"{}\"}}\n",
            "x".repeat(padding)
        )
    };
    let usage =
        |padding| filter("usage-diff").args(["--field", "output_tokens", "-"]).stdin(padded(padding)).run();
    usage(1_000_000).exits(0).stdout_is("7\n").peak_under_mib(16);
    let ran = usage(1 << 20);
    ran.exits(0).stdout_is("unknown\n");
    ran.stderr_has("-: usage: on a line of more than 1048576 bytes: unknown");
    let fields: String = (0..70_000).map(|number| format!("\"f{number}\":1,")).collect();
    let many = format!("{{\"type\":\"turn.completed\",\"usage\":{{{fields}\"output_tokens\":7}}}}\n");
    let ran = filter("usage-diff").args(["--field", "f63", "-"]).stdin(many).run();
    ran.exits(0).stdout_is("1\n").peak_under_mib(16).stderr_has("more than 64 fields: the rest is left out");
}

#[test]
fn a_stream_that_comes_in_pieces_is_counted_the_same() {
    let stream = "\u{feff}\r\n".to_owned() + &run(1, 7) + &run(2, 9).repeat(3);
    let whole = filter("usage-diff").arg("-").stdin(stream.as_str()).run();
    let (input, mut writer) = pipe();
    let feeder = std::thread::spawn(move || {
        for byte in stream.as_bytes().chunks(1) {
            std::io::Write::write_all(&mut writer, byte).expect("feeding");
        }
    });
    let ran = filter("usage-diff").arg("-").stdin_from(input).run();
    feeder.join().expect("the feeder");
    ran.exits(0).stdout_is(&whole.stdout);
}

#[test]
fn names_of_files_that_are_not_there_cost_no_more_than_files() {
    let scratch = Scratch::new();
    let names = |prefix: &str| (0..FILES).map(|number| format!("{prefix}{number}\n")).collect::<String>();
    let (there, missing) = (names("there"), names("missing"));
    there.lines().for_each(|name| drop(scratch.write(name, run(1, 1))));
    let listed =
        |list: &str| filter("usage-diff").args(["--files-from", "-"]).dir(scratch.dir()).stdin(list).run();
    let ordinary = listed(&there);
    ordinary.exits(0);
    let ran = listed(&missing);
    assert_eq!(ran.exits(66).stderr_lines().len(), FILES);
    // The machine may be busy with something else meanwhile.
    ran.took(Duration::ZERO, 10 * ordinary.elapsed + Duration::from_secs(1));
}

#[test]
fn a_reader_that_leaves_ends_it_quietly() {
    for args in [&["-"][..], &["--table", "-"], &["--field", "input_tokens", "-"]] {
        let (reader, output) = pipe();
        drop(reader);
        let ran = filter("usage-diff").args(args).stdin(run(1, 1)).stdout_to(output).run();
        ran.exits(141);
        assert_eq!(ran.stderr_text(), "");
    }
}
