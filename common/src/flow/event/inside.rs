//! Walks through the objects and arrays of a whole line, where a scanner's wants do not reach.
//!
//! The line has to be one JSON object by the scanner's verdict. For any other text the result is arbitrary, but there is no
//! panic. Nothing is copied and no memory is taken, however long the line is. serde_json does not fit: its `Value`
//! takes ten to forty times the length of a line (a plan of 900 kB: over 20 MB), it refuses an unpaired surrogate, which
//! Codex may print, and it rounds numbers above 2^64.

use std::borrow::Cow;

/// The members of the object `json` as written: each key with its quotes, and its value. Nothing else has members.
pub(super) fn members(json: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = json.trim_start_matches('\u{feff}').trim_start().strip_prefix('{').unwrap_or_default();
    std::iter::from_fn(move || {
        let start = rest.trim_start();
        let (key, behind) = start.split_at(text_end(start)?);
        let (value, behind) = split_value(behind.trim_start().strip_prefix(':')?);
        rest = behind.strip_prefix(',').unwrap_or_default();
        Some((key, value))
    })
}

/// The elements of the array `json` as written. Nothing else has elements.
pub(super) fn elements(json: &str) -> impl Iterator<Item = &str> {
    let mut rest = json.trim_start().strip_prefix('[').unwrap_or_default();
    std::iter::from_fn(move || {
        let (value, behind) = split_value(rest);
        rest = behind.strip_prefix(',').unwrap_or_default();
        (!value.is_empty()).then_some(value)
    })
}

/// The value at `path` in the object `json`. Of a key that is there twice the last one counts.
pub(super) fn at<'a>(json: &'a str, path: &[&str]) -> Option<&'a str> {
    path.iter().try_fold(json, |object, name| {
        members(object)
            .filter(|(key, _)| key_name(key).as_deref() == Some(*name))
            .last()
            .map(|(_, value)| value)
    })
}

/// The text of a key in quotes; `None` for one with an unpaired surrogate.
pub(super) fn key_name(quoted: &str) -> Option<Cow<'_, str>> {
    let plain = quoted.strip_prefix('"')?.strip_suffix('"')?;
    if plain.contains('\\') { serde_json::from_str(quoted).ok() } else { Some(Cow::Borrowed(plain)) }
}

/// The value that `json` begins with, without white space, and the rest: it begins with a comma or a bracket, or is empty.
fn split_value(json: &str) -> (&str, &str) {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = json.as_bytes().get(at) {
        match byte {
            b'"' => {
                at += text_end(&json[at..]).unwrap_or(json.len() - at);
                continue;
            }
            b',' | b'}' | b']' if depth == 0 => break,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    let (value, behind) = json.split_at(at);
    (value.trim(), behind)
}

/// The index behind the closing quote of the string that `json` begins with; `None` when it begins with something else.
fn text_end(json: &str) -> Option<usize> {
    let bytes = json.as_bytes();
    if bytes.first() != Some(&b'"') {
        return None;
    }
    let mut at = 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use serde_json::value::RawValue;
    use std::collections::BTreeMap;

    const OBJECTS: [&str; 9] = [
        "{}",
        " { } ",
        r#"{"a":1}"#,
        "\u{feff} { \"a\" : [ 1 , { \"b\" : \"]}\" } ] ,\t\"c\":null , \"d\" : -1.5e+7\r}",
        r#"{"a\"b":"\\","c":"\"","":{"":[[],[[]],{}]},"é":"漢🚀"}"#,
        r#"{"\u0061":1,"a":2,"b":{"a":{"a":3}},"a":[4]}"#,
        r#"{"a":"x","b":true,"c":false,"d":12345678901234567890123}"#,
        r#"{"type":"t","item":{"items":[{"text":"a, b","completed":true},{"text":"[c]","completed":false}]}}"#,
        r#"{"usage":{"input_tokens":18446744073709551615,"note":"x","output_tokens":1.8e4}}"#,
    ];

    #[test]
    fn members_are_those_that_serde_json_finds() {
        for json in OBJECTS {
            let judged: BTreeMap<String, &RawValue> =
                serde_json::from_str(json.trim_start_matches('\u{feff}')).expect("an object");
            let found: BTreeMap<String, &str> = members(json)
                .map(|(key, value)| (key_name(key).expect("a name").into_owned(), value))
                .collect();
            let judged: BTreeMap<String, &str> =
                judged.iter().map(|(key, value)| (key.clone(), value.get())).collect();
            assert_eq!(found, judged, "{json}");
        }
    }

    #[test]
    fn elements_are_those_that_serde_json_finds() {
        for json in
            ["[]", "[ ]", "[1]", " [ 1 , \"]\" ,[2,[3]], {\"a\":[4]} , null]", r#"["\"","\\",",",""]"#]
        {
            let judged: Vec<&RawValue> = serde_json::from_str(json).expect("an array");
            let judged: Vec<&str> = judged.iter().map(|value| value.get()).collect();
            assert_eq!(elements(json).collect::<Vec<_>>(), judged, "{json}");
        }
    }

    #[test]
    fn a_path_leads_to_the_last_of_equal_keys() {
        let json = OBJECTS[5];
        assert_eq!(at(json, &["a"]), Some("[4]"));
        assert_eq!(at(json, &["b", "a", "a"]), Some("3"));
        assert_eq!(at(json, &["b", "b"]), None);
        assert_eq!(at(json, &["a", "a"]), None);
        let judged: Value = serde_json::from_str(json).expect("an object");
        assert_eq!(at(json, &["a"]).map(str::to_owned), Some(judged["a"].to_string()));
    }

    #[test]
    fn what_is_no_json_gives_some_answer_and_no_panic() {
        let bytes = r#"{"a\":[{"é","\\u"},:]}"#;
        for from in 0..bytes.len() {
            for to in from..=bytes.len() {
                let Some(part) = bytes.get(from..to) else { continue };
                members(part).chain(members(&format!("{{{part}"))).for_each(drop);
                elements(part).chain(elements(&format!("[{part}"))).for_each(drop);
            }
        }
        assert_eq!(members("[1]").count() + elements("{}").count() + members("").count(), 0);
    }
}
