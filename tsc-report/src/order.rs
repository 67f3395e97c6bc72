//! Sorting, by a function that is compiled once for all kinds of items.

use std::cmp::Ordering;

/// The indices of `count` items in ascending order. Equal ones keep their order.
pub(crate) fn order(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&one, &other| compare(one, other));
    order
}

/// The items in ascending order. Equal ones keep theirs.
pub fn sorted<T: Clone>(items: &[T], compare: &dyn Fn(&T, &T) -> Ordering) -> Vec<T> {
    let order = order(items.len(), &|one, other| {
        compare(&items[one], &items[other])
    });
    order.iter().map(|&index| items[index].clone()).collect()
}
