//! A map that only grows and never locks: a hash trie.
//!
//! Each node has one value, and a child for each value of the next bits of a hash. So a look-up visits at most as many nodes as the number
//! of values has hexadecimal digits. An insertion is one compare-and-swap, which a fork or a signal handler cannot find half done.

use std::array;

use once_cell::race::OnceBox;

const CHILDREN: usize = 16;

/// A map of values by hash. It has `ROOTS` links to first nodes.
#[derive(Debug)]
pub(super) struct Trie<T, const ROOTS: usize> {
    roots: [Link<T>; ROOTS],
}

type Link<T> = OnceBox<TrieNode<T>>;

#[derive(Debug)]
struct TrieNode<T> {
    value: T,
    children: [Link<T>; CHILDREN],
}

impl<T, const ROOTS: usize> Trie<T, ROOTS> {
    pub(super) const fn new() -> Self {
        Self {
            roots: [const { OnceBox::new() }; ROOTS],
        }
    }

    /// The value with this hash for which `is` returns true.
    #[inline]
    pub(super) fn get(&self, hash: u64, is: impl Fn(&T) -> bool) -> Option<&T> {
        self.find(hash, is).ok()
    }

    /// The value with this hash for which `is` returns true. If there is none, `new` is inserted and returned.
    pub(super) fn get_or_insert(&self, hash: u64, is: impl Fn(&T) -> bool, new: T) -> &T {
        let mut node = Some(Box::new(TrieNode {
            value: new,
            children: array::from_fn(|_| OnceBox::new()),
        }));
        loop {
            match self.find(hash, &is) {
                Ok(known) => return known,
                Err(link) => node = node.and_then(|node| link.set(node).err()),
            }
        }
    }

    /// Finds the value, or the empty link at which it belongs.
    #[inline]
    fn find(&self, hash: u64, is: impl Fn(&T) -> bool) -> Result<&T, &Link<T>> {
        let mut link = &self.roots[hash as usize % ROOTS];
        let mut rest = hash.rotate_right(const { ROOTS.ilog2() });
        loop {
            let Some(node) = link.get() else {
                return Err(link);
            };
            if is(&node.value) {
                return Ok(&node.value);
            }
            link = &node.children[rest as usize % CHILDREN];
            rest = rest.rotate_right(CHILDREN.ilog2());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::{ptr, thread};

    use super::*;

    fn get_or_insert(trie: &'static Trie<u64, 8>, hash: u64, value: u64) -> &'static u64 {
        trie.get_or_insert(hash, |known| *known == value, value)
    }

    #[test]
    fn values_are_found_again_whatever_their_hashes() {
        // The tries are statics, because a trie never frees its nodes.
        static TRIES: [Trie<u64, 8>; 3] = [const { Trie::new() }; 3];
        for (trie, spread) in TRIES.iter().zip([0, 1, 0x9e37_79b9_7f4a_7c15]) {
            let values = if cfg!(miri) { 40 } else { 400 };
            for value in 0..values {
                let hash = u64::wrapping_mul(value, spread);
                assert_eq!(trie.get(hash, |known| *known == value), None);
                let inserted = get_or_insert(trie, hash, value);
                let known = trie.get(hash, |known| *known == value).unwrap();
                assert_eq!(
                    (*known, ptr::from_ref(known)),
                    (value, ptr::from_ref(inserted))
                );
            }
        }
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "there are no threads")]
    fn threads_that_insert_at_once_agree() {
        static TRIE: Trie<u64, 8> = Trie::new();
        let values = if cfg!(miri) { 20 } else { 5000 };
        let places = || -> Vec<usize> {
            (0..values)
                .map(|value| ptr::from_ref(get_or_insert(&TRIE, value, value)).addr())
                .collect()
        };
        let of_threads = thread::scope(|scope| {
            let threads = [(); 4].map(|()| scope.spawn(places));
            threads.map(|thread| thread.join().unwrap())
        });
        assert!(of_threads.iter().all(|places| *places == of_threads[0]));
        let distinct: HashSet<_> = of_threads[0].iter().collect();
        assert_eq!(distinct.len(), values as usize);
    }
}
