//! Finds the files of a crate by following `mod` from its root. Other `.rs` files in the folder do not belong to the crate: templates,
//! inputs of tests, files of another crate.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io, mem};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ExprLit, ItemMacro, ItemMod, Lit, LitStr, Macro, Meta};

use super::{exempt, parse};

/// The files of a crate.
#[derive(Debug, Default)]
pub struct Files {
    /// The root file, the files of its modules, without those of `#[cfg(test)]`, and what `include!` names. Files that do not parse are among
    /// them.
    pub code: BTreeSet<PathBuf>,
    /// What `include_str!` and `include_bytes!` name, and files that are an expression.
    pub data: BTreeSet<PathBuf>,
}

impl Files {
    /// Both.
    pub fn all(self) -> impl Iterator<Item = PathBuf> {
        self.code.into_iter().chain(self.data)
    }
}

/// The files of the crate with this root file. Modules whose file does not exist have none.
///
/// # Errors
/// If the root cannot be read.
pub fn files_of(root: &Path) -> io::Result<Files> {
    find(root, exempt::is_for_tests)
}

/// Like [`files_of`], without the modules that only other machines have. Bindings to a system have megabytes for each architecture.
///
/// # Errors
/// If the root cannot be read.
pub fn files_for_this_machine(root: &Path) -> io::Result<Files> {
    find(root, |attributes| {
        exempt::is_for_tests(attributes) || exempt::is_for_other_machines(attributes)
    })
}

fn find(root: &Path, passes_by: PassesBy) -> io::Result<Files> {
    let text = fs::read_to_string(root)?;
    let mut files = Files::default();
    files.code.insert(root.to_owned());
    let dir = root.parent().unwrap_or(Path::new("")).to_owned();
    follow(&text, &dir, [&dir; 2], passes_by, &mut files);
    Ok(files)
}

/// Whether modules with these attributes are left out.
type PassesBy = fn(&[Attribute]) -> bool;

/// Adds the modules that `text` declares. Files for `mod x;` are searched in `children`, and files for `#[path]` in `beside`. `top` is the
/// folder of the crate's root. Returns false if the text is an expression, which no module is: it is data for `include!`, or the message of a
/// module that is declared to make a build fail.
fn follow(
    text: &str,
    top: &Path,
    [children, beside]: [&Path; 2],
    passes_by: PassesBy,
    files: &mut Files,
) -> bool {
    let Ok((file, _)) = parse(text) else {
        return syn::parse_str::<Expr>(text).is_err();
    };
    let mut declared = Declared {
        passes_by,
        top: top.to_owned(),
        children: children.to_owned(),
        beside: beside.to_owned(),
        folder: beside.to_owned(),
        found: Vec::new(),
        data: Vec::new(),
    };
    declared.visit_file(&file);
    proc_macro2::extra::invalidate_current_thread_spans();
    let data = declared.data.into_iter().filter(|path| path.is_file());
    files.data.extend(data);
    for (path, grandchildren) in declared.found {
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let beside = path.parent().unwrap_or(Path::new("")).to_owned();
        if files.code.insert(path.clone())
            && !follow(&text, top, [&grandchildren, &beside], passes_by, files)
        {
            files.code.remove(&path);
            files.data.insert(path);
        }
    }
    true
}

struct Declared {
    passes_by: PassesBy,
    top: PathBuf,
    children: PathBuf,
    beside: PathBuf,
    /// The folder of this file, in which the files that it includes are searched.
    folder: PathBuf,
    /// The files that may exist, and the folders in which the files of their modules are searched.
    found: Vec<(PathBuf, PathBuf)>,
    /// The files that are included as data.
    data: Vec<PathBuf>,
}

impl Declared {
    fn declare(&mut self, name: &str, paths: &Paths) {
        for path in &paths.all {
            let file = self.beside.join(path);
            let children = file.parent().unwrap_or(Path::new("")).to_owned();
            self.found.push((file, children));
        }
        if paths.may_not_hold {
            let folder = self.children.join(name);
            self.found
                .push((self.children.join(format!("{name}.rs")), folder.clone()));
            self.found.push((folder.join("mod.rs"), folder));
        }
    }

    /// Adds the file that a macro of this name includes, if it is one that includes a file.
    fn include(&mut self, name: &str, tokens: TokenStream) {
        let Ok(path) = syn::parse2::<LitStr>(tokens) else {
            return;
        };
        let file = self.folder.join(path.value());
        let has_items = || fs::read_to_string(&file).is_ok_and(|text| parse(&text).is_ok());
        match name {
            "include" if has_items() => {
                let children = file.parent().unwrap_or(Path::new("")).to_owned();
                self.found.push((file, children));
            }
            "include" | "include_str" | "include_bytes" => self.data.push(file),
            _ => {}
        }
    }

