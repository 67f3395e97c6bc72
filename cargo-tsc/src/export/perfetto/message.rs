//! The messages of <https://github.com/google/perfetto/tree/main/protos/perfetto/trace>, as far as they are used here.

use prost::Message;
use tsc_report::RecordedValue;

#[derive(Clone, PartialEq, Message)]
pub(super) struct Trace {
    #[prost(message, repeated, tag = "1")]
    pub(super) packet: Vec<TracePacket>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TracePacket {
    #[prost(uint64, optional, tag = "8")]
    pub(super) timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    pub(super) trusted_packet_sequence_id: Option<u32>,
    #[prost(message, optional, tag = "11")]
    pub(super) track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "60")]
    pub(super) track_descriptor: Option<TrackDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    pub(super) uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub(super) name: Option<String>,
    #[prost(message, optional, tag = "3")]
    pub(super) process: Option<ProcessDescriptor>,
    #[prost(message, optional, tag = "4")]
    pub(super) thread: Option<ThreadDescriptor>,
    #[prost(uint64, optional, tag = "5")]
    pub(super) parent_uuid: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ProcessDescriptor {
    #[prost(int32, optional, tag = "1")]
    pub(super) pid: Option<i32>,
    #[prost(string, repeated, tag = "2")]
    pub(super) cmdline: Vec<String>,
    #[prost(string, optional, tag = "6")]
    pub(super) process_name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ThreadDescriptor {
    #[prost(int32, optional, tag = "1")]
    pub(super) pid: Option<i32>,
    #[prost(int32, optional, tag = "2")]
    pub(super) tid: Option<i32>,
    #[prost(string, optional, tag = "5")]
    pub(super) thread_name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TrackEvent {
    #[prost(message, repeated, tag = "4")]
    pub(super) debug_annotations: Vec<DebugAnnotation>,
    #[prost(int32, optional, tag = "9")]
    pub(super) r#type: Option<i32>,
    #[prost(uint64, optional, tag = "11")]
    pub(super) track_uuid: Option<u64>,
    #[prost(string, repeated, tag = "22")]
    pub(super) categories: Vec<String>,
    #[prost(string, optional, tag = "23")]
    pub(super) name: Option<String>,
    #[prost(message, optional, tag = "33")]
    pub(super) source_location: Option<SourceLocation>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SourceLocation {
    #[prost(string, optional, tag = "2")]
    pub(super) file_name: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub(super) function_name: Option<String>,
    #[prost(uint32, optional, tag = "4")]
    pub(super) line_number: Option<u32>,
}

/// One of its values is set.
#[derive(Clone, PartialEq, Message)]
pub(super) struct DebugAnnotation {
    #[prost(bool, optional, tag = "2")]
    pub(super) bool_value: Option<bool>,
    #[prost(uint64, optional, tag = "3")]
    pub(super) uint_value: Option<u64>,
    #[prost(int64, optional, tag = "4")]
    pub(super) int_value: Option<i64>,
    #[prost(double, optional, tag = "5")]
    pub(super) double_value: Option<f64>,
    #[prost(string, optional, tag = "6")]
    pub(super) string_value: Option<String>,
    #[prost(string, optional, tag = "10")]
    pub(super) name: Option<String>,
    #[prost(message, repeated, tag = "12")]
    pub(super) array_values: Vec<DebugAnnotation>,
}

impl DebugAnnotation {
    pub(super) fn of(value: &RecordedValue) -> Self {
        match value {
            RecordedValue::Bool(value) => Self::truth(*value),
            RecordedValue::Unsigned(value) => Self {
                uint_value: Some(*value),
                ..Self::default()
            },
            RecordedValue::Signed(value) => Self::int(*value),
            RecordedValue::Float(value) => Self {
                double_value: Some(*value),
                ..Self::default()
            },
            other => Self::text(other.to_string()),
        }
    }

    pub(super) fn truth(value: bool) -> Self {
        Self {
            bool_value: Some(value),
            ..Self::default()
        }
    }

    pub(super) fn int(value: i64) -> Self {
        Self {
            int_value: Some(value),
            ..Self::default()
        }
    }

    pub(super) fn text(value: String) -> Self {
        Self {
            string_value: Some(value),
            ..Self::default()
        }
    }
}
