//! Generated lines: valid ones against the model they were written from, damaged ones against serde_json.

use common::flow::scan::Scanner;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::cases;
use crate::oracle::{Answer, Tree, WANTS, expected, judged, judged_first, scanned, taken};

/// A value, and one way to write it.
type Written = (Tree, String);

fn space() -> impl Strategy<Value = &'static str> {
    prop_oneof![8 => Just(""), 1 => select(&[" ", "\t", "\r", " \t\r "][..])]
}

/// A character as it stands in a string, or one of its escapes.
fn char() -> impl Strategy<Value = (String, String)> {
    let plain = prop_oneof![
        6 => prop::char::range(' ', '~'),
        2 => select(&['\u{7f}', '\u{e9}', '\u{2028}', '\u{20ac}', '\u{ffff}', '\u{1f680}', '\u{10ffff}'][..]),
        1 => prop::char::range('\0', '\u{1f}'),
        1 => any::<char>(),
    ];
    prop_oneof![
        10 => (plain, any::<bool>(), 0..8_u8).prop_map(|(char, upper, how)| {
            let short = "\"\\/\u{8}\u{c}\n\r\t".find(char).map(|at| &"\"\\/bfnrt"[at..=at]);
            let written = match short {
                Some(letter) if how > 1 && (char != '/' || how > 4) => format!("\\{letter}"),
                _ if how > 0 && char >= ' ' && !"\"\\".contains(char) => char.to_string(),
                _ => char.encode_utf16(&mut [0; 2]).iter().map(|unit| if upper {
                    format!("\\u{unit:04X}")
                } else {
                    format!("\\u{unit:04x}")
                }).collect(),
            };
            (char.to_string(), written)
        }),
        1 => (0xd800..0xe000_u32).prop_map(|unit| (String::from("\u{fffd}"), format!("\\u{unit:04x}"))),
    ]
}

/// A string; now and then a long one, which repeats itself.
fn text() -> impl Strategy<Value = (String, String)> {
    let times = prop_oneof![8 => Just(1), 1 => 1..60_usize];
    (vec(char(), 0..12), times).prop_map(|(chars, times)| {
        let (mut text, mut written) = (String::new(), String::new());
        for (char, how) in chars {
            // Two halves side by side would be a pair, which the model of single characters does not know.
            if char == "\u{fffd}" && text.ends_with('\u{fffd}') {
                text.push('-');
                written.push('-');
            }
            text.push_str(&char);
            written.push_str(&how);
        }
        if times > 1 {
            text = format!("{text}.").repeat(times);
            written = format!("{written}.").repeat(times);
        }
        (text, format!("\"{written}\""))
    })
}

fn key() -> impl Strategy<Value = (String, String)> {
    let wanted =
        select(&["type", "id", "item", "text", "error", "message", "usage", "output_tokens", "a", ""][..]);
    prop_oneof![
        8 => wanted.prop_map(|key| (key.to_owned(), format!("\"{key}\""))),
        1 => Just(("id".to_owned(), "\"\\u0069d\"".to_owned())),
        1 => Just(("\u{e9}\n".to_owned(), "\"\u{e9}\\n\"".to_owned())),
        2 => text(),
    ]
}

fn number() -> impl Strategy<Value = Written> {
    let written = prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        (0..100_u8).prop_map(|number| number.to_string()),
        "-?(0|[1-9][0-9]{0,9})(\\.[0-9]{1,8})?([eE][+-]?[0-9]{1,2})?",
    ];
    written.prop_map(|digits| (Tree::Number(digits.clone()), digits))
}

fn value() -> impl Strategy<Value = Written> {
    let leaf = prop_oneof![
        1 => Just((Tree::Null, "null".to_owned())),
        1 => any::<bool>().prop_map(|yes| (Tree::Bool(yes), yes.to_string())),
        2 => number(),
        4 => text().prop_map(|(text, written)| (Tree::Text(text), written)),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        prop_oneof![
            1 => (vec((space(), inner.clone(), space()), 0..4), space()).prop_map(|(values, empty)| {
                let written: Vec<_> = values.iter().map(|(a, (_, value), b)| format!("{a}{value}{b}")).collect();
                let inside = if values.is_empty() { empty.to_owned() } else { written.join(",") };
                (Tree::Array, format!("[{inside}]"))
            }),
            2 => object(inner),
        ]
    })
}

fn object(inner: impl Strategy<Value = Written>) -> impl Strategy<Value = Written> {
    (vec((space(), key(), space(), space(), inner, space()), 0..6), space()).prop_map(|(members, empty)| {
        let write = |(a, (_, key), b, c, (_, value), d): &(_, (String, String), _, _, Written, _)| {
            format!("{a}{key}{b}:{c}{value}{d}")
        };
        let written: Vec<_> = members.iter().map(write).collect();
        let inside = if members.is_empty() { empty.to_owned() } else { written.join(",") };
        let tree = members.into_iter().map(|(_, (key, _), _, _, (tree, _), _)| (key, tree)).collect();
        (Tree::Object(tree), format!("{{{inside}}}"))
    })
}

fn line() -> impl Strategy<Value = Written> {
    (space(), prop_oneof![8 => object(value()).boxed(), 1 => value().boxed()], space())
        .prop_map(|(before, (tree, written), after)| (tree, format!("{before}{written}{after}")))
}

/// One change to the bytes of a line.
#[derive(Debug, Clone)]
enum Damage {
    Set(Index, u8),
    Insert(Index, u8),
    Remove(Index),
    Repeat(Index, Index),
    End(Index),
    /// A BOM in front.
    Bom,
}

