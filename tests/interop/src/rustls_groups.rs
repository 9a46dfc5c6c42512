// SPDX-License-Identifier: Apache-2.0
//! The hybrids of TLS 1.3 that rustls has, computed by aws-lc-rs. It has no SecP384r1MLKEM1024: python/tests/test_hybrids.py
//! has the exchanges with Go, which does.
use rustls::crypto::aws_lc_rs::kx_group::{SECP256R1MLKEM768, X25519MLKEM768};
use rustls::crypto::SupportedKxGroup;

use crate::{differs, join, polykem::Polykem};

pub const SETS: [&str; 2] = ["x25519mlkem768", "secp256r1mlkem768"];

fn group(set: &str) -> &'static dyn SupportedKxGroup {
    if set == SETS[0] { X25519MLKEM768 } else { SECP256R1MLKEM768 }
}

/// How many of 2 x `pairs` comparisons failed.
pub fn exchange(ours: &Polykem, set: &str, pairs: usize) -> usize {
    let group = group(set);
    // They are the clients: we answer all in one batch.
    let clients: Vec<_> = (0..pairs).map(|_| group.start().expect("a key share")).collect();
    let shares: Vec<_> = clients.iter().map(|client| client.pub_key().to_vec()).collect();
    let (replies, sent) = ours.encaps(&join(shares.iter()));
    let mut bad = 0;
    for (i, client) in clients.into_iter().enumerate() {
        let secret = client.complete(&replies[i]).expect("they refuse our ciphertext");
        bad += differs("their share, our ciphertext", secret.secret_bytes(), &sent[i], &shares[i], &replies[i]);
    }
    // They are the servers: we decapsulate all in one batch.
    let (pks, sks) = ours.keygen(pairs);
    let replies: Vec<_> = pks.iter().map(|pk| group.start_and_complete(pk).expect("they refuse our share")).collect();
    let received = ours.decaps(&join(sks.iter()), &join(replies.iter().map(|reply| &reply.pub_key)));
    for (i, reply) in replies.iter().enumerate() {
        bad += differs("our share, their ciphertext", reply.secret.secret_bytes(), &received[i], &sks[i], &reply.pub_key);
    }
    bad
}
