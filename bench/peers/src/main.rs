// SPDX-License-Identifier: Apache-2.0
//! Times polykem against its peers: the same operation, both sides in turn, a distinct key for every item (or one public key for
//! all), outputs checked against each other.
//! `polykem-bench-peers [--json FILE] [--count N] [--seconds S] [--sets PREFIX,...]`.
mod liboqs;
mod peer;
mod polykem;
mod pqclean;

use peer::Peer;
use polykem::Polykem;
use serde_json::json;
use std::time::{Duration, Instant};

const ROUNDS: usize = 9;
const OPS: [&str; 3] = ["keygen", "encaps", "decaps"];
/// FrodoKEM's batch is this many times smaller: an item takes milliseconds.
const FRODO_DIVISOR: usize = 16;

/// Buffers of `count` items, filled with a finished exchange under polykem's keys.
struct Crowd {
    count: usize,
    pk: Vec<u8>,
    sk: Vec<u8>,
    ct: Vec<u8>,
    ss: Vec<u8>,
}

impl Crowd {
    /// `shared`: every item is encapsulated to the first public key, and only that is kept.
    fn new(ours: &Polykem, count: usize, shared: bool) -> Self {
        let mut crowd = Self {
            count,
            pk: vec![0; count * ours.public_key_bytes],
            sk: vec![0; count * ours.secret_key_bytes],
            ct: vec![0; count * ours.ciphertext_bytes],
            ss: vec![0; count * ours.shared_secret_bytes],
        };
        ours.keygen(&mut crowd.pk, &mut crowd.sk);
        if shared {
            crowd.pk.truncate(ours.public_key_bytes);
        }
        ours.encaps(&crowd.pk, &mut crowd.ct, &mut crowd.ss);
        crowd
    }
}

fn run_ours(ours: &Polykem, op: &str, crowd: &mut Crowd) {
    match op {
        "keygen" => ours.keygen(&mut crowd.pk, &mut crowd.sk),
        "encaps" => ours.encaps(&crowd.pk, &mut crowd.ct, &mut crowd.ss),
        _ => ours.decaps(&crowd.sk, &crowd.ct, &mut crowd.ss),
    }
}

/// The peer's records may be shorter than ours (a salt less); each starts where ours does.
fn run_peer(peer: &Peer, op: &str, ours: &Polykem, crowd: &mut Crowd) {
    let shared = crowd.pk.len() < crowd.count * ours.public_key_bytes;
    for i in 0..crowd.count {
        let pk = crowd.pk[if shared { 0 } else { i * ours.public_key_bytes }..].as_mut_ptr();
        let sk = crowd.sk[i * ours.secret_key_bytes..].as_mut_ptr();
        let ct = crowd.ct[i * ours.ciphertext_bytes..].as_mut_ptr();
        let ss = crowd.ss[i * ours.shared_secret_bytes..].as_mut_ptr();
        let status = unsafe {
            match op {
                "keygen" => (peer.keypair)(pk, sk),
                "encaps" => (peer.encaps)(ct, ss, pk),
                _ => (peer.decaps)(ss, ct, sk),
            }
        };
        assert_eq!(status, 0, "{} {op}", peer.set);
    }
}

/// Each side must understand the other's keys and ciphertexts, item by item; a peer that has a variant, its own.
fn check(ours: &Polykem, peer: &Peer, count: usize) {
    let mut crowd = Crowd::new(ours, count, false);
    let sent = crowd.ss.clone();
    if peer.compatible {
        run_peer(peer, "decaps", ours, &mut crowd);
    } else {
        run_ours(ours, "decaps", &mut crowd);
    }
    assert!(crowd.ss == sent, "{}: other secrets than polykem sent", peer.set);
    run_peer(peer, "keygen", ours, &mut crowd);
    run_peer(peer, "encaps", ours, &mut crowd);
    let sent = crowd.ss.clone();
    crowd.ss.fill(0);
    if peer.compatible {
        run_ours(ours, "decaps", &mut crowd);
    } else {
        run_peer(peer, "decaps", ours, &mut crowd);
    }
    assert!(crowd.ss == sent, "{}: other secrets than the peer sent", peer.set);
}

/// Operations per second of `body`, which does `items` of them, over at least `span`.
fn rate(items: usize, span: Duration, mut body: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut done = 0usize;
    while start.elapsed() < span {
        body();
        done += items;
    }
    done as f64 / start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(|a, b| a.total_cmp(b));
    values[values.len() / 2]
}

struct Case {
    backend: Option<&'static str>,
    threads: u32,
    count: usize,
    shared: bool,
}

impl Case {
    /// The operations that the kind of keys makes a difference to.
    fn ops(&self) -> &'static [&'static str] {
        if self.shared { &OPS[1..2] } else { &OPS }
    }
}

struct Measured {
    ratio: f64,
    ours: f64,
    peer: f64,
}

/// Both sides in turn, ROUNDS times; the ratio is the median of the rounds' ratios.
fn compare(mut ours: impl FnMut(), mut peer: impl FnMut(), items: usize, span: Duration) -> Measured {
    ours();
    peer();
    let (mut ratios, mut our_rates, mut peer_rates) = (vec![], vec![], vec![]);
    for _ in 0..ROUNDS {
        let a = rate(items, span, &mut ours);
        let b = rate(items, span, &mut peer);
        ratios.push(a / b);
        our_rates.push(a);
        peer_rates.push(b);
    }
    Measured { ratio: median(ratios), ours: median(our_rates), peer: median(peer_rates) }
}

struct Report {
    records: Vec<serde_json::Value>,
}

