// SPDX-License-Identifier: Apache-2.0
//! wolfSSL's FrodoKEM, with and without a salt, and ML-KEM.
use crate::{peer::Peer, polykem::sizes, wolfssl_keys, Foreign};

struct WolfSsl(Box<dyn Peer>);

impl Foreign for WolfSsl {
    fn name(&self) -> String {
        self.0.name()
    }
    fn set(&self) -> &'static str {
        self.0.set()
    }
    fn keygen(&self) -> (Vec<u8>, Vec<u8>) {
        let [pk_bytes, sk_bytes, ..] = sizes(self.set());
        let (mut pk, mut sk) = (vec![0; pk_bytes], vec![0; sk_bytes]);
        self.0.keygen(&mut pk, &mut sk);
        (pk, sk)
    }
    fn encaps(&self, pk: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let [.., ct_bytes, ss_bytes] = sizes(self.set());
        let (mut ct, mut ss) = (vec![0; ct_bytes], vec![0; ss_bytes]);
        self.0.encaps(pk, &mut ct, &mut ss);
        (ct, ss)
    }
    fn decaps(&self, sk: &[u8], ct: &[u8]) -> Vec<u8> {
        let mut ss = vec![0; sizes(self.set())[3]];
        self.0.decaps(sk, ct, &mut ss);
        ss
    }
}

/// Kyber of the third round is in `make bench-peers` only.
pub fn sets() -> Vec<Box<dyn Foreign>> {
    let all = wolfssl_keys::peers().into_iter().filter(|peer| !peer.set().starts_with("kyber"));
    all.map(|peer| Box::new(WolfSsl(peer)) as Box<dyn Foreign>).collect()
}
