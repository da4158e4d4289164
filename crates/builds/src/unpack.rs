//! Unpacking packages: compressed tars, zips, a tar inside a jar, Debian packages.
//!
//! In: package files whose checksums were verified, what to take out of them, and an empty folder of our own. Out: the
//! files in that folder, readable by everyone, with no owner or set-uid bit taken from the archive. Nothing may be
//! written outside the folder, and no link may lead out of it: an entry that tries is refused and with it the whole
//! package. The kind of a file is known by its first bytes and not by its name.

mod deb;
mod place;

pub use place::Contents;
pub(crate) use place::{climbed_inside, make_open_folder};

use crate::{BuildError, Result};
use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use liblzma::read::XzDecoder;
use place::Place;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use tar::EntryType;

/// Folders of programs, whose files in a zip are executable even where the zip has no modes.
const PROGRAMS: [&str; 4] = ["bin", "sbin", "libexec", "scripts"];

/// A symbolic link in a zip is a file with its target in it; no target is longer.
const LINK_MAX_BYTES: u64 = 4096;

/// Unpacks packages, one over the other, into a folder that exists and is empty.
pub fn unpack(packages: &[PathBuf], contents: &Contents, folder: &Path) -> Result<()> {
    let mut place = Place::new(folder, contents);
    for package in packages {
        place.archive = package.file_name().map_or_else(|| "the package".into(), |n| n.to_string_lossy().into_owned());
        add_package(&mut place, package)?;
    }
    if !contents.programs.as_os_str().is_empty() {
        place.link_programs(&contents.programs)?;
    }
    if contents.lifts_top { place.lift() } else { Ok(()) }
}

fn add_package(place: &mut Place<'_>, package: &Path) -> Result<()> {
    let mut file = File::open(package).map_err(BuildError::at("open", package))?;
    let head = head_of(&mut file).map_err(|e| place.broken(e))?;
    io::Seek::rewind(&mut file).map_err(BuildError::at("read", package))?;
    let inner = place.contents.archive.clone();
    match (Kind::of(&head), inner) {
        (Some(Kind::Zip), Some(inner)) => add_jar(place, file, &inner),
        (Some(Kind::Zip), None) => add_zip(place, file),
        (Some(Kind::Deb), _) => {
            let data = deb::data(file).map_err(|e| place.broken(e))?;
            add_deb_data(place, data)
        }
        _ => add_tar(place, file),
    }
}

/// The kinds of archives, by their first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Zip,
    Deb,
    Xz,
    Gzip,
    Bzip2,
    Zstd,
}

impl Kind {
    fn of(head: &[u8]) -> Option<Kind> {
        let magics: [(&[u8], Kind); 6] = [
            (b"PK\x03\x04", Kind::Zip),
            (b"!<arch>\n", Kind::Deb),
            (b"\xfd7zXZ\0", Kind::Xz),
            (b"\x1f\x8b", Kind::Gzip),
            (b"BZh", Kind::Bzip2),
            (b"\x28\xb5\x2f\xfd", Kind::Zstd),
        ];
        magics.into_iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, kind)| kind)
    }
}

/// The first bytes of a stream, as many as there are of eight.
fn head_of(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    reader.take(8).read_to_end(&mut head)?;
    Ok(head)
}

fn add_jar(place: &mut Place<'_>, file: File, inner: &str) -> Result<()> {
    let mut zip = zip::ZipArchive::new(file).map_err(|e| place.broken(e))?;
    let known: Vec<String> = zip.file_names().flatten().map(|name| name.into_owned()).collect();
    let reason = |e: zip::result::ZipError| format!("`{inner}`: {e}; it holds {}", known.join(", "));
    let member = zip.by_name(inner).map_err(|e| place.broken(reason(e)))?;
    add_tar(place, member)
}

/// A Debian package is the only one whose tar may be plain.
fn add_deb_data(place: &mut Place<'_>, mut reader: impl Read) -> Result<()> {
    let head = head_of(&mut reader).map_err(|e| place.broken(e))?;
    let is_plain = head.len() == 8 && Kind::of(&head).is_none();
    let reader = io::Cursor::new(head).chain(reader);
    if is_plain { add_entries(place, reader) } else { add_tar(place, reader) }
}

fn add_tar(place: &mut Place<'_>, mut reader: impl Read) -> Result<()> {
    let head = head_of(&mut reader).map_err(|e| place.broken(e))?;
    let kind = Kind::of(&head);
    let reader = io::Cursor::new(head).chain(reader);
    match kind {
        Some(Kind::Xz) => add_entries(place, XzDecoder::new_multi_decoder(reader)),
        Some(Kind::Gzip) => add_entries(place, MultiGzDecoder::new(reader)),
        Some(Kind::Bzip2) => add_entries(place, MultiBzDecoder::new(reader)),
        Some(Kind::Zstd) => {
            Err(place
                .broken("it is compressed by zstd, which rqps does not read; pack it again with xz, gzip or bzip2"))
        }
        _ => Err(place.broken("it is no tar compressed by xz, gzip or bzip2, no zip and no jar")),
    }
}

fn add_entries(place: &mut Place<'_>, reader: impl Read) -> Result<()> {
    let mut tar = tar::Archive::new(reader);
    for entry in tar.entries().map_err(|e| place.broken(e))? {
        add_entry(place, entry.map_err(|e| place.broken(e))?)?;
    }
    // What follows the last entry holds the checksum of the compressed stream.
    io::copy(&mut tar.into_inner(), &mut io::sink()).map_err(|e| place.broken(e))?;
    Ok(())
}

fn add_entry(place: &mut Place<'_>, mut entry: tar::Entry<'_, impl Read>) -> Result<()> {
    let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
    let kind = entry.header().entry_type();
    if matches!(kind, EntryType::XGlobalHeader) {
        return Ok(());
    }
    let raw = entry.path().map_err(|e| place.broken(e))?.into_owned();
    let Some(path) = place.path(&name, &raw)? else { return Ok(()) };
    let target = entry.link_name().map_err(|e| place.broken(e))?.map(|to| to.into_owned());
    match kind {
        EntryType::Directory => place.folder(&path),
        EntryType::Regular | EntryType::Continuous => {
            let executable = entry.header().mode().map_err(|e| place.broken(e))? & 0o111 != 0;
            place.file(&path, &mut entry, executable)
        }
        EntryType::Symlink => place.symbolic_link(&name, &path, target.as_deref()),
        EntryType::Link => place.hard_link(&name, &path, target.as_deref()),
        _ => Err(place.refused(&name, "is neither a file, a folder nor a link")),
    }
}

fn add_zip(place: &mut Place<'_>, file: File) -> Result<()> {
    let mut zip = zip::ZipArchive::new(file).map_err(|e| place.broken(e))?;
    for at in 0..zip.len() {
        let mut entry = zip.by_index(at).map_err(|e| place.broken(e))?;
        let name = entry.name().map_err(|e| place.broken(e))?.into_owned();
        let Some(path) = place.path(&name, Path::new(&name))? else { continue };
        if entry.is_dir() {
            place.folder(&path)?;
        } else if entry.is_symlink() {
            let mut to = String::new();
            entry.by_ref().take(LINK_MAX_BYTES).read_to_string(&mut to).map_err(|e| place.broken(e))?;
            place.symbolic_link(&name, &path, Some(Path::new(&to)))?;
        } else {
            let is_program = path.parent().and_then(Path::file_name).is_some_and(|f| PROGRAMS.iter().any(|p| f == *p));
            let executable = is_program || entry.unix_mode().is_some_and(|mode| mode & 0o111 != 0);
            place.file(&path, &mut entry, executable)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
