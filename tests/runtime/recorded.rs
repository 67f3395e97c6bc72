//! The values that a function records of its slow calls.

use std::future::Future;
use std::hint::black_box;
use std::panic::catch_unwind;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use tsc_runtime::{RecordedValue, Report, SlowCall, cycles, snapshot};

/// Long enough to be kept.
fn rest() {
    thread::sleep(Duration::from_millis(1));
}

/// The slow calls of a function of this test binary.
fn slowest(name: &str) -> Vec<SlowCall> {
    tests::row(name).slowest().to_vec()
}

fn values(name: &str) -> Vec<Option<RecordedValue>> {
    slowest(name)
        .iter()
        .map(|call| call.value().cloned())
        .collect()
}

static EVALUATED: AtomicU32 = AtomicU32::new(0);

fn evaluate(number: u32) -> u32 {
    EVALUATED.fetch_add(1, Relaxed);
    number
}

#[cycles(name = "counted", record = evaluate(number))]
fn counted(number: u32) {
    if number < 5 {
        thread::sleep(Duration::from_millis(40));
    }
}

#[test]
fn expression_is_evaluated_for_calls_that_are_kept() {
    (0..5).for_each(counted);
    assert_eq!(EVALUATED.load(Relaxed), 5);
    (5..20_000).for_each(counted);
    // A machine may take its CPU away for 40 ms, but not often.
    assert!(EVALUATED.load(Relaxed) < 5 + 20);
    assert_eq!(values("counted").len(), 5);
    assert!(values("counted").iter().all(Option::is_some));
}

#[cfg(target_os = "linux")]
#[test]
fn expression_leaves_the_error_number_of_the_call_as_it_is() {
    #[cycles(name = "fails", record = std::fs::metadata("/no such folder").is_ok())]
    fn fails() {
        rest();
        // The root is no link.
        assert!(std::fs::read_link("/").is_err());
    }
    fails();
    let error = std::io::Error::last_os_error().raw_os_error();
    assert_eq!(error, Some(libc::EINVAL));
    assert_eq!(values("fails"), [Some(RecordedValue::Bool(false))]);
}

#[cycles(name = "unsigned", record = value)]
fn unsigned(value: u64) {
    rest();
}

#[cycles(name = "signed", record = value)]
fn signed(value: i32) {
    rest();
}

#[cycles(name = "float", record = value)]
fn float(value: f32) {
    rest();
}

#[cycles(name = "truth", record = value)]
fn truth(value: bool) {
    rest();
}

#[cycles(name = "text", record = value)]
fn text(value: &str) {
    rest();
}

#[cycles(name = "option", record = value.as_deref())]
fn option(value: Option<String>) {
    rest();
}

/// The body changes the parameter, so the expression has a copy.
#[cycles(name = "copied", record = move || left)]
fn copied(mut left: u32) -> u32 {
    while left > 0 {
        rest();
        left -= 1;
    }
    left
}

struct Server {
    handled: u32,
}

impl Server {
    #[cycles(name = "method", record = request.len())]
    fn handle(&mut self, request: &[u8]) -> u32 {
        self.handled += 1;
        rest();
        self.handled
    }
}

