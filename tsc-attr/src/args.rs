//! The arguments of `#[cycles(…)]`.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{Error, Expr, ExprUnary, LitStr, Path, Result, Token, UnOp, parse_quote};

use crate::fence;
use crate::precedence;
use crate::refuse;

const ACCEPTED: &str = "light, name = \"…\", fence = \"…\", bytes = …, items = …, record = …, per_type, skip, crate = …";

/// The arguments that are present; `None` and `false` for the others.
#[derive(Default)]
pub(crate) struct Args {
    pub(crate) name: Option<LitStr>,
    pub(crate) fence: Option<LitStr>,
    pub(crate) krate: Option<Path>,
    /// `bytes` or `items`, and the expression over the parameters.
    pub(crate) units: Option<(Ident, Expr)>,
    /// The key `record`, and the expression over the parameters that is kept of slow calls.
    pub(crate) record: Option<(Ident, Expr)>,
    /// The calls are counted and not timed.
    pub(crate) light: Option<Ident>,
    pub(crate) per_type: Option<Ident>,
    pub(crate) skip: Option<Ident>,
    /// Whether another attribute on a surrounding block must see that the block's functions are `async`.
    pub(crate) keeps_async: bool,
}

impl Args {
    /// Parses all of `tokens`. The error names every bad argument, not only the first.
    pub(crate) fn parse(tokens: TokenStream) -> Result<Self> {
        Self::parse_all.parse2(precedence::at_any_depth(tokens))
    }

    /// These arguments, completed with those of the surrounding block. A function's own kind of probe replaces that of the block: a fence
    /// or a value to record means that its calls are timed. A block has neither units nor a value to record.
    pub(crate) fn over(self, block: &Self) -> Self {
        let (fence, light) = match (self.fence, self.light) {
            (None, None) if self.record.is_some() => (copy(&block.fence), None),
            (None, None) => (copy(&block.fence), block.light.clone()),
            own => own,
        };
        Self {
            name: self.name.or_else(|| copy(&block.name)),
            fence,
            light,
            krate: self.krate.or_else(|| copy(&block.krate)),
            units: self.units,
            record: self.record,
            per_type: self.per_type.or_else(|| block.per_type.clone()),
            skip: self.skip,
            keeps_async: self.keeps_async || block.keeps_async,
        }
    }

