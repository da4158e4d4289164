//! Starts the pg_restore that makes SQL of an archive.
//!
//! In: an archive, with the program that the plan names. Out: its SQL as it comes. The program is in the lease, stands
//! in a folder of its own, and writes nothing but to us.

use rqps_machine::command::users_program;
use rqps_machine::lease::LeasedFolder;
use rqps_machine::{Lease, ProgramOutput};
use rqps_model::own::InputFile;
use std::io::{self, Read};
use std::path::Path;

/// Starts it, in a folder below `place`.
pub(crate) fn restore(lease: &Lease, place: &Path, file: &InputFile) -> io::Result<Box<dyn Read>> {
    let archive = file.archive.as_ref().expect("only archives are asked for");
    let folder = lease.folder(place, "restore", 0o700).map_err(io::Error::other)?;
    let mut command = users_program(&archive.pg_restore);
    command.args(["--file", "-", "--no-owner", "--no-privileges"]).arg(&file.path).env("LC_ALL", "C");
    let output = ProgramOutput::start(lease, folder.path(), &archive.pg_restore, command, "pg_restore");
    Ok(Box::new(Restoring { output: output.map_err(io::Error::other)?, _folder: folder }))
}

/// What comes of an archive; the program goes before its folder.
struct Restoring {
    output: ProgramOutput,
    _folder: LeasedFolder,
}

impl Read for Restoring {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.output.read(buffer)
    }
}
