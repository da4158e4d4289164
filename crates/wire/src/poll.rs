//! Waiting until a session has something to read: [`Watch`] and [`wait_readable`] for one, [`Poller`] for many.
//!
//! The timed path never blocks in a read: a blocking read on a Unix socket costs 1.4 times the client
//! CPU and nearly twice the context switches of poll, then read. In: file descriptors and a
//! timeout. Out: who is readable. It must not allocate per wait, and it keeps no session.

use std::fmt;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, epoll};
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime};

/// How many ready sessions one wait reports at most; the rest come with the next wait.
const READY_MAX: usize = 64;

/// The token of an alarm, which belongs to no session.
pub const ALARM: u64 = u64::MAX;

/// Waits for any of several sessions, each known by a token of the caller's choice.
pub struct Poller {
    epoll: OwnedFd,
    ready: Vec<epoll::Event>,
    alarm: Option<Alarm>,
}

impl fmt::Debug for Poller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poller").field("epoll", &self.epoll).finish_non_exhaustive()
    }
}

impl Poller {
    /// A poller of no sessions.
    pub fn new() -> io::Result<Poller> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        Ok(Poller { epoll, ready: Vec::with_capacity(READY_MAX), alarm: None })
    }

    /// From now on [`ALARM`] is reported when the period has passed, over and over. It costs the waits nothing, where a
    /// timeout would set a timer for each of them.
    pub fn ring_every(&mut self, period: Duration) -> io::Result<()> {
        self.alarm = Some(Alarm::on(&self.epoll, period)?);
        Ok(())
    }

    /// Watches `source` for something to read, reported as `token`, until it is closed or removed.
    pub fn add(&self, source: impl AsFd, token: u64) -> io::Result<()> {
        let data = epoll::EventData::new_u64(token);
        Ok(epoll::add(&self.epoll, source, data, epoll::EventFlags::IN)?)
    }

    /// Watches `source` no longer.
    pub fn remove(&self, source: impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, source)?)
    }

    /// Waits until a source is readable (or has hung up) or the timeout has passed, and yields the tokens
    /// of those that are. `None` waits for ever; a signal may end the wait early with none.
    pub fn wait(&mut self, timeout: Option<Duration>) -> io::Result<impl ExactSizeIterator<Item = u64> + '_> {
        self.ready.clear();
        let zero = Timespec::default();
        // epoll_wait counts in milliseconds on kernels before 5.11, ppoll in nanoseconds; an open
        // loop needs the latter, and an epoll descriptor can itself be polled.
        let limit = match timeout {
            None => None,
            Some(Duration::ZERO) => Some(&zero),
            Some(_) if wait_readable(&self.epoll, timeout)? => Some(&zero),
            Some(_) => return Ok(tokens(&self.ready)),
        };
        let space = rustix::buffer::spare_capacity(&mut self.ready);
        match epoll::wait(&self.epoll, space, limit) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if let Some(alarm) = &self.alarm
            && tokens(&self.ready).any(|token| token == ALARM)
        {
            alarm.set_again();
        }
        Ok(tokens(&self.ready))
    }
}

/// Waits for one source over and over, with less work for the kernel than [`wait_readable`], which has to enter and
/// leave the source's wait queue every time: 2 to 4 % of the client's CPU time for a point query.
///
/// It reports that something *came*, once, not that something is there: who reads less than all must wait with
/// [`wait_readable`] for the rest.
pub struct Watch {
    epoll: OwnedFd,
    alarm: Option<Alarm>,
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("epoll", &self.epoll).finish()
    }
}

