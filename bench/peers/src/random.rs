// SPDX-License-Identifier: Apache-2.0
//! Random numbers for the peers, from polykem's generator (random.cpp).
use libc::c_int;

extern "C" {
    pub fn polykem_peers_random(out: *mut u8, length: usize);
}

pub fn array<const N: usize>() -> [u8; N] {
    let mut out = [0; N];
    unsafe { polykem_peers_random(out.as_mut_ptr(), N) };
    out
}

/// PQClean's crates ask the operating system in every call; the linker puts this in its place (build.rs).
#[no_mangle]
unsafe extern "C" fn __wrap_PQCRYPTO_RUST_randombytes(out: *mut u8, length: usize) -> c_int {
    polykem_peers_random(out, length);
    0
}
