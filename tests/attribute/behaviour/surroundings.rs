//! What surrounds or generates a function: `cfg`, macros, names that shadow those of the expansion.

#![allow(clippy::all, dead_code)] // shapes, not style

use tsc_runtime::cycles;

#[cycles]
#[cfg(any())]
fn absent(value: Absent) -> Absent {
    value.missing()
}

#[cycles]
mod conditional {
    #[cfg(any())]
    pub fn function(value: Absent) {}

    #[cfg(not(any()))]
    pub fn function() -> u32 {
        5
    }
}

/// The import stays in use.
#[cycles]
mod importing {
    use tsc_runtime::cycles;

    #[cycles(skip)]
    pub fn function() -> u32 {
        5
    }
}

#[cycles]
fn conditional_tail() -> u32 {
    #[cfg(any())]
    {
        1
    }
    #[cfg(not(any()))]
    {
        2
    }
}

#[cycles]
fn macro_tails(value: u32) -> Vec<u32> {
    macro_rules! list {
        ($($x:expr)*) => { vec![$($x),*] };
    }
    list! { value value }
}

#[cycles]
mod architecture {
    #[cfg(target_arch = "x86_64")]
    #[unsafe(naked)]
    pub extern "C" fn naked() -> u32 {
        std::arch::naked_asm!("mov eax, 7", "ret")
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "sse4.2")]
    pub fn with_feature(value: u64) -> u32 {
        value.count_ones()
    }
}

macro_rules! generated {
    ($vis:vis $name:ident, $argument:ident: $ty:ty, $body:block) => {
        #[cycles]
        $vis fn $name($argument: $ty) -> $ty $body
    };
}
generated!(pub(crate) from_macro, value: u64, { value * 2 });

macro_rules! set_up {
    ($name:ident, $setup:block) => {
        #[cycles]
        fn $name() -> u32 {
            $setup
            fn three() -> u32 {
                3
            }
            three()
        }
    };
}
set_up!(with_setup, {
    let report = tsc_runtime::snapshot();
    let row = report.callsite("with_setup").expect("it runs");
    assert_eq!(row.running(), 1);
});

macro_rules! items {
    ($($item:item)*) => { $(#[cycles] $item)* };
}
items! {
    fn first_item(value: u32) -> u32 { value }
    fn second_item() {}
}

/// What a macro passes on keeps its precedence in every place, and causes no warning about parentheses.
#[deny(unused_parens)]
mod precedences {
    use tsc_runtime::cycles;

    #[derive(PartialEq)]
    pub struct One {
        one: u32,
    }

    macro_rules! shapes {
        ($sum:expr, $negative:literal, $one:expr, $small:pat, $any:ty) => {
            #[cycles]
            pub fn tail(any: &mut $any) -> &$any {
                any
            }

            #[cycles(items = $sum * 2)]
            pub fn statements() -> u32 {
                let (twice, once) = ($sum * 2, $sum);
                let product = $sum * 2;
                let sum = $sum;
                assert_eq!(product + sum, twice + once);
                product - $sum
            }

            #[cycles]
            pub fn nested() -> Vec<i32> {
                macro_rules! one {
                    ($tree:tt) => {
                        $tree * 2
                    };
                }
                Vec::from([$negative.abs(), $sum as i32 * 2, one!($sum), $sum])
            }

            #[cycles(light)]
            pub fn patterns(value: i32) -> bool {
                match value {
                    $negative..=1 => $one == $one,
                    $small | 7 => true,
                    _ => $sum == value,
                }
            }

            #[cycles]
            pub fn condition() -> u32 {
                if $one == $one {
                    return $sum * 2;
                }
                0
            }

            #[cycles]
            pub async fn future(_any: &$any) -> u32 {
                $sum * 2
            }

            pub struct Block;

            #[cycles]
            impl Block {
                pub const TWICE: u32 = $sum * 2;

                pub fn twice(&self) -> u32 {
                    $sum * 2
                }
            }
        };
    }
    shapes!(1 + 2, -1_i32, One { one: 1 }, 2..=3, dyn Send + Sync);

    pub struct Called {
        pub call: fn(u32) -> u32,
    }

    impl Called {
        fn call(&self, _: u32) -> u32 {
            0
        }
    }

    macro_rules! whole {
        ($called:ident, $field:expr, $leaves:expr, $block_first:expr) => {
            #[cycles]
            pub fn field($called: Called) -> u32 {
                assert_eq!($called.call(3), 0);
                $field(3)
            }

            #[cycles]
            pub fn leaves() -> u32 {
                $leaves as u32
            }

            #[cycles]
            pub fn block_first() -> u64 {
                $block_first
            }

            #[cycles(light, items = 1)]
            pub fn block_first_in_an_arm() -> u64 {
                match 1 {
                    1 => $block_first,
                    _ => 0,
                }
            }
        };
    }
    whole!(
        called,
        called.call,
        return 5,
        match 7_u32 {
            x => x,
        } as u64
    );
}

mod shadowed {
    #![allow(dead_code, non_camel_case_types)]
    struct Option;
    struct Result;
    struct Some;
    mod core {}
    mod std {}
    mod tsc_runtime {}
    struct u32;

    #[::tsc_runtime::cycles]
    pub fn function(value: u64) -> u64 {
        let __probe = value;
        let __slot = __probe;
        __slot
    }
}

mod renamed {
    mod inner {
        pub mod profiler {
            pub use tsc_runtime::{__private, cycles};
        }
    }
    use inner::profiler;

    #[profiler::cycles(crate = profiler)]
    pub fn function(value: u64) -> u64 {
        value
    }
}

#[test]
fn surroundings_change_nothing() {
    assert_eq!((conditional::function(), conditional_tail()), (5, 2));
    assert_eq!(importing::function(), 5);
    // What a macro has put before an item is measured, too.
    assert_eq!(with_setup(), 3);
    assert_eq!(
        (macro_tails(2), from_macro(2), first_item(1), second_item()),
        (vec![2, 2], 4, 1, ())
    );
    let twice = [
        precedences::condition(),
        precedences::Block::TWICE,
        precedences::Block.twice(),
        crate::futures::run(precedences::future(&0)),
    ];
    assert_eq!((twice, precedences::nested()), ([6; 4], vec![1, 6, 6, 3]));
    assert_eq!(precedences::statements(), 3);
    let called = precedences::Called { call: |x| x * 2 };
    assert_eq!((precedences::field(called), precedences::leaves()), (6, 5));
    assert_eq!(
        precedences::block_first() + precedences::block_first_in_an_arm(),
        14
    );
    assert_eq!(
        [-1, 2, 3, 7, 8].map(precedences::patterns),
        [true, true, true, true, false]
    );
    assert_eq!(shadowed::function(3) + renamed::function(4), 7);
    #[cfg(target_arch = "x86_64")]
    assert_eq!(architecture::naked(), 7);
}