    /// The path of the runtime's `__private` module, which is the only module of it that an expansion names.
    pub(crate) fn private(&self, span: Span) -> TokenStream {
        match &self.krate {
            Some(path) => quote_spanned!(span=> #path::__private),
            None => quote_spanned!(span=> ::tsc_runtime::__private),
        }
    }

    /// The first of the arguments that change what is measured or how its row is named.
    pub(crate) fn first_argument(&self) -> Option<TokenStream> {
        let literal = |literal: &LitStr| literal.to_token_stream();
        let name = self.name.as_ref().or(self.fence.as_ref()).map(literal);
        let ident = self.units.as_ref().map(|(key, _)| key);
        let record = self.record.as_ref().map(|(key, _)| key);
        let ident = ident
            .or(record)
            .or(self.light.as_ref())
            .or(self.per_type.as_ref())
            .or(self.skip.as_ref());
        name.or_else(|| ident.map(ToTokens::to_token_stream))
    }

    fn parse_all(input: ParseStream<'_>) -> Result<Self> {
        let mut args = Self::default();
        let mut errors: Option<Error> = None;
        while !input.is_empty() {
            if let Err(error) = args.parse_one(input).and_then(|()| end_of_argument(input)) {
                refuse::also(&mut errors, error);
                skip_to_comma(input);
            }
            input.parse::<Option<Token![,]>>()?;
        }
        errors.map_or_else(|| args.checked(), Err)
    }

    /// An error about arguments that contradict each other.
    fn checked(self) -> Result<Self> {
        match (&self.light, &self.fence, &self.record) {
            (Some(_), Some(fence), _) => Err(Error::new_spanned(
                fence,
                "`light` and `fence` exclude each other: a light probe does not read the counter, so there is nothing to fence",
            )),
            (Some(_), None, Some((key, _))) => Err(Error::new_spanned(
                key,
                "`light` and `record` exclude each other: a light probe does not time single calls, so it knows no slow ones",
            )),
            _ => Ok(self),
        }
    }

    fn parse_one(&mut self, input: ParseStream<'_>) -> Result<()> {
        if input.peek(LitStr) {
            let name: LitStr = input.parse()?;
            return Err(Error::new_spanned(
                &name,
                format!(
                    "expected an argument; to name the row, write `name = {}`",
                    name.to_token_stream()
                ),
            ));
        }
        let Ok(key) = input.call(Ident::parse_any) else {
            return Err(input.error(format!(
                "expected an argument; `#[cycles]` takes {ACCEPTED}"
            )));
        };
        match key.to_string().as_str() {
            "name" => once(&key, &mut self.name, name_value(&key, input)?),
            "fence" => once(&key, &mut self.fence, fence_value(&key, input)?),
            "crate" => once(&key, &mut self.krate, crate_value(&key, input)?),
            "bytes" | "items" => once(&key, &mut self.units, count_value(&key, input)?),
            "record" => once(&key, &mut self.record, units_value(&key, input)?),
            "light" => once(&key, &mut self.light, flag(&key, input)?),
            "per_type" => once(&key, &mut self.per_type, flag(&key, input)?),
            "skip" => once(&key, &mut self.skip, flag(&key, input)?),
            _ => Err(Error::new_spanned(
                &key,
                format!("unknown argument `{key}`; `#[cycles]` takes {ACCEPTED}"),
            )),
        }
    }
}

/// The same tokens, parsed again: syn compiles faster without `Clone` for its types.
fn copy<T: Parse + ToTokens>(argument: &Option<T>) -> Option<T> {
    argument.as_ref().map(|it| parse_quote!(#it))
}

fn once<T>(key: &Ident, slot: &mut Option<T>, value: T) -> Result<()> {
    if slot.replace(value).is_none() {
        return Ok(());
    }
    let message = match key.to_string().as_str() {
        "bytes" | "items" => {
            "only one of `bytes = …` and `items = …` may be given, and only once".to_owned()
        }
        key => format!("duplicate argument `{key}`"),
    };
    Err(Error::new_spanned(key, message))
}

fn equals(key: &Ident, input: ParseStream<'_>, form: &str) -> Result<()> {
    if input.parse::<Option<Token![=]>>()?.is_some() && !is_end_of_argument(input) {
        return Ok(());
    }
    Err(Error::new_spanned(
        key,
        format!("expected `{key} = {form}`"),
    ))
}

fn name_value(key: &Ident, input: ParseStream<'_>) -> Result<LitStr> {
    equals(key, input, "\"…\"")?;
    let name: LitStr = literal(
        input,
        "expected a string literal: the row's name in the report",
    )?;
    if name.value().is_empty() {
        return Err(Error::new_spanned(name, "the row's name is empty"));
    }
    Ok(name)
}

fn fence_value(key: &Ident, input: ParseStream<'_>) -> Result<LitStr> {
    equals(key, input, "\"…\"")?;
    let expected = format!("expected a string literal: one of {}", fence::accepted());
    let value = literal(input, &expected)?;
    fence::policy(Some(&value))?;
    Ok(value)
}

fn crate_value(key: &Ident, input: ParseStream<'_>) -> Result<Path> {
    equals(key, input, "path::to::tsc_runtime")?;
    let message = "expected a path: where `tsc_runtime` is to be found";
    input
        .call(Path::parse_mod_style)
        .map_err(|error| Error::new(error.span(), message))
}

fn units_value(key: &Ident, input: ParseStream<'_>) -> Result<(Ident, Expr)> {
    equals(key, input, "an expression over the parameters")?;
    Ok((key.clone(), input.parse()?))
}

/// A negative number is an error where it can be seen; that of a call counts as 0.
fn count_value(key: &Ident, input: ParseStream<'_>) -> Result<(Ident, Expr)> {
    let (key, value) = units_value(key, input)?;
    if let Expr::Unary(ExprUnary {
        op: UnOp::Neg(_),
        expr,
        ..
    }) = &value
        && matches!(**expr, Expr::Lit(_))
    {
        return Err(Error::new_spanned(
            value,
            format!("the number of {key} of a call cannot be negative"),
        ));
    }
    Ok((key, value))
}

/// An argument without a value. After a word, a comma is missing, and not a value too many.
fn flag(key: &Ident, input: ParseStream<'_>) -> Result<Ident> {
    if is_end_of_argument(input) || input.peek(Ident::peek_any) {
        return Ok(key.clone());
    }
    Err(input.error(format!("`{key}` takes no value")))
}

fn literal(input: ParseStream<'_>, expected: &str) -> Result<LitStr> {
    if input.peek(LitStr) {
        return input.parse();
    }
    Err(input.error(expected))
}

fn is_end_of_argument(input: ParseStream<'_>) -> bool {
    input.is_empty() || input.peek(Token![,])
}

fn end_of_argument(input: ParseStream<'_>) -> Result<()> {
    if is_end_of_argument(input) {
        return Ok(());
    }
    Err(input.error("expected `,` and the next argument"))
}

/// Skips `input` up to the next comma, or to its end.
fn skip_to_comma(input: ParseStream<'_>) {
    while !is_end_of_argument(input) {
        let _: Result<TokenTree> = input.parse();
    }
}
