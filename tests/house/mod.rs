//! The rules of the house, checked on its sources: the import table of `common/README.md`, what a release has,
//! and the tests that tests/README.md names.

mod modules;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use modules::{Modules, Segments};

/// The bands of common, and for each the ones that it never uses.
const BANDS: [(&str, &[&str]); 4] = [
    ("flow", &["edge", "face", "sys"]),
    ("edge", &["flow", "face"]),
    ("face", &["flow", "edge"]),
    ("sys", &["flow", "edge", "face"]),
];

/// What touches the world or reads the clock: flow uses none of it. A time may be an argument.
const WORLD: [&str; 9] = [
    "std::env",
    "std::fs",
    "std::io",
    "std::net",
    "std::os",
    "std::process",
    "std::thread",
    "std::time::Instant",
    "SystemTime::now",
];

/// The only places outside common that use `common::sys`: they start and supervise a process tree.
const SYS_USERS: [&str; 5] = [
    "bins/codex-launch/files/",
    "bins/codex-launch/run/",
    "bins/codex-launch/guardian/",
    "bins/codex-launch/prepare/environment.rs",
    "bins/codex-launch/prepare/program.rs",
];

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

static COMMON: LazyLock<Modules> = LazyLock::new(|| Modules::read(&folder("common/src"), "lib.rs"));

/// Each filter's name and modules.
static BINS: LazyLock<BTreeMap<String, Modules>> = LazyLock::new(|| {
    let entries = fs::read_dir(folder("bins")).expect("the bins").map(|entry| entry.expect("an entry"));
    let read = |name: String| (name.clone(), Modules::read(&folder("bins").join(&name), "main.rs"));
    entries.map(|entry| read(entry.file_name().into_string().expect("a name in UTF-8"))).collect()
});

fn text(path: &[String]) -> String {
    path.join("::")
}

fn segments(path: &str) -> Segments {
    path.split("::").map(str::to_owned).collect()
}

#[track_caller]
fn assert_none(what: &str, found: &[String]) {
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}

#[test]
fn each_band_uses_only_the_bands_that_the_import_table_allows() {
    let mut found = vec![];
    for module in COMMON.paths().filter(|module| !module.is_empty()) {
        let forbidden = BANDS.iter().find(|(band, _)| *band == module[0]);
        let (_, forbidden) = forbidden.unwrap_or_else(|| panic!("{}: no band has it", COMMON.file(module)));
        let crossings = COMMON.uses(module).into_iter().filter(|path| {
            path[0] == "crate" && path.get(1).is_some_and(|band| forbidden.contains(&band.as_str()))
        });
        found.extend(crossings.map(|path| format!("{} uses {}", COMMON.file(module), text(&path))));
    }
    assert_none("a band uses another one against the table in common/README.md", &found);
}

#[test]
fn flow_touches_nothing_outside_and_reads_no_clock() {
    let mut found = vec![];
    for module in COMMON.paths().filter(|module| module.first().is_some_and(|band| band == "flow")) {
        let world = COMMON.uses(module).into_iter().filter(|path| {
            WORLD.map(segments).iter().any(|world| path.starts_with(world) || path.ends_with(world))
        });
        found.extend(world.map(|path| format!("{} uses {}", COMMON.file(module), text(&path))));
    }
    assert_none("flow has no I/O, no threads and no clock; take bytes and times as arguments", &found);
}

#[test]
fn bins_reach_the_kernel_through_edge() {
    let mut found = vec![];
    for bin in BINS.values() {
        for module in bin.paths() {
            let file = bin.file(module);
            if SYS_USERS.iter().any(|folder| file.starts_with(folder)) {
                continue;
            }
            let sys = bin.uses(module).into_iter().filter(|path| path.starts_with(&segments("common::sys")));
            found.extend(sys.map(|path| format!("{file} uses {}", text(&path))));
        }
    }
    assert_none(&format!("only these use common::sys: {}", SYS_USERS.join(", ")), &found);
}

