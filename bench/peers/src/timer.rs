// SPDX-License-Identifier: Apache-2.0
//! How long a side takes; if wished, only in moments in which nobody else uses the core.
use std::time::{Duration, Instant};

/// One side's work: does some items and says how many.
pub type Side<'a> = Box<dyn FnMut() -> usize + 'a>;

pub struct Timer {
    /// How long a side computes in a round.
    pub span: Duration,
    pub gate: Option<Gate>,
}

/// How fast a side was, and the clock of the quiet core beside it.
pub struct Rate {
    pub per_s: f64,
    pub ghz: Option<f64>,
}

impl Timer {
    /// Operations per second of `side` over at least `span`.
    pub fn rate(&mut self, side: &mut Side) -> Rate {
        match &mut self.gate {
            None => {
                let (done, spent) = run_for(self.span, side);
                Rate { per_s: done as f64 / spent.as_secs_f64(), ghz: None }
            }
            Some(gate) => gate.rate(self.span, side),
        }
    }
}

pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(|a, b| a.total_cmp(b));
    values[values.len() / 2]
}

fn run_for(span: Duration, side: &mut Side) -> (usize, Duration) {
    let (start, mut done) = (Instant::now(), 0);
    loop {
        done += side();
        let spent = start.elapsed();
        if spent >= span {
            return (done, spent);
        }
    }
}

extern "C" {
    fn polykem_quiet_prepare() -> bool;
    fn polykem_quiet_clock() -> f64;
    fn polykem_fastest_clock() -> f64;
}

/// The core's clock: the fastest of some runs.
pub fn core_ghz() -> f64 {
    unsafe { polykem_fastest_clock() }
}

/// Lets only those times count at whose start and end the core was quiet (clock.cpp), on one CPU after the other.
pub struct Gate {
    cpus: Vec<usize>,
    at: usize,
    kept: Duration,
    dropped: Duration,
}

impl Gate {
    const BETWEEN_LOOKS: Duration = Duration::from_micros(500);
    const BETWEEN_TRIES: Duration = Duration::from_micros(100);
    /// So many on a CPU before it moves to the next one.
    const TRIES: usize = 20;
    const PATIENCE: Duration = Duration::from_secs(60);

    pub fn new() -> Self {
        assert!(unsafe { polykem_quiet_prepare() }, "--quiet needs a CPU with AMX, and a kernel that lets it be used");
        let this = Self { cpus: allowed_cpus(), at: 0, kept: Duration::ZERO, dropped: Duration::ZERO };
        pin(this.cpus[0]);
        this
    }

    fn rate(&mut self, span: Duration, side: &mut Side) -> Rate {
        let (mut done, mut spent, mut clocks) = (0, Duration::ZERO, vec![]);
        let mut last_kept = Instant::now();
        while spent < span {
            if self.wait(last_kept) {
                side(); // the caches of another core, or what a neighbour left of them
            }
            let (some, took) = run_for(Self::BETWEEN_LOOKS, side);
            let Some(ghz) = quiet_clock() else {
                self.dropped += took;
                continue;
            };
            clocks.push(ghz);
            self.kept += took;
            done += some;
            spent += took;
            last_kept = Instant::now();
        }
        Rate { per_s: done as f64 / spent.as_secs_f64(), ghz: Some(median(clocks.into_iter())) }
    }

    /// Returns when the core is quiet: whether it had to wait for that.
    fn wait(&mut self, last_kept: Instant) -> bool {
        let mut tries = 0;
        while quiet_clock().is_none() {
            assert!(last_kept.elapsed() < Self::PATIENCE, "no core was quiet for {} s", Self::PATIENCE.as_secs());
            tries += 1;
            if tries % Self::TRIES == 0 {
                self.at = (self.at + 1) % self.cpus.len();
                pin(self.cpus[self.at]);
            }
            std::thread::sleep(Self::BETWEEN_TRIES);
        }
        assert!(last_kept.elapsed() < Self::PATIENCE, "no call ended quietly for {} s", Self::PATIENCE.as_secs());
        tries > 0
    }

    /// The share of the time that counted.
    pub fn share(&self) -> f64 {
        self.kept.as_secs_f64() / (self.kept + self.dropped).as_secs_f64()
    }
}

/// The core's clock in GHz if the core is quiet now.
fn quiet_clock() -> Option<f64> {
    let ghz = unsafe { polykem_quiet_clock() };
    (ghz > 0.0).then_some(ghz)
}

fn allowed_cpus() -> Vec<usize> {
    unsafe {
        let mut set = std::mem::zeroed::<libc::cpu_set_t>();
        assert_eq!(libc::sched_getaffinity(0, std::mem::size_of_val(&set), &mut set), 0, "sched_getaffinity");
        (0..libc::CPU_SETSIZE as usize).filter(|&cpu| libc::CPU_ISSET(cpu, &set)).collect()
    }
}

fn pin(cpu: usize) {
    unsafe {
        let mut set = std::mem::zeroed::<libc::cpu_set_t>();
        libc::CPU_SET(cpu, &mut set);
        assert_eq!(libc::sched_setaffinity(0, std::mem::size_of_val(&set), &set), 0, "sched_setaffinity to CPU {cpu}");
    }
}
