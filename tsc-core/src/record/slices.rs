//! Slices of zeros that grow in number. They are mapped, and do not come from the program's allocator: see [`Arena`](super::arena::Arena).

use core::alloc::Layout;
use core::ptr::NonNull;

use super::pages::Zeroed;
use crate::process::memory;

/// The largest number of slices.
const MOST: usize = 20;

/// Slices, each twice as long as the one before. They stay where they are.
#[derive(Debug)]
pub(crate) struct Slices<T: Zeroed, const FIRST_LEN: usize> {
    starts: [NonNull<T>; MOST],
    count: usize,
}

impl<T: Zeroed, const FIRST_LEN: usize> Slices<T, FIRST_LEN> {
    pub(crate) const fn new() -> Self {
        const { assert!(size_of::<T>() != 0 && FIRST_LEN != 0 && align_of::<T>() <= 4096) }
        Self {
            starts: [NonNull::dangling(); MOST],
            count: 0,
        }
    }

    /// Adds a slice. `None` if the system has no more memory.
    pub(crate) fn grow(&mut self) -> Option<()> {
        let start = self.starts.get_mut(self.count)?;
        // SAFETY: `new` has checked that the layout has a size.
        *start = unsafe { memory::map(Layout::array::<T>(FIRST_LEN << self.count).ok()?) }?.cast();
        self.count += 1;
        Some(())
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn get(&self, index: usize) -> Option<&[T]> {
        // SAFETY: zeros are values, and only `drop` unmaps them.
        self.place(index).map(|place| unsafe { place.as_ref() })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[T]> {
        (0..self.count).filter_map(|index| self.get(index))
    }

    /// The longest slice; empty if there is none.
    pub(crate) fn last(&self) -> &[T] {
        self.get(self.count.wrapping_sub(1)).unwrap_or_default()
    }

    /// Where the longest slice is, if there is one.
    pub(crate) fn last_place(&self) -> Option<NonNull<[T]>> {
        self.place(self.count.checked_sub(1)?)
    }

    fn place(&self, index: usize) -> Option<NonNull<[T]>> {
        let start = *self.starts[..self.count].get(index)?;
        Some(NonNull::slice_from_raw_parts(start, FIRST_LEN << index))
    }
}

impl<T: Zeroed, const FIRST_LEN: usize> Drop for Slices<T, FIRST_LEN> {
    fn drop(&mut self) {
        const { assert!(!core::mem::needs_drop::<T>()) }
        for place in (0..self.count).filter_map(|index| self.place(index)) {
            // SAFETY: `grow` has mapped it with this layout, and no reference to it outlives its owner.
            unsafe { memory::unmap(place.cast(), Layout::for_value(place.as_ref())) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SAFETY: zero is an integer.
    unsafe impl Zeroed for u32 {}

    #[test]
    fn each_slice_is_twice_as_long_and_zero() {
        let mut slices = Slices::<u32, 3>::new();
        assert!(slices.last().is_empty() && slices.get(0).is_none());
        (0..5).for_each(|_| slices.grow().unwrap());
        let lens: Vec<_> = slices.iter().map(<[u32]>::len).collect();
        assert_eq!(lens, [3, 6, 12, 24, 48]);
        assert!(slices.iter().flatten().all(|&value| value == 0));
        assert_eq!((slices.count(), slices.last().len()), (5, 48));
    }
}