#[test]
fn two_filters_or_more_need_each_module_of_common() {
    let mut users: BTreeMap<Segments, BTreeSet<String>> = BTreeMap::new();
    for (name, bin) in BINS.iter() {
        for module in reached(bin) {
            users.entry(module).or_default().insert(name.clone());
        }
    }
    // All unsafe code is in sys, however many filters need it.
    let shared = COMMON.paths().filter(|module| module.first().is_some_and(|band| band != "sys"));
    // A folder's mod.rs is needed by whoever needs something inside it.
    let users_of = |module: &Segments| -> BTreeSet<&String> {
        let inside = users.iter().filter(|(other, _)| other.starts_with(module));
        inside.flat_map(|(_, users)| users).collect()
    };
    let lonely = shared.map(|module| (module, users_of(module))).filter(|(_, users)| users.len() < 2);
    let found: Vec<String> =
        lonely.map(|(module, users)| format!("{}: {users:?}", COMMON.file(module))).collect();
    assert_none("a module that one filter needs lives in that filter", &found);
}

/// The modules of common that a filter needs, directly or through others.
fn reached(bin: &Modules) -> BTreeSet<Segments> {
    let direct = bin.paths().flat_map(|module| bin.uses(module)).filter(|path| path[0] == "common");
    let direct = direct.map(|path| [&segments("crate"), &path[1..]].concat());
    let mut todo: Vec<Segments> = direct.filter_map(|path| COMMON.module_of(&path)).collect();
    let mut reached = BTreeSet::new();
    while let Some(module) = todo.pop() {
        if reached.insert(module.clone()) {
            todo.extend(COMMON.modules_used(&module));
        }
    }
    reached
}

#[test]
fn no_modules_import_each_other_in_a_circle() {
    let mut found = circles(&COMMON);
    for bin in BINS.values() {
        found.extend(circles(bin));
    }
    assert_none("modules import each other in a circle", &found);
}

/// Each circle as a line. What a module uses of the ones around it does not count.
fn circles(modules: &Modules) -> Vec<String> {
    let imports: BTreeMap<&Segments, BTreeSet<Segments>> = modules
        .paths()
        .map(|module| {
            let used = modules.modules_used(module).into_iter();
            (module, used.filter(|used| !module.starts_with(used)).collect())
        })
        .collect();
    let reach = |from: &Segments| {
        let (mut todo, mut reached) = (vec![from.clone()], BTreeSet::new());
        while let Some(module) = todo.pop() {
            todo.extend(imports[&module].iter().filter(|next| reached.insert((*next).clone())).cloned());
        }
        reached
    };
    let reached: BTreeMap<&Segments, BTreeSet<Segments>> =
        modules.paths().map(|module| (module, reach(module))).collect();
    let members = |module: &Segments| {
        let back = |other: &&Segments| reached[*other].contains(module) && reached[module].contains(*other);
        let files: Vec<String> = modules.paths().filter(back).map(|module| modules.file(module)).collect();
        files.join(" <-> ")
    };
    let circles: BTreeSet<String> =
        modules.paths().filter(|module| reached[*module].contains(*module)).map(members).collect();
    circles.into_iter().collect()
}

#[test]
fn what_is_installed_has_no_switch_for_tests() {
    let tree = ["tree", "--locked", "--offline", "--edges", "no-dev", "--format", "{p} {f}"];
    let tree = Command::new(env!("CARGO")).args(tree).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let tree = String::from_utf8(tree.expect("cargo tree").stdout).expect("text");
    assert!(tree.contains("codex-filters-common"), "{tree}");
    assert!(!tree.contains("portable-switch"), "{tree}");
}

#[test]
fn each_test_that_the_table_of_harm_names_is_there() {
    let readme = fs::read_to_string(folder("tests/README.md")).expect("tests/README.md");
    let (_, table) = readme.split_once("| it tries to |").expect("the table of what a run can do");
    let table = table.split_once("\n## ").expect("a section behind it").0;
    let last_cells = table.lines().skip(2).filter_map(|row| row.trim_end_matches(" |").rsplit('|').next());
    let names: Vec<&str> = last_cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    assert!(names.len() > 40, "{names:?}");
    let sources = modules::sources(&folder("tests"));
    let texts: Vec<String> =
        sources.iter().map(|file| fs::read_to_string(file).expect("a source file")).collect();
    let is_there = |name: &str| texts.iter().any(|text| text.contains(&format!("fn {name}(")));
    let is_module = |name: &str| sources.iter().any(|file| file.file_stem().is_some_and(|stem| stem == name));
    let missing: Vec<String> = names
        .iter()
        .filter(|name| !is_there(name) && !is_module(name))
        .map(|name| (*name).to_owned())
        .collect();
    assert_none("tests/README.md names tests that are not there", &missing);
}
