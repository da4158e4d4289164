//! What machine this is: written once per campaign, so that results of different machines are never mixed unseen.
//!
//! In: `/proc`, `/sys`, `/etc/os-release` and the data folder. Out: `HostFacts`. Every field is best effort: what
//! cannot be found out is empty or `None`, never an error. Whether blocks can be shared is tried with two nameless
//! files, which the kernel removes by itself.

use crate::device::{DataDevice, existing};
use crate::proctext::{count_cpus, value_of};
use rqps_model::facts::HostFacts;
use rustix::fs::{Mode, OFlags};
use std::fs;
use std::path::Path;

/// Gathers the facts of this host, with the device of the data folder.
pub fn host_facts(data_dir: &Path) -> HostFacts {
    let uname = rustix::system::uname();
    let cpuinfo = read("/proc/cpuinfo");
    let meminfo = read("/proc/meminfo");
    let memory_of = |name| value_of(meminfo.as_bytes(), name).unwrap_or(0) * 1024;
    let device = DataDevice::of(data_dir);
    HostFacts {
        hostname: uname.nodename().to_string_lossy().into_owned(),
        kernel: uname.release().to_string_lossy().into_owned(),
        distribution: distribution(&read("/etc/os-release")),
        cpu_model: cpu_model(&cpuinfo, &uname.machine().to_string_lossy()),
        cpus: count_cpus(read("/proc/stat").as_bytes()),
        threads_per_core: line("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list").map(|l| count_listed(&l)),
        governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        turbo: turbo(),
        virtualization: virtualization(&cpuinfo),
        memory_bytes: memory_of("MemTotal"),
        swap_bytes: memory_of("SwapTotal"),
        transparent_huge_pages: line("/sys/kernel/mm/transparent_hugepage/enabled").map(|modes| chosen(&modes)),
        memory_nodes: line("/sys/devices/system/node/online").map(|nodes| count_listed(&nodes)),
        clock_source: line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        filesystem: device.filesystem,
        device: device.name,
        reflink: shares_blocks(&existing(data_dir)),
        boot_id: line("/proc/sys/kernel/random/boot_id").unwrap_or_default(),
        rqps_version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

fn read(path: &str) -> String {
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// The content of a file of one line, `None` if there is none.
fn line(path: &str) -> Option<String> {
    Some(read(path).trim().to_owned()).filter(|text| !text.is_empty())
}

fn distribution(os_release: &str) -> String {
    let value = |key: &str| {
        let rest = os_release.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
        Some(rest.trim().trim_matches(['"', '\'']).to_owned())
    };
    value("PRETTY_NAME").or_else(|| value("NAME")).unwrap_or_default()
}

/// The first model in `/proc/cpuinfo` (ARM has none), else the machine type.
fn cpu_model(cpuinfo: &str, machine: &str) -> String {
    let named = ["model name", "Processor", "cpu model"].iter().find_map(|key| cpuinfo_value(cpuinfo, key));
    named.filter(|name| !name.is_empty()).unwrap_or_else(|| machine.to_owned())
}

fn cpuinfo_value(cpuinfo: &str, key: &str) -> Option<String> {
    cpuinfo.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim().to_owned())
    })
}

/// How many CPUs or nodes a list such as `0,32` or `0-1,4` names.
fn count_listed(list: &str) -> u32 {
    let size = |range: &str| match range.split_once('-') {
        Some((first, last)) => Some(last.parse::<u32>().ok()?.checked_sub(first.parse().ok()?)? + 1),
        None => range.parse::<u32>().ok().map(|_| 1),
    };
    list.trim().split(',').filter_map(size).sum()
}

/// The mode in brackets of `always [madvise] never`.
fn chosen(modes: &str) -> String {
    let inside = modes.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(modes, |(mode, _)| mode).to_owned()
}

fn turbo() -> Option<bool> {
    let off = line("/sys/devices/system/cpu/intel_pstate/no_turbo").map(|text| text == "0");
    off.or_else(|| line("/sys/devices/system/cpu/cpufreq/boost").map(|text| text == "1"))
}

fn virtualization(cpuinfo: &str) -> Option<String> {
    let guest = cpuinfo_value(cpuinfo, "flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    let vendor = line("/sys/class/dmi/id/sys_vendor");
    let product = line("/sys/class/dmi/id/product_name");
    match (line("/sys/hypervisor/type"), guest) {
        (Some(kind), _) => Some(kind),
        (None, true) => {
            let named: Vec<String> = vendor.into_iter().chain(product).collect();
            Some(if named.is_empty() { "a hypervisor that does not tell its name".to_owned() } else { named.join(" ") })
        }
        (None, false) => None,
    }
}

/// Tries to clone one block between two files without a name.
fn shares_blocks(folder: &Path) -> bool {
    let nameless = || {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR).ok()
    };
    let clone = || {
        let (from, to) = (nameless()?, nameless()?);
        rustix::io::write(&from, &[1; 4096]).ok()?;
        rustix::fs::ioctl_ficlone(&to, &from).ok()
    };
    clone().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_texts_of_several_systems() {
        assert_eq!(distribution("NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n"), "Debian GNU/Linux 12");
        assert_eq!(distribution("NAME=Alpine\n"), "Alpine");
        assert_eq!(distribution(""), "");
        let amd = "processor\t: 0\nmodel name\t: AMD EPYC 9B14\nflags\t\t: fpu vme hypervisor lahf\n";
        assert_eq!(cpu_model(amd, "x86_64"), "AMD EPYC 9B14");
        assert_eq!(cpu_model("processor\t: 0\nBogoMIPS\t: 50\n", "aarch64"), "aarch64");
        assert!(virtualization(amd).is_some());
        assert_eq!(chosen("always [madvise] never"), "madvise");
        for (list, count) in [("0", 1), ("0,32", 2), ("0-3\n", 4), ("0-1,8-9", 4), ("x", 0), ("3-1", 0)] {
            assert_eq!(count_listed(list), count, "{list}");
        }
    }

    #[test]
    fn this_host_has_what_every_host_has_and_the_folder_stays_empty() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder");
        let facts = host_facts(&folder.path().join("not/yet/there"));
        assert!(facts.cpus >= 1 && facts.memory_bytes > 1 << 20, "{facts:?}");
        for text in [&facts.hostname, &facts.kernel, &facts.cpu_model, &facts.filesystem, &facts.boot_id] {
            assert!(!text.is_empty(), "{facts:?}");
        }
        assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 0);
    }
}
