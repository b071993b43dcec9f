//! Every link from one document to another, or to a file, leads somewhere.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The documents of the repository.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry")) {
            let (path, name) = (entry.path(), entry.file_name());
            // What is built or hidden is no document; a link would lead out of here or round in a circle.
            if name == "target" || name.as_encoded_bytes().starts_with(b".") || path.is_symlink() {
                continue;
            }
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(extension) if extension == "md" => found.push(path),
                _ => {}
            }
        }
    }
    found
}

/// The lines of a document that stand outside of its code blocks.
fn prose(document: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    document.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// The name that a heading has in a link: lower case, hyphens for spaces, and no other punctuation.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// The names of the headings of a document.
fn anchors(path: &Path) -> HashSet<String> {
    let document = fs::read_to_string(path).expect("a document");
    let headings = prose(&document).filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect()
}

/// The targets of the links of a document, but for those on the web.
fn targets(document: &str) -> Vec<String> {
    let text: String = prose(document).flat_map(|line| [line, " "]).collect();
    let ends = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    ends.map(|(target, _)| target.to_owned()).filter(|target| !target.contains("://")).collect()
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let documents = documents();
    assert!(documents.len() > 6, "{documents:?}");
    let mut dead = Vec::new();
    for path in documents {
        let document = fs::read_to_string(&path).expect("a document");
        for target in targets(&document) {
            let (file, heading) = target.split_once('#').unwrap_or((&target, ""));
            let to = match file {
                "" => path.clone(),
                file => path.parent().expect("its folder").join(file),
            };
            if !to.exists() || !heading.is_empty() && !anchors(&to).contains(heading) {
                dead.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(dead.is_empty(), "links that lead nowhere:\n{}", dead.join("\n"));
}

#[test]
fn a_heading_has_the_name_that_a_link_gives_it() {
    assert_eq!(anchor("What is removed from the environment"), "what-is-removed-from-the-environment");
    assert_eq!(anchor("Lines, and `--any`"), "lines-and---any");
    assert_eq!(targets("[a](b.md#c) and\n[d\ne](f) [g](https://h)\n```\n[i](j)\n```\n"), ["b.md#c", "f"]);
}
