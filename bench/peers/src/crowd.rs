// SPDX-License-Identifier: Apache-2.0
//! The items that are computed again and again, and the check that both sides mean the same.
use crate::peer::{Peer, Receiver, Sender};
use crate::polykem::{KeySets, Polykem};

/// A peer works through a crowd in so many parts, if the crowd is larger than a few.
const PARTS: usize = 64;
const MOST_AT_ONCE: usize = 16;

/// An operation of a KEM.
#[derive(Clone, Copy, PartialEq)]
pub enum Op {
    Keygen,
    Encaps,
    Decaps,
}

impl Op {
    pub const ALL: [Op; 3] = [Op::Keygen, Op::Encaps, Op::Decaps];

    pub fn name(self) -> &'static str {
        ["keygen", "encaps", "decaps"][self as usize]
    }
}

/// Buffers of `count` items, filled with a finished exchange under polykem's keys.
pub struct Crowd<'a> {
    ours: &'a Polykem,
    count: usize,
    pk: Vec<u8>,
    sk: Vec<u8>,
    ct: Vec<u8>,
    ss: Vec<u8>,
    parsed: Option<KeySets<'a>>,
}

impl<'a> Crowd<'a> {
    /// `shared`: every item is encapsulated to the first public key, and only that is kept.
    pub fn new(ours: &'a Polykem, count: usize, shared: bool) -> Self {
        let mut crowd = Self {
            ours,
            count,
            pk: vec![0; count * ours.public_key_bytes],
            sk: vec![0; count * ours.secret_key_bytes],
            ct: vec![0; count * ours.ciphertext_bytes],
            ss: vec![0; count * ours.shared_secret_bytes],
            parsed: None,
        };
        crowd.run(Op::Keygen);
        if shared {
            crowd.pk.truncate(ours.public_key_bytes);
        }
        crowd.run(Op::Encaps);
        crowd
    }

    /// Lets polykem read the keys beforehand.
    pub fn parse(&mut self) {
        self.parsed = Some(KeySets::new(self.ours, &self.pk, &self.sk));
    }

    /// polykem's turn: all items in one call.
    pub fn run(&mut self, op: Op) {
        match (op, &self.parsed) {
            (Op::Keygen, _) => self.ours.keygen(&mut self.pk, &mut self.sk),
            (Op::Encaps, None) => self.ours.encaps(&self.pk, &mut self.ct, &mut self.ss),
            (Op::Decaps, None) => self.ours.decaps(&self.sk, &self.ct, &mut self.ss),
            (Op::Encaps, Some(keys)) => keys.encaps(&mut self.ct, &mut self.ss),
            (Op::Decaps, Some(keys)) => keys.decaps(&self.ct, &mut self.ss),
        }
    }

    pub fn run_all(&mut self, op: Op) -> usize {
        self.run(op);
        self.count
    }
}

/// A crowd that a peer works through. The peer's records may be shorter than ours (a salt less); each starts where ours does.
pub struct PeersCrowd<'a> {
    peer: &'a dyn Peer,
    crowd: Crowd<'a>,
    /// One for all items, or one for each; none where the peer takes bytes.
    senders: Vec<Sender>,
    receivers: Vec<Receiver>,
    next: usize,
}

impl<'a> PeersCrowd<'a> {
    pub fn new(peer: &'a dyn Peer, ours: &'a Polykem, count: usize, shared: bool) -> Self {
        let mut this = Self { peer, crowd: Crowd::new(ours, count, shared), senders: vec![], receivers: vec![], next: 0 };
        if !peer.compatible() && !shared {
            this.run(Op::Keygen);
            this.run(Op::Encaps);
        }
        if shared {
            this.senders.extend(peer.read_public(&this.crowd.pk));
        }
        this
    }

    /// Lets the peer read the secret keys, if it works with a form of its own.
    pub fn read_secrets(&mut self) {
        let keys = self.crowd.sk.chunks(self.crowd.ours.secret_key_bytes);
        self.receivers = keys.map_while(|sk| self.peer.read_secret(sk)).collect();
    }

    /// Lets the peer read all keys beforehand, if it has a form for that.
    pub fn parse(&mut self) {
        let Self { peer, crowd, .. } = self;
        self.senders = crowd.pk.chunks(crowd.ours.public_key_bytes).map_while(|pk| peer.read_public(pk)).collect();
        self.receivers = crowd.sk.chunks(crowd.ours.secret_key_bytes).map_while(|sk| peer.parse_secret(sk)).collect();
    }

    /// The peer's turn, item by item.
    pub fn run(&mut self, op: Op) {
        (0..self.crowd.count).for_each(|i| self.run_item(op, i));
    }

    /// The next part of the crowd: all of few items, a 64th of many. Returns how many.
    pub fn run_some(&mut self, op: Op) -> usize {
        let count = self.crowd.count;
        let some = if count <= MOST_AT_ONCE { count } else { count.div_ceil(PARTS) };
        for _ in 0..some {
            self.run_item(op, self.next);
            self.next = (self.next + 1) % count;
        }
        some
    }

