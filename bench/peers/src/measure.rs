// SPDX-License-Identifier: Apache-2.0
//! What is measured, and how: polykem and all peers of a set in turn, in rounds.
use crate::crowd::{check, Crowd, Op, PeersCrowd};
use crate::peer::Peer;
use crate::polykem::Polykem;
use crate::timer::{median, Rate, Side, Timer};
use serde_json::json;

pub const ROUNDS: usize = 9;
/// FrodoKEM's batch is this many times smaller: an item takes milliseconds.
const FRODO_DIVISOR: usize = 16;
/// Batches that do not fill the lanes: is there a valley between a single item and a full batch?
const SMALL_COUNTS: [usize; 4] = [2, 4, 8, 16];

/// What the command line asks for.
pub struct Options {
    pub count: usize,
    /// Names of `KINDS`; None: all.
    pub kinds: Option<Vec<String>>,
}

impl Options {
    pub fn wants_only(&self, kind: &str) -> bool {
        self.kinds.as_ref().map_or(false, |kinds| kinds.iter().all(|k| k == kind))
    }
}

/// The kinds of rows: full batches with a key per item or one for all, the backend avx2, one item, small batches, keys that both
/// sides have parsed before, two threads.
pub const KINDS: [&str; 7] = ["batch", "shared", "avx2", "single", "small", "parsed", "threads"];

/// How the sides get their keys.
#[derive(Clone, Copy, PartialEq)]
enum Keys {
    PerItem,
    Shared,
    /// One per item, in polykem's key sets and the peers' own forms.
    Parsed,
}

impl Keys {
    fn name(self) -> &'static str {
        ["per-item", "shared", "parsed"][self as usize]
    }
}

struct Case {
    kind: &'static str,
    backend: Option<&'static str>,
    count: usize,
    keys: Keys,
}

/// What a row of the report is about, besides its set and backend.
pub struct Row {
    pub op: &'static str,
    pub count: usize,
    pub keys: &'static str,
    /// The backend is not the best one.
    pub forced: bool,
}

impl Case {
    fn row(&self, op: Op) -> Row {
        Row { op: op.name(), count: self.count, keys: self.keys.name(), forced: self.backend.is_some() }
    }

    /// The operations that the kind of keys makes a difference to.
    fn ops(&self) -> &'static [Op] {
        match self.keys {
            Keys::PerItem => &Op::ALL,
            Keys::Shared => &[Op::Encaps],
            Keys::Parsed => &[Op::Encaps, Op::Decaps],
        }
    }
}

/// Returns the cases of a set whose full batch has `count` items. `compatible`: false if every peer has only a
/// variant; then fewer cases are measured.
fn cases(count: usize, compatible: bool) -> Vec<Case> {
    use Keys::{Parsed, PerItem, Shared};
    let case = |kind, backend, count, keys| Case { kind, backend, count, keys };
    let mut all = vec![case("batch", None, count, PerItem), case("shared", None, count, Shared)];
    if compatible {
        let avx2 = Some("avx2");
        all.extend([case("avx2", avx2, count, PerItem), case("avx2", avx2, count, Shared), case("avx2", avx2, 1, PerItem)]);
        all.push(case("single", None, 1, PerItem));
        all.extend(SMALL_COUNTS.map(|small| case("small", None, small, PerItem)));
        all.extend([case("parsed", None, count, Parsed), case("parsed", None, 1, Parsed)]);
    }
    all
}

/// Rates of one side, one for each round.
struct Rates(Vec<Rate>);

impl Rates {
    fn median(&self) -> f64 {
        median(self.0.iter().map(|r| r.per_s))
    }
    /// The median of the rounds' ratios.
    fn ratio(&self, other: &Rates) -> f64 {
        median(self.0.iter().zip(&other.0).map(|(a, b)| a.per_s / b.per_s))
    }
    /// The record with the clock beside this side's rates, where that is measured.
    fn with_ghz(&self, mut record: serde_json::Value) -> serde_json::Value {
        let clocks: Vec<f64> = self.0.iter().filter_map(|r| r.ghz).collect();
        if !clocks.is_empty() {
            record["ghz"] = json!(median(clocks.into_iter()));
        }
        record
    }
}

/// All sides in turn, ROUNDS times, each round beginning with the next side.
fn compare(mut sides: Vec<Side>, timer: &mut Timer) -> Vec<Rates> {
    for side in &mut sides {
        side();
    }
    let count = sides.len();
    let mut rates: Vec<Rates> = sides.iter().map(|_| Rates(vec![])).collect();
    for turn in 0..ROUNDS * count {
        let at = (turn / count + turn) % count;
        rates[at].0.push(timer.rate(&mut sides[at]));
    }
    rates
}

pub struct Report {
    pub records: Vec<serde_json::Value>,
}

