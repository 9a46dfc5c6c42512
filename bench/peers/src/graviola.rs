// SPDX-License-Identifier: Apache-2.0
//! graviola 0.4.4: ML-KEM-768 with eight-way Keccak. It generates keys and encapsulates; it does not read secret keys, so that it
//! decapsulates only what is for keys of its own.
use crate::peer::{Peer, Sender};
use crate::random;
use graviola::key_agreement::mlkem768::{DecapKey, EncapKey, Message};

struct Graviola;

fn read(pk: &[u8]) -> EncapKey {
    EncapKey::from_bytes(pk[..1184].try_into().unwrap()).expect("graviola did not take a key")
}

fn encapsulate(key: EncapKey, ct: &mut [u8], ss: &mut [u8]) {
    let (secret, ciphertext) = key.encaps_internal(Message(random::array()));
    ct[..1088].copy_from_slice(ciphertext.as_ref());
    ss[..32].copy_from_slice(secret.as_ref());
}

impl Peer for Graviola {
    fn name(&self) -> String {
        "graviola 0.4.4".to_owned()
    }
    fn set(&self) -> &'static str {
        "mlkem768"
    }
    fn decapsulates(&self) -> bool {
        false
    }
    fn keygen(&self, pk: &mut [u8], sk: &mut [u8]) {
        let key = DecapKey::keygen_internal(&random::array());
        pk[..1184].copy_from_slice(&key.encapsulation_key().as_bytes());
        sk[..2400].copy_from_slice(&key.as_bytes());
    }
    fn encaps(&self, pk: &[u8], ct: &mut [u8], ss: &mut [u8]) {
        encapsulate(read(pk), ct, ss);
    }
    fn decaps(&self, _sk: &[u8], _ct: &[u8], _ss: &mut [u8]) {
        panic!("graviola reads no secret keys");
    }
    fn read_public(&self, pk: &[u8]) -> Option<Sender> {
        let key = read(pk);
        Some(Box::new(move |ct, ss| encapsulate(key.clone(), ct, ss)))
    }
}

pub fn peers() -> Vec<Box<dyn Peer>> {
    assert!(graviola::util::is_cpu_supported());
    vec![Box::new(Graviola)]
}
