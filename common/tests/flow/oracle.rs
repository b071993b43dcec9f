//! What serde_json says of a line, put into the scanner's words.

use std::fmt;

use common::flow::line::{Piece, pieces};
use common::flow::scan::{Scan, Scanner, Value, Want};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The wants of all tests here: every depth, an `id` at each, an object that is wanted and looked into, small caps
/// and a large one.
pub(crate) const WANTS: &[Want] = &[
    Want { path: &["type"], cap: CAP },
    Want { path: &["id"], cap: CAP },
    Want { path: &["item"], cap: CAP },
    Want { path: &["item", "id"], cap: CAP },
    Want { path: &["item", "type"], cap: CAP },
    Want { path: &["item", "text"], cap: 1000 },
    Want { path: &["item", "error"], cap: CAP },
    Want { path: &["item", "error", "id"], cap: CAP },
    Want { path: &["item", "error", "message"], cap: 5 },
    Want { path: &["usage", "output_tokens"], cap: CAP },
    Want { path: &["a"], cap: 3 },
    Want { path: &["a", "a"], cap: CAP },
    Want { path: &["a", "a", "a"], cap: CAP },
    Want { path: &["a", "é\n"], cap: CAP },
    Want { path: &["id", "id"], cap: CAP },
    Want { path: &[""], cap: 0 },
];

/// The cap of most wants.
pub(crate) const CAP: usize = 40;

/// A JSON value as it stands in the text, duplicates and order included.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tree {
    Null,
    Bool(bool),
    /// The digits as written.
    Number(String),
    Text(String),
    Array,
    Object(Vec<(String, Tree)>),
}

/// An answer of the scanner, owned.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    Blank,
    Object(Vec<Option<Got>>),
    NotObject,
    Malformed,
}

/// A kept value, owned.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Got {
    Null,
    Bool(bool),
    Number(Option<String>),
    Text(String, bool),
    Object,
    Array,
}

/// The answer about a line given in these parts.
pub(crate) fn scanned<'a>(scanner: &mut Scanner, parts: impl IntoIterator<Item = &'a [u8]>) -> Answer {
    for part in parts {
        scanner.push(part);
    }
    ended(scanner)
}

/// The answers about the lines of a stream given in these chunks; the last is about what stands after the last LF.
pub(crate) fn taken<'a>(scanner: &mut Scanner, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Answer> {
    let mut answers = Vec::new();
    for chunk in chunks {
        let mut rest = chunk;
        for expected in pieces(chunk) {
            let piece = scanner.take(&mut rest);
            assert_eq!(piece, Some(expected));
            if matches!(expected, Piece::End(_)) {
                answers.push(ended(scanner));
            }
        }
        assert_eq!(scanner.take(&mut rest), None);
    }
    answers.push(ended(scanner));
    answers
}

/// Ends the line.
fn ended(scanner: &mut Scanner) -> Answer {
    let early = scanner.is_malformed();
    let answer = match scanner.finish() {
        Scan::Blank => Answer::Blank,
        Scan::NotObject => Answer::NotObject,
        Scan::Malformed => Answer::Malformed,
        Scan::Object(found) => {
            Answer::Object((0..WANTS.len()).map(|want| found.get(want).map(Got::from)).collect())
        }
    };
    assert!(!early || answer == Answer::Malformed, "called malformed early, then {answer:?}");
    answer
}

impl From<Value<'_>> for Got {
    fn from(value: Value<'_>) -> Got {
        match value {
            Value::Null => Got::Null,
            Value::Bool(yes) => Got::Bool(yes),
            Value::Number(digits) => Got::Number(digits.map(str::to_owned)),
            Value::Text { text, whole } => Got::Text(text.to_owned(), whole),
            Value::Object => Got::Object,
            Value::Array => Got::Array,
        }
    }
}

/// What serde_json says of the line as the first one of a stream, where a BOM may stand before it.
pub(crate) fn judged_first(line: &[u8]) -> Answer {
    judged(line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line))
}

/// What serde_json says of the line as a later one.
pub(crate) fn judged(line: &[u8]) -> Answer {
    if line.iter().all(|byte| b" \t\r".contains(byte)) {
        return Answer::Blank;
    }
    // A raw value is checked without a limit on depth or on the range of numbers, which the scanner has not either.
    match serde_json::from_slice::<Box<RawValue>>(&without_lone_surrogates(line)) {
        Ok(raw) => match Tree::of(&raw) {
            tree @ Tree::Object(_) => Answer::Object(expected(&tree)),
            _ => Answer::NotObject,
        },
        Err(_) => Answer::Malformed,
    }
}

/// The values that the scanner should keep of `tree`.
pub(crate) fn expected(tree: &Tree) -> Vec<Option<Got>> {
    WANTS.iter().map(|want| Some(got(at(tree, want.path)?, want.cap))).collect()
}

fn at<'a>(tree: &'a Tree, path: &[&str]) -> Option<&'a Tree> {
    let Some((name, rest)) = path.split_first() else {
        return Some(tree);
    };
    let Tree::Object(members) = tree else {
        return None;
    };
    let mut same = members.iter().filter(|(key, _)| key == name);
    let (_, inner) = if *name == "id" { same.next() } else { same.next_back() }?;
    at(inner, rest)
}

fn got(tree: &Tree, cap: usize) -> Got {
    match tree {
        Tree::Null => Got::Null,
        Tree::Bool(yes) => Got::Bool(*yes),
        Tree::Number(digits) => Got::Number((digits.len() <= cap).then(|| digits.clone())),
        Tree::Text(text) => Got::Text(text[..text.floor_char_boundary(cap)].to_owned(), text.len() <= cap),
        Tree::Array => Got::Array,
        Tree::Object(_) => Got::Object,
    }
}

/// `line` with `\ufffd` for each escaped surrogate that has no partner, which serde_json would refuse.
fn without_lone_surrogates(line: &[u8]) -> Vec<u8> {
    let unit = |at: usize| {
        let escape = line.get(at..at + 6)?;
        let digits = escape.strip_prefix(b"\\u")?;
        let hex = digits.iter().all(u8::is_ascii_hexdigit).then(|| str::from_utf8(digits).ok())??;
        u16::from_str_radix(hex, 16).ok()
    };
    let mut clean = Vec::new();
    let mut at = 0;
    while at < line.len() {
        let high = |unit| (0xd800..0xdc00).contains(&unit);
        let low = |unit| (0xdc00..0xe000).contains(&unit);
        let length = match (unit(at), unit(at + 6)) {
            (Some(first), Some(second)) if high(first) && low(second) => 12,
            (Some(first), _) if high(first) || low(first) => {
                clean.extend_from_slice(b"\\ufffd");
                at += 6;
                continue;
            }
            _ if line[at] == b'\\' => 2,
            _ => 1,
        };
        let end = line.len().min(at + length);
        clean.extend_from_slice(&line[at..end]);
        at = end;
    }
    clean
}

impl Tree {
    fn of(raw: &RawValue) -> Tree {
        let text = raw.get();
        match text.as_bytes()[0] {
            b'n' => Tree::Null,
            b't' | b'f' => Tree::Bool(text == "true"),
            b'"' => Tree::Text(serde_json::from_str(text).unwrap()),
            b'[' => Tree::Array,
            b'{' => {
                let Members(members) = serde_json::from_str(text).unwrap();
                Tree::Object(members.into_iter().map(|(key, raw)| (key, Tree::of(&raw))).collect())
            }
            _ => Tree::Number(text.to_owned()),
        }
    }
}

/// The members of an object, duplicates and order included.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members, D::Error> {
        deserializer.deserialize_map(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}
