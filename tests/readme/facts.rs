//! A test that relies on a fact about Codex names the heading of that fact in `common/CODEX.md`, and the page names the
//! tests below the heading.
//!
//! The form is that at the head of `tests/launch/real_codex/failures.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The source files of the filters, of what they share, and of the tests.
fn sources() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = ["bins", "common", "tests"].map(|name| root().join(name)).into();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry")) {
            let path = entry.path();
            if path.is_dir() && !path.ends_with("target") && !path.is_symlink() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found
}

/// The headings that a source file names, of which the fact is that it relies on them.
fn named_in(source: &str) -> Vec<String> {
    let comments = source.lines().map_while(|line| line.strip_prefix("//!"));
    let head = comments.collect::<Vec<_>>().join(" ");
    let Some((_, rest)) = head.split_once("Facts: \"") else { return Vec::new() };
    let (names, _) = rest.split_once("\" in common/CODEX.md").expect("the name of the page");
    let names = names.split("\", \"");
    names.map(|name| name.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// The files that the page names below each heading, as paths from the top of the repository.
fn files_of_the_page() -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let page = fs::read_to_string(root().join("common/CODEX.md")).expect("the page");
    for section in page.split("\n## ").skip(1) {
        let (heading, text) = section.split_once('\n').expect("a text below the heading");
        let relied = text.split_once("\nRelied on by ").map_or("", |(_, list)| list);
        let links = relied.split("](../").skip(1).filter_map(|rest| rest.split_once(')'));
        found.insert(heading.to_owned(), links.map(|(path, _)| path.to_owned()).collect());
    }
    found
}

#[test]
fn every_fact_about_codex_leads_to_what_relies_on_it_and_back() {
    let page = files_of_the_page();
    let mut named: BTreeMap<String, BTreeSet<String>> =
        page.keys().map(|heading| (heading.clone(), BTreeSet::new())).collect();
    for path in sources() {
        let name = path.strip_prefix(root()).expect("a path below the top").display().to_string();
        let source = fs::read_to_string(&path).expect("a source file");
        for heading in named_in(&source) {
            let files = named.get_mut(&heading);
            files.unwrap_or_else(|| panic!("{name}: no heading {heading:?}")).insert(name.clone());
        }
    }
    assert_eq!(page, named);
    for (heading, files) in page {
        assert!(files.iter().any(|file| file.starts_with("tests/")), "{heading}: no test relies on it");
    }
}

#[test]
fn headings_are_read_across_lines() {
    let source =
        "//! A test.\n//!\n//! Facts: \"The event\n//! stream\", \"Usage\" in common/CODEX.md.\n\nfn f() {}";
    assert_eq!(named_in(source), ["The event stream", "Usage"]);
    assert!(named_in("//! A test.\n\n// Facts: \"x\" in common/CODEX.md.").is_empty());
}
