//! Finds the functions and closures that get a probe.

use std::collections::BTreeSet;
use std::mem;

use proc_macro2::{LineColumn, Span};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute, ExprAsync, ExprClosure, ExprMethodCall, ImplItem, ImplItemFn, Item, ItemFn,
    ItemImpl, ItemMod, ItemTrait, Signature, TraitItem, TraitItemFn, Visibility,
};

use super::closures::{self, Closures, Measured};
use super::probe::{Function, Inserted, Probe, Where};
use super::{allocators, exempt, older};

/// The text that is inserted in a block that is measured, for a function that is not to be.
const SKIPPED: &str = "#[::tsc_runtime::cycles(skip /* cargo tsc */)] ";

/// What is found in a file so far.
pub(super) struct Functions<'a> {
    pub found: Vec<Inserted>,
    pub too_short: usize,
    /// The names of functions that the file's allocators call, which get no probe.
    pub of_allocators: BTreeSet<String>,
    place: Where,
    closures: Closures,
    /// Whether an attribute on a block around measures what gets none here.
    in_block: bool,
    /// Whether that is to be kept from it, and closures get probes.
    in_copy: bool,
    probe: &'a dyn Fn(&Function) -> Option<Probe>,
}

impl<'a> Functions<'a> {
    pub(super) fn new(
        place: Where,
        in_copy: bool,
        probe: &'a dyn Fn(&Function) -> Option<Probe>,
    ) -> Self {
        Self {
            found: Vec::new(),
            too_short: 0,
            of_allocators: BTreeSet::new(),
            place,
            closures: Closures::default(),
            in_block: false,
            in_copy,
            probe,
        }
    }
}