    fn run_item(&mut self, op: Op, i: usize) {
        let Self { peer, crowd, senders, receivers, .. } = self;
        let ours = crowd.ours;
        let one_key = crowd.pk.len() == ours.public_key_bytes;
        let pk = record(&mut crowd.pk, ours.public_key_bytes, if one_key { 0 } else { i });
        let sk = record(&mut crowd.sk, ours.secret_key_bytes, i);
        let ct = record(&mut crowd.ct, ours.ciphertext_bytes, i);
        let ss = record(&mut crowd.ss, ours.shared_secret_bytes, i);
        let sender = senders.get(if one_key { 0 } else { i });
        match (op, sender, receivers.get(i)) {
            (Op::Keygen, ..) => peer.keygen(pk, sk),
            (Op::Encaps, Some(encaps), _) => encaps(ct, ss),
            (Op::Encaps, None, _) => peer.encaps(pk, ct, ss),
            (Op::Decaps, _, Some(decaps)) => decaps(ct, ss),
            (Op::Decaps, _, None) => peer.decaps(sk, ct, ss),
        }
    }

    /// One side has filled the ciphertexts and secrets: does the other side find the same secrets?
    fn expect_secrets(&mut self, who: &str, decapsulate: impl Fn(&mut Self)) {
        let sent = std::mem::take(&mut self.crowd.ss);
        self.crowd.ss = vec![0; sent.len()];
        decapsulate(self);
        assert!(self.crowd.ss == sent, "{}: {who}: other secrets than were sent", self.peer.name());
    }
}

fn record(records: &mut [u8], bytes: usize, i: usize) -> &mut [u8] {
    &mut records[i * bytes..][..bytes]
}

/// Each side must understand the other's keys and ciphertexts, item by item; a peer that has a variant, its own.
pub fn check(ours: &Polykem, peer: &dyn Peer, count: usize) {
    if !peer.decapsulates() {
        return check_sender(ours, peer, count);
    }
    let mut crowd = PeersCrowd::new(peer, ours, count, false);
    crowd.expect_secrets("its decaps", |c| c.run(Op::Decaps));
    crowd.read_secrets();
    crowd.expect_secrets("its decaps with keys read before", |c| c.run(Op::Decaps));
    crowd.parse();
    crowd.expect_secrets("its decaps with keys parsed before", |c| c.run(Op::Decaps));
    crowd.run(Op::Encaps);
    crowd.expect_secrets("its encaps with keys parsed before", |c| c.run(Op::Decaps));
    crowd.senders.clear();
    crowd.receivers.clear();
    crowd.run(Op::Keygen);
    crowd.run(Op::Encaps);
    let by_itself = !peer.compatible();
    crowd.expect_secrets("its keygen and encaps", |c| if by_itself { c.run(Op::Decaps) } else { c.crowd.run(Op::Decaps) });
    if peer.compatible() {
        check_parsed(ours, peer, count);
        check_one_key(ours, peer);
    }
}

/// A peer that does not decapsulate: its keys and its ciphertexts, also with keys parsed before.
fn check_sender(ours: &Polykem, peer: &dyn Peer, count: usize) {
    let mut crowd = PeersCrowd::new(peer, ours, count, false);
    crowd.run(Op::Keygen);
    crowd.run(Op::Encaps);
    crowd.expect_secrets("its keygen and encaps", |c| c.crowd.run(Op::Decaps));
    crowd.parse();
    crowd.run(Op::Encaps);
    crowd.expect_secrets("its encaps with keys parsed before", |c| c.crowd.run(Op::Decaps));
}

/// polykem's key sets and the peer's parsed keys, each with the other's ciphertexts; the peer's rejections are ours.
fn check_parsed(ours: &Polykem, peer: &dyn Peer, count: usize) {
    let mut crowd = PeersCrowd::new(peer, ours, count, false);
    crowd.crowd.parse();
    crowd.crowd.run(Op::Encaps);
    crowd.expect_secrets("ciphertexts of a key set", |c| c.run(Op::Decaps));
    crowd.run(Op::Encaps);
    crowd.expect_secrets("its ciphertexts and a key set", |c| c.crowd.run(Op::Decaps));
    let bytes = ours.ciphertext_bytes;
    crowd.crowd.ct.chunks_mut(bytes).enumerate().for_each(|(i, ct)| ct[i * 7919 % bytes] ^= 1);
    crowd.crowd.run(Op::Decaps);
    crowd.expect_secrets("rejected ciphertexts", |c| c.run(Op::Decaps));
}

/// Ciphertexts for one public key, which the peer may have read before.
fn check_one_key(ours: &Polykem, peer: &dyn Peer) {
    let mut crowd = PeersCrowd::new(peer, ours, 1, false);
    crowd.senders.extend(peer.read_public(&crowd.crowd.pk));
    crowd.run(Op::Encaps);
    crowd.expect_secrets("its encaps to a key read before", |c| c.crowd.run(Op::Decaps));
}
