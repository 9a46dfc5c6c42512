// SPDX-License-Identifier: Apache-2.0
//! Times polykem against its peers: the same operation, all sides in turn, a distinct key for every item (or one public key for
//! all), outputs checked against each other. The ratio is to the fastest peer.
//! USAGE has the arguments; kinds: measure::KINDS.
//! --update keeps what the file has of other rows. --quiet counts only slices of time at whose start and end the core's other hardware
//! thread is idle (for shared hosts; needs AMX). It pins the thread to one CPU at a time, so the rows with two threads are left out.
mod aws_lc;
mod crowd;
mod graviola;
mod ippcp;
mod libcrux;
mod liboqs;
mod measure;
mod openssl;
mod peer;
mod polykem;
mod pqclean;
mod random;
mod signatures;
mod signers;
mod timer;
mod wolfssl;

use measure::{measure, Options, Report, KINDS, ROUNDS};
use peer::Peer;
use serde_json::{json, Value};
use std::{process::exit, time::Duration};
use timer::{core_ghz, median, Gate, Timer};

/// The CPU that the peers were compiled for.
const CPU: &str = env!("POLYKEM_PEER_CPU", "`make bench-peers` sets it");

const USAGE: &str = "usage: polykem-bench-peers [--json FILE [--update]] [--count N] [--seconds S] [--sets PREFIX,...] [--kinds KIND,...] \
    [--quiet]";
const WITH_VALUE: [&str; 5] = ["--json", "--count", "--seconds", "--sets", "--kinds"];
const FLAGS: [&str; 2] = ["--update", "--quiet"];

/// Ends the program at an argument that it does not know: a run takes minutes.
fn refuse_unknown(arguments: &[String]) {
    let mut rest = arguments.iter().skip(1);
    while let Some(argument) = rest.next() {
        if WITH_VALUE.contains(&argument.as_str()) {
            rest.next();
        } else if argument == "--help" {
            println!("{USAGE}");
            exit(0);
        } else if !FLAGS.contains(&argument.as_str()) {
            eprintln!("polykem-bench-peers: unknown argument {argument}\n{USAGE}");
            exit(2);
        }
    }
}

fn option(arguments: &[String], name: &str) -> Option<String> {
    let at = arguments.iter().position(|a| a == name)?;
    Some(arguments.get(at + 1).unwrap_or_else(|| panic!("{name} needs a value")).clone())
}

fn list(arguments: &[String], name: &str) -> Option<Vec<String>> {
    option(arguments, name).map(|v| v.split(',').map(str::to_owned).collect())
}

/// The CPU's name and what tells the layout of its core (tools/floors.py).
fn cpu_model() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = |name: &str| text.lines().find(|l| l.starts_with(name)).and_then(|l| l.split(':').nth(1)).unwrap_or("");
    let has = |flag: &str| line("flags").split(' ').any(|f| f == flag);
    let mut model = line("model name").trim().to_owned();
    if line("vendor_id").trim() == "AuthenticAMD" && line("cpu family").trim() == "26" && !model.contains("Zen 5") {
        model += ", Zen 5"; // a virtual machine may hide the model
    }
    for (flag, name) in [("avx512f", ", AVX-512"), ("amx_int8", ", AMX")] {
        if has(flag) {
            model += name;
        }
    }
    model
}

/// The peers of each set, in the order in which sets are reported.
fn peers_by_set(all: &[Box<dyn Peer>]) -> Vec<Vec<&dyn Peer>> {
    let mut sets: Vec<Vec<&dyn Peer>> = vec![];
    for peer in all {
        match sets.iter_mut().find(|peers| peers[0].set() == peer.set()) {
            Some(peers) => peers.push(peer.as_ref()),
            None => sets.push(vec![peer.as_ref()]),
        }
    }
    sets
}

