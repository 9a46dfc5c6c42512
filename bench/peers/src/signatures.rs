// SPDX-License-Identifier: Apache-2.0
//! Signatures of polykem beside those of its peers: messages of 32 bytes, hedged. A key for each message, one key in bytes, and one key
//! that each side has read before.
use crate::measure::{Options, Report, Row};
use crate::polykem::{KeySets, Polykem};
use crate::signers::{Signer, SigningKey, VerifyingKey};
use crate::timer::{Side, Timer};

const MESSAGE: usize = 32;
/// A peer works through a batch in parts of so many items.
const PART: usize = 16;
const CHECKED: usize = 64;

#[derive(Clone, Copy, PartialEq)]
enum Op {
    Keygen,
    Sign,
    Verify,
}

impl Op {
    fn name(self) -> &'static str {
        ["keygen", "sign", "verify"][self as usize]
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Keys {
    PerItem,
    Shared,
    /// One for all, which each side has read before.
    Parsed,
}

impl Keys {
    fn name(self) -> &'static str {
        ["per-item", "shared", "parsed-shared"][self as usize]
    }
}

/// Keys, messages and polykem's signatures of them.
struct Crowd<'a> {
    ours: &'a Polykem,
    pk: Vec<u8>,
    sk: Vec<u8>,
    messages: Vec<u8>,
    sig: Vec<u8>,
    sets: Option<KeySets<'a>>,
}

impl<'a> Crowd<'a> {
    fn new(ours: &'a Polykem, count: usize, keys: Keys) -> Self {
        let key_count = if keys == Keys::PerItem { count } else { 1 };
        let (mut pk, mut sk) = (vec![0; key_count * ours.public_key_bytes], vec![0; key_count * ours.secret_key_bytes]);
        let messages = (0..count * MESSAGE).map(|i| (i % 251 + i / MESSAGE) as u8).collect();
        ours.keygen(&mut pk, &mut sk);
        let sets = (keys == Keys::Parsed).then(|| KeySets::new(ours, &pk, &sk));
        let mut this = Self { ours, pk, sk, messages, sig: vec![0; count * ours.signature_bytes], sets };
        this.run(Op::Sign);
        this
    }

    fn count(&self) -> usize {
        self.sig.len() / self.ours.signature_bytes
    }

    fn run(&mut self, op: Op) -> usize {
        let Self { ours, pk, sk, messages, sig, sets } = self;
        match (op, sets) {
            (Op::Keygen, _) => ours.keygen(pk, sk),
            (Op::Sign, None) => ours.sign(sk, messages, sig),
            (Op::Sign, Some(sets)) => sets.sign(messages, sig),
            (Op::Verify, None) => assert!(ours.verify(pk, messages, sig)),
            (Op::Verify, Some(sets)) => assert!(sets.verify(messages, sig)),
        }
        self.count()
    }
}

/// The same of a peer, item by item.
struct PeersCrowd<'a> {
    peer: &'a dyn Signer,
    crowd: Crowd<'a>,
    signing: Option<SigningKey>,
    verifying: Option<VerifyingKey>,
    next: usize,
}

impl<'a> PeersCrowd<'a> {
    fn new(peer: &'a dyn Signer, ours: &'a Polykem, count: usize, keys: Keys) -> Self {
        let crowd = Crowd::new(ours, count, keys);
        let parsed = keys == Keys::Parsed;
        let signing = if parsed { peer.signing_key(&crowd.sk) } else { None };
        let verifying = if parsed { peer.verifying_key(&crowd.pk) } else { None };
        Self { peer, crowd, signing, verifying, next: 0 }
    }

