//! The slowest calls as a timeline in Perfetto's format, a sequence of TrackEvents: for <https://ui.perfetto.dev> and trace_processor.
//!
//! Every thread has a track. Slices of a track must lie inside each other or one after the other. The calls of a thread do, but not those of
//! async functions, and not sections: where they overlap, they have further tracks.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use prost::Message;
use tsc_report::{CallsiteReport, Report, SlowCall};

use crate::rows::path;
use crate::session::Session;

use message::{
    DebugAnnotation, ProcessDescriptor, SourceLocation, ThreadDescriptor, Trace, TracePacket,
    TrackDescriptor, TrackEvent,
};

mod message;

const SLICE_BEGIN: i32 = 1;
const SLICE_END: i32 = 2;
/// All packets are of one sequence.
const SEQUENCE: u32 = 1;

/// The calls of a report.
type Calls<'a> = Vec<(&'a CallsiteReport, &'a SlowCall)>;

/// A track for each thread, and a slice for each slow call. Every process begins at 0.
pub fn bytes(session: &Session) -> Result<Vec<u8>> {
    let mut trace = Writer::default();
    for run in &session.runs {
        trace.add_report(run);
    }
    if trace.events.is_empty() {
        bail!(
            "the report has no slow calls: only timed functions keep them, and TSC_SLOWEST=0 turns that off"
        );
    }
    Ok(trace.finish().encode_to_vec())
}

#[derive(Default)]
struct Writer {
    tracks: Vec<TracePacket>,
    events: Vec<TracePacket>,
}

impl Writer {
    fn add_report(&mut self, report: &Report) {
        let mut threads: BTreeMap<(u32, u64), Calls<'_>> = BTreeMap::new();
        for row in report.callsites() {
            for call in row.slowest() {
                let thread = threads.entry((call.pid(), call.thread())).or_default();
                thread.push((row, call));
            }
        }
        let mut process = None;
        for ((pid, _), calls) in threads {
            let track = match process {
                Some((known, track)) if known == pid => track,
                _ => self.add_process(report, pid),
            };
            process = Some((pid, track));
            self.add_thread(report, track, calls);
        }
    }

    fn add_track(&mut self, parent: Option<u64>, track: TrackDescriptor) -> u64 {
        let uuid = self.tracks.len() as u64 + 1;
        self.tracks.push(TracePacket {
            track_descriptor: Some(TrackDescriptor {
                uuid: Some(uuid),
                parent_uuid: parent,
                ..track
            }),
            ..packet()
        });
        uuid
    }

    fn add_process(&mut self, report: &Report, pid: u32) -> u64 {
        let process = report.process();
        // The command line is that of one of the processes of a merged report.
        let argv = if process.pid() == pid {
            process.argv()
        } else {
            &[]
        };
        let process = ProcessDescriptor {
            pid: Some(pid.cast_signed()),
            cmdline: argv.to_vec(),
            process_name: argv.first().cloned(),
        };
        self.add_track(
            None,
            TrackDescriptor {
                process: Some(process),
                ..TrackDescriptor::default()
            },
        )
    }

    /// Gives each call the first of the thread's tracks on which it lies inside another call or beside all of them.
    fn add_thread(&mut self, report: &Report, process: u64, mut calls: Calls<'_>) {
        calls.sort_by_key(|(_, call)| (call.begin_ns(), std::cmp::Reverse(call.end_ns())));
        let mut lanes: Vec<Lane> = Vec::new();
        for (row, call) in calls {
            // Calls of async functions leave the thread's own track to the others.
            let first = usize::from(row.polls().is_some());
            let at = (first..lanes.len()).find(|&at| lanes[at].has_room(call));
            let at = at.unwrap_or(lanes.len().max(first));
            while lanes.len() <= at {
                lanes.push(Lane {
                    track: self.add_lane(process, call, lanes.len()),
                    open: Vec::new(),
                });
            }
            self.end_before(&mut lanes[at], call.begin_ns());
            self.begin(report, &mut lanes[at], row, call);
        }
        for lane in &mut lanes {
            self.end_before(lane, u64::MAX);
        }
    }

