//! Tricky lines under every cut.

use common::flow::scan::Scanner;

use crate::oracle::{Answer, WANTS, judged, scanned, taken};

/// Lines on which a cut can fall into every kind of token.
const TRICKY: &[&[u8]] = &[
    b"",
    b" \t \r",
    b"{}",
    b"{ }\r",
    b" { \"type\" : \"a\" , \"item\" : { \"id\" : 1 , \"id\" : 2 , \"type\" : null } } \t",
    br#"{"\u0074\u0079pe":"\u0041\"\\\/\b\f\n\r\t","item":{"text":"\ud83d\ude00 \u00e9"}}"#,
    br#"{"type":"\ud83d","id":"\ude00\ud83d","item":{"text":"\ud83d\ud83d\ude00\n\ud83dx"}}"#,
    "{\"type\":\"\u{e9}\u{20ac}\u{1f680}\u{10ffff}\u{7f}\u{80}\u{2028}\u{85}\",\"a\":{\"\u{e9}\\n\":true}}"
        .as_bytes(),
    br#"{"item":{"type":"a","error":{"message":"123456","id":[]}},"item":{"error":{"id":{}}}}"#,
    br#"{"item":{"type":"a"},"item":null,"type":true,"type":false,"id":null,"id":"late"}"#,
    br#"{"a":{"a":{"a":-0.5e+10}},"usage":{"output_tokens":1234567890123456789}}"#,
    br#"{"a":[{"a":1},[[]],"a",{"a":{"a":2}}],"item":[{"id":"x"}],"":"","typ":1,"typee":2}"#,
    br#"{"a":0,"item":{"text":1.10e5,"id":-7,"type":0e0}}"#,
    b"[1,\"x\",null,true,false,{},[],-1.5]",
    b"null",
    b" true ",
    b"-12.5e-3",
    b"\"x\\u00e9\"",
    b"{}{}",
    b"{} x",
    b"{\"type\"}",
    b"{\"type\":}",
    b"{\"type\":1,}",
    b"{,}",
    b"{\"a\":1 \"b\":2}",
    b"{1:2}",
    b"[1,]",
    b"[,1]",
    b"[1 2]",
    b"[}",
    b"{]",
    b"[1}",
    b"{\"a\":1]",
    b"nul",
    b"nulll",
    b"tRue",
    b"01",
    b"-",
    b"1.",
    b"1e",
    b"+1",
    b"\"a\tb\"",
    b"\"a\x0bb\"",
    b"\"a\x00b\"",
    b"\x0c{}",
    b"{}\x0b",
    b"\"\\x\"",
    b"\"\\u12g4\"",
    b"\"\\u12",
    b"\"open",
    b"{\"text\":\"a\xe6\x87\"}",
    b"{\"text\":\"\xe6\x87",
    b"{\"text\":\"\xed\xa0\x80\"}",
    b"{\"text\":\"\xc0\xaf\"}",
    b"{\"text\":\"\xf4\x90\x80\x80\"}",
    b"\xc3\xa9",
    b"{\"a\":\xc3\xa9}",
    b"{'a':1}",
    b"{\"a\":NaN}",
    b"{/**/}",
];

#[test]
fn two_parts_say_what_the_whole_says() {
    let mut scanner = Scanner::new(WANTS);
    for line in TRICKY {
        let judged = judged(line);
        for at in 0..=line.len() {
            let (left, right) = line.split_at(at);
            assert_eq!(scanned(&mut scanner, [left, right]), judged, "{} cut at {at}", line.escape_ascii());
        }
    }
}

#[test]
fn three_parts_say_what_the_whole_says() {
    let mut scanner = Scanner::new(WANTS);
    for line in TRICKY {
        let judged = judged(line);
        for first in 0..=line.len() {
            for second in first..=line.len() {
                let parts = [&line[..first], &line[first..second], &line[second..]];
                assert_eq!(
                    scanned(&mut scanner, parts),
                    judged,
                    "{} at {first}, {second}",
                    line.escape_ascii()
                );
            }
        }
    }
}

#[test]
fn single_bytes_say_what_the_whole_says() {
    let mut scanner = Scanner::new(WANTS);
    for line in TRICKY {
        assert_eq!(scanned(&mut scanner, line.chunks(1)), judged(line), "{}", line.escape_ascii());
    }
}

#[test]
fn a_line_ends_at_its_lf_whatever_comes_behind() {
    let judged: Vec<Answer> = TRICKY.iter().map(|line| judged(line)).collect();
    let stream = TRICKY.join(&b'\n');
    let mut scanner = Scanner::new(WANTS);
    for size in (1..300).chain([stream.len()]) {
        assert_eq!(taken(&mut scanner, stream.chunks(size)), judged, "in chunks of {size}");
    }
    for (line, judged) in TRICKY.iter().zip(&judged) {
        for after in TRICKY {
            let two = [*line, after].join(&b'\n');
            assert_eq!(taken(&mut scanner, [&two[..]])[0], *judged, "{}", two.escape_ascii());
        }
    }
}

#[test]
fn a_character_may_lie_across_any_buffer_end() {
    // Three bytes across 8,192 and 65,536.
    for edge in [8_192, 65_536] {
        for before in 0..=3 {
            let start = b"{\"item\":{\"text\":\"";
            let mut line = start.to_vec();
            line.resize(edge - before, b'x');
            line.extend_from_slice("\u{20ac}\"},\"type\":\"t\"}".as_bytes());
            let judged = judged(&line);
            let mut scanner = Scanner::new(WANTS);
            assert_eq!(scanned(&mut scanner, line.chunks(edge)), judged);
            assert_eq!(scanned(&mut scanner, line.chunks(1)), judged);
        }
    }
}

/// Escapes, right and wrong, and what else stops a run of characters.
const STOPS: &[&str] = &[
    "\\n",
    "\\\\",
    "\\\"",
    "\\\\\\\"",
    "\\\\\\\\\\n",
    "\\u00e9",
    "\\uABCD\\u0000",
    "\\ud83d\\ude00",
    "\\ud83d",
    "\\q",
    "\\\u{1}",
    "\\u12g4",
    "\\u123",
    "\\u12\\n",
    "\\",
    "\t",
    "\u{7f}\u{e9}",
    "\"",
];

#[test]
fn a_stop_may_stand_anywhere_in_a_block() {
    let mut scanner = Scanner::new(WANTS);
    for stop in STOPS {
        for before in 0..140 {
            // Kept and passed over, with much behind it and with nothing.
            for start in ["{\"item\":{\"text\":\"\\t", "{\"item\":{\"other\":\"\\t"] {
                for after in [0, 1, 100] {
                    let (before, after) = ("x".repeat(before), "\\ny".repeat(after));
                    let line = format!("{start}{before}{stop}{after}\"}},\"type\":1}}");
                    let judged = judged(line.as_bytes());
                    assert_eq!(scanned(&mut scanner, [line.as_bytes()]), judged, "{line}");
                    assert_eq!(scanned(&mut scanner, line.as_bytes().chunks(97)), judged, "{line} in parts");
                    let stream = format!("{line}\n{line}");
                    let both = [&judged, &judged].map(Answer::clone);
                    assert_eq!(taken(&mut scanner, [stream.as_bytes()]), both, "{line} twice");
                }
            }
        }
    }
}