impl Functions<'_> {
    fn add(&mut self, first: Span, attributes: &[Attribute], sig: &Signature, body: &syn::Block) {
        let arguments = exempt::arguments(attributes).filter(|_| self.place == Where::Worthwhile);
        let function = Function {
            name: sig.ident.to_string(),
            line: line(sig.ident.span().start()),
            lines: line(attributes.first().map_or(first, Spanned::span).start())
                ..=line(body.span().end()),
            has_attribute: arguments.is_some(),
        };
        self.closures.line = Some(function.line);
        self.closures.lines = Some(function.lines.clone());
        self.closures.at_end = closures::at_end(sig, body);
        if sig.asyncness.is_some() {
            // The compiler numbers its body as a closure.
            self.closures.numbers = self.closures.numbers.inside();
        }
        let is_exempt =
            exempt::is_special(attributes) || self.of_allocators.contains(&function.name);
        self.closures.are_left_out = is_exempt || exempt::is_skipped(attributes);
        if sig.constness.is_some() || arguments.is_none() && exempt::is_annotated(attributes) {
            return;
        }
        if let Some(arguments) = arguments {
            if (self.probe)(&function) != Some(Probe::Timed) {
                self.found.push(Inserted {
                    at: arguments.byte_range().end,
                    text: "light, ".into(),
                    probe: Some(Probe::Light),
                });
            }
            return;
        }
        let at = first.byte_range().start;
        let probe = (self.probe)(&function);
        match probe.filter(|_| self.is_worthwhile(is_exempt, attributes, sig, body)) {
            Some(probe) => self.found.push(Inserted::before(at, probe)),
            None if self.in_block && self.in_copy => {
                self.found.push(Inserted::text(at, SKIPPED));
            }
            None => {}
        }
    }

    fn is_worthwhile(
        &mut self,
        is_exempt: bool,
        attributes: &[Attribute],
        sig: &Signature,
        body: &syn::Block,
    ) -> bool {
        if older::is_in(sig) {
            return false;
        }
        if self.place != Where::Worthwhile {
            return true;
        }
        if is_exempt {
            return false;
        }
        let is_too_short = sig.asyncness.is_none()
            && (exempt::is_straight_line(sig, body)
                || exempt::is_part_of_callers(attributes, body));
        self.too_short += usize::from(is_too_short);
        !is_too_short
    }

    fn passes_by(&self, attributes: &[Attribute]) -> bool {
        self.place == Where::Worthwhile && exempt::is_for_tests(attributes)
    }

    /// Visits what is in a block with these attributes.
    fn block(&mut self, attributes: &[Attribute], visit: impl FnOnce(&mut Self)) {
        if !self.passes_by(attributes) && !exempt::is_skipped(attributes) {
            let around = self.in_block;
            self.in_block |= exempt::is_annotated(attributes);
            visit(self);
            self.in_block = around;
        }
    }

    /// Visits an item, whose closures are numbered from 0.
    fn item(&mut self, visit: impl FnOnce(&mut Self)) {
        let around = mem::take(&mut self.closures);
        visit(self);
        self.closures = around;
    }

    /// Visits a closure, or an `async` block, which the compiler counts as one.
    fn closure(&mut self, visit: impl FnOnce(&mut Self)) {
        let inside = self.closures.numbers.inside();
        let around = mem::replace(&mut self.closures.numbers, inside);
        visit(self);
        self.closures.numbers = around;
        self.closures.numbers.advance();
    }

    /// Begins a probe around a closure, and returns its end.
    fn open(&mut self, measured: Option<Measured>) -> Option<Inserted> {
        let measured = measured.filter(|_| self.in_copy && !self.closures.are_left_out)?;
        let name = self.closures.numbers.name();
        let function = Function {
            name: name.rsplit("::").next().unwrap_or(&name).to_owned(),
            line: line(measured.whole.start()),
            // What does not compile may be anywhere in the function.
            lines: self
                .closures
                .lines
                .clone()
                .unwrap_or_else(|| line(measured.whole.start())..=line(measured.whole.end())),
            has_attribute: false,
        };
        // The row of a function in the same line would be taken for this one.
        let is_apart = self.closures.line != Some(function.line);
        let probe = is_apart.then(|| (self.probe)(&function)).flatten()?;
        let (by, kind, [before, after]) = (measured.by, probe.word(), measured.brackets);
        self.found.push(Inserted {
            at: measured.part.start,
            text: format!(" ::tsc_runtime::{by}!({kind} \"{name}\" {before}").into(),
            probe: Some(probe),
        });
        Some(Inserted::text(measured.part.end, format!("{after})")))
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        self.item(|it| {
            // An allocator may use it.
            let is_value = matches!(item, Item::Static(_) | Item::Const(_));
            it.closures.are_left_out = is_value && !it.of_allocators.is_empty();
            let lines = line(item.span().start())..=line(item.span().end());
            it.closures.lines = is_value.then_some(lines);
            visit::visit_item(it, item);
        });
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        self.item(|it| visit::visit_impl_item(it, item));
    }

    fn visit_trait_item(&mut self, item: &'ast TraitItem) {
        self.item(|it| visit::visit_trait_item(it, item));
    }

    fn visit_expr_closure(&mut self, closure: &'ast ExprClosure) {
        let end = self.open(closures::measured(closure));
        self.closure(|it| match closure.asyncness {
            // What it returns is another one.
            Some(_) => it.closure(|it| visit::visit_expr_closure(it, closure)),
            None => visit::visit_expr_closure(it, closure),
        });
        self.found.extend(end);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        let around = self.closures.are_left_out;
        self.closures.are_left_out |= closures::are_for_child(call);
        visit::visit_expr_method_call(self, call);
        self.closures.are_left_out = around;
    }

    fn visit_expr_async(&mut self, block: &'ast ExprAsync) {
        let end = self.open(self.closures.measured_future(block));
        self.closure(|it| visit::visit_expr_async(it, block));
        self.found.extend(end);
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        self.block(&module.attrs, |it| visit::visit_item_mod(it, module));
    }

    fn visit_item_trait(&mut self, block: &'ast ItemTrait) {
        self.block(&block.attrs, |it| visit::visit_item_trait(it, block));
    }

    fn visit_item_impl(&mut self, block: &'ast ItemImpl) {
        if self.place != Where::Worthwhile || !allocators::is_allocator(block) {
            self.block(&block.attrs, |it| visit::visit_item_impl(it, block));
        }
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        if self.passes_by(&function.attrs) {
            return;
        }
        let first = start(&function.vis, &function.sig);
        self.add(first, &function.attrs, &function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        if self.passes_by(&function.attrs) {
            return;
        }
        let first = match (&function.vis, &function.modifiers.defaultness) {
            (Visibility::Inherited, Some(default)) => default.span(),
            (vis, _) => start(vis, &function.sig),
        };
        self.add(first, &function.attrs, &function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        if self.passes_by(&function.attrs) {
            return;
        }
        if let Some(body) = &function.default {
            self.add(function.sig.span(), &function.attrs, &function.sig, body);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

fn line(at: LineColumn) -> u32 {
    at.line as u32
}

fn start(vis: &Visibility, sig: &Signature) -> Span {
    match vis {
        Visibility::Inherited => sig.span(),
        vis => vis.span(),
    }
}
