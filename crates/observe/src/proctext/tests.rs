//! Texts as kernels from 3.10 to 6.18 write them.

use super::*;

/// Linux 3.10 (two CPUs): no guest_nice trouble, a short interrupt line.
const STAT_3_10: &[u8] = b"cpu  2255 34 2290 22625563 6290 127 456 0 0 0
cpu0 1132 34 1441 11311718 3675 127 438 0 0 0
cpu1 1123 0 849 11313845 2614 0 18 0 0 0
intr 114930548 113199788 3 0 5 263 0 4 0 1
ctxt 1990473
btime 1062191376
processes 2915
procs_running 1
procs_blocked 0
softirq 183433 0 21755 12 39 1137 231 21459 2263
";

/// Linux 6.18, with steal.
const STAT_6_18: &[u8] = b"cpu  6544 1 3365 178737 487 2 65 15 4 0
cpu0 2891 0 1258 90408 48 0 16 3 0 0
cpu1 3653 0 2106 88329 438 0 48 11 0 0
intr 233703 0 0 0 0 0 0 0 189 373 0 28 1 80850 0 5568
ctxt 455413
btime 1795238046
processes 9752
procs_running 2
procs_blocked 0
softirq 108274 0 30911 1 5133 21117 0 12 24203 0 26897
";

#[test]
fn cpu_line() {
    let old = CpuTicks::parse(STAT_3_10).expect("the line");
    assert_eq!((old.user, old.nice, old.idle, old.softirq, old.steal), (2255, 34, 22_625_563, 456, 0));
    let new = CpuTicks::parse(STAT_6_18).expect("the line");
    assert_eq!((new.system, new.iowait, new.irq, new.steal), (3365, 487, 2, 15));
    // Linux 2.4 had four fields.
    let ancient = CpuTicks::parse(b"cpu  1 2 3 4\ncpu0 1 2 3 4\n").expect("the line");
    assert_eq!((ancient.user, ancient.idle, ancient.steal), (1, 4, 0));
    for strange in [&b""[..], b"cpu", b"cpu  1 2 3\n", b"cpu0 1 2 3 4\n", b"procs 1 2 3 4"] {
        assert_eq!(CpuTicks::parse(strange), None, "{strange:?}");
    }
}

#[test]
fn switches_and_cpus() {
    for (text, switches) in [(STAT_3_10, 1_990_473), (STAT_6_18, 455_413)] {
        assert_eq!((context_switches(text), count_cpus(text)), (Some(switches), 2));
    }
    assert_eq!((context_switches(b"cpu  1 2 3 4\n"), count_cpus(b"cpu  1 2 3 4\n")), (None, 0));
}

#[test]
fn block_stat_of_three_kernel_ages() {
    let old = b"   56829    10410  5797634    16807    25612    22718  3343208     6129        0     7136    23474\n";
    let with_discards = b"56829 10410 5797634 16807 25612 22718 3343208 6129 0 7136 23474 8612 54 684112 442\n";
    let with_flushes = b"56829 10410 5797634 16807 25612 22718 3343208 6129 0 7136 23474 8612 54 684112 442 3393 94\n";
    let check = |text: &[u8], flushes| {
        let expected = BlockCounters {
            reads: Requests { count: 56829, wait_ms: 16807 },
            read_bytes: 5_797_634 * 512,
            writes: Requests { count: 25612, wait_ms: 6129 },
            write_bytes: 3_343_208 * 512,
            flushes,
        };
        assert_eq!(BlockCounters::parse(text), Some(expected));
    };
    check(old, None);
    check(with_discards, None);
    check(with_flushes, Some(Requests { count: 3393, wait_ms: 94 }));
    assert_eq!(BlockCounters::parse(b"1 2 3"), None);
    assert_eq!(BlockCounters::parse(b""), None);
}

#[test]
fn named_values() {
    let status = b"Name:\tctxt: 9\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t545\nPss:    394 kB\n";
    assert_eq!(value_of(status, "voluntary_ctxt_switches"), Some(150));
    assert_eq!(value_of(status, "nonvoluntary_ctxt_switches"), Some(545));
    assert_eq!(value_of(status, "Pss"), Some(394));
    assert_eq!(value_of(status, "Ps"), None);
    let vmstat = b"pgfault 8123\npgmajfault 71\npgfault_x 5\n";
    assert_eq!((value_of(vmstat, "pgfault"), value_of(vmstat, "pgmajfault")), (Some(8123), Some(71)));
}

#[test]
fn a_file_longer_than_the_buffer_is_read_whole() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let text = vec![b'7'; BUFFER_BYTES * 3 + 5];
    std::fs::write(file.path(), &text).expect("written");
    let mut opened = ProcFile::open(file.path()).expect("opened");
    assert_eq!(opened.read_once().expect("read"), text);
    assert_eq!(opened.read_whole().expect("read"), text);
}
