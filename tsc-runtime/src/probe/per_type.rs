//! `#[cycles(per_type)]`: a callsite for every instantiation of a generic function.

use std::sync::OnceLock;

use crate::record::callsite::{Callsite, Meta};
use crate::tsc::FencePolicy;

/// The callsites of one function, found by what names the instantiation. Grows with the number of instantiations, never with calls.
#[derive(Debug)]
pub struct Instances {
    meta: Meta,
    new: fn(Meta) -> Callsite,
    first: Link,
}

type Link = OnceLock<&'static Instance>;

#[derive(Debug)]
struct Instance {
    path: fn() -> &'static str,
    callsite: &'static Callsite,
    next: Link,
}

impl Instances {
    /// None yet. `meta` is what they have in common.
    #[must_use]
    pub const fn new<P: FencePolicy>(meta: Meta) -> Self {
        Self {
            meta,
            new: Callsite::new::<P>,
            first: OnceLock::new(),
        }
    }

    /// The callsite of the instantiation whose path `path` gives: a walk over a handful of pointers, before the start's read.
    #[inline]
    pub fn of(&'static self, path: fn() -> &'static str) -> &'static Callsite {
        let mut link = &self.first;
        while let Some(instance) = link.get() {
            if core::ptr::fn_addr_eq(instance.path, path) {
                return instance.callsite;
            }
            link = &instance.next;
        }
        self.add(path)
    }

    /// The first call of an instantiation; or of one that the compiler made twice, which is told by the name.
    #[cold]
    fn add(&'static self, path: fn() -> &'static str) -> &'static Callsite {
        let known = self.all().find(|instance| (instance.path)() == path());
        let callsite = match known {
            Some(instance) => instance.callsite,
            None => Box::leak(Box::new((self.new)(self.meta_of(path)))),
        };
        let instance: &Instance = Box::leak(Box::new(Instance {
            path,
            callsite,
            next: OnceLock::new(),
        }));
        let mut link = &self.first;
        while link.set(instance).is_err() {
            let Some(earlier) = link.get() else {
                continue;
            };
            // Another thread was faster: its callsite is the one.
            if (earlier.path)() == path() {
                return earlier.callsite;
            }
            link = &earlier.next;
        }
        callsite
    }

    fn all(&'static self) -> impl Iterator<Item = &'static Instance> {
        core::iter::successors(self.first.get(), |instance| instance.next.get()).copied()
    }

    fn meta_of(&self, path: fn() -> &'static str) -> Meta {
        let name = self.meta.name.map(|name| -> &'static str {
            let path = path();
            let path = path.strip_suffix("::{{closure}}").unwrap_or(path);
            Box::leak(format!("{name} [{path}]").into_boxed_str())
        });
        Meta {
            name,
            path,
            ..self.meta
        }
    }
}
