//! The modules of a crate, and the paths that each of them uses.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, ItemUse, Macro, UseTree};

/// A path as its segments: `["std", "fs", "File"]`, `["flow", "scan"]`.
pub(super) type Segments = Vec<String>;

/// A crate's modules by their path in it; the crate's root is the empty path. Code under `#[cfg(test)]` is left out.
pub(super) struct Modules(BTreeMap<Segments, Module>);

/// What one file uses.
struct Module {
    file: PathBuf,
    uses: BTreeSet<Segments>,
}

impl Modules {
    /// Reads all `.rs` files of a folder; `root` is the file name of the crate's root.
    pub(super) fn read(folder: &Path, root: &str) -> Modules {
        let mut modules = BTreeMap::new();
        for file in sources(folder) {
            let inside = file.strip_prefix(folder).expect("a file of the folder");
            let text = fs::read_to_string(&file).expect("a source file");
            let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let mut paths = Paths::default();
            paths.visit_file(&parsed);
            modules.insert(module_path(inside, root), Module { file, uses: paths.0 });
        }
        Modules(modules)
    }

    /// The path of each module.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Segments> {
        self.0.keys()
    }

    /// The file of a module, as messages name it.
    pub(super) fn file(&self, module: &[String]) -> String {
        let file = &self.0[module].file;
        file.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(file).display().to_string()
    }

    /// What a module uses, with `crate`, `self` and `super` resolved: paths in this crate begin with `crate`.
    pub(super) fn uses(&self, module: &[String]) -> BTreeSet<Segments> {
        self.0[module].uses.iter().map(|path| self.resolve(module, path)).collect()
    }

    /// The module of this crate that a path, as [`Modules::uses`] gives it, lies in.
    pub(super) fn module_of(&self, path: &[String]) -> Option<Segments> {
        let inside = path.strip_prefix(&["crate".to_owned()])?;
        (0..=inside.len()).rev().map(|end| inside[..end].to_vec()).find(|path| self.0.contains_key(path))
    }

    /// The modules of this crate that a module uses, without itself.
    pub(super) fn modules_used(&self, module: &[String]) -> BTreeSet<Segments> {
        let used = self.uses(module).iter().filter_map(|path| self.module_of(path)).collect::<BTreeSet<_>>();
        used.into_iter().filter(|used| used != module).collect()
    }

    fn resolve(&self, module: &[String], path: &[String]) -> Segments {
        let in_crate = |base: &[String], rest: &[String]| [&["crate".to_owned()], base, rest].concat();
        match path[0].as_str() {
            "crate" => path.to_vec(),
            "self" => in_crate(module, &path[1..]),
            "super" => {
                let levels = path.iter().take_while(|segment| *segment == "super").count();
                in_crate(&module[..module.len().saturating_sub(levels)], &path[levels..])
            }
            child if self.0.contains_key(&[module, &[child.to_owned()]].concat()) => in_crate(module, path),
            _ => path.to_vec(),
        }
    }
}

/// `flow/scan/mod.rs` and `flow/scan.rs` are the module `flow::scan`.
fn module_path(file: &Path, root: &str) -> Segments {
    let mut path: Segments =
        file.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if file == Path::new(root) || path.last().is_some_and(|name| name == "mod") {
        path.pop();
    }
    path
}

/// All `.rs` files of a folder and its folders.
pub(super) fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let files = paths.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// Collects the paths of a file: of `use`, of code, and of what stands in macros.
#[derive(Default)]
struct Paths(BTreeSet<Segments>);

impl<'ast> Visit<'ast> for Paths {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.tree(&mut vec![], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.0.insert(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        // A private module is a part of the one that declares it: it may hold nothing but methods.
        if item.content.is_none() && matches!(item.vis, syn::Visibility::Inherited) {
            self.0.insert(vec!["self".to_owned(), item.ident.to_string()]);
        }
        visit::visit_item_mod(self, item);
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {
        // `pub(super)` uses nothing.
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        visit::visit_macro(self, call);
        self.tokens(call.tokens.clone());
    }
}

impl Paths {
    fn tree(&mut self, prefix: &mut Segments, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.tree(prefix, &path.tree);
                prefix.pop();
            }
            UseTree::Name(name) => self.leaf(prefix, name.ident.to_string()),
            UseTree::Rename(name) => self.leaf(prefix, name.ident.to_string()),
            UseTree::Glob(_) => self.leaf(prefix, "*".to_owned()),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(prefix, tree)),
        }
    }

    fn leaf(&mut self, prefix: &[String], name: String) {
        // `use a::{self, b}` uses `a`.
        let name = Some(name).filter(|name| name != "self" || prefix.is_empty());
        self.0.insert(prefix.iter().cloned().chain(name).collect());
    }

    /// Sequences `a::b::c` among the arguments of a macro.
    fn tokens(&mut self, tokens: TokenStream) {
        let (mut path, mut colons) = (Segments::new(), 0);
        for token in tokens {
            match token {
                TokenTree::Ident(name) if path.is_empty() || colons == 2 => {
                    path.push(name.to_string());
                    colons = 0;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' && !path.is_empty() => colons += 1,
                other => {
                    self.end_of(&mut path);
                    colons = 0;
                    match other {
                        TokenTree::Group(group) => self.tokens(group.stream()),
                        TokenTree::Ident(name) => path.push(name.to_string()),
                        _ => {}
                    }
                }
            }
        }
        self.end_of(&mut path);
    }

    fn end_of(&mut self, path: &mut Segments) {
        if path.len() > 1 {
            self.0.insert(std::mem::take(path));
        }
        path.clear();
    }
}

/// Whether code is compiled for tests only.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let test =
            |list: &syn::MetaList| list.tokens.clone().into_iter().any(|token| token.to_string() == "test");
        attribute.path().is_ident("cfg") && attribute.meta.require_list().is_ok_and(test)
    })
}

fn attributes(item: &syn::Item) -> &[Attribute] {
    match item {
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
