//! What the scanner promises beyond serde_json, a promise a test.

use common::flow::scan::{DEPTH_LIMIT, Found, Scan, Scanner, Value, Want};

use crate::oracle::{Answer, WANTS, scanned};

const TYPE: usize = 0;
const ITEM_ID: usize = 1;
const ITEM_TYPE: usize = 2;
const ITEM_TEXT: usize = 3;
const OUTPUT: usize = 4;
const A: usize = 5;

const KEPT: &[Want] = &[
    Want { path: &["type"], cap: 64 },
    Want { path: &["item", "id"], cap: 64 },
    Want { path: &["item", "type"], cap: 64 },
    Want { path: &["item", "text"], cap: 8 },
    Want { path: &["usage", "output_tokens"], cap: 20 },
    Want { path: &["a"], cap: 21 },
];

fn text(text: &str) -> Option<Value<'_>> {
    Some(Value::Text { text, whole: true })
}

/// Lets `check` look at what is kept of a line that is an object.
fn kept(line: impl AsRef<[u8]>, check: impl Fn(Found<'_>)) {
    let mut scanner = Scanner::new(KEPT);
    scanner.push(line.as_ref());
    assert!(!scanner.is_malformed());
    match scanner.finish() {
        Scan::Object(found) => check(found),
        other => panic!("not an object: {other:?}"),
    }
}

fn verdict(line: impl AsRef<[u8]>) -> Answer {
    match scanned(&mut Scanner::new(WANTS), [line.as_ref()]) {
        Answer::Object(_) => Answer::Object(vec![]),
        other => other,
    }
}

const OBJECT: Answer = Answer::Object(vec![]);

#[test]
fn the_first_id_counts_and_the_last_of_anything_else() {
    kept(r#"{"type":"x","item":{"id":"item_1","type":"web_search","id":"ws_1"},"type":"y"}"#, |found| {
        assert_eq!(found.get(ITEM_ID), text("item_1"));
        assert_eq!(found.get(ITEM_TYPE), text("web_search"));
        assert_eq!(found.get(TYPE), text("y"));
    });
    kept(r#"{"item":{"id":null,"id":"ws_1"}}"#, |found| assert_eq!(found.get(ITEM_ID), Some(Value::Null)));
}

#[test]
fn a_later_duplicate_replaces_all_that_the_earlier_gave() {
    kept(r#"{"item":{"type":"a","id":"i"},"item":{}}"#, |found| {
        assert_eq!(found.get(ITEM_TYPE), None);
        assert_eq!(found.get(ITEM_ID), None);
    });
    for other in ["null", "1", "true", "\"s\"", "[{\"type\":\"b\"}]"] {
        kept(format!(r#"{{"item":{{"type":"a"}},"item":{other}}}"#), |found| {
            assert_eq!(found.get(ITEM_TYPE), None)
        });
    }
    kept(r#"{"item":{"id":"old"},"item":{"id":"new"}}"#, |found| assert_eq!(found.get(ITEM_ID), text("new")));
    kept(r#"{"type":"a","type":null}"#, |found| assert_eq!(found.get(TYPE), Some(Value::Null)));
    kept(r#"{"type":"a","type":7}"#, |found| assert_eq!(found.get(TYPE), Some(Value::Number(Some("7")))));
}

#[test]
fn nothing_is_kept_from_the_line_before() {
    let mut scanner = Scanner::new(KEPT);
    for line in [&br#"{"type":"a","item":{"id":"i"}}"#[..], b"{\"type\":\"b\"", b"\"x\"", b"\xe6"] {
        scanner.push(line);
        scanner.finish();
        scanner.push(b"{}");
        let Scan::Object(found) = scanner.finish() else { panic!() };
        assert!((0..KEPT.len()).all(|want| found.get(want).is_none()));
    }
}

#[test]
fn a_text_that_was_no_utf8_is_forgotten_with_its_line() {
    let mut scanner = Scanner::new(KEPT);
    for (value, expected) in [
        ("null", Value::Null),
        ("true", Value::Bool(true)),
        ("7", Value::Number(Some("7"))),
        ("\"x\"", Value::Text { text: "x", whole: true }),
        ("{}", Value::Object),
        ("[\"x\"]", Value::Array),
    ] {
        scanner.push(b"{\"type\":\"cut \xe2\x82");
        assert!(matches!(scanner.finish(), Scan::Malformed));
        scanner.push(format!("{{\"type\":{value}}}").as_bytes());
        let Scan::Object(found) = scanner.finish() else { panic!("{value}") };
        assert_eq!(found.get(TYPE), Some(expected));
    }
}

#[test]
fn keys_compare_decoded() {
    kept(br#"{"\u0074ype":"x","it\u0065m":{"\u0069d":"i"}}"#, |found| {
        assert_eq!(found.get(TYPE), text("x"));
        assert_eq!(found.get(ITEM_ID), text("i"));
    });
}

#[test]
fn nested_and_quoted_keys_are_not_the_wanted_ones() {
    let sentinel = r#"{"type":"handoff.completed","elapsed_seconds":1}"#;
    let quoted = sentinel.replace('"', "\\\"");
    for line in [
        format!(r#"{{"item":{{"text":"{quoted}"}}}}"#),
        format!(r#"{{"item":{{"aggregated_output":"{quoted}\n{quoted}"}}}}"#),
        format!(r#"{{"other":{sentinel}}}"#),
        format!(r#"{{"a":[{sentinel}]}}"#),
        format!(r#"{{"item":{{"deep":{{"er":{sentinel}}}}}}}"#),
    ] {
        kept(line, |found| assert_eq!(found.get(TYPE), None));
    }
    kept(format!(r#"{{"item":[{sentinel}]}}"#), |found| assert_eq!(found.get(ITEM_TYPE), None));
}

#[test]
fn numbers_keep_their_digits() {
    kept(r#"{"b":1.10,"a":123456789012345678901,"s":"\/"}  "#, |found| {
        assert_eq!(found.get(A), Some(Value::Number(Some("123456789012345678901"))));
    });
    kept(r#"{"a":1234567890123456789012}"#, |found| assert_eq!(found.get(A), Some(Value::Number(None))));
    kept(r#"{"a":-1.10E+400}"#, |found| assert_eq!(found.get(A), Some(Value::Number(Some("-1.10E+400")))));
    kept(r#"{"b":1.10,"a":123456789012345678901,"a":"\u0041","s":"\/"}  "#, |found| {
        assert_eq!(found.get(A), text("A"));
    });
}

#[test]
fn other_kinds_than_expected_are_ordinary() {
    kept(r#"{"type":"item.plan.delta","item":null,"usage":null}"#, |found| {
        assert_eq!(found.get(TYPE), text("item.plan.delta"));
        assert_eq!(found.get(ITEM_ID), None);
        assert_eq!(found.get(OUTPUT), None);
    });
    kept(r#"{"usage":{"output_tokens":"7","more":[1,{}]}}"#, |found| {
        assert_eq!(found.get(OUTPUT), text("7"))
    });
    kept(r#"{"usage":{"output_tokens":{}},"type":[],"a":true}"#, |found| {
        assert_eq!(found.get(OUTPUT), Some(Value::Object));
        assert_eq!(found.get(TYPE), Some(Value::Array));
        assert_eq!(found.get(A), Some(Value::Bool(true)));
    });
}

#[test]
fn half_a_pair_is_a_text_with_a_replacement_character() {
    kept(br#"{"item":{"text":"cut \ud83d"}}"#, |found| {
        assert_eq!(found.get(ITEM_TEXT), text("cut \u{fffd}"))
    });
    kept(br#"{"other":"\ud83d \ude00"}"#, |found| assert_eq!(found.get(TYPE), None));
    assert_eq!(verdict(b"{\"text\":\"a\xe6\x87\"}"), Answer::Malformed);
}

#[test]
fn a_text_is_cut_at_a_character() {
    let cut = |text| Some(Value::Text { text, whole: false });
    kept(r#"{"item":{"text":"12345678"}}"#, |found| assert_eq!(found.get(ITEM_TEXT), text("12345678")));
    kept(r#"{"item":{"text":"123456789"}}"#, |found| assert_eq!(found.get(ITEM_TEXT), cut("12345678")));
    kept("{\"item\":{\"text\":\"1234567\u{e9}a\"}}", |found| {
        assert_eq!(found.get(ITEM_TEXT), cut("1234567"))
    });
    kept(br#"{"item":{"text":"12345\u20aca"}}"#, |found| {
        assert_eq!(found.get(ITEM_TEXT), cut("12345\u{20ac}"))
    });
    kept(br#"{"item":{"text":"123456\u20aca"}}"#, |found| assert_eq!(found.get(ITEM_TEXT), cut("123456")));
}

#[test]
fn separators_of_other_worlds_are_ordinary_and_control_characters_are_not() {
    kept("{\"type\":\"\u{2028}\u{2029}\u{85}\u{7f}\"}", |found| {
        assert_eq!(found.get(TYPE), text("\u{2028}\u{2029}\u{85}\u{7f}"));
    });
    for byte in (0..0x20).filter(|byte| *byte != b'\n') {
        assert_eq!(verdict([b"{\"type\":\"", &[byte][..], b"\"}"].concat()), Answer::Malformed, "{byte:#x}");
        let outside = if b"\t\r".contains(&byte) { OBJECT } else { Answer::Malformed };
        assert_eq!(verdict([b"{}", &[byte][..]].concat()), outside, "{byte:#x}");
    }
    assert_eq!(verdict("{}\u{2028}"), Answer::Malformed);
}

#[test]
fn a_bom_may_begin_the_first_line_only() {
    let mut scanner = Scanner::new(WANTS);
    assert_eq!(scanned(&mut scanner, "\u{feff}\r".as_bytes().chunks(1)), Answer::Blank);
    assert_eq!(scanned(&mut scanner, ["\u{feff}{}".as_bytes()]), Answer::Malformed);
    for size in 1..=4 {
        let mut scanner = Scanner::new(WANTS);
        let line = "\u{feff}{}\r";
        assert!(matches!(scanned(&mut scanner, line.as_bytes().chunks(size)), Answer::Object(_)));
        assert_eq!(scanned(&mut scanner, line.as_bytes().chunks(size)), Answer::Malformed);
    }
    // An empty first line is the first line.
    let mut scanner = Scanner::new(WANTS);
    assert_eq!(scanned(&mut scanner, []), Answer::Blank);
    assert_eq!(scanned(&mut scanner, ["\u{feff}".as_bytes()]), Answer::Malformed);
    for line in ["\u{feff}\u{feff}{}", " \u{feff}{}", "{}\u{feff}", "{\u{feff}}"] {
        assert_eq!(verdict(line), Answer::Malformed, "{line:?}");
    }
    // Two bytes of a BOM are a cut character.
    assert_eq!(verdict(b"\xef\xbb"), Answer::Malformed);
}

#[test]
fn a_line_is_one_object_or_it_is_not() {
    for line in ["[]", "null", "42", "\"x\"", "-0", "1.5e3", " [ { } ] ", "true", "false"] {
        assert_eq!(verdict(line), Answer::NotObject, "{line}");
    }
    for line in
        ["{", "{}{}", "{} {}", "[", "42 43", "4-2", "x", "}", "\\", "{\"a\":1", "-", "1.", "\"x", "nul"]
    {
        assert_eq!(verdict(line), Answer::Malformed, "{line}");
    }
    for line in ["", " ", "\r", "\t \r"] {
        assert_eq!(verdict(line), Answer::Blank, "{line:?}");
    }
}

#[test]
fn malformed_is_said_as_soon_as_it_is_certain() {
    let mut scanner = Scanner::new(WANTS);
    for line in [&b"x"[..], b"{}{", b"{\"a\" 1", b"[01", b"\"\xff", b"\"\\q", b"\"\x01", b"-x"] {
        let (last, before) = line.split_last().unwrap();
        scanner.push(before);
        assert!(!scanner.is_malformed(), "{}", before.escape_ascii());
        scanner.push(&[*last]);
        assert!(scanner.is_malformed(), "{}", line.escape_ascii());
        scanner.push(b"more");
        assert!(matches!(scanner.finish(), Scan::Malformed));
        assert!(!scanner.is_malformed());
    }
}

#[test]
fn nesting_is_read_down_to_the_limit() {
    let mut scanner = Scanner::new(WANTS);
    for depth in [200, 100_000, DEPTH_LIMIT - 1] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
            let pairs = depth / open.matches(['[', '{']).count();
            let line = format!("{{\"x\":{}0{},\"type\":1}}", open.repeat(pairs), close.repeat(pairs));
            let Answer::Object(values) = scanned(&mut scanner, [line.as_bytes()]) else {
                panic!("{open} {depth}")
            };
            assert!(values[0].is_some() && values[1..].iter().all(Option::is_none));
            let wrong = line.replacen("0", "0]}", 1);
            assert_eq!(scanned(&mut scanner, [wrong.as_bytes()]), Answer::Malformed);
        }
    }
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let line = |depth| format!("{}0{}", open.repeat(depth), close.repeat(depth));
        assert_ne!(scanned(&mut scanner, [line(DEPTH_LIMIT).as_bytes()]), Answer::Malformed);
        assert_eq!(scanned(&mut scanner, [line(DEPTH_LIMIT + 1).as_bytes()]), Answer::Malformed);
    }
}
