// SPDX-License-Identifier: Apache-2.0
//! What a peer is: something that does one operation at a time, on keys and ciphertexts in the schemes' own bytes.
use libc::c_int;

/// Encapsulates to a key that the peer has read: writes a ciphertext and a secret.
pub type Sender = Box<dyn Fn(&mut [u8], &mut [u8])>;
/// Decapsulates a ciphertext with a key that the peer has read: writes a secret.
pub type Receiver = Box<dyn Fn(&[u8], &mut [u8])>;

/// The slices may be longer than the peer's records, which start where the slices do. Panics if the peer fails.
pub trait Peer {
    fn name(&self) -> String;
    /// polykem's name of the set.
    fn set(&self) -> &'static str;
    /// Each side understands the other's keys and ciphertexts. If not, the peer has a variant that does the same work.
    fn compatible(&self) -> bool {
        true
    }
    /// It reads secret keys in bytes. If not, it has no decapsulation that can be compared.
    fn decapsulates(&self) -> bool {
        true
    }
    fn keygen(&self, pk: &mut [u8], sk: &mut [u8]);
    fn encaps(&self, pk: &[u8], ct: &mut [u8], ss: &mut [u8]);
    fn decaps(&self, sk: &[u8], ct: &[u8], ss: &mut [u8]);
    /// A public key in the peer's own form, for many encapsulations. None: it has no such form.
    fn read_public(&self, _pk: &[u8]) -> Option<Sender> {
        None
    }
    /// A secret key in the peer's own form, where it has no other. None: it takes the bytes.
    fn read_secret(&self, _sk: &[u8]) -> Option<Receiver> {
        None
    }
    /// A secret key in the peer's own form, for many decapsulations. None: it has no such form.
    fn parse_secret(&self, sk: &[u8]) -> Option<Receiver> {
        self.read_secret(sk)
    }
}

pub type Keypair = unsafe extern "C" fn(*mut u8, *mut u8) -> c_int;
pub type Encaps = unsafe extern "C" fn(*mut u8, *mut u8, *const u8) -> c_int;
pub type Decaps = unsafe extern "C" fn(*mut u8, *const u8, *const u8) -> c_int;

/// A peer with NIST's interface of three C functions.
pub struct Functions {
    pub name: String,
    pub set: &'static str,
    pub compatible: bool,
    pub keypair: Keypair,
    pub encaps: Encaps,
    pub decaps: Decaps,
}

impl Peer for Functions {
    fn name(&self) -> String {
        self.name.clone()
    }
    fn set(&self) -> &'static str {
        self.set
    }
    fn compatible(&self) -> bool {
        self.compatible
    }
    fn keygen(&self, pk: &mut [u8], sk: &mut [u8]) {
        assert_eq!(unsafe { (self.keypair)(pk.as_mut_ptr(), sk.as_mut_ptr()) }, 0, "{} keygen", self.set);
    }
    fn encaps(&self, pk: &[u8], ct: &mut [u8], ss: &mut [u8]) {
        let status = unsafe { (self.encaps)(ct.as_mut_ptr(), ss.as_mut_ptr(), pk.as_ptr()) };
        assert_eq!(status, 0, "{} encaps", self.set);
    }
    fn decaps(&self, sk: &[u8], ct: &[u8], ss: &mut [u8]) {
        let status = unsafe { (self.decaps)(ss.as_mut_ptr(), ct.as_ptr(), sk.as_ptr()) };
        assert_eq!(status, 0, "{} decaps", self.set);
    }
}
