//! Sorting, by a function that is compiled once for all kinds of items.

use std::cmp::Ordering;

/// The indices of the items in ascending order. Equal ones keep theirs.
pub(crate) fn order<T>(items: &[T], compare: &dyn Fn(&T, &T) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    let by_index = |one: usize, other: usize| compare(&items[one], &items[other]);
    sort(&mut order, &by_index);
    order
}

fn sort(indices: &mut [usize], compare: &dyn Fn(usize, usize) -> Ordering) {
    indices.sort_by(|&one, &other| compare(one, other));
}

/// The items in ascending order. Equal ones keep theirs.
pub fn sorted<T: Clone>(items: &[T], compare: &dyn Fn(&T, &T) -> Ordering) -> Vec<T> {
    let order = order(items, compare).into_iter();
    order.map(|index| items[index].clone()).collect()
}
