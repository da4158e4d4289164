//! Archives made to break out, and archives broken on the way.

use super::*;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use tar::{Builder, Header};

/// One entry of an archive made here: its type, raw path, mode and link target or content.
type Raw<'a> = (EntryType, &'a str, u32, &'a str);

/// Writes paths into the header byte by byte, since the tar library itself refuses to write evil ones.
fn tar_of(entries: &[Raw<'_>]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (kind, path, mode, content) in entries {
        let mut header = Header::new_ustar();
        header.as_mut_bytes()[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(*mode);
        let link = matches!(kind, EntryType::Symlink | EntryType::Link);
        if link {
            header.as_mut_bytes()[157..157 + content.len()].copy_from_slice(content.as_bytes());
        }
        let body = if link { "" } else { content };
        header.set_size(body.len() as u64);
        header.set_cksum();
        builder.append(&header, body.as_bytes()).expect("appended");
    }
    builder.into_inner().expect("a tar")
}

const FILE: EntryType = EntryType::Regular;
const LINK: EntryType = EntryType::Symlink;
const HARD: EntryType = EntryType::Link;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).expect("compressed");
    gzip.finish().expect("a gzip")
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
    xz.write_all(bytes).expect("compressed");
    xz.finish().expect("an xz")
}

/// Unpacks archives into the folder `in` of a folder that is otherwise empty.
fn unpack_all(archives: &[(&str, Vec<u8>)], contents: &Contents) -> (tempfile::TempDir, Result<()>) {
    let files = tempfile::tempdir().expect("a folder");
    let paths: Vec<PathBuf> = archives.iter().map(|(name, _)| files.path().join(name)).collect();
    paths.iter().zip(archives).for_each(|(path, (_, bytes))| fs::write(path, bytes).expect("written"));
    let outer = tempfile::tempdir().expect("a folder");
    fs::create_dir(outer.path().join("in")).expect("a folder");
    let result = super::unpack(&paths, contents, &outer.path().join("in"));
    (outer, result)
}

fn unpack(entries: &[Raw<'_>]) -> (tempfile::TempDir, Result<()>) {
    unpack_all(&[("a.tar.gz", gzip(&tar_of(entries)))], &Contents::default())
}

/// The files below a folder with their first words, links with their targets.
fn listing(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("listed").flatten() {
            let path = entry.path();
            let name = path.strip_prefix(folder).expect("below").display().to_string();
            match entry.file_type().expect("a type") {
                kind if kind.is_dir() => folders.push(path),
                kind if kind.is_symlink() => {
                    found.push(format!("{name}>{}", fs::read_link(path).expect("a link").display()))
                }
                _ => found.push(format!("{name}={}", fs::read_to_string(path).expect("read"))),
            }
        }
    }
    found.sort();
    found
}

#[test]
fn unpacks_files_folders_and_links_with_plain_modes() {
    let (outer, result) = unpack(&[
        (EntryType::Directory, "./lib/", 0o700, ""),
        (FILE, "./lib/libx.so.1", 0o4600, "x"),
        (LINK, "./lib/libx.so", 0o777, "libx.so.1"),
        (LINK, "bin/up", 0o777, "../lib/libx.so"),
        (FILE, "bin/run", 0o700, "run"),
        (HARD, "bin/same", 0o644, "bin/run"),
    ]);
    result.expect("unpacked");
    let root = outer.path().join("in");
    assert_eq!(fs::read_to_string(root.join("bin/up")).expect("through two links"), "x");
    assert_eq!(fs::read_to_string(root.join("bin/same")).expect("the hard link"), "run");
    for (path, mode) in [("lib", 0o755), ("bin", 0o755), ("lib/libx.so.1", 0o644), ("bin/run", 0o755)] {
        let found = fs::metadata(root.join(path)).expect("there").permissions().mode() & 0o7777;
        assert_eq!(found, mode, "{path}");
    }
}

