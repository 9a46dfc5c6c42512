// SPDX-License-Identifier: Apache-2.0
//! A safe layer over the functions of the C library polykem that exchange keys in batches. Copy it into your program
//! and extend it; docs/user_guide.md describes the C functions.
use polykem_sys as sys;
use std::ffi::{CStr, CString};
use std::fmt;
use std::ops::Deref;
use std::ptr;

/// The reason for which a call, or an item of a batch, failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(sys::polykem_status);

impl Status {
    pub const UNKNOWN_SCHEME: Status = Status(sys::POLYKEM_ERR_UNKNOWN_SCHEME);
    pub const PUBLIC_KEY: Status = Status(sys::POLYKEM_ERR_PUBLIC_KEY);
    pub const SIZE: Status = Status(sys::POLYKEM_ERR_SIZE);
    pub const ARGUMENT: Status = Status(sys::POLYKEM_ERR_ARGUMENT);
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        // SAFETY: the text is static, also for numbers that are not a status.
        f.write_str(&unsafe { CStr::from_ptr(sys::polykem_status_text(self.0)) }.to_string_lossy())
    }
}

impl std::error::Error for Status {}

fn check(status: sys::polykem_status) -> Result<(), Status> {
    if status == sys::POLYKEM_OK {
        Ok(())
    } else {
        Err(Status(status))
    }
}

/// A parameter set with the sizes of its records in bytes.
#[derive(Clone, Copy)]
pub struct Scheme {
    handle: &'static sys::polykem_scheme,
    pub public_key: usize,
    pub secret_key: usize,
    pub ciphertext: usize,
    pub shared_secret: usize,
}

impl Scheme {
    /// Finds a parameter set by its name, "ML-KEM-768" for example.
    pub fn find(name: &str) -> Result<Scheme, Status> {
        let name = CString::new(name).map_err(|_| Status::UNKNOWN_SCHEME)?;
        let mut handle = ptr::null();
        // SAFETY: parameter sets are static; all fields of the struct may be zero, and the library fills them.
        unsafe {
            check(sys::polykem_scheme_find(name.as_ptr(), &mut handle))?;
            let mut info: sys::polykem_scheme_info_t = std::mem::zeroed();
            info.struct_size = std::mem::size_of_val(&info);
            check(sys::polykem_scheme_info(handle, &mut info))?;
            Ok(Scheme {
                handle: &*handle,
                public_key: info.public_key_bytes,
                secret_key: info.secret_key_bytes,
                ciphertext: info.ciphertext_bytes,
                shared_secret: info.shared_secret_bytes,
            })
        }
    }
}

/// Secret records, wiped when they are dropped.
pub struct Secrets(Vec<u8>);

impl Deref for Secrets {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Secrets {
    fn drop(&mut self) {
        // SAFETY: the vector has these bytes.
        unsafe { sys::polykem_zeroize(self.0.as_mut_ptr().cast(), self.0.len()) }
    }
}

/// The results of a batch. An item with an error has zeros.
pub struct Batch<T> {
    pub results: T,
    pub items: Vec<Result<(), Status>>,
}

impl<T> Batch<T> {
    fn of(status: sys::polykem_status, each: Vec<sys::polykem_status>, results: T) -> Result<Batch<T>, Status> {
        if status != sys::POLYKEM_ERR_ITEMS {
            check(status)?;
        }
        Ok(Batch { results, items: each.into_iter().map(check).collect() })
    }

    /// The results of all items, or the error of the first item that failed.
    pub fn all(self) -> Result<T, Status> {
        self.items.into_iter().collect::<Result<(), Status>>()?;
        Ok(self.results)
    }
}

/// Threads and the random generator. Make one and keep it.
pub struct Context(*mut sys::polykem_context);

// SAFETY: the header allows several threads to use a context at once.
unsafe impl Send for Context {}
unsafe impl Sync for Context {}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: there is no other reference to it.
        unsafe { sys::polykem_context_free(self.0) }
    }
}

/// The number of records of `size` bytes in `bytes`.
fn records(bytes: &[u8], size: usize) -> Result<usize, Status> {
    if bytes.is_empty() || bytes.len() % size != 0 {
        return Err(Status::SIZE);
    }
    Ok(bytes.len() / size)
}

impl Context {
    pub fn new() -> Result<Context, Status> {
        let mut handle = ptr::null_mut();
        // SAFETY: without a configuration the library takes its defaults.
        check(unsafe { sys::polykem_context_new(ptr::null(), &mut handle) })?;
        Ok(Context(handle))
    }

    /// Public and secret keys; pair i is the i-th record of each.
    pub fn keygen(&self, scheme: Scheme, count: usize) -> Result<(Vec<u8>, Secrets), Status> {
        let size = |record: usize| record.checked_mul(count).filter(|_| count > 0).ok_or(Status::ARGUMENT);
        let mut pk = vec![0; size(scheme.public_key)?];
        let mut sk = Secrets(vec![0; size(scheme.secret_key)?]);
        // SAFETY: the buffers have count records.
        check(unsafe { sys::polykem_keygen(self.0, scheme.handle, count, pk.as_mut_ptr(), sk.0.as_mut_ptr()) })?;
        Ok((pk, sk))
    }

    /// One encapsulation to each public key: ciphertexts and shared secrets.
    pub fn encaps(&self, scheme: Scheme, pk: &[u8]) -> Result<Batch<(Vec<u8>, Secrets)>, Status> {
        let count = records(pk, scheme.public_key)?;
        let mut ct = vec![0; count * scheme.ciphertext];
        let mut ss = Secrets(vec![0; count * scheme.shared_secret]);
        let mut each = vec![sys::POLYKEM_OK; count];
        // SAFETY: the buffers have count records, `each` has count statuses.
        let status = unsafe {
            sys::polykem_encaps(
                self.0,
                scheme.handle,
                count,
                sys::POLYKEM_KEY_PER_ITEM,
                pk.as_ptr(),
                ct.as_mut_ptr(),
                ss.0.as_mut_ptr(),
                each.as_mut_ptr(),
            )
        };
        Batch::of(status, each, (ct, ss))
    }

    /// Decapsulates each ciphertext with the secret key of the same index.
    pub fn decaps(&self, scheme: Scheme, sk: &Secrets, ct: &[u8]) -> Result<Batch<Secrets>, Status> {
        let count = records(sk, scheme.secret_key)?;
        if records(ct, scheme.ciphertext)? != count {
            return Err(Status::SIZE);
        }
        let mut ss = Secrets(vec![0; count * scheme.shared_secret]);
        let mut each = vec![sys::POLYKEM_OK; count];
        // SAFETY: as in encaps.
        let status = unsafe {
            sys::polykem_decaps(
                self.0,
                scheme.handle,
                count,
                sys::POLYKEM_KEY_PER_ITEM,
                sk.as_ptr(),
                ct.as_ptr(),
                ss.0.as_mut_ptr(),
                each.as_mut_ptr(),
            )
        };
        Batch::of(status, each, ss)
    }
}
