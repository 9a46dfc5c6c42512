// SPDX-License-Identifier: Apache-2.0
//! What a peer is: three functions that do one operation at a time.
use libc::c_int;

pub type Keypair = unsafe extern "C" fn(*mut u8, *mut u8) -> c_int;
pub type Encaps = unsafe extern "C" fn(*mut u8, *mut u8, *const u8) -> c_int;
pub type Decaps = unsafe extern "C" fn(*mut u8, *const u8, *const u8) -> c_int;

pub struct Peer {
    pub name: String,
    /// polykem's name of the set.
    pub set: &'static str,
    /// Each side understands the other's keys and ciphertexts. If not, the peer has a variant that does the same work.
    pub compatible: bool,
    pub keypair: Keypair,
    pub encaps: Encaps,
    pub decaps: Decaps,
}
