//! Which block device holds a folder, and which of its files in sysfs tell what it did.
//!
//! In: a folder. Out: a `DataDevice`. Reads and writes are taken from the partition or volume that holds the folder;
//! flushes are counted by Linux on whole disks only (never on a partition or a device-mapper volume), so they are taken
//! from the disks underneath, other partitions' flushes included. Where there is no device, nothing is counted.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The storage of a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DataDevice {
    /// Name in `/sys/block`, such as `nvme0n1p2`; the mount's source where there is no block device.
    pub name: String,
    /// Type of the file system.
    pub filesystem: String,
    /// Statistics file of the device.
    pub stat: Option<PathBuf>,
    /// Statistics files of the whole disks underneath.
    pub disk_stats: Vec<PathBuf>,
}

/// Overlay on overlay and volume on volume are followed this far.
const DEPTH_MAX: usize = 8;

impl DataDevice {
    /// Finds the device of a folder; of its nearest existing parent if it does not exist yet.
    pub fn of(folder: &Path) -> DataDevice {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        find(folder, &mounts, DEPTH_MAX)
    }
}

fn find(folder: &Path, mounts: &str, depth: usize) -> DataDevice {
    let folder = existing(folder);
    let mount = Mount::of(&folder, mounts).unwrap_or_default();
    let mut device = DataDevice { filesystem: mount.filesystem, name: mount.source.clone(), ..DataDevice::default() };
    let by_folder = fs::metadata(&folder).ok().map(|m| m.dev());
    // File systems with several devices (btrfs) give their folders a number of no device; their source is one.
    let by_source = || fs::metadata(&mount.source).ok().map(|m| m.rdev());
    if let Some(sys) = by_folder.and_then(sysfs_folder).or_else(|| by_source().and_then(sysfs_folder)) {
        device.name = sys.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        device.stat = Some(sys.join("stat"));
        collect_disks(&sys, DEPTH_MAX, &mut device.disk_stats);
        return device;
    }
    let upper = mount.options.split(',').find_map(|option| option.strip_prefix("upperdir="));
    if let Some(upper) = upper.map(Path::new).filter(|upper| depth > 0 && upper.is_dir()) {
        return DataDevice { filesystem: device.filesystem, ..find(upper, mounts, depth - 1) };
    }
    device
}

/// The folder itself or its nearest parent that exists, without symbolic links.
pub(crate) fn existing(folder: &Path) -> PathBuf {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    absolute.ancestors().find_map(|path| path.canonicalize().ok()).unwrap_or_else(|| PathBuf::from("/"))
}

fn sysfs_folder(device_number: u64) -> Option<PathBuf> {
    let (major, minor) = (rustix::fs::major(device_number), rustix::fs::minor(device_number));
    let sys = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    sys.join("stat").is_file().then_some(sys)
}

