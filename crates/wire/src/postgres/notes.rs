//! What a session remembers beside results: parameters that the server reports, the last error, notices.
//!
//! In: the frames that may come at any time (manual, "Asynchronous Operations"). Out: the same, on request.
//! Everything has a limit, so that a talkative server does not fill our memory.

use crate::error::ServerError;
use crate::rows::Rows;

use super::body::Body;
use super::frame::{FrameError, HEADER_BYTES};
use super::tag::backend;

/// The notices that are kept; older ones go first.
const NOTICES_MAX: usize = 64;

/// The parameters that are kept; servers report about fifteen.
const PARAMETERS_MAX: usize = 64;

/// The longest error, notice or parameter that is read; the rest of a longer one is dropped.
pub(crate) const NOTE_BYTES_MAX: usize = 64 * 1024;

/// A session's memory.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// The rows that a program asked for.
    pub(crate) rows: Rows,
    parameters: Vec<(String, String)>,
    notices: Vec<ServerError>,
    last_error: ServerError,
    has_error: bool,
}

impl Notes {
    /// The value of a parameter that the server has reported.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let (_, value) = self.parameters.iter().find(|(known, _)| known == name)?;
        Some(value)
    }

    /// The last error that the server sent.
    pub(crate) fn last_error(&self) -> Option<&ServerError> {
        self.has_error.then_some(&self.last_error)
    }

    /// The notices so far, which are then forgotten.
    pub(crate) fn take_notices(&mut self) -> Vec<ServerError> {
        std::mem::take(&mut self.notices)
    }

    /// Reads an ErrorResponse; the buffer of the one before is reused.
    pub(crate) fn error(&mut self, frame: &[u8]) -> &ServerError {
        self.last_error.read(note_body(frame));
        self.has_error = true;
        &self.last_error
    }

    /// Keeps a NoticeResponse.
    pub(crate) fn notice(&mut self, frame: &[u8]) {
        if self.notices.len() == NOTICES_MAX {
            self.notices.remove(0);
        }
        let mut notice = ServerError::default();
        notice.read(note_body(frame));
        self.notices.push(notice);
    }

    /// Reads a ParameterStatus.
    pub(crate) fn parameter_status(&mut self, frame: &[u8]) -> Result<(), FrameError> {
        let mut body = Body::of(frame);
        let name = String::from_utf8_lossy(body.string()?);
        let value = String::from_utf8_lossy(body.string()?);
        let known = self.parameters.iter_mut().find(|known| known.0 == name);
        if let Some((_, known)) = known {
            value.as_ref().clone_into(known);
        } else if self.parameters.len() < PARAMETERS_MAX {
            self.parameters.push((name.into_owned(), value.into_owned()));
        }
        Ok(())
    }

    /// How much to keep of a frame that may come at any time; `None` if `tag` is not one of these.
    pub(crate) fn keep(tag: u8, frame_bytes: usize) -> Option<Result<usize, FrameError>> {
        match tag {
            backend::ERROR_RESPONSE | backend::NOTICE_RESPONSE => Some(Ok(NOTE_BYTES_MAX)),
            backend::NOTIFICATION_RESPONSE => Some(Ok(HEADER_BYTES)),
            backend::PARAMETER_STATUS if frame_bytes > NOTE_BYTES_MAX => {
                Some(Err(FrameError::TooLong { tag, length: frame_bytes, limit: NOTE_BYTES_MAX }))
            }
            backend::PARAMETER_STATUS => Some(Ok(frame_bytes)),
            _ => None,
        }
    }
}

fn note_body(frame: &[u8]) -> &[u8] {
    &frame[HEADER_BYTES..frame.len().min(NOTE_BYTES_MAX)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_replaced_and_limited() {
        let mut notes = Notes::default();
        let mut status = |name: &str, value: &str| {
            let frame = [b"S\0\0\0\0", name.as_bytes(), b"\0", value.as_bytes(), b"\0"].concat();
            notes.parameter_status(&frame).unwrap();
        };
        status("TimeZone", "UTC");
        status("TimeZone", "CET");
        for number in 0..1000 {
            status(&format!("p{number}"), "x");
        }
        assert_eq!(notes.parameter("TimeZone"), Some("CET"));
        assert_eq!(notes.parameter("absent"), None);
        assert_eq!(notes.parameters.len(), PARAMETERS_MAX);
    }

    #[test]
    fn the_newest_notices_are_kept() {
        let mut notes = Notes::default();
        for number in 0..100 {
            notes.notice(format!("N\0\0\0\0M{number}\0\0").as_bytes());
        }
        let notices = notes.take_notices();
        assert_eq!(notices.len(), NOTICES_MAX);
        assert_eq!(notices.last().unwrap().message(), "99");
        assert!(notes.take_notices().is_empty());
    }
}