impl Report {
    pub fn new() -> Self {
        println!(
            "{:<18} {:<7} {:<7} {:>2} {:>6} {:<8}  {:>10} {:>10}  {:>6}  fastest peer (the others)",
            "set", "op", "backend", "th", "count", "keys", "ours/s", "peer/s", "ratio"
        );
        Self { records: vec![] }
    }

    /// Measures and keeps a row. `names`: of the peers. `sides`: ours, then theirs.
    pub fn add(&mut self, names: &[String], ours: &Polykem, row: &Row, sides: Vec<Side>, timer: &mut Timer) {
        let rates = compare(sides, timer);
        let (mine, theirs) = rates.split_first().unwrap();
        let mut order: Vec<usize> = (0..names.len()).collect();
        order.sort_by(|&a, &b| theirs[b].median().total_cmp(&theirs[a].median()));
        let fastest = order[0];
        let (set, backend, threads) = (&ours.set, ours.backend(), ours.threads);
        let &Row { op, count, keys, forced } = row;
        let ratio = mine.ratio(&theirs[fastest]);
        let others: Vec<String> =
            order[1..].iter().map(|&i| format!("{} {:.0}", names[i], theirs[i].median())).collect();
        println!(
            "{set:<18} {op:<7} {backend:<7} {threads:>2} {count:>6} {keys:<8}  {:>10.0} {:>10.0}  {ratio:>6.2}  {}{}",
            mine.median(),
            theirs[fastest].median(),
            names[fastest],
            if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) },
        );
        let peers: Vec<serde_json::Value> = order
            .iter()
            .map(|&i| (i, json!({ "name": names[i], "ops_per_s": theirs[i].median(), "ratio": mine.ratio(&theirs[i]) })))
            .map(|(i, record)| theirs[i].with_ghz(record))
            .collect();
        let record = json!({
            "peer": names[fastest], "scheme": set, "op": op, "backend": backend, "threads": threads, "count": count,
            "keys": keys, "forced": forced, "ratio": ratio, "ours_ops_per_s": mine.median(),
            "peer_ops_per_s": theirs[fastest].median(), "peers": peers,
        });
        self.records.push(mine.with_ghz(record));
    }
}

fn against_peers(peers: &[&dyn Peer], case: &Case, timer: &mut Timer, report: &mut Report) {
    let Some(ours) = Polykem::new(peers[0].set(), case.backend, 1) else { return };
    for &op in case.ops() {
        let peers: Vec<&dyn Peer> = peers.iter().copied().filter(|peer| op != Op::Decaps || peer.decapsulates()).collect();
        let names: Vec<String> = peers.iter().map(|peer| peer.name()).collect();
        let (shared, parsed) = (case.keys == Keys::Shared, case.keys == Keys::Parsed);
        let mut crowd = Crowd::new(&ours, case.count, shared);
        if parsed {
            crowd.parse();
        }
        let mut sides: Vec<Side> = vec![Box::new(move || crowd.run_all(op))];
        for peer in peers {
            let mut crowd = PeersCrowd::new(peer, &ours, case.count, shared);
            if parsed {
                crowd.parse();
            } else if op == Op::Decaps {
                crowd.read_secrets();
            }
            sides.push(Box::new(move || crowd.run_some(op)));
        }
        report.add(&names, &ours, &case.row(op), sides, timer);
    }
}

/// Two threads against one, both polykem.
fn against_one_thread(set: &str, count: usize, timer: &mut Timer, report: &mut Report) {
    let (Some(two), Some(one)) = (Polykem::new(set, None, 2), Polykem::new(set, None, 1)) else { return };
    let case = Case { kind: "threads", backend: None, count, keys: Keys::PerItem };
    for op in Op::ALL {
        let (mut a, mut b) = (Crowd::new(&two, count, false), Crowd::new(&one, count, false));
        let sides: Vec<Side> = vec![Box::new(move || a.run_all(op)), Box::new(move || b.run_all(op))];
        report.add(&["polykem, 1 thread".to_owned()], &two, &case.row(op), sides, timer);
    }
}

/// Everything about one set, of which these are the peers. They are checked first, on each backend.
pub fn measure(peers: &[&dyn Peer], options: &Options, timer: &mut Timer, report: &mut Report) {
    let set = peers[0].set();
    let count = if set.contains("frodokem") { options.count.div_ceil(FRODO_DIVISOR) } else { options.count };
    let wanted = |kind: &str| options.kinds.as_ref().map_or(true, |kinds| kinds.iter().any(|k| k == kind));
    for backend in [None, Some("avx2")] {
        if let Some(ours) = Polykem::new(set, backend, 1) {
            peers.iter().for_each(|&peer| check(&ours, peer, count.min(64)));
        }
    }
    let compatible = peers.iter().any(|peer| peer.compatible());
    for case in cases(count, compatible).iter().filter(|case| wanted(case.kind)) {
        against_peers(peers, case, timer, report);
    }
    if compatible && wanted("threads") && timer.gate.is_none() {
        against_one_thread(set, 8 * count, timer, report);
    }
}
