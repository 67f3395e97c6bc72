//! What the runtime's `sync` consists of under Shuttle, which runs all threads of a test on one thread, one at a time: whoever reaches a
//! [`point`] may have to wait while others run.
//!
//! Shuttle has atomics of its own, which are larger than the standard library's and are not zero when all their bytes are. The records rely on
//! both. So these are the standard library's, with a point before each operation. What Shuttle's do beyond that is to follow which
//! operation happens before which, and nothing here asks for that.

use std::cell::Cell;
use std::mem::needs_drop;
use std::sync::PoisonError;
use std::time::Duration;

use shuttle::thread::AccessError;
use shuttle_engine::thread_support::DestroyedLastKey;

pub(crate) use shuttle::sync::MutexGuard;
pub(crate) use shuttle::thread::yield_now as spin_loop;

/// Other threads may run here, as many operations as they like.
fn point() {
    shuttle::thread::sleep(Duration::ZERO);
    if ALONE.get().is_some_and(|alone| alone != this_task()) {
        // Until the thread that is alone gives the lock back.
        drop(WORLD.lock());
    }
}

fn this_task() -> usize {
    shuttle::thread::current().id().into()
}

/// The number of points that were reached since the test began: the time, as far as there is one.
pub(crate) fn now() -> u64 {
    shuttle::current::context_switches() as u64
}

/// The time since 1970 is the same in all tests.
pub(crate) fn unix_now() -> u64 {
    0
}

/// A pause is a point: there is no time that could pass.
pub(crate) fn sleep(_: Duration) {
    spin_loop();
}

static WORLD: Mutex<()> = Mutex::new(());
std::thread_local! {
    static ALONE: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Runs `f` while all other threads stay where they are, with the locks that they hold: what the child of a fork finds.
#[cfg(test)]
pub(crate) fn alone<T>(f: impl FnOnce() -> T) -> T {
    let world = WORLD.lock();
    ALONE.set(Some(this_task()));
    let result = f();
    ALONE.set(None);
    drop(world);
    result
}

pub(crate) mod atomic {
    use std::fmt;

    pub(crate) use std::sync::atomic::{Ordering, fence};

    use super::point;

    macro_rules! atomic {
        ($name:ident$(<$of:ident>)?, $value:ty $(, $fetch:ident)*) => {
            #[repr(transparent)]
            pub(crate) struct $name$(<$of>)?(std::sync::atomic::$name$(<$of>)?);

            impl$(<$of>)? fmt::Debug for $name$(<$of>)? {
                fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                    self.0.fmt(to)
                }
            }

            #[allow(dead_code)] // as many as the standard library's have, of those that any of them is used for
            impl$(<$of>)? $name$(<$of>)? {
                pub(crate) const fn new(value: $value) -> Self {
                    Self(std::sync::atomic::$name::new(value))
                }

                pub(crate) fn load(&self, order: Ordering) -> $value {
                    point();
                    self.0.load(order)
                }

                pub(crate) fn store(&self, value: $value, order: Ordering) {
                    point();
                    self.0.store(value, order);
                }

                pub(crate) fn swap(&self, value: $value, order: Ordering) -> $value {
                    point();
                    self.0.swap(value, order)
                }

                pub(crate) fn compare_exchange(
                    &self,
                    current: $value,
                    new: $value,
                    success: Ordering,
                    failure: Ordering,
                ) -> Result<$value, $value> {
                    point();
                    self.0.compare_exchange(current, new, success, failure)
                }

                $(pub(crate) fn $fetch(&self, value: $value, order: Ordering) -> $value {
                    point();
                    self.0.$fetch(value, order)
                })*

                pub(crate) fn get_mut(&mut self) -> &mut $value {
                    self.0.get_mut()
                }

                pub(crate) fn as_ptr(&self) -> *mut $value {
                    self.0.as_ptr()
                }
            }
        };
    }

    atomic!(AtomicBool, bool);
    atomic!(AtomicU8, u8, fetch_and, fetch_or);
    atomic!(AtomicUsize, usize, fetch_add, fetch_max, fetch_sub);
    atomic!(AtomicU32, u32, fetch_add);
    atomic!(AtomicU64, u64, fetch_add, fetch_or);
    atomic!(AtomicI64, i64);
    atomic!(AtomicPtr<T>, *mut T);

    impl Default for AtomicU64 {
        fn default() -> Self {
            Self::new(0)
        }
    }
}

/// Shuttle's lock, with parking_lot's methods.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(shuttle::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(shuttle::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock().ok()
    }

    /// There is no time that could pass before the holder gives the lock back.
    pub(crate) fn try_lock_for(&self, _: Duration) -> Option<MutexGuard<'_, T>> {
        Some(self.lock())
    }
}

/// A value of which every thread has its own: destroyed when the thread ends, or only after everything else that ends with it if there is no
/// destructor to run.
#[derive(Debug)]
pub(crate) struct LocalKey<T: 'static> {
    ordinary: shuttle::thread::LocalKey<T>,
    last: DestroyedLastKey<T>,
}

impl<T: 'static> LocalKey<T> {
    pub(crate) const fn new(init: fn() -> T) -> Self {
        Self {
            ordinary: shuttle::thread::LocalKey {
                init,
                _p: std::marker::PhantomData,
            },
            last: DestroyedLastKey::new(init),
        }
    }

    pub(crate) fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.try_with(f).expect("it is not destroyed")
    }

    pub(crate) fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        if needs_drop::<T>() {
            self.ordinary.try_with(f)
        } else {
            self.last.try_with(f)
        }
    }
}

macro_rules! thread_local_ {
    ($(#[$attribute:meta])* static $name:ident: $type:ty = const $init:block;) => {
        $(#[$attribute])*
        static $name: $crate::sync::scheduled::LocalKey<$type> =
            $crate::sync::scheduled::LocalKey::new(|| $init);
    };
}
pub(crate) use thread_local_ as thread_local;
