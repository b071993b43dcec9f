//! Thread ids: their spellings, which of them are refused, and the time in them.

/// Returns the one spelling of a UUID that every Codex takes, in lower case with hyphens; `None` for anything else.
///
/// Newer versions take it in capitals, without hyphens, in braces and as a URN too; 0.98.0 begins a new thread for the
/// last two.
pub fn canonical(id: &str) -> Option<String> {
    let bare = id.strip_prefix("urn:uuid:").unwrap_or(id);
    let bare = bare.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(bare);
    let parts: Vec<&str> = bare.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let hex = parts.concat().to_ascii_lowercase();
    let fits = lengths == [8, 4, 4, 4, 12] || lengths == [32];
    if !fits || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    Some([&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-"))
}

/// What is wrong with `id` as the id of a thread.
pub fn wrong_id(id: &str) -> Option<&'static str> {
    if id.trim().is_empty() {
        return Some("the id is empty");
    }
    // No argument can have one, and Codex would not be started with it.
    if id.contains('\0') {
        return Some("an id has no NUL");
    }
    // It would be taken for an option of `codex exec resume`, such as --last.
    id.starts_with('-').then_some("an id does not begin with -")
}

/// When the thread `id` was made, in milliseconds since 1970: what a UUID of version 7 begins with.
pub fn made_at(id: &str) -> Option<u128> {
    let hex = canonical(id)?.replace('-', "");
    if hex.as_bytes()[12] != b'7' {
        return None;
    }
    u128::from_str_radix(&hex[..12], 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01a2311f-ba96-7d60-bf1d-199067abcfe6";

    #[test]
    fn one_uuid_has_one_spelling() {
        for spelling in [
            ID.to_owned(),
            ID.to_uppercase(),
            ID.replace('-', ""),
            format!("{{{ID}}}"),
            format!("urn:uuid:{ID}"),
        ] {
            assert_eq!(canonical(&spelling).as_deref(), Some(ID), "{spelling}");
        }
        for other in
            ["", "t1", "my-thread", &ID[1..], &ID.replace('a', "g"), "é1a2311fba967d60bf1d199067abcfe"]
        {
            assert_eq!(canonical(other), None, "{other}");
        }
    }
}