/// The records of the file, if it is there.
fn records_of(path: &str) -> Vec<Value> {
    std::fs::read_to_string(path).map_or(vec![], |text| {
        let document: Value = serde_json::from_str(&text).expect("a JSON file of this program");
        document["records"].as_array().expect("records").clone()
    })
}

/// The earlier records with the new ones in place of those of the same row.
fn updated(earlier: &[Value], new: &[Value]) -> Vec<Value> {
    let row = |r: &Value| ["scheme", "op", "backend", "threads", "count", "keys", "forced"].map(|name| r[name].clone());
    let kept = earlier.iter().filter(|r| !new.iter().any(|n| row(n) == row(r)));
    kept.chain(new).cloned().collect()
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    refuse_unknown(&arguments);
    let seconds = option(&arguments, "--seconds").map_or(0.05, |v| v.parse().expect("--seconds S"));
    let options = Options {
        count: option(&arguments, "--count").map_or(1024, |v| v.parse().expect("--count N")),
        kinds: list(&arguments, "--kinds"),
    };
    if let Some(unknown) = options.kinds.iter().flatten().find(|kind| !KINDS.contains(&kind.as_str())) {
        panic!("--kinds {unknown}: there are {}", KINDS.join(", "));
    }
    let only = list(&arguments, "--sets");
    let wanted = |set: &str| only.as_ref().map_or(true, |all| all.iter().any(|prefix| set.starts_with(prefix.as_str())));
    let narrow = CPU == "haswell"; // peers without AVX-512
    if narrow {
        wolfssl::leave_out_avx512();
    }
    let mut all = wolfssl::peers();
    all.extend(pqclean::peers());
    all.extend(liboqs::peers());
    all.extend(aws_lc::peers());
    all.extend(libcrux::peers());
    all.extend(openssl::peers());
    if !narrow {
        // these choose their code at run time and cannot be kept from AVX-512
        all.extend(graviola::peers());
        all.extend(ippcp::peers());
    }
    let quiet = arguments.iter().any(|a| a == "--quiet");
    assert!(!(quiet && options.wants_only("threads")), "--quiet pins one thread: it cannot measure --kinds threads");
    let gate = quiet.then(Gate::new);
    let mut timer = Timer { span: Duration::from_secs_f64(seconds), gate };
    let path = option(&arguments, "--json");
    let keeps = arguments.iter().any(|a| a == "--update");
    let earlier = path.as_ref().filter(|_| keeps).map_or(vec![], |path| records_of(path));
    let mut report = Report::new();
    for peers in peers_by_set(&all).iter().filter(|peers| wanted(peers[0].set())) {
        measure(peers, &options, &mut timer, &mut report);
        if let Some(path) = &path {
            save(path, &earlier, &report, &timer, &arguments);
        }
    }
    for (set, peers) in signers::peers_by_set().iter().filter(|(set, _)| wanted(set)) {
        signatures::measure(set, peers, &options, &mut timer, &mut report);
        if let Some(path) = &path {
            save(path, &earlier, &report, &timer, &arguments);
        }
    }
    if let Some(path) = path.filter(|_| report.records.is_empty()) {
        save(&path, &earlier, &report, &timer, &arguments);
    }
}

/// Writes the file anew after each set, so that nothing is lost if a later one cannot be measured. `earlier`: records to keep.
fn save(path: &str, earlier: &[Value], report: &Report, timer: &Timer, arguments: &[String]) {
    let clocks: Vec<f64> = report.records.iter().filter_map(|r| r["ghz"].as_f64()).collect();
    let ghz = if clocks.is_empty() { core_ghz() } else { median(clocks.into_iter()) };
    let records = updated(earlier, &report.records);
    let mut document = json!({ "machine": cpu_model(), "ghz": ghz, "command": arguments.join(" "), "rounds": ROUNDS, "records": records });
    if let Some(gate) = &timer.gate {
        document["quiet_share"] = json!(gate.share());
    }
    std::fs::write(path, serde_json::to_string_pretty(&document).unwrap() + "\n").expect("write the JSON file");
}