/// Goes down from a volume over its slaves, and from a partition up to its disk.
fn collect_disks(sys: &Path, depth: usize, disks: &mut Vec<PathBuf>) {
    let slaves: Vec<PathBuf> = fs::read_dir(sys.join("slaves"))
        .map(|entries| entries.flatten().filter_map(|entry| entry.path().canonicalize().ok()).collect())
        .unwrap_or_default();
    if depth > 0 && !slaves.is_empty() {
        slaves.iter().for_each(|slave| collect_disks(slave, depth - 1, disks));
        return;
    }
    let disk = if sys.join("partition").exists() { sys.parent().unwrap_or(sys) } else { sys };
    let stat = disk.join("stat");
    if !disks.contains(&stat) {
        disks.push(stat);
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Mount {
    point: PathBuf,
    filesystem: String,
    source: String,
    options: String,
}

impl Mount {
    /// The mount that a folder lies on: the longest mount point, the last one mounted there.
    fn of(folder: &Path, mounts: &str) -> Option<Mount> {
        let on_the_way = mounts.lines().filter_map(Mount::parse).filter(|mount| folder.starts_with(&mount.point));
        on_the_way.max_by_key(|mount| mount.point.components().count())
    }

    /// One line of `/proc/self/mountinfo`, see proc(5): optional fields end with a lone hyphen.
    fn parse(line: &str) -> Option<Mount> {
        let (place, kind) = line.split_once(" - ")?;
        let point = place.split(' ').nth(4)?;
        let mut kind = kind.splitn(3, ' ');
        let (filesystem, source) = (kind.next()?.to_owned(), unescape(kind.next()?));
        Some(Mount { point: unescape(point).into(), filesystem, source, options: unescape(kind.next().unwrap_or("")) })
    }
}

/// The kernel writes blank, tab, newline and backslash of a path as three octal digits.
fn unescape(word: &str) -> String {
    let escapes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    escapes.iter().fold(word.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw
25 22 0:22 / /proc rw,nosuid - proc proc rw
31 22 8:17 / /data/my\\040disk rw,noatime shared:7 master:1 - xfs /dev/sdb1 rw,attr2
32 22 0:40 / /data rw - btrfs /dev/sdc rw,space_cache
33 22 0:41 / /over rw - overlay overlay rw,lowerdir=/l,upperdir=/upper,workdir=/w
34 22 0:42 / /data rw - tmpfs tmpfs rw
";

    #[test]
    fn takes_the_nearest_mount_and_the_last_on_it() {
        let check = |folder: &str, filesystem: &str, source: &str| {
            let mount = Mount::of(Path::new(folder), MOUNTS).expect("a mount");
            assert_eq!((mount.filesystem.as_str(), mount.source.as_str()), (filesystem, source), "{folder}");
        };
        check("/", "ext4", "/dev/root");
        check("/database", "ext4", "/dev/root");
        check("/data/my disk/pg", "xfs", "/dev/sdb1");
        check("/data/pg", "tmpfs", "tmpfs");
        check("/over/x", "overlay", "overlay");
        assert_eq!(Mount::of(Path::new("/"), "a broken line\n- - -\n"), None);
    }

    #[test]
    fn a_folder_without_a_device_has_none() {
        let device = DataDevice::of(Path::new("/proc/self"));
        assert_eq!((device.filesystem.as_str(), device.stat), ("proc", None));
    }

    #[test]
    fn finds_what_really_holds_this_folder() {
        let device = DataDevice::of(Path::new(env!("CARGO_MANIFEST_DIR")));
        assert_ne!(device.filesystem, "");
        if let Some(stat) = device.stat {
            assert!(stat.is_file() && !device.disk_stats.is_empty());
            assert!(device.disk_stats.iter().all(|disk| disk.is_file()));
        }
    }

    #[test]
    fn partitions_and_volumes_lead_to_whole_disks() {
        let sys = tempfile::tempdir().expect("a folder");
        let path = |name: &str| sys.path().canonicalize().expect("real").join(name);
        for folder in ["sda/sda1", "sdb", "dm-0/slaves", "dm-1/slaves"] {
            fs::create_dir_all(path(folder)).expect("made");
        }
        fs::write(path("sda/sda1/partition"), "1\n").expect("written");
        let link = |from: &str, to: &str| std::os::unix::fs::symlink(path(to), path(from)).expect("linked");
        link("dm-0/slaves/sda1", "sda/sda1");
        link("dm-0/slaves/sdb", "sdb");
        link("dm-1/slaves/dm-0", "dm-0");
        let disks = |name: &str| {
            let mut found = Vec::new();
            collect_disks(&path(name), DEPTH_MAX, &mut found);
            found.sort();
            found
        };
        assert_eq!(disks("sda/sda1"), [path("sda/stat")]);
        assert_eq!(disks("sdb"), [path("sdb/stat")]);
        assert_eq!(disks("dm-1"), [path("sda/stat"), path("sdb/stat")]);
    }
}