fn damage() -> impl Strategy<Value = Damage> {
    // Bytes of the grammar come more often than others: they make the near misses.
    let byte = prop_oneof![
        4 => select(&b"\"\\{}[]:, \t\r-+.eE01u/ntf\x00\x0b\x0c\x1f\x7f\x80\xc3\xe2\xed\xf0\xff"[..]),
        1 => any::<u8>().prop_filter("an LF ends the line", |byte| *byte != b'\n'),
    ];
    prop_oneof![
        (any::<Index>(), byte.clone()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        (any::<Index>(), byte).prop_map(|(at, byte)| Damage::Insert(at, byte)),
        any::<Index>().prop_map(Damage::Remove),
        (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Damage::Repeat(from, to)),
        any::<Index>().prop_map(Damage::End),
        Just(Damage::Bom),
    ]
}

impl Damage {
    fn to(&self, line: &mut Vec<u8>) {
        let place = |at: &Index| at.index(line.len().max(1));
        match self {
            Damage::Bom => drop(line.splice(0..0, "\u{feff}".bytes())),
            _ if line.is_empty() => {}
            Damage::Set(at, byte) => {
                let at = place(at);
                line[at] = *byte;
            }
            Damage::Insert(at, byte) => line.insert(place(at), *byte),
            Damage::Remove(at) => {
                line.remove(place(at));
            }
            Damage::Repeat(from, to) => {
                let (from, to) = (place(from), place(to));
                let piece = line[from.min(to)..from.max(to)].to_vec();
                line.splice(to..to, piece);
            }
            Damage::End(at) => line.truncate(place(at)),
        }
    }
}

/// The size of the parts: within tokens, or around the blocks that are looked at together.
fn size() -> impl Strategy<Value = usize> {
    prop_oneof![1..20_usize, 20..300_usize]
}

/// The answers about the line as the first one and as a later one: those about it whole, in two parts and in parts of
/// one size are the same.
fn answers(line: &[u8], at: usize, size: usize) -> [Answer; 2] {
    let (left, right) = line.split_at(at);
    let twice = |parts: Vec<&[u8]>| {
        let mut scanner = Scanner::new(WANTS);
        [scanned(&mut scanner, parts.clone()), scanned(&mut scanner, parts)]
    };
    let whole = twice(vec![line]);
    assert_eq!(twice(vec![left, right]), whole, "cut at {}", left.len());
    assert_eq!(twice(line.chunks(size).collect()), whole, "parts of {size}");
    let stream = [line, line, b""].join(&b'\n');
    let three = [&whole[0], &whole[1], &Answer::Blank].map(Answer::clone);
    assert_eq!(taken(&mut Scanner::new(WANTS), [&stream[..]]), three);
    assert_eq!(taken(&mut Scanner::new(WANTS), stream.chunks(size)), three, "chunks of {size}");
    whole
}

/// What serde_json says of both.
fn wanted(line: &[u8]) -> [Answer; 2] {
    [judged_first(line), judged(line)]
}

#[test]
fn a_bom_alone_is_a_blank_first_line_and_a_malformed_later_one() {
    for line in ["\u{feff}", "\u{feff} \r"] {
        assert_eq!(wanted(line.as_bytes()), [Answer::Blank, Answer::Malformed]);
        assert_eq!(answers(line.as_bytes(), 1, 1), wanted(line.as_bytes()));
    }
}

proptest! {
    #![proptest_config(cases(80_000))]

    #[test]
    fn a_valid_line_gives_what_was_written((tree, line) in line(), cut: Index, size in size()) {
        let wanted = match tree {
            Tree::Object(_) => Answer::Object(expected(&tree)),
            _ => Answer::NotObject,
        };
        prop_assert_eq!(answers(line.as_bytes(), cut.index(line.len() + 1), size), [wanted.clone(), wanted]);
    }

    #[test]
    fn a_damaged_line_is_judged_as_serde_json_judges_it(
        (_, line) in line(),
        damages in vec(damage(), 1..4),
        cut: Index,
        size in size(),
    ) {
        let mut line = line.into_bytes();
        damages.iter().for_each(|damage| damage.to(&mut line));
        prop_assert_eq!(answers(&line, cut.index(line.len() + 1), size), wanted(&line), "{}", line.escape_ascii());
    }
}

proptest! {
    #![proptest_config(cases(20_000))]

    #[test]
    fn a_line_is_read_alike_whatever_came_before_it(
        lines in vec((line(), vec(damage(), 0..3)), 2..6),
        size in size(),
    ) {
        let lines: Vec<Vec<u8>> = lines
            .into_iter()
            .map(|((_, line), damages)| {
                let mut line = line.into_bytes();
                damages.iter().for_each(|damage| damage.to(&mut line));
                line
            })
            .collect();
        let alone = |(at, line): (usize, &Vec<u8>)| {
            let mut scanner = Scanner::new(WANTS);
            if at > 0 {
                // Behind any other line.
                scanned(&mut scanner, []);
            }
            scanned(&mut scanner, [&line[..]])
        };
        let alone: Vec<Answer> = lines.iter().enumerate().map(alone).collect();
        let stream = lines.join(&b'\n');
        prop_assert_eq!(&taken(&mut Scanner::new(WANTS), [&stream[..]]), &alone, "{}", stream.escape_ascii());
        prop_assert_eq!(&taken(&mut Scanner::new(WANTS), stream.chunks(size)), &alone, "{}", stream.escape_ascii());
    }
}

proptest! {
    #![proptest_config(cases(40_000))]

    #[test]
    fn junk_is_judged_as_serde_json_judges_it(
        line in vec(select(&b"{{}}[]\"\"\"\\:,,  01.e-ntr\xc3\xa9a"[..]), 0..16),
        cut: Index,
        size in 1..20_usize,
    ) {
        prop_assert_eq!(answers(&line, cut.index(line.len() + 1), size), wanted(&line), "{}", line.escape_ascii());
    }
}
