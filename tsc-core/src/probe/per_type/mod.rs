//! `#[cycles(per_type)]`: a callsite for every instantiation of a generic function.

use core::ptr;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use super::empty_calls::ProbeKind;
use crate::process::memory;
use crate::record::callsite::{Callsite, Meta};
use crate::record::thread;

mod trie;

use trie::Trie;

/// What an instantiation may allocate, at most.
const ROOM: usize = 1 << 14;

/// The callsites of one function.
///
/// An instantiation is found by the address of a function that returns its path. An instantiation may have several such functions, one in
/// each crate that uses it. Memory grows with the number of these functions, but not with the number of calls.
#[derive(Debug)]
pub struct Instances {
    meta: Meta,
    new: fn(Meta) -> Callsite,
    /// The callsite for calls from inside the recording itself, or without memory, which are counted as unrecorded.
    unrecorded: Callsite,
    by_address: Trie<Instance, 64>,
    by_path: Trie<Callsite, 1>,
}

#[derive(Debug)]
struct Instance {
    path: fn() -> &'static str,
    callsite: &'static Callsite,
}

impl Instances {
    /// No instantiations yet. `meta` is what they have in common.
    #[must_use]
    pub const fn new<K: ProbeKind>(meta: Meta) -> Self {
        Self {
            meta,
            new: Callsite::new::<K>,
            unrecorded: Callsite::new::<K>(meta),
            by_address: Trie::new(),
            by_path: Trie::new(),
        }
    }

    /// The callsite of the instantiation with the path that `path` returns. The look-up follows a few pointers, before the counter is
    /// read.
    #[inline]
    pub fn of(&'static self, path: fn() -> &'static str) -> &'static Callsite {
        let is = |instance: &Instance| ptr::fn_addr_eq(instance.path, path);
        match self.by_address.get(hash_of_address(path), is) {
            Some(instance) => instance.callsite,
            None => self.add(path),
        }
    }

    /// Handles the first call of an instantiation, or of a known one through another address.
    #[cold]
    fn add(&'static self, path: fn() -> &'static str) -> &'static Callsite {
        // This allocates. An annotated allocator would come here again, endlessly, and a signal handler may have interrupted a report.
        let thread = thread::this();
        let busy = thread.enter_cold_path();
        let Some(_busy) = busy.filter(|_| !thread.is_reporting() && memory::is_left(ROOM)) else {
            return &self.unrecorded;
        };
        let name = path();
        let is = |callsite: &Callsite| (callsite.meta().path)() == name;
        let hash = BuildHasherDefault::<DefaultHasher>::new().hash_one(name);
        let add = || self.by_path.get_or_insert(hash, is, self.callsite(path));
        let callsite = self.by_path.get(hash, is).unwrap_or_else(add);
        let is = |instance: &Instance| ptr::fn_addr_eq(instance.path, path);
        let instance = Instance { path, callsite };
        let hash = hash_of_address(path);
        self.by_address.get_or_insert(hash, is, instance).callsite
    }

    fn callsite(&self, path: fn() -> &'static str) -> Callsite {
        let mut meta = Meta { path, ..self.meta };
        meta.name = meta.name.map(|name| -> &'static str {
            let path = path().trim_end_matches("::{{closure}}");
            Box::leak(format!("{name} [{path}]").into_boxed_str())
        });
        (self.new)(meta)
    }
}

/// Distributes the bits in which addresses differ over all bits of the hash.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

#[inline]
fn hash_of_address(path: fn() -> &'static str) -> u64 {
    let hash = (path as usize as u64).wrapping_mul(SPREAD);
    hash ^ hash >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::callsite::meta;
    use crate::tsc::Lfence;

    fn first() -> &'static str {
        "convert<u8>"
    }

    /// The same instantiation in another crate. The sum keeps the compiler from merging the two functions.
    fn again() -> &'static str {
        core::hint::black_box(1 + 1);
        "convert<u8>"
    }

    fn other() -> &'static str {
        "convert<u16>"
    }

    #[test]
    fn an_instantiation_has_one_callsite_whatever_its_address() {
        static INSTANCES: Instances = Instances::new::<Lfence>(meta(&|| {}, module_path!(), 0));
        let of = |path| ptr::from_ref(INSTANCES.of(path));
        assert_eq!(of(first), of(again));
        assert_ne!(of(first), of(other));
        // All of them are now found by their addresses, so that no further call searches by path.
        for path in [first, again, other] as [fn() -> &'static str; 3] {
            let is = |instance: &Instance| ptr::fn_addr_eq(instance.path, path);
            let known = INSTANCES.by_address.get(hash_of_address(path), is);
            assert!(cfg!(miri) || known.is_some()); // Miri gives a function many addresses.
            assert_eq!(of(path), of(path));
        }
    }

    #[test]
    fn a_call_from_inside_the_recording_is_given_a_callsite_without_a_search() {
        static INSTANCES: Instances = Instances::new::<Lfence>(meta(&|| {}, module_path!(), 0));
        let busy = thread::this().enter_cold_path();
        assert!(ptr::eq(INSTANCES.of(first), &INSTANCES.unrecorded));
        drop(busy);
        assert!(!ptr::eq(INSTANCES.of(first), &INSTANCES.unrecorded));
    }
}
