// SPDX-License-Identifier: Apache-2.0
//! Intel's Cryptography Primitives Library 2026.2: ML-KEM on bytes, with code chosen at run time. It is a preview there.
use crate::peer::Peer;
use crate::random;
use libc::{c_int, c_void};

type Random = unsafe extern "C" fn(*mut u32, c_int, *mut c_void) -> c_int;
type SizeOf = unsafe extern "C" fn(*mut c_int, *const u8) -> c_int;

extern "C" {
    fn ippcpInit() -> c_int;
    fn ippsMLKEM_GetSize(size: *mut c_int, set: c_int) -> c_int;
    fn ippsMLKEM_Init(state: *mut u8, set: c_int) -> c_int;
    fn ippsMLKEM_KeyGenBufferGetSize(size: *mut c_int, state: *const u8) -> c_int;
    fn ippsMLKEM_EncapsBufferGetSize(size: *mut c_int, state: *const u8) -> c_int;
    fn ippsMLKEM_DecapsBufferGetSize(size: *mut c_int, state: *const u8) -> c_int;
    fn ippsMLKEM_KeyGen(pk: *mut u8, sk: *mut u8, state: *mut u8, scratch: *mut u8, random: Random, of: *mut c_void) -> c_int;
    fn ippsMLKEM_Encaps(
        pk: *const u8, ct: *mut u8, ss: *mut u8, state: *mut u8, scratch: *mut u8, random: Random, of: *mut c_void,
    ) -> c_int;
    fn ippsMLKEM_Decaps(sk: *const u8, ct: *const u8, ss: *mut u8, state: *mut u8, scratch: *mut u8) -> c_int;
}

unsafe extern "C" fn fill(out: *mut u32, bits: c_int, _: *mut c_void) -> c_int {
    random::polykem_peers_random(out.cast::<u8>(), bits as usize / 8);
    0
}

fn done(status: c_int) {
    assert_eq!(status, 0, "ippcp");
}

/// A state and memory to work in, used again and again.
struct Ippcp {
    name: &'static str,
    state: *mut u8,
    scratch: *mut u8,
}

impl Ippcp {
    /// Never freed: there are three.
    fn memory(bytes: c_int) -> *mut u8 {
        Vec::leak(vec![0u64; bytes as usize / 8 + 1]).as_mut_ptr().cast::<u8>()
    }

    fn new(name: &'static str, set: c_int) -> Box<dyn Peer> {
        let mut bytes = 0;
        done(unsafe { ippsMLKEM_GetSize(&mut bytes, set) });
        let state = Self::memory(bytes);
        done(unsafe { ippsMLKEM_Init(state, set) });
        let sizes: [SizeOf; 3] =
            [ippsMLKEM_KeyGenBufferGetSize, ippsMLKEM_EncapsBufferGetSize, ippsMLKEM_DecapsBufferGetSize];
        let most = sizes.map(|size_of| {
            done(unsafe { size_of(&mut bytes, state) });
            bytes
        });
        Box::new(Self { name, state, scratch: Self::memory(*most.iter().max().unwrap()) })
    }
}

impl Peer for Ippcp {
    fn name(&self) -> String {
        "Intel ippcp 2026.2".to_owned()
    }
    fn set(&self) -> &'static str {
        self.name
    }
    fn keygen(&self, pk: &mut [u8], sk: &mut [u8]) {
        let of = std::ptr::null_mut();
        done(unsafe { ippsMLKEM_KeyGen(pk.as_mut_ptr(), sk.as_mut_ptr(), self.state, self.scratch, fill, of) });
    }
    fn encaps(&self, pk: &[u8], ct: &mut [u8], ss: &mut [u8]) {
        let (pk, ct, ss, of) = (pk.as_ptr(), ct.as_mut_ptr(), ss.as_mut_ptr(), std::ptr::null_mut());
        done(unsafe { ippsMLKEM_Encaps(pk, ct, ss, self.state, self.scratch, fill, of) });
    }
    fn decaps(&self, sk: &[u8], ct: &[u8], ss: &mut [u8]) {
        done(unsafe { ippsMLKEM_Decaps(sk.as_ptr(), ct.as_ptr(), ss.as_mut_ptr(), self.state, self.scratch) });
    }
}

pub fn peers() -> Vec<Box<dyn Peer>> {
    let status = unsafe { ippcpInit() };
    assert!(status >= 0, "ippcpInit: {status}"); // above 0 is a warning
    vec![Ippcp::new("mlkem512", 1), Ippcp::new("mlkem768", 2), Ippcp::new("mlkem1024", 3)]
}
