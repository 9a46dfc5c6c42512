// SPDX-License-Identifier: Apache-2.0
//! Times polykem against its peers: the same operation, both sides in turn, a distinct key for every item, outputs checked
//! against each other. `polykem-bench-peers [--json FILE] [--count N] [--seconds S]`.
mod polykem;
mod pqclean;

use polykem::Polykem;
use pqclean::Peer;
use serde_json::json;
use std::time::{Duration, Instant};

const SECRET_BYTES: usize = 32;
const ROUNDS: usize = 9;
const OPS: [&str; 3] = ["keygen", "encaps", "decaps"];

/// Buffers of `count` items, filled with a finished exchange under polykem's keys.
struct Crowd {
    pk: Vec<u8>,
    sk: Vec<u8>,
    ct: Vec<u8>,
    ss: Vec<u8>,
}

impl Crowd {
    fn new(ours: &Polykem, count: usize) -> Self {
        let mut crowd = Self {
            pk: vec![0; count * ours.public_key_bytes],
            sk: vec![0; count * ours.secret_key_bytes],
            ct: vec![0; count * ours.ciphertext_bytes],
            ss: vec![0; count * SECRET_BYTES],
        };
        ours.keygen(&mut crowd.pk, &mut crowd.sk);
        ours.encaps(&crowd.pk, &mut crowd.ct, &mut crowd.ss);
        crowd
    }

    fn count(&self) -> usize {
        self.ss.len() / SECRET_BYTES
    }
}

fn run_ours(ours: &Polykem, op: &str, crowd: &mut Crowd) {
    match op {
        "keygen" => ours.keygen(&mut crowd.pk, &mut crowd.sk),
        "encaps" => ours.encaps(&crowd.pk, &mut crowd.ct, &mut crowd.ss),
        _ => ours.decaps(&crowd.sk, &crowd.ct, &mut crowd.ss),
    }
}

fn run_peer(peer: &Peer, op: &str, crowd: &mut Crowd) {
    let count = crowd.count();
    let (pk, sk) = (crowd.pk.len() / count, crowd.sk.len() / count);
    let ct = crowd.ct.len() / count;
    for i in 0..count {
        let pk = crowd.pk[i * pk..].as_mut_ptr();
        let sk = crowd.sk[i * sk..].as_mut_ptr();
        let ct = crowd.ct[i * ct..].as_mut_ptr();
        let ss = crowd.ss[i * SECRET_BYTES..].as_mut_ptr();
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

/// Each side must understand the other's keys and ciphertexts, item by item.
fn check(ours: &Polykem, peer: &Peer, count: usize) {
    let mut crowd = Crowd::new(ours, count);
    let sent = crowd.ss.clone();
    run_peer(peer, "decaps", &mut crowd);
    assert!(crowd.ss == sent, "{}: the peer finds other secrets than polykem sent", peer.set);
    run_peer(peer, "keygen", &mut crowd);
    run_peer(peer, "encaps", &mut crowd);
    let sent = crowd.ss.clone();
    crowd.ss.fill(0);
    run_ours(ours, "decaps", &mut crowd);
    assert!(crowd.ss == sent, "{}: polykem finds other secrets than the peer sent", peer.set);
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
        println!(
            "{set:<15} {op:<7} {backend:<7} {:>2} {:>6}  {:>10.0} {:>10.0}  {:>5.2}  {peer}",
            case.threads, case.count, m.ours, m.peer, m.ratio
        );
        self.records.push(json!({
            "peer": peer, "scheme": set, "op": op, "backend": backend, "threads": case.threads, "count": case.count,
            "keys": "per-item", "ratio": m.ratio, "ours_ops_per_s": m.ours, "peer_ops_per_s": m.peer,
        }));
    }
}

fn against_pqclean(peer: &Peer, case: &Case, span: Duration, report: &mut Report) {
    let Some(ours) = Polykem::new(peer.set, case.backend, case.threads) else { return };
    check(&ours, peer, case.count.min(64));
    for op in OPS {
        let mut crowd = Crowd::new(&ours, case.count);
        let mut peers_crowd = Crowd::new(&ours, case.count);
        let m = compare(
            || run_ours(&ours, op, &mut crowd),
            || run_peer(peer, op, &mut peers_crowd),
            case.count,
            span,
        );
        report.add(pqclean::NAME, peer.set, op, &ours.backend(), case, &m);
    }
}

/// More threads against one, both polykem.
fn against_one_thread(set: &str, case: &Case, span: Duration, report: &mut Report) {
    let (Some(many), Some(one)) = (Polykem::new(set, case.backend, case.threads), Polykem::new(set, case.backend, 1)) else {
        return;
    };
    for op in OPS {
        let (mut a, mut b) = (Crowd::new(&many, case.count), Crowd::new(&one, case.count));
        let m = compare(|| run_ours(&many, op, &mut a), || run_ours(&one, op, &mut b), case.count, span);
        report.add("polykem, 1 thread", set, op, &many.backend(), case, &m);
    }
}

fn option(arguments: &[String], name: &str) -> Option<String> {
    let at = arguments.iter().position(|a| a == name)?;
    Some(arguments.get(at + 1).unwrap_or_else(|| panic!("{name} needs a value")).clone())
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
    let mut report = Report { records: vec![] };
    println!("{:<15} {:<7} {:<7} {:>2} {:>6}  {:>10} {:>10}  {:>5}  peer", "set", "op", "backend", "th", "count", "ours/s", "peer/s", "ratio");
    for peer in &pqclean::PEERS {
        for case in [
            Case { backend: None, threads: 1, count },
            Case { backend: Some("avx2"), threads: 1, count },
            Case { backend: None, threads: 1, count: 1 },
            Case { backend: Some("avx2"), threads: 1, count: 1 },
        ] {
            against_pqclean(peer, &case, span, &mut report);
        }
        against_one_thread(peer.set, &Case { backend: None, threads: 2, count: 8 * count }, span, &mut report);
    }
    if let Some(path) = option(&arguments, "--json") {
        let document = json!({ "machine": cpu_model(), "command": arguments.join(" "), "rounds": ROUNDS, "records": report.records });
        std::fs::write(&path, serde_json::to_string_pretty(&document).unwrap() + "\n").expect("write the JSON file");
    }
}
