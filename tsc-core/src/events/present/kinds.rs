//! The events, by their names in `perf list`.

use std::io;

use once_cell::race::OnceBox;
use perf_event::Builder;
use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Hardware, Software};

use crate::environment::{self, EVENTS};
pub(super) use crate::record::event_row::MOST;

#[derive(Clone, Copy, Debug)]
pub(super) struct EventKind {
    pub(super) name: &'static str,
    source: Source,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    Software(Software),
    /// In the kernel on behalf of the thread, so that the count must include the kernel.
    Kernel(Software),
    Hardware(Hardware),
    Misses(CacheId),
}

// Input:  kinds! { "page-faults": Software(Software::PAGE_FAULTS), … }
// Output: these in an array
macro_rules! kinds {
    ($($name:literal: $source:ident($event:expr),)*) => {
        [$(EventKind { name: $name, source: Source::$source($event) },)*]
    };
}

impl EventKind {
    /// All events, in the order of `docs/variables.md`.
    pub(super) const ALL: [Self; 19] = kinds! {
        "page-faults": Software(Software::PAGE_FAULTS),
        "minor-faults": Software(Software::PAGE_FAULTS_MIN),
        "major-faults": Software(Software::PAGE_FAULTS_MAJ),
        "context-switches": Kernel(Software::CONTEXT_SWITCHES),
        "cpu-migrations": Kernel(Software::CPU_MIGRATIONS),
        "cycles": Hardware(Hardware::CPU_CYCLES),
        "instructions": Hardware(Hardware::INSTRUCTIONS),
        "branches": Hardware(Hardware::BRANCH_INSTRUCTIONS),
        "branch-misses": Hardware(Hardware::BRANCH_MISSES),
        "cache-references": Hardware(Hardware::CACHE_REFERENCES),
        "cache-misses": Hardware(Hardware::CACHE_MISSES),
        "stalled-cycles-frontend": Hardware(Hardware::STALLED_CYCLES_FRONTEND),
        "stalled-cycles-backend": Hardware(Hardware::STALLED_CYCLES_BACKEND),
        "bus-cycles": Hardware(Hardware::BUS_CYCLES),
        "L1-dcache-load-misses": Misses(CacheId::L1D),
        "L1-icache-load-misses": Misses(CacheId::L1I),
        "LLC-load-misses": Misses(CacheId::LL),
        "dTLB-load-misses": Misses(CacheId::DTLB),
        "iTLB-load-misses": Misses(CacheId::ITLB),
    };

    pub(super) fn builder(&self) -> Builder<'static> {
        let mut builder = match self.source {
            Source::Software(event) | Source::Kernel(event) => Builder::new(event),
            Source::Hardware(event) => Builder::new(event),
            Source::Misses(which) => Builder::new(Cache {
                which,
                operation: CacheOp::READ,
                result: CacheResult::MISS,
            }),
        };
        if matches!(self.source, Source::Kernel(_)) {
            builder.include_kernel();
        }
        builder.enabled(true);
        builder
    }

    /// Why the event cannot be counted.
    fn why_not(&self, error: &io::Error) -> String {
        let other = error.to_string();
        let why = match (error.raw_os_error(), self.source) {
            (Some(libc::EACCES | libc::EPERM), _) => {
                "this process may not count it; that needs root, CAP_PERFMON or a lower kernel.perf_event_paranoid"
            }
            (Some(libc::ENOENT | libc::EOPNOTSUPP), Source::Hardware(_) | Source::Misses(_)) => {
                "this machine has no performance monitoring unit that counts it, or its hypervisor hides it"
            }
            _ => other.as_str(),
        };
        format!("{}: {why}", self.name)
    }
}

static CHOSEN: OnceBox<Vec<EventKind>> = OnceBox::new();

/// The events in `TSC_EVENTS` that this process can count. The first call prints why the others cannot be counted.
pub(super) fn choose(try_to_open: fn(&EventKind) -> io::Result<()>) -> &'static [EventKind] {
    let can_be_counted = |kind: &EventKind| {
        let complain = |why| environment::complain(&format!("events: {why}"));
        let opened = try_to_open(kind).map_err(|error| kind.why_not(&error));
        opened.map_err(complain).is_ok()
    };
    CHOSEN.get_or_init(|| Box::new(named().into_iter().filter(can_be_counted).collect()))
}

/// The events that `TSC_EVENTS` names. Prints what is wrong with its other names.
fn named() -> Vec<EventKind> {
    let list = EVENTS.get().unwrap_or_default();
    let variable = EVENTS.with_default("the rest of the list");
    let complain = |name: &str, wrong: &str| variable.complain(name, wrong);
    parse(&list.to_string_lossy(), complain)
}

/// The names of these events, as a user would write them in `TSC_EVENTS`.
#[cfg(fuzzing)]
pub(crate) fn understood() -> String {
    let names: Vec<&str> = named().iter().map(|kind| kind.name).collect();
    names.join(",")
}

/// The events that [`choose`] has returned. Empty before its first call.
pub(super) fn chosen() -> &'static [EventKind] {
    CHOSEN.get().map_or(&[], Vec::as_slice)
}

/// The events of a list. Each wrong name in it is passed to `complain` with the reason.
fn parse(list: &str, mut complain: impl FnMut(&str, &str)) -> Vec<EventKind> {
    let mut kinds: Vec<EventKind> = Vec::new();
    let names = list.split(',').map(str::trim);
    for name in names.filter(|name| !name.is_empty()) {
        match EventKind::ALL.iter().find(|kind| kind.name == name) {
            None => {
                let known = EventKind::ALL.map(|kind| kind.name).join(", ");
                complain(name, &format!("is none of {known}"));
            }
            Some(kind) if kinds.iter().any(|known| known.name == kind.name) => {}
            Some(_) if kinds.len() == MOST => complain(name, "is one too many"),
            Some(kind) => kinds.push(*kind),
        }
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(list: &str) -> (Vec<EventKind>, Vec<(String, String)>) {
        let mut wrong = Vec::new();
        let kinds = super::parse(list, |name, why| {
            wrong.push((name.to_owned(), why.to_owned()));
        });
        (kinds, wrong)
    }

    fn names(list: &str) -> Vec<&'static str> {
        parse(list).0.iter().map(|kind| kind.name).collect()
    }

    #[test]
    fn lists_are_parsed() {
        assert_eq!(
            names("instructions, page-faults,instructions,"),
            ["instructions", "page-faults"]
        );
        assert!(names("").is_empty());
        let (kinds, wrong) = parse("page-faults,misses");
        assert_eq!(kinds.len(), 1);
        let all: Vec<&str> = EventKind::ALL.iter().map(|kind| kind.name).collect();
        let why = format!("is none of {}", all.join(", "));
        assert_eq!(wrong, [("misses".to_owned(), why)]);
        let (kinds, wrong) = parse(&all.join(","));
        assert_eq!((kinds.len(), wrong.len()), (MOST, all.len() - MOST));
        assert_eq!(wrong[0].1, "is one too many");
    }

    #[test]
    fn reason_names_the_event_and_what_is_missing() {
        let why = |number, kind: usize| {
            EventKind::ALL[kind].why_not(&io::Error::from_raw_os_error(number))
        };
        assert!(why(libc::ENOENT, 6).starts_with("instructions: this machine has no performance"));
        assert!(why(libc::EACCES, 3).contains("perf_event_paranoid"));
    }

    #[test]
    fn page_lists_every_event() {
        let page = include_str!("../../../../docs/variables.md");
        for kind in EventKind::ALL {
            assert!(page.contains(&format!("`{}`", kind.name)), "{}", kind.name);
        }
    }
}