impl Report {
    fn add(&mut self, peer: &str, set: &str, op: &str, backend: &str, case: &Case, m: &Measured) {
        let keys = if case.shared { "shared" } else { "per-item" };
        println!(
            "{set:<18} {op:<7} {backend:<7} {:>2} {:>6} {keys:<8}  {:>10.0} {:>10.0}  {:>6.2}  {peer}",
            case.threads, case.count, m.ours, m.peer, m.ratio
        );
        self.records.push(json!({
            "peer": peer, "scheme": set, "op": op, "backend": backend, "threads": case.threads, "count": case.count,
            "keys": keys, "ratio": m.ratio, "ours_ops_per_s": m.ours, "peer_ops_per_s": m.peer,
        }));
    }
}

fn against_peer(peer: &Peer, case: &Case, span: Duration, report: &mut Report) {
    let Some(ours) = Polykem::new(peer.set, case.backend, case.threads) else { return };
    check(&ours, peer, case.count.min(64));
    for op in case.ops() {
        let mut crowd = Crowd::new(&ours, case.count, case.shared);
        let mut peers_crowd = Crowd::new(&ours, case.count, case.shared);
        if !peer.compatible && !case.shared {
            run_peer(peer, "keygen", &ours, &mut peers_crowd);
            run_peer(peer, "encaps", &ours, &mut peers_crowd);
        }
        let m = compare(
            || run_ours(&ours, op, &mut crowd),
            || run_peer(peer, op, &ours, &mut peers_crowd),
            case.count,
            span,
        );
        report.add(&peer.name, peer.set, op, &ours.backend(), case, &m);
    }
}

/// More threads against one, both polykem.
fn against_one_thread(set: &str, case: &Case, span: Duration, report: &mut Report) {
    let (Some(many), Some(one)) = (Polykem::new(set, case.backend, case.threads), Polykem::new(set, case.backend, 1)) else {
        return;
    };
    for op in OPS {
        let (mut a, mut b) = (Crowd::new(&many, case.count, false), Crowd::new(&one, case.count, false));
        let m = compare(|| run_ours(&many, op, &mut a), || run_ours(&one, op, &mut b), case.count, span);
        report.add("polykem, 1 thread", set, op, &many.backend(), case, &m);
    }
}

/// Everything about one set.
fn measure(peer: &Peer, full: usize, span: Duration, report: &mut Report) {
    let count = if peer.set.contains("frodokem") { full.div_ceil(FRODO_DIVISOR) } else { full };
    let case = |backend, count, shared| Case { backend, threads: 1, count, shared };
    let mut cases = vec![case(None, count, false), case(None, count, true)];
    if peer.compatible {
        cases.extend([
            case(Some("avx2"), count, false),
            case(Some("avx2"), count, true),
            case(None, 1, false),
            case(Some("avx2"), 1, false),
        ]);
    }
    for case in cases {
        against_peer(peer, &case, span, report);
    }
    if peer.compatible {
        against_one_thread(peer.set, &Case { backend: None, threads: 2, count: 8 * count, shared: false }, span, report);
    }
}

fn option(arguments: &[String], name: &str) -> Option<String> {
    let at = arguments.iter().position(|a| a == name)?;
    Some(arguments.get(at + 1).unwrap_or_else(|| panic!("{name} needs a value")).clone())
}

/// The core's clock: a chain of multiplications that take three cycles each, the fastest of some runs.
#[cfg(target_arch = "x86_64")]
fn core_ghz() -> f64 {
    const CHAIN: usize = 1_000_000;
    const CYCLES: usize = 3;
    let run = || {
        let start = Instant::now();
        unsafe {
            std::arch::asm!("2:", "imul {x}, {x}", "imul {x}, {x}", "imul {x}, {x}", "imul {x}, {x}", "dec {n}", "jnz 2b",
                x = inout(reg) 3u64 => _, n = inout(reg) CHAIN / 4 => _);
        }
        start.elapsed().as_secs_f64()
    };
    let fastest = (0..20).map(|_| run()).fold(f64::MAX, f64::min);
    (CHAIN * CYCLES) as f64 / fastest / 1e9
}

fn cpu_model() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|l| l.starts_with("model name")).unwrap_or("model name: unknown");
    line.split(':').nth(1).unwrap_or("unknown").trim().to_owned()
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let count = option(&arguments, "--count").map_or(1024, |v| v.parse().expect("--count N"));
    let seconds = option(&arguments, "--seconds").map_or(0.05, |v| v.parse().expect("--seconds S"));
    let span = Duration::from_secs_f64(seconds);
    let only: Option<Vec<String>> = option(&arguments, "--sets").map(|v| v.split(',').map(str::to_owned).collect());
    let wanted = |set: &str| only.as_ref().map_or(true, |all| all.iter().any(|prefix| set.starts_with(prefix.as_str())));
    let mut report = Report { records: vec![] };
    println!(
        "{:<18} {:<7} {:<7} {:>2} {:>6} {:<8}  {:>10} {:>10}  {:>6}  peer",
        "set", "op", "backend", "th", "count", "keys", "ours/s", "peer/s", "ratio"
    );
    for peer in pqclean::peers().iter().chain(&liboqs::peers()).filter(|peer| wanted(peer.set)) {
        measure(peer, count, span, &mut report);
    }
    if let Some(path) = option(&arguments, "--json") {
        let document = json!({ "machine": cpu_model(), "ghz": core_ghz(), "command": arguments.join(" "), "rounds": ROUNDS, "records": report.records });
        std::fs::write(&path, serde_json::to_string_pretty(&document).unwrap() + "\n").expect("write the JSON file");
    }
}
