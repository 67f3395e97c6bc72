use crate::on_cpu::script;
use crate::probe::stop::tests::{call, scripted, totals};
use crate::record::callsite::Callsite;
use crate::record::slowest::{SlowCall, wanted};
use crate::record::thread;

/// The slowest calls that were simulated: the first call of each callsite is a real one.
fn slowest(callsite: &'static Callsite) -> Vec<SlowCall> {
    let simulated = (1 << 40)..(1 << 40) + 1_000_000_000;
    let kept = totals(callsite).slowest.into_iter();
    kept.map(|kept| kept.call)
        .filter(|call| simulated.contains(&call.begin))
        .collect()
}

fn ticks(calls: &[SlowCall]) -> Vec<i64> {
    calls.iter().map(|call| call.ticks).collect()
}

fn number(callsite: &'static Callsite) -> u32 {
    callsite.number().expect("it was called")
}

#[test]
fn calls_that_took_longest_are_kept_and_waiting_does_not_count() {
    let [outer, inner] = scripted(["around slow calls", "sometimes slow"]);
    let begin = script::now().unwrap();
    for n in 0..20_000_u64 {
        call(outer, || {
            call(inner, || {
                script::run(600 + n % 7);
                match n {
                    // The real first call takes less than these.
                    1_000 | 2_000 | 3_000 => script::lose(50_000_000 + n, 0),
                    5_000 | 6_000 => script::run(70_000_000 + n),
                    // Other threads run.
                    n if n % 1_000 == 500 => script::lose(90_000_000, 90_000_000),
                    _ => {}
                }
            });
        });
    }
    let kept = slowest(inner);
    assert_eq!(wanted(), 5);
    let extra = |n: u64| (600 + n % 7).cast_signed();
    let expected = [
        (70_006_000, 6_000, false),
        (70_005_000, 5_000, false),
        (50_003_000, 3_000, true),
        (50_002_000, 2_000, true),
        (50_001_000, 1_000, true),
    ];
    assert_eq!(ticks(&kept), expected.map(|(ticks, n, _)| ticks + extra(n)));
    for (call, (_, n, is_blocked)) in kept.iter().zip(expected) {
        assert!(call.begin > begin);
        assert_eq!(call.end.wrapping_sub(call.begin).cast_signed(), call.ticks);
        let on_cpu = if is_blocked { extra(n) } else { call.ticks };
        assert_eq!(call.on_cpu, Some(on_cpu));
        assert_eq!(call.blocked, Some(call.ticks - on_cpu));
        assert_eq!(call.waiting, Some(0));
        assert_eq!(call.callers.numbers(), [number(outer)]);
        assert!(!call.panicked);
    }
    // A usual call stays on the fast path.
    let (_, record) = thread::this().find(inner.position()).unwrap();
    assert!(!record.is_notable(606) && record.is_notable(60_000_000));
}

#[test]
fn callers_are_all_that_were_running_and_each_of_them_once() {
    let [top, middle, slow, beside] = scripted(["top of a path", "middle", "slow", "beside"]);
    fn descend(middle: &'static Callsite, depth: u32, inside: &dyn Fn()) {
        call(middle, || {
            script::run(10);
            if depth == 0 {
                inside();
            } else {
                descend(middle, depth - 1, inside);
            }
        });
    }
    for _ in 0..wanted() {
        call(top, || {
            call(beside, || script::run(10));
            descend(middle, 3, &|| {
                call(slow, || script::run(80_000_000));
                call(beside, || script::run(10));
            });
            call(beside, || script::run(10));
        });
    }
    let record = thread::this().find(slow.position()).unwrap().1;
    let all = totals(slow).slowest;
    let kept: Vec<_> = all
        .iter()
        .filter(|kept| kept.call.ticks == 80_000_000)
        .collect();
    assert_eq!(kept.len(), wanted());
    for kept in kept {
        assert_eq!(kept.call.callers.numbers(), [number(middle), number(top)]);
    }
    assert!(record.is_slow(80_000_001) && !record.is_slow(80_000_000));
}
