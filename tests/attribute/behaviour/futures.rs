//! Async functions: results, drop order, `Send`, size; and polls, wall time and cancelled calls in the report.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::error::Error;
use std::fmt::{self, Display};
use std::future::{self, Future};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use tsc_runtime::cycles;

/// A future that is pending once.
async fn yield_once() {
    let mut yielded = false;
    future::poll_fn(|_| {
        let poll = if yielded {
            Poll::Ready(())
        } else {
            Poll::Pending
        };
        yielded = true;
        poll
    })
    .await;
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

pub(crate) fn run<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = poll(future.as_mut()) {
            return output;
        }
    }
}

type Log = Rc<Cell<u64>>;

/// Appends its digit to the log when dropped.
struct Digit(u64, Log);

impl Drop for Digit {
    fn drop(&mut self) {
        self.1.set(self.1.get() * 10 + self.0);
    }
}

macro_rules! both {
    ($($item:item)*) => {
        mod bare { use super::*; $($item)* }
        mod annotated { use super::*; $(#[cycles] $item)* }
    };
}

both! {
    pub(super) async fn parameters(a: Digit, (b, _): (Digit, Digit), _: Digit, mut c: Digit, log: &Log) -> u64 {
        let _local = Digit(1, log.clone());
        c.0 += 1;
        yield_once().await;
        a.0 + b.0 + c.0
    }

    pub(super) async fn fails(text: &str) -> Result<u32, Box<dyn std::error::Error + Send + Sync>> {
        yield_once().await;
        if text.is_empty() {
            return Ok(0);
        }
        Ok(text.parse()?)
    }

    pub(super) async fn large(buffer: [u8; 1024], text: &str) -> usize {
        yield_once().await;
        buffer.len() + text.len()
    }

    pub(super) async fn small(a: u64, b: u64) -> u64 {
        a + b
    }

    pub(super) async fn unit() {}

    pub(super) async fn coerced(x: u32) -> Box<dyn Fn(u32) -> u32 + Send> {
        Box::new(move |y| x + y)
    }

    pub(super) async fn hidden(x: &[u32]) -> impl Iterator<Item = u32> + '_ {
        x.iter().map(|x| x + 1)
    }

    pub(super) async fn unsettled() -> u32 {
        unimplemented!()
    }

    /// A temporary of the last expression borrows a parameter.
    pub(super) async fn borrows(x: RefCell<Vec<u32>>, log: Digit) -> usize {
        yield_once().await;
        x.borrow().len() + log.1.get() as usize
    }

    /// Only a part of the type can be named.
    pub(super) async fn partly_hidden(text: &str) -> Result<impl Display, Box<dyn Error>> {
        if text.is_empty() {
            return Err(Box::new(fmt::Error));
        }
        Ok(text.len())
    }

    pub(super) async fn hidden_in_a_bound(x: u32) -> Box<dyn Iterator<Item = impl Display>> {
        Box::new(0..x)
    }

    pub(super) async fn hidden_in_a_tuple() -> (Box<dyn Fn(u32) -> u32>, impl Display) {
        (Box::new(|x| x + 1), 3)
    }
}

/// Two digits, which drop one by one. Nothing mentions the first one.
struct Pair(#[allow(dead_code)] Digit, Digit);

macro_rules! methods {
    ($($name:ident $(#[$cycles:meta])?),*) => {
        $(mod $name {
            use super::*;

            impl Pair {
                $(#[$cycles])?
                pub(super) async fn $name(self, _x: Digit, y: Digit) -> u64 {
                    yield_once().await;
                    self.1.0 + y.0
                }
            }
        })*
    };
}

methods!(bare_method, timed_method #[cycles], light_method #[cycles(light)]);

#[test]
fn self_drops_as_in_the_bare_method() {
    fn order<F: Future>(polls: u32, f: impl FnOnce(Pair, Digit, Digit) -> F) -> u64 {
        let log = Log::default();
        let digit = |number| Digit(number, log.clone());
        let mut future = Box::pin(f(Pair(digit(1), digit(2)), digit(3), digit(4)));
        for _ in 0..polls {
            let _ = poll(future.as_mut());
        }
        drop(future);
        log.get()
    }
    for polls in 0..=2 {
        let bare = order(polls, Pair::bare_method);
        assert_eq!(order(polls, Pair::timed_method), bare, "{polls} polls");
        assert_eq!(order(polls, Pair::light_method), bare, "{polls} polls");
    }
}

#[test]
fn results_are_the_same() {
    for text in ["", "17", "x"] {
        let show = |result: Result<u32, _>| {
            result.map_err(|error: Box<dyn std::error::Error + Send + Sync>| error.to_string())
        };
        assert_eq!(
            show(run(annotated::fails(text))),
            show(run(bare::fails(text)))
        );
    }
    assert_eq!(run(annotated::coerced(3))(4), 7);
    assert_eq!(run(annotated::hidden(&[1, 2])).sum::<u32>(), 5);
    macro_rules! shown {
        ($form:ident) => {{
            let shown = |text| match run($form::partly_hidden(text)) {
                Ok(shown) => shown.to_string(),
                Err(error) => error.to_string(),
            };
            let (next, three) = run($form::hidden_in_a_tuple());
            let count = run($form::hidden_in_a_bound(2)).count();
            (shown("four"), shown(""), next(1), three.to_string(), count)
        }};
    }
    assert_eq!(shown!(annotated), shown!(bare));
    assert_eq!((shown!(bare).0, shown!(bare).2), ("4".to_owned(), 2));
    let digit = |log: &Log| Digit(7, log.clone());
    let (log, vector) = (Log::default(), || RefCell::new(vec![1, 2]));
    let borrows = annotated::borrows(vector(), digit(&log));
    assert_eq!(
        run(borrows),
        run(bare::borrows(vector(), digit(&Log::default())))
    );
    assert_eq!(log.get(), 7);
}

#[test]
fn macros_in_a_future_use_its_own_parameters() {
    #[cycles]
    async fn twice(mut n: u32, (text, _): (String, u8)) -> String {
        fn joined(text: &str, n: u32) -> String {
            format!("{text}{n}")
        }
        macro_rules! twice {
            () => {
                joined(&text, n * 2)
            };
        }
        n += 1;
        twice!()
    }
    assert_eq!(run(twice(3, ("n = ".to_owned(), 0))), "n = 8");
}

#[test]
fn items_in_a_future_shadow_nothing_outside() {
    #[cycles]
    async fn shown(x: &str) -> Result<u8, String> {
        use std::fmt::{Result, Write};
        fn write(text: &mut String) -> Result {
            text.write_str("1")
        }
        let mut text = x.to_owned();
        let _ = write(&mut text);
        text.parse().map_err(|_| text)
    }
    assert_eq!(
        [run(shown("2")), run(shown("a"))],
        [Ok(21), Err("a1".to_owned())]
    );
}

#[test]
fn parameters_of_a_future_may_be_any_that_an_async_function_has() {
    #[cycles]
    async fn changed((ref mut text, end): (String, char), ref mut sum: u32) -> String {
        text.push(end);
        *sum += 1;
        format!("{text}{sum}")
    }
    #[cycles]
    async fn unnamed(numbers: impl Iterator<Item = &u32>, text: impl Into<Cow<'_, str>>) -> String {
        format!("{}{}", text.into(), numbers.sum::<u32>())
    }
    #[cycles]
    async fn in_a_slice(words: impl AsRef<[&str]>, len: &impl Fn(&str) -> usize) -> usize {
        words.as_ref().iter().map(|word| len(word)).sum()
    }
    assert_eq!(run(changed(("a".to_owned(), 'b'), 1)), "ab2");
    assert_eq!(run(unnamed([1, 2].iter(), "a")), "a3");
    assert_eq!(run(in_a_slice(["a", "bc"], &str::len)), 3);
}

#[test]
fn parameters_drop_as_in_the_bare_function() {
    /// Polls a future `polls` times, drops it, and returns the order of all drops.
    fn order<F: Future>(
        polls: u32,
        f: impl FnOnce(Digit, (Digit, Digit), Digit, Digit, &'static Log) -> F,
    ) -> u64 {
        let log: &'static Log = Box::leak(Box::new(Log::default()));
        let digit = |number| Digit(number, log.clone());
        let mut future = Box::pin(f(digit(2), (digit(3), digit(4)), digit(5), digit(6), log));
        for _ in 0..polls {
            let _ = poll(future.as_mut());
        }
        drop(future);
        log.get()
    }
    for polls in 0..=2 {
        assert_eq!(
            order(polls, annotated::parameters),
            order(polls, bare::parameters),
            "{polls} polls"
        );
    }
    assert_eq!(order(2, bare::parameters), 175342);
}

#[test]
fn send_futures_stay_send_and_small() {
    fn send<T: Send>(value: T) -> T {
        value
    }
    let sizes = [
        (
            size_of_val(&send(annotated::large([0; 1024], ""))),
            size_of_val(&bare::large([0; 1024], "")),
        ),
        (
            size_of_val(&send(annotated::small(1, 2))),
            size_of_val(&bare::small(1, 2)),
        ),
        (
            size_of_val(&send(annotated::fails(""))),
            size_of_val(&bare::fails("")),
        ),
        (
            size_of_val(&send(annotated::unit())),
            size_of_val(&bare::unit()),
        ),
    ];
    for (annotated, bare) in sizes {
        assert!(
            annotated <= bare + 64,
            "{} bytes, {} without the attribute",
            annotated,
            bare
        );
    }
    drop((
        annotated::unsettled(),
        bare::unsettled(),
        bare::coerced(1),
        bare::hidden(&[]),
    ));
}

/// The shape that `#[async_trait]` gives a function.
struct Boxed;

#[cycles]
impl Boxed {
    fn shape<'a>(&'a self, text: &'a str) -> Pin<Box<dyn Future<Output = usize> + Send + 'a>> {
        Box::pin(async move {
            yield_once().await;
            text.len()
        })
    }

    fn unboxed(&self) -> impl Future<Output = u32> {
        async {
            yield_once().await;
            3
        }
    }

    async fn recursive(&self, depth: u32) -> u32 {
        if depth == 0 {
            return 0;
        }
        Box::pin(self.recursive(depth - 1)).await + 1
    }
}

trait Service {
    async fn call(&self, request: &str) -> String;
    async fn ready(&self) -> bool {
        true
    }
}

#[cycles]
impl Service for Boxed {
    async fn call(&self, request: &str) -> String {
        yield_once().await;
        request.to_uppercase()
    }
}

#[test]
fn methods_and_traits() {
    assert_eq!(
        (
            run(Boxed.shape("abc")),
            run(Boxed.unboxed()),
            run(Boxed.recursive(5))
        ),
        (3, 3, 5)
    );
    assert_eq!(
        (run(Boxed.call("a")), run(Boxed.ready())),
        ("A".to_owned(), true)
    );
}

/// A trait that requires `Send` declares the method like this. Implementations may use `async fn`.
pub trait Sends {
    fn sends(&self, by: u32) -> impl Future<Output = u32> + Send;
    fn plain<'a>(&'a self, text: &'a str) -> impl Future<Output = &'a str>;
}

#[cycles]
impl Sends for u32 {
    async fn sends(&self, by: u32) -> u32 {
        yield_once().await;
        self + by
    }

    async fn plain<'a>(&'a self, text: &'a str) -> &'a str {
        text
    }
}

#[test]
fn declared_futures_are_implemented_by_async_functions() {
    assert_eq!((run(3.sends(4)), run(3.plain("a"))), (7, "a"));
}

/// Another attribute on the function, here `must_use`, must still see an `async fn`.
#[cycles(name = "stays async")]
#[must_use]
async fn stays_async(mut list: Vec<u32>, (first, _): (u32, u32)) -> usize {
    list.push(first);
    yield_once().await;
    list.len()
}

#[test]
fn under_another_attribute_the_function_stays_async() {
    assert_eq!(run(stays_async(vec![1], (2, 3))), 2);
}
