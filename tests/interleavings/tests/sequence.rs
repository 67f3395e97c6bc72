//! The protocol by which a record is read, in all orders that the memory model allows: Loom knows relaxed orderings, which Shuttle does not.

use loom::sync::Arc;
use loom::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use loom::thread;

/// Where the runtime's module finds its atomics.
mod sync {
    pub(crate) use loom::sync::atomic;
}

#[path = "../../../tsc-core/src/record/sequence.rs"]
mod sequence;

use sequence::Sequence;

struct Values {
    sequence: Sequence,
    values: [AtomicU64; 2],
}

impl Values {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            sequence: Sequence(AtomicU32::new(0)),
            values: [AtomicU64::new(0), AtomicU64::new(0)],
        })
    }

    fn write(&self, value: u64) {
        self.sequence.open();
        for cell in &self.values {
            cell.store(value, Relaxed);
        }
        self.sequence.close();
    }

    /// `None` if something was written meanwhile.
    fn read(&self) -> Option<[u64; 2]> {
        let before = self.sequence.begin_read();
        let values = self.values.each_ref().map(|cell| cell.load(Relaxed));
        self.sequence.is_whole(before).then_some(values)
    }
}

#[test]
fn whole_reads_are_of_one_write() {
    loom::model(|| {
        let values = Values::new();
        let writer = {
            let values = Arc::clone(&values);
            thread::spawn(move || (1..=2).for_each(|value| values.write(value)))
        };
        let reads = [values.read(), values.read()];
        for [first, second] in reads.into_iter().flatten() {
            assert_eq!(first, second);
        }
        if let [Some([earlier, _]), Some([later, _])] = reads {
            assert!(earlier <= later);
        }
        writer.join().unwrap();
        assert_eq!(values.read(), Some([2, 2]));
    });
}

/// A sample is buffered, and the buffer emptied into a sum by a write, as when a record is folded.
#[test]
fn whole_reads_have_each_sample_once() {
    struct Record {
        sequence: Sequence,
        sum: AtomicU64,
        buffered: AtomicU32,
        sample: AtomicU64,
    }
    loom::model(|| {
        let record = Arc::new(Record {
            sequence: Sequence(AtomicU32::new(0)),
            sum: AtomicU64::new(0),
            buffered: AtomicU32::new(0),
            sample: AtomicU64::new(0),
        });
        let writer = {
            let record = Arc::clone(&record);
            thread::spawn(move || {
                record.sample.store(5, Relaxed);
                record.buffered.store(1, Release);
                record.sequence.open();
                record.buffered.store(0, Relaxed);
                record.sum.store(5, Relaxed);
                record.sequence.close();
                record.sample.store(7, Relaxed);
                record.buffered.store(1, Release);
            })
        };
        let before = record.sequence.begin_read();
        let sum = record.sum.load(Relaxed);
        let read = match record.buffered.load(Acquire) {
            0 => sum,
            _ => sum + record.sample.load(Relaxed),
        };
        if record.sequence.is_whole(before) {
            assert!([0, 5, 12].contains(&read), "{read}");
        }
        writer.join().unwrap();
    });
}
