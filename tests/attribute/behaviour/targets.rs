//! Every kind of function. Most of the test is that it compiles with `deny(warnings)`.

#![allow(clippy::all, dead_code)] // shapes, not style

use std::fmt::{self, Debug, Display};
use std::marker::PhantomData;
use std::pin::Pin;

use tsc_runtime::cycles;

#[derive(Clone, Debug, PartialEq)]
struct Receivers<T>(Vec<T>);

#[cycles]
impl<T: Clone + Debug> Receivers<T> {
    const NONE: Option<T> = None;

    const fn passed_over(len: usize) -> usize {
        len
    }

    fn new() -> Self {
        Self(Vec::with_capacity(Self::passed_over(4)))
    }

    fn by_ref(&self) -> &[T] {
        &self.0
    }

    fn by_mut(&mut self, value: T) -> &mut T {
        self.0.push(value);
        self.0.last_mut().unwrap()
    }

    fn by_value(mut self) -> Vec<T> {
        self.0.reverse();
        self.0
    }

    fn boxed(self: Box<Self>) -> usize {
        self.0.len()
    }

    fn pinned(self: Pin<&mut Self>) -> usize
    where
        T: Unpin,
    {
        self.get_mut().0.len()
    }

    #[cycles(skip)]
    fn skipped(&self) -> usize {
        self.0.len()
    }

    #[cycles(name = "own name", fence = "none")]
    fn named(&self) -> Option<&T> {
        self.0
            .first()
            .or(None)
            .or_else(|| Self::NONE.is_some().then(|| &self.0[0]))
    }
}

#[cycles]
trait Shape {
    type Unit: Display;

    fn unit(&self) -> Self::Unit;

    fn area(&self) -> f64;

    fn describe(&self) -> String {
        format!("{} {}", self.area(), self.unit())
    }
}

struct Circle(f64);

#[cycles]
impl Shape for Circle {
    type Unit = &'static str;

    fn unit(&self) -> Self::Unit {
        "m²"
    }

    fn area(&self) -> f64 {
        self.0 * self.0 * 3.0
    }
}

#[cycles]
impl Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "circle of {}", self.0)
    }
}

#[cycles]
mod nested {
    //! Inner documentation stays first.
    #![allow(dead_code)]

    pub mod deeper {
        pub fn value() -> u32 {
            fn innermost() -> u32 {
                7
            }
            innermost()
        }
    }

    pub struct Wrapper<const N: usize>;

    impl Wrapper<{ 1 + 2 }> {
        pub fn len(&self) -> usize {
            3
        }
    }

    pub static TABLE: [u32; 2] = [deeper_const(), 2];

    const fn deeper_const() -> u32 {
        1
    }

    pub use self::deeper::value as renamed;
}

#[cycles]
fn generic<'a, T, const N: usize>(values: &'a [T; N], other: &'a str) -> (usize, &'a str)
where
    T: Debug + 'a,
{
    (
        values.iter().map(|value| format!("{value:?}").len()).sum(),
        other,
    )
}

#[cycles]
fn impl_in_both(values: impl IntoIterator<Item = u32>) -> impl Iterator<Item = u32> {
    values.into_iter().map(|value| value + 1)
}

#[cycles]
fn nested_impl(fail: bool) -> Result<impl Display, Box<dyn std::error::Error>> {
    if fail {
        return Err("asked to".into());
    }
    Ok(17)
}

#[cycles]
fn higher_ranked() -> Box<dyn for<'a> Fn(&'a str) -> &'a str> {
    Box::new(|text| text.trim())
}

#[cycles]
fn function_pointer() -> fn(&str) -> usize {
    str::len
}

#[cycles]
fn closure_as_pointer() -> fn(u32) -> u32 {
    |x| x + 1
}

#[cycles]
fn patterns((a, [b, .., c]): (u32, [u32; 4]), Receivers(ref list): Receivers<u32>, _: u32) -> u32 {
    a + b + c + list.len() as u32
}

#[cycles]
fn never(fail: bool) -> Result<(), String> {
    #[cycles]
    fn stops() -> ! {
        panic!("stopped")
    }
    if fail { stops() } else { Ok(()) }
}

#[cycles]
fn diverging_tail(value: u32) -> u32 {
    if value > 3 {
        return value;
    }
    unreachable!("{}", value)
}

#[cycles]
fn unsized_behind(text: &str, any: &dyn Debug) -> Box<str> {
    format!("{text}{any:?}").into()
}

#[cycles]
extern "C" fn foreign_abi(value: i32) -> i32 {
    value * 2
}

#[cycles]
#[inline(always)]
#[must_use]
fn inlined(#[allow(unused_variables)] first: u32, #[cfg(any())] absent: u32) -> u32 {
    3
}

#[cycles]
fn r#match(r#type: u32) -> u32 {
    r#type + 1
}

#[cycles]
fn united(union: u32) -> f64 {
    union as f64
}

#[cycles]
fn phantom<T>(_: PhantomData<T>) -> PhantomData<T> {
    PhantomData
}

#[cycles]
#[test]
fn under_a_test_attribute() {
    assert_eq!(foreign_abi(2), 4);
}

#[test]
#[cycles]
fn over_a_test_attribute() -> Result<(), String> {
    never(false)
}

#[test]
fn every_target_does_what_it_did() {
    let mut list = Receivers::new();
    *list.by_mut(1) += 1;
    list.by_mut(3);
    assert_eq!(
        (list.by_ref(), list.skipped(), list.named()),
        (&[2, 3][..], 2, Some(&2))
    );
    assert_eq!(Pin::new(&mut list).pinned(), 2);
    assert_eq!(Box::new(list.clone()).boxed(), 2);
    assert_eq!(list.clone().by_value(), [3, 2]);
    assert_eq!(Circle(2.0).describe(), "12 m²");
    assert_eq!(Circle(2.0).to_string(), "circle of 2");
    assert_eq!(
        nested::renamed() as usize + nested::Wrapper.len() + nested::TABLE.len(),
        12
    );
    assert_eq!(generic(&["a", "bc"], "d"), (7, "d"));
    assert_eq!(impl_in_both([1, 2]).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(
        nested_impl(false)
            .ok()
            .map(|value| value.to_string())
            .as_deref(),
        Some("17")
    );
    assert!(nested_impl(true).is_err());
    assert_eq!(
        (
            higher_ranked()(" a "),
            function_pointer()("abc"),
            closure_as_pointer()(1)
        ),
        ("a", 3, 2)
    );
    assert_eq!(patterns((1, [2, 3, 4, 5]), list, 9), 10);
    assert_eq!(diverging_tail(5), 5);
    assert_eq!(&*unsized_behind("a", &1), "a1");
    assert_eq!((foreign_abi(2), inlined(1), r#match(1)), (4, 3, 2));
    assert_eq!(united(3), 3.0);
    let _: PhantomData<u8> = phantom(PhantomData);
}