    fn add_lane(&mut self, process: u64, call: &SlowCall, number: usize) -> u64 {
        let name = call.thread_name().unwrap_or_default();
        let track = if number == 0 {
            TrackDescriptor {
                thread: Some(ThreadDescriptor {
                    pid: Some(call.pid().cast_signed()),
                    tid: i32::try_from(call.thread()).ok(),
                    thread_name: call.thread_name().map(str::to_owned),
                }),
                ..TrackDescriptor::default()
            }
        } else {
            TrackDescriptor {
                name: Some(format!(
                    "async calls and sections of {name} {}",
                    call.thread()
                )),
                ..TrackDescriptor::default()
            }
        };
        self.add_track(Some(process), track)
    }

    fn begin(&mut self, report: &Report, lane: &mut Lane, row: &CallsiteReport, call: &SlowCall) {
        lane.open.push(call.end_ns());
        let event = TrackEvent {
            r#type: Some(SLICE_BEGIN),
            name: Some(path(row)),
            categories: vec!["tsc".to_owned()],
            debug_annotations: annotations(report, call),
            source_location: Some(SourceLocation {
                file_name: Some(row.file().to_owned()),
                function_name: Some(path(row)),
                line_number: Some(row.line()),
            }),
            track_uuid: Some(lane.track),
        };
        self.add_event(call.begin_ns(), event);
    }

    /// Ends the calls of the track that have ended by then.
    fn end_before(&mut self, lane: &mut Lane, time: u64) {
        while let Some(end) = lane.open.pop_if(|end| *end <= time) {
            let event = TrackEvent {
                r#type: Some(SLICE_END),
                track_uuid: Some(lane.track),
                ..TrackEvent::default()
            };
            self.add_event(end, event);
        }
    }

    fn add_event(&mut self, timestamp: u64, event: TrackEvent) {
        self.events.push(TracePacket {
            timestamp: Some(timestamp),
            track_event: Some(event),
            ..packet()
        });
    }

    /// The events of a track stay in their order if their times are equal.
    fn finish(mut self) -> Trace {
        self.events.sort_by_key(|event| event.timestamp);
        let mut packet = self.tracks;
        packet.extend(self.events);
        Trace { packet }
    }
}

/// A track of a thread, with the ends of the calls that have begun there, the innermost last.
struct Lane {
    track: u64,
    open: Vec<u64>,
}

impl Lane {
    fn has_room(&self, call: &SlowCall) -> bool {
        let around = self.open.iter().rev().find(|&&end| end > call.begin_ns());
        around.is_none_or(|&end| call.end_ns() <= end)
    }
}

fn packet() -> TracePacket {
    TracePacket {
        trusted_packet_sequence_id: Some(SEQUENCE),
        ..TracePacket::default()
    }
}

/// What the viewer shows of a selected slice, under the names of the report's JSON.
fn annotations(report: &Report, call: &SlowCall) -> Vec<DebugAnnotation> {
    let mut annotations = Vec::new();
    let mut add = |name: &str, annotation: DebugAnnotation| {
        annotations.push(DebugAnnotation {
            name: Some(name.to_owned()),
            ..annotation
        });
    };
    let (unit, scale) = match report.clock().hz() {
        Some(hz) => ("ns", 1e9 / hz),
        None => ("ticks", 1.0),
    };
    for (name, ticks) in [
        ("took", Some(call.ticks())),
        ("on_cpu", call.on_cpu_ticks()),
        ("blocked", call.blocked_ticks()),
        ("waiting", call.waiting_ticks()),
    ] {
        if let Some(ticks) = ticks {
            add(
                &format!("{name}_{unit}"),
                DebugAnnotation::int((ticks * scale).round() as i64),
            );
        }
    }
    if let Some(cpu) = call.cpu() {
        add("cpu", DebugAnnotation::int(i64::from(cpu)));
    }
    if call.panicked() {
        add("panicked", DebugAnnotation::truth(true));
    }
    if let Some(value) = call.value() {
        add("value", DebugAnnotation::of(value));
    }
    let functions = call.path().iter();
    let functions = functions.filter_map(|&index| report.callsites().get(index as usize));
    let path = DebugAnnotation {
        array_values: functions
            .map(|row| DebugAnnotation::text(path(row)))
            .collect(),
        ..DebugAnnotation::default()
    };
    add("path", path);
    annotations
}