impl Watch {
    /// Watches `source` until it is closed.
    pub fn of(source: impl AsFd) -> io::Result<Watch> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&epoll, source, epoll::EventData::new_u64(0), flags)?;
        Ok(Watch { epoll, alarm: None })
    }

    /// From now on [`ALARM`] is reported when the period has passed, over and over, as by a [`Poller`].
    pub fn ring_every(&mut self, period: Duration) -> io::Result<()> {
        self.alarm = Some(Alarm::on(&self.epoll, period)?);
        Ok(())
    }

    /// Waits until something to read (or a hang-up) has come that was not reported yet, which is 0, or [`ALARM`];
    /// `None` if a signal came.
    #[inline]
    pub fn wait(&self) -> io::Result<Option<u64>> {
        let mut space = [const { MaybeUninit::<epoll::Event>::uninit() }; 1];
        match epoll::wait(&self.epoll, &mut space, None) {
            Ok((ready, _)) => {
                let token = tokens(ready).next();
                if token == Some(ALARM) {
                    self.alarm.as_ref().inspect(|alarm| alarm.set_again());
                }
                Ok(token)
            }
            Err(rustix::io::Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// A timer that an epoll reports when it has rung.
#[derive(Debug)]
struct Alarm(OwnedFd);

impl Alarm {
    fn on(epoll: &OwnedFd, period: Duration) -> io::Result<Alarm> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        let period = timespec(period);
        timerfd_settime(&timer, TimerfdTimerFlags::empty(), &Itimerspec { it_interval: period, it_value: period })?;
        epoll::add(epoll, &timer, epoll::EventData::new_u64(ALARM), epoll::EventFlags::IN)?;
        Ok(Alarm(timer))
    }

    /// Having rung, it rests until it is read.
    #[cold]
    fn set_again(&self) {
        // Somebody may have read it already: then it is set.
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
    }
}

fn tokens(ready: &[epoll::Event]) -> impl ExactSizeIterator<Item = u64> + '_ {
    // The struct is packed: the field is copied, not borrowed.
    ready.iter().map(|event| {
        let data = event.data;
        data.u64()
    })
}

/// Waits until `source` is readable (or has hung up), with one ppoll(2); false when the timeout
/// passed or a signal came. `None` waits for ever.
#[inline]
pub fn wait_readable(source: impl AsFd, timeout: Option<Duration>) -> io::Result<bool> {
    let mut fds = [PollFd::new(&source, PollFlags::IN)];
    let limit = timeout.map(timespec);
    match rustix::event::poll(&mut fds, limit.as_ref()) {
        Ok(count) => Ok(count > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// A duration for the kernel; one too long for it becomes the longest.
pub(crate) fn timespec(duration: Duration) -> Timespec {
    Timespec { tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX), tv_nsec: duration.subsec_nanos().into() }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::time::Instant;

    use super::*;

    #[test]
    fn readable_sources_are_reported_by_token() {
        let (near_a, mut far_a) = UnixStream::pair().unwrap();
        let (near_b, far_b) = UnixStream::pair().unwrap();
        let mut poller = Poller::new().unwrap();
        poller.add(&near_a, 7).unwrap();
        poller.add(&near_b, 8).unwrap();
        assert_eq!(poller.wait(Some(Duration::ZERO)).unwrap().len(), 0);

        far_a.write_all(b"x").unwrap();
        assert_eq!(poller.wait(None).unwrap().collect::<Vec<_>>(), [7]);
        assert!(wait_readable(&near_a, None).unwrap());
        drop(far_b);
        let mut both: Vec<u64> = poller.wait(Some(Duration::from_secs(5))).unwrap().collect();
        both.sort_unstable();
        assert_eq!(both, [7, 8]);

        poller.remove(&near_b).unwrap();
        (&near_a).read_exact(&mut [0]).unwrap();
        assert_eq!(poller.wait(Some(Duration::ZERO)).unwrap().len(), 0);
    }

    #[test]
    fn a_watch_reports_everything_that_comes_and_a_hang_up() {
        let (near, mut far) = UnixStream::pair().unwrap();
        let watch = Watch::of(&near).unwrap();
        for round in 0..3 {
            far.write_all(&[round; 8]).unwrap();
            assert_eq!(watch.wait().unwrap(), Some(0));
            // What is left unread does not hide what comes next.
            (&near).read_exact(&mut [0; 5]).unwrap();
        }
        assert!(wait_readable(&near, Some(Duration::ZERO)).unwrap());
        drop(far);
        assert_eq!(watch.wait().unwrap(), Some(0));
        let mut rest = Vec::new();
        (&near).read_to_end(&mut rest).unwrap();
        assert_eq!(rest, [1, 2, 2, 2, 2, 2, 2, 2, 2]);
    }

    #[test]
    fn an_alarm_rings_over_and_over_and_hides_no_source() {
        let (near, mut far) = UnixStream::pair().unwrap();
        let mut watch = Watch::of(&near).unwrap();
        watch.ring_every(Duration::from_millis(1)).unwrap();
        let mut poller = Poller::new().unwrap();
        poller.add(&near, 1).unwrap();
        poller.ring_every(Duration::from_millis(1)).unwrap();
        for _ in 0..3 {
            assert_eq!(watch.wait().unwrap(), Some(ALARM));
            assert_eq!(poller.wait(None).unwrap().collect::<Vec<_>>(), [ALARM]);
        }
        far.write_all(b"x").unwrap();
        while watch.wait().unwrap() != Some(0) {}
        while !poller.wait(None).unwrap().any(|token| token == 1) {}
    }

    #[test]
    fn timeouts_shorter_than_a_millisecond_are_kept_and_not_rounded_to_nothing() {
        let (near, _far) = UnixStream::pair().unwrap();
        let mut poller = Poller::new().unwrap();
        poller.add(&near, 1).unwrap();
        let before = Instant::now();
        let timeout = Duration::from_micros(300);
        assert_eq!(poller.wait(Some(timeout)).unwrap().len(), 0);
        assert!(!wait_readable(&near, Some(timeout)).unwrap());
        assert!(before.elapsed() >= 2 * timeout);
    }
}
