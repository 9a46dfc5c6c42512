// SPDX-License-Identifier: Apache-2.0
//! Random numbers for implementations that ask for them.
pub fn array<const N: usize>() -> [u8; N] {
    let mut out = [0; N];
    let got = unsafe { libc::getrandom(out.as_mut_ptr().cast::<libc::c_void>(), N, 0) };
    assert_eq!(got, N as isize, "getrandom");
    out
}
