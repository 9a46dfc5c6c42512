// SPDX-License-Identifier: Apache-2.0
use batch::{Context, Scheme, Status};

#[test]
fn both_sides_have_the_secrets() {
    let scheme = Scheme::find("X25519MLKEM768").unwrap();
    let context = Context::new().unwrap();
    let (pk, sk) = context.keygen(scheme, 5).unwrap();
    let (ct, sent) = context.encaps(scheme, &pk).unwrap().all().unwrap();
    let received = context.decaps(scheme, &sk, &ct).unwrap().all().unwrap();
    assert_eq!(sent.len(), 5 * scheme.shared_secret);
    assert!(*sent == *received);
}

#[test]
fn a_malformed_key_spoils_only_its_item() {
    let scheme = Scheme::find("ML-KEM-768").unwrap();
    let context = Context::new().unwrap();
    let (mut pk, sk) = context.keygen(scheme, 3).unwrap();
    pk[scheme.public_key..2 * scheme.public_key].fill(0xff); // coefficients above the modulus
    let batch = context.encaps(scheme, &pk).unwrap();
    assert_eq!(batch.items, [Ok(()), Err(Status::PUBLIC_KEY), Ok(())]);
    let (ct, sent) = &batch.results;
    let received = context.decaps(scheme, &sk, ct).unwrap().results;
    let third = 2 * scheme.shared_secret..;
    assert!(sent[third.clone()] == received[third]);
    assert_eq!(batch.all().err(), Some(Status::PUBLIC_KEY));
}

#[test]
fn wrong_calls_are_errors() {
    let context = Context::new().unwrap();
    let scheme = Scheme::find("ML-KEM-768").unwrap();
    assert_eq!(Scheme::find("ML-KEM-769").err(), Some(Status::UNKNOWN_SCHEME));
    assert_eq!(context.keygen(scheme, 0).err(), Some(Status::ARGUMENT));
    assert_eq!(context.keygen(scheme, usize::MAX).err(), Some(Status::ARGUMENT));
    assert_eq!(context.encaps(scheme, &[0; 1185]).err(), Some(Status::SIZE));
    let (_, sk) = context.keygen(scheme, 2).unwrap();
    assert_eq!(context.decaps(scheme, &sk, &vec![0; scheme.ciphertext]).err(), Some(Status::SIZE));
}
