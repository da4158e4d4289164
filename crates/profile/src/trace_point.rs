//! The kernel's trace point at the entry of each system call.
//!
//! In: tracefs, where the kernel says by which number a program asks for it and where its record holds what. Out:
//! [`TracePoint`], or why it cannot be used. Nothing is mounted here: that is for the owner of the machine to decide.

use crate::error::Refused;
use perf_event::events::Tracepoint;
use std::io::ErrorKind;
use std::path::Path;

/// Where tracefs is mounted; the second is its old place.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// The trace point.
const NAME: &str = "events/raw_syscalls/sys_enter";

/// Bytes of a call's number in a record.
const NUMBER_BYTES: usize = 8;

/// A trace point that may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TracePoint {
    id: u64,
    /// Where in its record the number of the call stands.
    offset: usize,
}

impl TracePoint {
    /// As the kernel has it now.
    pub(crate) fn find() -> Result<TracePoint, Refused> {
        // An empty folder is there even where nothing is mounted.
        let place = PLACES.iter().find(|place| Path::new(place).join("events").exists());
        let read = |place: &str, file: &str| std::fs::read_to_string(Path::new(place).join(NAME).join(file));
        let Some(place) = place else {
            // Who may not look into the folder cannot tell whether it is mounted either.
            return Err(match std::fs::read_dir(PLACES[0]) {
                Err(error) if error.kind() == ErrorKind::PermissionDenied => Refused::TraceFsHidden,
                _ => Refused::NoTraceFs,
            });
        };
        let refused = |error: std::io::Error| match error.kind() {
            ErrorKind::PermissionDenied => Refused::TraceFsHidden,
            ErrorKind::NotFound => Refused::NoTracePoint,
            _ => Refused::from(error),
        };
        let (id, format) = (read(place, "id").map_err(refused)?, read(place, "format").map_err(refused)?);
        TracePoint::of(&id, &format).ok_or(Refused::NoTracePoint)
    }

    /// Of what tracefs says; `None` where that is not known.
    fn of(id: &str, format: &str) -> Option<TracePoint> {
        let field = format.lines().find_map(|line| line.trim().strip_prefix("field:long id;"))?;
        let value = |name: &str| {
            let words = field.split(';').find_map(|part| part.trim().strip_prefix(name))?;
            words.parse::<usize>().ok()
        };
        let is_known = value("size:")? == NUMBER_BYTES;
        is_known.then_some(TracePoint { id: id.trim().parse().ok()?, offset: value("offset:")? })
    }

    /// What the kernel is asked for.
    pub(crate) fn event(self) -> Tracepoint {
        Tracepoint::with_id(self.id)
    }

    /// The number of the call in a record.
    pub(crate) fn number(self, record: &[u8]) -> Option<i64> {
        let number = record.get(self.offset..)?.first_chunk::<NUMBER_BYTES>()?;
        Some(i64::from_ne_bytes(*number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: &str = "name: sys_enter\nID: 443\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n\
        \tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n";

    #[test]
    fn a_record_holds_the_number_where_the_kernel_says() {
        let point = TracePoint::of("443\n", FORMAT).unwrap();
        assert_eq!(point, TracePoint { id: 443, offset: 8 });
        let record: Vec<u8> = [77_u64, 74, 1].iter().flat_map(|word| word.to_ne_bytes()).collect();
        assert_eq!(point.number(&record), Some(74));
        assert_eq!(point.number(&record[..12]), None);
    }

    #[test]
    fn a_format_that_is_not_known_is_no_trace_point() {
        assert_eq!(TracePoint::of("443", "field:int id;\toffset:8;\tsize:4;"), None);
        assert_eq!(TracePoint::of("443", &FORMAT.replace("size:8", "size:4")), None);
        assert_eq!(TracePoint::of("", FORMAT), None);
    }
}