#[test]
fn values_of_all_kinds_are_kept() {
    let texts = "€".repeat(20);
    unsigned(u64::MAX);
    signed(-7);
    float(-0.5);
    float(f32::NAN);
    truth(true);
    text(&texts);
    option(Some("GET /".to_owned()));
    option(None);
    copied(3);
    Server { handled: 0 }.handle(b"four");
    let one = |name| match &values(name)[..] {
        [Some(value)] => value.clone(),
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(one("unsigned"), RecordedValue::Unsigned(u64::MAX));
    assert_eq!(one("signed"), RecordedValue::Signed(-7));
    assert_eq!(one("truth"), RecordedValue::Bool(true));
    assert_eq!(one("text"), RecordedValue::Text("€".repeat(10)));
    assert_eq!(one("copied"), RecordedValue::Unsigned(3));
    assert_eq!(one("method"), RecordedValue::Unsigned(4));
    let floats = values("float");
    assert!(
        floats.contains(&Some(RecordedValue::Float(-0.5))),
        "{floats:?}"
    );
    assert!(
        floats.contains(&Some(RecordedValue::Text("NaN".to_owned()))),
        "{floats:?}"
    );
    let options = values("option");
    assert!(
        options.contains(&Some(RecordedValue::Text("GET /".to_owned()))),
        "{options:?}"
    );
    assert!(options.contains(&None), "{options:?}");
    // The whole report keeps them on its way through JSON.
    let report = snapshot();
    assert_eq!(Report::from_json(&report.to_json()).unwrap(), report);
}

fn fail() -> u32 {
    panic!("in the expression")
}

#[cycles(name = "failing expression", record = fail())]
fn with_failing_expression(fails: bool) -> u32 {
    rest();
    assert!(!fails, "in the function");
    7
}

#[test]
fn expression_that_panics_does_no_harm() {
    assert_eq!(with_failing_expression(false), 7);
    let panic = catch_unwind(|| with_failing_expression(true)).unwrap_err();
    let message = panic.downcast_ref::<&str>().expect("it has a message");
    assert_eq!(*message, "in the function");
    assert_eq!(with_failing_expression(false), 7);
    let calls = slowest("failing expression");
    assert_eq!(calls.len(), 3);
    assert!(calls.iter().all(|call| call.value().is_none()));
    assert_eq!(calls.iter().filter(|call| call.panicked()).count(), 1);
}

#[cycles(name = "re-entered", record = re_entered(number + 1))]
fn re_entered(number: u64) -> u64 {
    // The call in the expression does twenty times the work.
    let turns = if number == 0 { 300_000 } else { 6_000_000 };
    (0..turns).fold(number, |number, _| black_box(number))
}

#[cycles(name = "around the re-entered")]
fn around_re_entered() {
    re_entered(0);
}

#[test]
fn expression_that_calls_the_function_again_does_no_harm() {
    around_re_entered();
    let row = tests::row("re-entered");
    assert_eq!(row.calls(), 2);
    let values = values("re-entered");
    // The call in the expression has no value, because the expression would call the function again for ever.
    assert!(
        values.contains(&Some(RecordedValue::Unsigned(1))),
        "{values:?}"
    );
    assert!(values.contains(&None), "{values:?}");
    // The work of the expression is nobody's but that call's.
    let around = tests::row("around the re-entered");
    assert!(
        around.sums().callees() as f64 * 4.0 < row.total_ticks(),
        "{around:?}"
    );
}

#[cycles(name = "sleeps in an expression")]
fn sleeps() -> u32 {
    thread::sleep(Duration::from_millis(40));
    0
}

#[cycles(name = "has an expression that sleeps", record = sleeps())]
fn with_sleeping_expression() {
    rest();
}

#[cycles(name = "around an expression that sleeps")]
fn around_sleeping_expression() {
    with_sleeping_expression();
}

#[test]
fn expression_that_blocks_blocks_nobody_else() {
    around_sleeping_expression();
    if !tests::is_split(&snapshot(), "sleeps in an expression") {
        return;
    }
    let sleeps = tests::row("sleeps in an expression").total_ticks();
    let around = tests::row("around an expression that sleeps");
    assert!(around.total_ticks() * 2.0 < sleeps, "{around:?} {sleeps}");
}

/// Is pending once.
struct Pause(bool);

impl Future for Pause {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, false) {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    }
}

#[cycles(name = "future", record = count.load(Relaxed))]
async fn future(count: &AtomicU32, turns: u32) -> u32 {
    for _ in 0..turns {
        count.fetch_add(1, Relaxed);
        Pause(true).await;
    }
    count.fetch_add(1, Relaxed)
}

#[test]
fn value_of_a_future_is_that_of_its_last_poll() {
    let count = AtomicU32::new(0);
    let mut context = Context::from_waker(Waker::noop());
    let mut running = pin!(future(&count, 3));
    while running.as_mut().poll(&mut context).is_pending() {
        thread::sleep(Duration::from_millis(5));
    }
    // One that does not complete is no call.
    let dropped = AtomicU32::new(90);
    let mut cancelled = Box::pin(future(&dropped, 3));
    assert!(cancelled.as_mut().poll(&mut context).is_pending());
    thread::sleep(Duration::from_millis(20));
    drop(cancelled);
    let calls = slowest("future");
    let [call] = &calls[..] else {
        panic!("{calls:?}");
    };
    assert_eq!(call.value(), Some(&RecordedValue::Unsigned(4)));
    let suspended = Duration::from_millis(15).as_nanos() as u64;
    assert!(
        call.end_ns() - call.begin_ns() >= suspended * 9 / 10,
        "{call:?}"
    );
    assert!(
        call.on_cpu_ticks()
            .is_none_or(|ticks| ticks < 0.5 * call.ticks()),
        "{call:?}"
    );
    assert_eq!((call.blocked_ticks(), call.waiting_ticks()), (None, None));
}
