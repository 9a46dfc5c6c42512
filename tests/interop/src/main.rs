// SPDX-License-Identifier: Apache-2.0
//! Exchanges keys between polykem and implementations of other origin, both ways: the one makes the key pairs, the
//! other encapsulates, the one decapsulates. With keys that both hold, changed ciphertexts must give both the same
//! rejection secret. Fresh random numbers each time; a failure prints the key and the ciphertext.
//!
//!   polykem-interop [PAIRS]      key pairs for each set and direction, 200 if not given; a tenth for FrodoKEM, five
//!                                times as many for hybrids
//!   polykem-interop keygen SET PK SK | encaps SET PK CT SS | decaps SET SK CT SS
//!                                wolfSSL with FrodoKEM's keys in files in DER, for test_keys.py
mod aws_lc;
mod polykem;
mod pqclean;
mod random;
mod rustls_groups;
mod wolfssl;
mod wolfssl_files;
// wolfSSL as `make bench-peers` calls it.
#[path = "../../../bench/peers/src/peer.rs"]
#[allow(dead_code)]
mod peer;
#[path = "../../../bench/peers/src/wolfssl.rs"]
mod wolfssl_keys;

use polykem::Polykem;

/// Another implementation of one parameter set. Keys and ciphertexts are bytes as in the specification.
pub trait Foreign {
    fn name(&self) -> String;
    /// The polykem name of the parameter set.
    fn set(&self) -> &'static str;
    /// Public key, secret key.
    fn keygen(&self) -> (Vec<u8>, Vec<u8>);
    /// Ciphertext, shared secret.
    fn encaps(&self, pk: &[u8]) -> (Vec<u8>, Vec<u8>);
    fn decaps(&self, sk: &[u8], ct: &[u8]) -> Vec<u8>;
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.len() > 1 {
        return wolfssl_files::run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let pairs = arguments.first().map_or(200, |text| text.parse().expect("PAIRS is a number"));
    let mut peers: Vec<Box<dyn Foreign>> = aws_lc::sets();
    peers.extend(pqclean::sets());
    peers.extend(wolfssl::sets());
    let mut failures = 0;
    for peer in &peers {
        let pairs = if peer.set().contains("frodokem") { usize::div_ceil(pairs, 10) } else { pairs };
        failures += on_each_backend(peer.set(), &peer.name(), 4 * pairs, |ours| exchange(ours, peer.as_ref(), pairs));
    }
    for set in rustls_groups::SETS {
        failures += on_each_backend(set, "rustls", 10 * pairs, |ours| rustls_groups::exchange(ours, set, 5 * pairs));
    }
    std::process::exit(if failures == 0 { 0 } else { 1 });
}

/// How many of `comparisons` failed, on all backends together.
fn on_each_backend(set: &str, name: &str, comparisons: usize, exchange: impl Fn(&Polykem) -> usize) -> usize {
    let mut failures = 0;
    for backend in ["ref", "avx2", "avx512", "amx"] {
        let Some(ours) = Polykem::new(set, backend) else {
            println!("{set:<18} {backend:<8} this machine cannot run it");
            continue;
        };
        let bad = exchange(&ours);
        println!("{set:<18} {backend:<8} with {name}: {bad} of {comparisons} wrong");
        failures += bad;
    }
    failures
}

/// How many of 4 x `pairs` comparisons failed.
fn exchange(ours: &Polykem, theirs: &dyn Foreign, pairs: usize) -> usize {
    let mut bad = 0;
    // Their keys: we encapsulate to all in one batch.
    let keys: Vec<_> = (0..pairs).map(|_| theirs.keygen()).collect();
    let (cts, sent) = ours.encaps(&join(keys.iter().map(|(pk, _)| pk)));
    let sk = join(keys.iter().map(|(_, sk)| sk));
    for (i, (ct, ss)) in cts.iter().zip(&sent).enumerate() {
        bad += differs("their key, our ciphertext", &theirs.decaps(&keys[i].1, ct), ss, &keys[i].1, ct);
    }
    bad += rejects(ours, theirs, &keys, &sk, &cts);
    // Our keys: they encapsulate, we decapsulate all in one batch.
    let (pks, sks) = ours.keygen(pairs);
    let replies: Vec<_> = pks.iter().map(|pk| theirs.encaps(pk)).collect();
    let received = ours.decaps(&join(sks.iter()), &join(replies.iter().map(|(ct, _)| ct)));
    for (i, (ct, ss)) in replies.iter().enumerate() {
        bad += differs("our key, their ciphertext", &received[i], ss, &sks[i], ct);
        bad += differs("our key in their hands", &theirs.decaps(&sks[i], ct), ss, &sks[i], ct);
    }
    bad
}

/// Changed ciphertexts, a bit each at another place: both sides reject with the same secret.
fn rejects(ours: &Polykem, theirs: &dyn Foreign, keys: &[(Vec<u8>, Vec<u8>)], sk: &[u8], cts: &[Vec<u8>]) -> usize {
    let mut changed = cts.to_vec();
    for (i, ct) in changed.iter_mut().enumerate() {
        let place = i * 7919 % ct.len();
        ct[place] ^= 1 << (i % 8);
    }
    let received = ours.decaps(sk, &join(changed.iter()));
    (0..changed.len())
        .map(|i| differs("a changed ciphertext", &received[i], &theirs.decaps(&keys[i].1, &changed[i]), &keys[i].1, &changed[i]))
        .sum()
}

fn join<'a>(records: impl Iterator<Item = &'a Vec<u8>>) -> Vec<u8> {
    records.flatten().copied().collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn differs(what: &str, a: &[u8], b: &[u8], sk: &[u8], ct: &[u8]) -> usize {
    if a == b {
        return 0;
    }
    println!("{what}: {} and {}\n  sk {}\n  ct {}", hex(a), hex(b), hex(sk), hex(ct));
    1
}