    /// Finds `mod name;` inside a macro such as `cfg_if!`, and included files inside one such as `println!`.
    fn search(&mut self, tokens: TokenStream) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let mut start = 0;
        for (place, three) in trees.windows(3).enumerate() {
            if let [
                TokenTree::Ident(name),
                TokenTree::Punct(sign),
                TokenTree::Group(group),
            ] = three
                && sign.as_char() == '!'
            {
                self.include(&name.to_string(), group.stream());
            }
            if let [
                TokenTree::Ident(word),
                TokenTree::Ident(_),
                TokenTree::Punct(end),
            ] = three
                && word == "mod"
                && end.as_char() == ';'
            {
                // With its attributes, unless there are the macro's own words before them.
                let modules = [start, place].into_iter().map(|start| {
                    let module = trees[start..place + 3].iter().cloned();
                    syn::parse2::<ItemMod>(module.collect())
                });
                if let Some(module) = modules.flatten().next() {
                    self.visit_item_mod(&module);
                }
            }
            if ends_item(&three[0]) {
                start = place + 1;
            }
        }
        for tree in trees {
            if let TokenTree::Group(group) = tree {
                self.search(group.stream());
            }
        }
    }
}

impl<'ast> Visit<'ast> for Declared {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if (self.passes_by)(&module.attrs) {
            return;
        }
        let name = module.ident.to_string();
        let name = name.trim_start_matches("r#");
        let paths = paths(module);
        if module.content.is_none() {
            return self.declare(name, &paths);
        }
        let outer = (self.children.clone(), self.beside.clone());
        match paths.all.first() {
            // It is a folder, and like every path beside this file, also where the modules of the file have a folder of its name.
            Some(path) => self.children = self.beside.join(path),
            None => self.children.push(name),
        }
        self.beside = self.children.clone();
        visit::visit_item_mod(self, module);
        (self.children, self.beside) = outer;
    }

    fn visit_item_macro(&mut self, item: &'ast ItemMacro) {
        visit::visit_item_macro(self, item);
        if item.ident.is_some() {
            // The modules in a `macro_rules!` are those of the file that uses it. This is often the root.
            let outer = [&mut self.children, &mut self.beside]
                .map(|folder| mem::replace(folder, self.top.clone()));
            visit::visit_item_macro(self, item);
            [self.children, self.beside] = outer;
        }
    }

    fn visit_macro(&mut self, invocation: &'ast Macro) {
        if let Some(name) = invocation.path.get_ident() {
            self.include(&name.to_string(), invocation.tokens.clone());
        }
        self.search(invocation.tokens.clone());
    }
}

fn ends_item(tree: &TokenTree) -> bool {
    match tree {
        TokenTree::Punct(sign) => sign.as_char() == ';',
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        _ => false,
    }
}

/// The paths that attributes give a module.
struct Paths {
    all: Vec<String>,
    /// Whether all are in a `cfg_attr`, so that the module's file may be the one of its name.
    may_not_hold: bool,
}

/// The paths in `#[path = "…"]`, alone or in each `cfg_attr`.
fn paths(module: &ItemMod) -> Paths {
    let mut paths = Paths {
        all: Vec::new(),
        may_not_hold: true,
    };
    for attribute in &module.attrs {
        match &attribute.meta {
            Meta::NameValue(pair) if pair.path.is_ident("path") => {
                if let Expr::Lit(ExprLit {
                    lit: Lit::Str(path),
                    ..
                }) = &pair.value
                {
                    paths.all.push(path.value());
                    paths.may_not_hold = false;
                }
            }
            Meta::List(list) if list.path.is_ident("cfg_attr") => {
                let trees: Vec<TokenTree> = list.tokens.clone().into_iter().collect();
                paths.all.extend(trees.windows(3).filter_map(|three| {
                    match three {
                        [
                            TokenTree::Ident(word),
                            TokenTree::Punct(_),
                            TokenTree::Literal(path),
                        ] if word == "path" => syn::parse_str::<syn::LitStr>(&path.to_string())
                            .ok()
                            .map(|path| path.value()),
                        _ => None,
                    }
                }));
            }
            _ => {}
        }
    }
    paths
}