    fn run_item(&mut self, op: Op, i: usize) {
        let Self { peer, crowd, signing, verifying, .. } = self;
        let ours = crowd.ours;
        let of_key = |keys: usize| if keys == 1 { 0 } else { i };
        let (pk_bytes, sk_bytes) = (ours.public_key_bytes, ours.secret_key_bytes);
        let key = of_key(crowd.pk.len() / pk_bytes);
        let (pk, sk) = (&mut crowd.pk[key * pk_bytes..][..pk_bytes], &mut crowd.sk[key * sk_bytes..][..sk_bytes]);
        let message = &crowd.messages[i * MESSAGE..][..MESSAGE];
        let sig = &mut crowd.sig[i * ours.signature_bytes..][..ours.signature_bytes];
        match op {
            Op::Keygen => peer.keygen(pk, sk),
            Op::Sign => match signing {
                Some(key) => key(message, sig),
                None => peer.sign(sk, message, sig),
            },
            Op::Verify => assert!(
                verifying.as_ref().map_or_else(|| peer.verify(pk, message, sig), |key| key(message, sig)),
                "{}: a valid signature",
                peer.name()
            ),
        }
    }

    fn run_all(&mut self, op: Op) {
        (0..self.crowd.count()).for_each(|i| self.run_item(op, i));
    }

    fn run_some(&mut self, op: Op) -> usize {
        let count = self.crowd.count();
        let some = count.min(PART);
        for _ in 0..some {
            self.run_item(op, self.next);
            self.next = (self.next + 1) % count;
        }
        some
    }

    /// Each side verifies the other's signatures, under the other's keys where each item has one, and no others.
    fn check(&mut self, keys: Keys) {
        self.run_all(Op::Verify);
        if keys == Keys::PerItem {
            self.run_all(Op::Keygen);
        }
        self.run_all(Op::Sign);
        self.crowd.run(Op::Verify);
        let bytes = self.crowd.ours.signature_bytes;
        self.crowd.sig[bytes / 2] ^= 1;
        let Self { peer, crowd, .. } = self;
        let (pk, message) = (&crowd.pk[..crowd.ours.public_key_bytes], &crowd.messages[..MESSAGE]);
        assert!(!peer.verify(pk, message, &crowd.sig[..bytes]), "{}: a changed signature", peer.name());
        assert!(!crowd.ours.verify(pk, message, &crowd.sig[..bytes]), "a changed signature");
    }
}

fn against_peers(
    peers: &[Box<dyn Signer>], ours: &Polykem, count: usize, keys: Keys, forced: bool, timer: &mut Timer, report: &mut Report,
) {
    let names: Vec<String> = peers.iter().map(|peer| peer.name()).collect();
    for op in [Op::Keygen, Op::Sign, Op::Verify] {
        if op == Op::Keygen && keys != Keys::PerItem {
            continue;
        }
        let mut crowd = Crowd::new(ours, count, keys);
        let mut sides: Vec<Side> = vec![Box::new(move || crowd.run(op))];
        for peer in peers {
            let mut crowd = PeersCrowd::new(peer.as_ref(), ours, count, keys);
            sides.push(Box::new(move || crowd.run_some(op)));
        }
        report.add(&names, ours, &Row { op: op.name(), count, keys: keys.name(), forced }, sides, timer);
    }
}

/// Everything about one set. Its peers are checked first, on each backend.
pub fn measure(set: &str, peers: &[Box<dyn Signer>], options: &Options, timer: &mut Timer, report: &mut Report) {
    use Keys::{Parsed, PerItem, Shared};
    let wanted = |kind: &str| options.kinds.as_ref().map_or(true, |kinds| kinds.iter().any(|k| k == kind));
    for backend in [None, Some("avx2")] {
        let Some(ours) = Polykem::new(set, backend, 1) else { continue };
        for peer in peers {
            for keys in [PerItem, Shared, Parsed] {
                PeersCrowd::new(peer.as_ref(), &ours, options.count.min(CHECKED), keys).check(keys);
            }
        }
        let forced = backend.is_some();
        let cases = [("batch", options.count, PerItem), ("shared", options.count, Shared), ("parsed", options.count, Parsed)];
        let single = [("single", 1, PerItem), ("parsed", 1, Parsed)];
        for (kind, count, keys) in cases.into_iter().chain(single) {
            if wanted(if forced { "avx2" } else { kind }) {
                against_peers(peers, &ours, count, keys, forced, timer, report);
            }
        }
    }
}