#[test]
fn refuses_what_would_leave_the_folder() {
    let cases: [(&str, &[Raw<'_>]); 12] = [
        ("leads out", &[(FILE, "../evil", 0o644, "x")]),
        ("leads out", &[(FILE, "a/../../evil", 0o644, "x")]),
        ("leads out", &[(FILE, "/tmp/rqps-evil", 0o644, "x")]),
        ("leads out", &[(LINK, "l", 0o777, "../evil")]),
        ("leads out", &[(LINK, "l", 0o777, "/etc/passwd")]),
        ("leads out", &[(LINK, "a/l", 0o777, "../../evil")]),
        // A name followed by `..` may pass through the first link and land outside.
        ("leads out", &[(LINK, "a/b/c", 0o777, "../.."), (LINK, "m", 0o777, "a/b/c/..")]),
        ("behind", &[(LINK, "a/b/c", 0o777, "../.."), (LINK, "a/b/c/l", 0o777, "../../..")]),
        ("behind", &[(LINK, "d", 0o777, "e"), (FILE, "d/evil", 0o644, "x")]),
        ("behind", &[(LINK, "d", 0o777, "e"), (FILE, "d", 0o644, "x")]),
        ("hard link that leads out", &[(HARD, "h", 0o644, "../secret")]),
        ("neither", &[(EntryType::Char, "dev", 0o644, "")]),
    ];
    for (reason, entries) in cases {
        let (outer, result) = unpack(entries);
        let error = result.expect_err(reason).to_string();
        assert!(error.contains(reason) && error.starts_with("refused to unpack a.tar.gz"), "{error}");
        assert_eq!(fs::read_dir(outer.path()).expect("listed").count(), 1, "nothing beside the folder: {error}");
    }
    assert!(!Path::new("/tmp/rqps-evil").exists());
    let through = unpack(&[(LINK, "s", 0o777, "f"), (HARD, "h", 0o644, "s")]).1.expect_err("refused").to_string();
    assert!(through.contains("to or through a symbolic link"), "{through}");
}

/// A zip of names, contents and modes; a mode of a link makes a link.
fn zip_of(entries: &[(&str, &[u8], Option<u32>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
    for (name, content, mode) in entries {
        let plain = zip::write::SimpleFileOptions::default();
        let options = mode.map_or(plain, |mode| plain.unix_permissions(mode));
        match mode {
            Some(mode) if mode & 0o170000 == 0o120000 => {
                zip.add_symlink(*name, String::from_utf8_lossy(content), options).expect("added");
            }
            _ => {
                zip.start_file(*name, options).expect("started");
                zip.write_all(content).expect("written");
            }
        }
    }
    zip.finish().expect("a zip").into_inner()
}

fn deb_of(data: &[u8]) -> Vec<u8> {
    let mut deb = b"!<arch>\n".to_vec();
    for (name, content) in [("debian-binary", &b"2.0\n"[..]), ("control.tar.xz", b"odd"), ("data.tar.xz", data)] {
        deb.extend(format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, "100644", content.len()).bytes());
        deb.extend(content);
        deb.extend(vec![b'\n'; content.len() % 2]);
    }
    deb
}

#[test]
fn every_kind_of_archive_is_read_to_its_end_or_refused() {
    let text = "0123456789abcdef".repeat(4000);
    let tar = tar_of(&[(FILE, "bin/server", 0o755, &text)]);
    let jar = zip_of(&[("p.txz", &xz(&tar), None)]);
    let inner = Contents { archive: Some("p.txz".into()), ..Contents::default() };
    let plain = Contents::default();
    let kinds = [
        ("p.jar", jar.clone(), &inner),
        ("p.tar.xz", xz(&tar), &plain),
        ("p.tgz", gzip(&tar), &plain),
        ("p.zip", zip_of(&[("bin/server", text.as_bytes(), None)]), &plain),
        ("p.deb", deb_of(&xz(&tar)), &plain),
        ("q", deb_of(&tar), &plain),
    ];
    for (name, bytes, contents) in kinds {
        let unpacked = |bytes: &[u8]| {
            let (outer, result) = unpack_all(&[(name, bytes.to_vec())], contents);
            result.map(|()| fs::read_to_string(outer.path().join("in/bin/server")).expect("there"))
        };
        assert_eq!(unpacked(&bytes).expect(name), text, "{name}");
        for cut in [0, 1, bytes.len() / 2, bytes.len() - 1] {
            // An uncompressed tar has only zeros at its end.
            if name == "q" && cut == bytes.len() - 1 {
                continue;
            }
            let error = unpacked(&bytes[..cut]).expect_err(name);
            assert!(matches!(error, BuildError::BrokenArchive { .. }), "{name} {cut}: {error}");
        }
        let mut flipped = bytes.clone();
        flipped[bytes.len() / 2] ^= 0xff;
        if name != "q" {
            assert!(matches!(unpacked(&flipped), Err(BuildError::BrokenArchive { .. })), "{name}");
        }
    }
    let other = Contents { archive: Some("q.txz".into()), ..Contents::default() };
    let error = unpack_all(&[("p.jar", jar)], &other).1.expect_err("no such member").to_string();
    assert!(error.contains("it holds p.txz"), "{error}");
    // A name makes no Debian package of it.
    for name in ["p.tar", "p.deb"] {
        let error = unpack_all(&[(name, tar.clone())], &plain).1.expect_err("not compressed").to_string();
        assert!(error.contains("no tar compressed by xz, gzip or bzip2"), "{error}");
    }
    let zstd = b"\x28\xb5\x2f\xfd and more".to_vec();
    for (name, bytes) in [("z.deb", deb_of(&zstd)), ("z.tar.zst", zstd)] {
        let error = unpack_all(&[(name, bytes)], &plain).1.expect_err("not read").to_string();
        assert!(error.contains("compressed by zstd, which rqps does not read"), "{error}");
    }
}

#[test]
fn a_zip_cannot_lead_out_and_its_programs_can_be_run() {
    let link = Some(0o120777);
    for (reason, name, content, mode) in [
        ("path that leads out", "../evil", "x", None),
        ("path that leads out", "/tmp/rqps-evil", "x", None),
        ("symbolic link that leads out", "l", "../evil", link),
        ("symbolic link that leads out", "l", "/etc/passwd", link),
    ] {
        let (outer, result) =
            unpack_all(&[("a.zip", zip_of(&[(name, content.as_bytes(), mode)]))], &Contents::default());
        let error = result.expect_err(reason).to_string();
        assert!(error.contains(reason), "{error}");
        assert_eq!(fs::read_dir(outer.path()).expect("listed").count(), 1, "nothing beside the folder: {error}");
    }
    let through = zip_of(&[("d", b"e", link), ("d/evil", b"x", None)]);
    assert!(
        unpack_all(&[("a.zip", through)], &Contents::default()).1.expect_err("refused").to_string().contains("behind")
    );
    let zip =
        zip_of(&[("bin/s", b"1", Some(0o644)), ("bin/t", b"l", link), ("a", b"2", Some(0o755)), ("b", b"3", None)]);
    let (outer, result) = unpack_all(&[("a.zip", zip)], &Contents::default());
    result.expect("unpacked");
    assert_eq!(listing(&outer.path().join("in")), ["a=2", "b=3", "bin/s=1", "bin/t>l"]);
    for (name, mode) in [("bin/s", 0o755), ("a", 0o755), ("b", 0o644)] {
        let found = fs::metadata(outer.path().join("in").join(name)).expect("there").permissions().mode() & 0o7777;
        assert_eq!(found, mode, "{name}");
    }
}

#[test]
fn takes_one_folder_and_skips_what_is_not_wanted() {
    let entries: [Raw<'_>; 7] = [
        (FILE, "LICENSE", 0o644, "l"),
        (FILE, "x/y/bin/server", 0o755, "s"),
        (FILE, "x/y/lib/libs.a", 0o644, "a"),
        (FILE, "x/y/test/t/1", 0o644, "t"),
        (HARD, "x/y/test/t/2", 0o644, "x/y/test/t/1"),
        (HARD, "x/y/bin/same", 0o644, "x/y/bin/server"),
        (FILE, "x/y/testing", 0o644, "u"),
    ];
    let skip = vec!["test".to_owned(), "*.a".to_owned()];
    let contents = Contents { folder: "x/y".into(), skip, ..Contents::default() };
    let (outer, result) = unpack_all(&[("a.tgz", gzip(&tar_of(&entries)))], &contents);
    result.expect("unpacked");
    assert_eq!(listing(&outer.path().join("in")), ["bin/same=s", "bin/server=s", "testing=u"]);
    let evil = tar_of(&[(FILE, "x/y/test/../../../../evil", 0o644, "e")]);
    let refused = unpack_all(&[("a.tgz", gzip(&evil))], &contents).1.expect_err("skipped paths are checked, too");
    assert!(refused.to_string().contains("leads out"), "{refused}");
}

#[test]
fn programs_elsewhere_are_linked_into_bin() {
    let tar = tar_of(&[(FILE, "usr/bin/tool", 0o755, "t"), (FILE, "usr/lib/pg/9/bin/server", 0o755, "s")]);
    let contents = Contents { folder: "usr".into(), programs: "lib/pg/9/bin".into(), ..Contents::default() };
    let (outer, result) = unpack_all(&[("p.deb", deb_of(&xz(&tar)))], &contents);
    result.expect("unpacked");
    let bin = outer.path().join("in/bin");
    assert_eq!(fs::read_link(bin.join("server")).expect("a link"), Path::new("../lib/pg/9/bin/server"));
    assert_eq!(fs::read_to_string(bin.join("server")).expect("it leads there"), "s");
    assert!(fs::symlink_metadata(bin.join("tool")).expect("there").is_file());
    let absent = Contents { programs: "lib/pg/8/bin".into(), ..contents };
    let error = unpack_all(&[("p.deb", deb_of(&xz(&tar)))], &absent).1.expect_err("not there").to_string();
    assert!(error.contains("lib/pg/8/bin"), "{error}");
}

#[test]
fn the_links_of_one_archive_bind_the_next() {
    let first = gzip(&tar_of(&[(LINK, "a/b", 0o777, "../c")]));
    let second = gzip(&tar_of(&[(FILE, "a/b/evil", 0o644, "x")]));
    let error =
        unpack_all(&[("1.tgz", first), ("2.tgz", second)], &Contents::default()).1.expect_err("refused").to_string();
    assert!(error.contains("2.tgz") && error.contains("behind"), "{error}");
}

#[test]
fn a_single_folder_around_everything_is_lifted() {
    let lifts = Contents { lifts_top: true, skip: vec!["test".into()], ..Contents::default() };
    let cases: [(&[Raw<'_>], &[&str]); 5] = [
        (
            &[(FILE, "top/bin/s", 0o755, "s"), (FILE, "top/test/t", 0o644, "t"), (LINK, "top/bin/l", 0o777, "../x")],
            &["bin/l>../x", "bin/s=s"],
        ),
        (&[(FILE, "bin/s", 0o755, "s"), (FILE, "test/t", 0o644, "t")], &["bin/s=s"]),
        (&[(FILE, "bin/s", 0o755, "s"), (FILE, "lib/l", 0o644, "l")], &["bin/s=s", "lib/l=l"]),
        (&[(FILE, "top/top/s", 0o755, "s")], &["top/s=s"]),
        (&[(LINK, "top", 0o777, ".")], &["top>."]),
    ];
    for (entries, expected) in cases {
        let (outer, result) = unpack_all(&[("a.tgz", gzip(&tar_of(entries)))], &lifts);
        result.expect("unpacked");
        assert_eq!(listing(&outer.path().join("in")), expected);
        assert_eq!(fs::read_dir(outer.path()).expect("listed").count(), 1);
    }
    let climbs = [(FILE, "top/bin/s", 0o755, "s"), (LINK, "top/l", 0o777, "../evil")];
    let error = unpack_all(&[("a.tgz", gzip(&tar_of(&climbs)))], &lifts).1.expect_err("refused").to_string();
    assert!(error.contains("leads out of its folder"), "{error}");
}
