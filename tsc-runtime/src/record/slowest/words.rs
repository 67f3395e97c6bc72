//! A call as words that other threads may read while they are written.

use super::{CALLERS, Callers, SlowCall};
use crate::recorded::{ShortText, TEXT_LEN, Value};
use crate::sync::atomic::{AtomicU64, Ordering::Relaxed};
use crate::tsc::Ticks;

/// Six times, the facts, the callers and the value.
pub(super) const WORDS: usize = FACTS + 1 + CALLERS / 2 + TEXT_LEN / 8;
const TICKS: usize = 2;
const FACTS: usize = 6;
const CALLERS_AT: usize = FACTS + 1;
const VALUE_AT: usize = CALLERS_AT + CALLERS / 2;

/// In the place of a time or of a CPU: unknown.
const UNKNOWN: i64 = i64::MIN;
const NO_CPU: u32 = u32::MAX;

/// What a place without a call contains. It is shorter than any call.
pub(super) const EMPTY: SlowCall = SlowCall {
    begin: 0,
    end: 0,
    ticks: i64::MIN,
    on_cpu: None,
    blocked: None,
    waiting: None,
    cpu: None,
    panicked: false,
    callers: Callers {
        len: 0,
        numbers: [0; CALLERS],
    },
    value: None,
};

/// By which the calls in places are compared.
pub(super) fn ticks_of(place: &[AtomicU64; WORDS]) -> i64 {
    place[TICKS].load(Relaxed).cast_signed()
}

pub(super) fn is_empty(place: &[AtomicU64; WORDS]) -> bool {
    ticks_of(place) == EMPTY.ticks
}

pub(super) fn is_call(place: &[AtomicU64; WORDS], begin: Ticks, end: Ticks) -> bool {
    !is_empty(place) && place[0].load(Relaxed) == begin && place[1].load(Relaxed) == end
}

pub(super) fn ended_since(place: &[AtomicU64; WORDS], start: Ticks) -> bool {
    !is_empty(place) && place[1].load(Relaxed) > start
}

impl SlowCall {
    pub(super) fn write(&self, place: &[AtomicU64; WORDS]) {
        let times = [self.on_cpu, self.blocked, self.waiting];
        let [on_cpu, blocked, waiting] = times.map(|time| time.unwrap_or(UNKNOWN).cast_unsigned());
        let (kind, len, value) = value_to_words(self.value);
        let facts = [u8::from(self.panicked), self.callers.len, kind, len];
        let facts =
            u64::from(u32::from_le_bytes(facts)) << 32 | u64::from(self.cpu.unwrap_or(NO_CPU));
        let first = [
            self.begin,
            self.end,
            self.ticks.cast_unsigned(),
            on_cpu,
            blocked,
            waiting,
            facts,
        ];
        let callers = self.callers.numbers.chunks_exact(2);
        let callers = callers.map(|two| u64::from(two[0]) << 32 | u64::from(two[1]));
        let words = first.into_iter().chain(callers).chain(value);
        for (place, word) in place.iter().zip(words) {
            place.store(word, Relaxed);
        }
    }

    pub(super) fn read(place: &[AtomicU64; WORDS]) -> Self {
        let words = place.each_ref().map(|word| word.load(Relaxed));
        let time = |at: usize| Some(words[at].cast_signed()).filter(|&time| time != UNKNOWN);
        let [panicked, len, kind, text_len] = ((words[FACTS] >> 32) as u32).to_le_bytes();
        let mut numbers = [0; CALLERS];
        for (two, word) in numbers.chunks_exact_mut(2).zip(&words[CALLERS_AT..]) {
            two.copy_from_slice(&[(word >> 32) as u32, *word as u32]);
        }
        Self {
            begin: words[0],
            end: words[1],
            ticks: words[TICKS].cast_signed(),
            on_cpu: time(3),
            blocked: time(4),
            waiting: time(5),
            cpu: Some(words[FACTS] as u32).filter(|&cpu| cpu != NO_CPU),
            panicked: panicked != 0,
            callers: Callers { len, numbers },
            value: value_from_words(kind, text_len, &words[VALUE_AT..]),
        }
    }
}

/// The kind of a value, the length of a text, and the value.
fn value_to_words(value: Option<Value>) -> (u8, u8, [u64; TEXT_LEN / 8]) {
    let one = |word| [word, 0, 0, 0];
    match value {
        None => (0, 0, one(0)),
        Some(Value::Unsigned(value)) => (1, 0, one(value)),
        Some(Value::Signed(value)) => (2, 0, one(value.cast_unsigned())),
        Some(Value::Float(value)) => (3, 0, one(value.to_bits())),
        Some(Value::Bool(value)) => (4, 0, one(u64::from(value))),
        Some(Value::Text(ShortText { len, bytes })) => {
            let mut words = one(0);
            for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
                *word = bytes
                    .iter()
                    .rev()
                    .fold(0, |word, &byte| word << 8 | u64::from(byte));
            }
            (5, len, words)
        }
    }
}

fn value_from_words(kind: u8, len: u8, words: &[u64]) -> Option<Value> {
    let first = *words.first()?;
    Some(match kind {
        1 => Value::Unsigned(first),
        2 => Value::Signed(first.cast_signed()),
        3 => Value::Float(f64::from_bits(first)),
        4 => Value::Bool(first != 0),
        5 => {
            let mut bytes = [0; TEXT_LEN];
            for (bytes, word) in bytes.chunks_exact_mut(8).zip(words) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
            Value::Text(ShortText { len, bytes })
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_is_read_as_it_was_written() {
        let mut callers = Callers::default();
        (1..30).for_each(|number| callers.add(number % 20));
        assert_eq!(callers.numbers(), (1..=16).collect::<Vec<u32>>());
        let values = [
            Value::Unsigned(u64::MAX),
            Value::Signed(-7),
            Value::Float(-0.5),
            Value::Bool(true),
            Value::Text(ShortText::of("GET /orders/4711?page=2&größe=9")),
        ];
        for value in values.map(Some).into_iter().chain([None]) {
            let call = SlowCall {
                begin: 1 << 60,
                end: (1 << 60) + 9,
                ticks: -3,
                on_cpu: Some(-3),
                blocked: Some(0),
                waiting: None,
                cpu: Some(191),
                panicked: true,
                callers,
                value,
            };
            let place = [const { AtomicU64::new(0) }; WORDS];
            call.write(&place);
            assert_eq!(SlowCall::read(&place), call);
            assert!(is_call(&place, call.begin, call.end) && !is_call(&place, 0, call.end));
        }
    }
}
