// SPDX-License-Identifier: Apache-2.0
//! Libraries that sign with ML-DSA, one message at a time: wolfSSL (AVX-512 or AVX2 assembly, chosen at run time), AWS-LC (mldsa-native
//! with its AVX2 assembly), liboqs (the reference implementation's AVX2 code) and OpenSSL. Messages have no context.
use crate::wolfssl::INVALID_DEVID;
use crate::{random, CPU};
use libc::{c_char, c_int, c_void};
use openssl_sys::*;
use oqs_sys::{common, rand, sig};
use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::ffi::CString;
use std::ptr::{null, null_mut};

pub const SEED: usize = 32;

/// Signs a message with a key that the peer has read.
pub type SigningKey = Box<dyn Fn(&[u8], &mut [u8])>;
/// Whether the signature of a message is valid, by a key that the peer has read.
pub type VerifyingKey = Box<dyn Fn(&[u8], &[u8]) -> bool>;

/// Slices have the lengths of their records. Panics if the peer fails.
pub trait Signer {
    fn name(&self) -> String;
    fn keygen(&self, pk: &mut [u8], sk: &mut [u8]);
    fn sign(&self, sk: &[u8], message: &[u8], sig: &mut [u8]);
    fn verify(&self, pk: &[u8], message: &[u8], sig: &[u8]) -> bool;
    /// Keys in the peer's own form, for many messages. None: it has no such form.
    fn signing_key(&self, _sk: &[u8]) -> Option<SigningKey> {
        None
    }
    fn verifying_key(&self, _pk: &[u8]) -> Option<VerifyingKey> {
        None
    }
}

extern "C" {
    #[link_name = "polykem_wolfssl_mldsa_key_bytes"]
    static WOLFSSL_KEY_BYTES: usize;
    fn wc_MlDsaKey_Init(key: *mut c_void, heap: *mut c_void, device: c_int) -> c_int;
    fn wc_MlDsaKey_Free(key: *mut c_void);
    fn wc_MlDsaKey_SetParams(key: *mut c_void, level: u8) -> c_int;
    fn wc_MlDsaKey_MakeKeyFromSeed(key: *mut c_void, seed: *const u8) -> c_int;
    fn wc_MlDsaKey_ImportPubRaw(key: *mut c_void, pk: *const u8, length: u32) -> c_int;
    fn wc_MlDsaKey_ImportPrivRaw(key: *mut c_void, sk: *const u8, length: u32) -> c_int;
    fn wc_MlDsaKey_ExportPubRaw(key: *mut c_void, pk: *mut u8, length: *mut u32) -> c_int;
    fn wc_MlDsaKey_ExportPrivRaw(key: *mut c_void, sk: *mut u8, length: *mut u32) -> c_int;
    fn wc_MlDsaKey_SignCtxWithSeed(
        key: *mut c_void, context: *const u8, context_length: u8, sig: *mut u8, sig_length: *mut u32, message: *const u8,
        length: u32, rnd: *const u8,
    ) -> c_int;
    fn wc_MlDsaKey_VerifyCtx(
        key: *mut c_void, sig: *const u8, sig_length: u32, context: *const u8, context_length: u8, message: *const u8,
        length: u32, result: *mut c_int,
    ) -> c_int;
}

/// A key object of wolfSSL. It keeps the matrix and the vectors of a key that it has read.
struct WolfKey {
    key: *mut c_void,
}

impl WolfKey {
    fn layout() -> Layout {
        Layout::from_size_align(unsafe { WOLFSSL_KEY_BYTES }, 64).unwrap()
    }
    fn new(level: u8) -> Self {
        let key = unsafe { alloc_zeroed(Self::layout()) }.cast::<c_void>();
        assert!(!key.is_null());
        let this = Self { key };
        this.begin(level);
        this
    }
    fn begin(&self, level: u8) {
        Self::done(unsafe { wc_MlDsaKey_Init(self.key, null_mut(), INVALID_DEVID) });
        Self::done(unsafe { wc_MlDsaKey_SetParams(self.key, level) });
    }
    fn done(status: c_int) {
        assert_eq!(status, 0, "wolfSSL");
    }
    fn read_private(&self, sk: &[u8]) {
        Self::done(unsafe { wc_MlDsaKey_ImportPrivRaw(self.key, sk.as_ptr(), sk.len() as u32) });
    }
    fn read_public(&self, pk: &[u8]) {
        Self::done(unsafe { wc_MlDsaKey_ImportPubRaw(self.key, pk.as_ptr(), pk.len() as u32) });
    }
    fn sign(&self, message: &[u8], sig: &mut [u8]) {
        let rnd: [u8; SEED] = random::array();
        let mut length = sig.len() as u32;
        let (text, text_length) = (message.as_ptr(), message.len() as u32);
        let (to, rnd) = (sig.as_mut_ptr(), rnd.as_ptr());
        Self::done(unsafe { wc_MlDsaKey_SignCtxWithSeed(self.key, null(), 0, to, &mut length, text, text_length, rnd) });
    }
    fn verify(&self, message: &[u8], sig: &[u8]) -> bool {
        let mut result = 0;
        let (text, text_length) = (message.as_ptr(), message.len() as u32);
        let (from, length) = (sig.as_ptr(), sig.len() as u32);
        let status = unsafe { wc_MlDsaKey_VerifyCtx(self.key, from, length, null(), 0, text, text_length, &mut result) };
        status == 0 && result == 1
    }
    fn end(&self) {
        unsafe { wc_MlDsaKey_Free(self.key) };
    }
}

impl Drop for WolfKey {
    fn drop(&mut self) {
        unsafe { dealloc(self.key.cast::<u8>(), Self::layout()) };
    }
}

struct WolfSsl {
    level: u8,
    /// Memory of one key after the other.
    object: WolfKey,
}

impl WolfSsl {
    fn new(level: u8) -> Self {
        let object = WolfKey::new(level);
        object.end();
        Self { level, object }
    }
}

impl Signer for WolfSsl {
    fn name(&self) -> String {
        "wolfSSL 5.9.4".to_owned()
    }
    fn keygen(&self, pk: &mut [u8], sk: &mut [u8]) {
        let seed: [u8; SEED] = random::array();
        let (mut pk_length, mut sk_length) = (pk.len() as u32, sk.len() as u32);
        self.object.begin(self.level);
        unsafe {
            WolfKey::done(wc_MlDsaKey_MakeKeyFromSeed(self.object.key, seed.as_ptr()));
            WolfKey::done(wc_MlDsaKey_ExportPubRaw(self.object.key, pk.as_mut_ptr(), &mut pk_length));
            WolfKey::done(wc_MlDsaKey_ExportPrivRaw(self.object.key, sk.as_mut_ptr(), &mut sk_length));
        }
        self.object.end();
    }
    fn sign(&self, sk: &[u8], message: &[u8], sig: &mut [u8]) {
        self.object.begin(self.level);
        self.object.read_private(sk);
        self.object.sign(message, sig);
        self.object.end();
    }
    fn verify(&self, pk: &[u8], message: &[u8], sig: &[u8]) -> bool {
        self.object.begin(self.level);
        self.object.read_public(pk);
        let valid = self.object.verify(message, sig);
        self.object.end();
        valid
    }
    fn signing_key(&self, sk: &[u8]) -> Option<SigningKey> {
        let key = WolfKey::new(self.level);
        key.read_private(sk);
        Some(Box::new(move |message, sig| key.sign(message, sig)))
    }
    fn verifying_key(&self, pk: &[u8]) -> Option<VerifyingKey> {
        let key = WolfKey::new(self.level);
        key.read_public(pk);
        Some(Box::new(move |message, sig| key.verify(message, sig)))
    }
}

type AwsKeypair = unsafe extern "C" fn(*mut u8, *mut u8, *const u8) -> c_int;
type AwsSign =
    unsafe extern "C" fn(*const u8, *mut u8, *mut usize, *const u8, usize, *const u8, usize, *const u8) -> c_int;
type AwsVerify = unsafe extern "C" fn(*const u8, *const u8, usize, *const u8, usize, *const u8, usize) -> c_int;

/// AWS-LC below its EVP interface, on bytes.
struct AwsLc {
    keypair: AwsKeypair,
    sign: AwsSign,
    verify: AwsVerify,
}

/// What precedes a message that is not a digest and has no context. [FIPS204, Alg 2, L10]
const NO_CONTEXT: [u8; 2] = [0, 0];

impl Signer for AwsLc {
    fn name(&self) -> String {
        "AWS-LC (aws-lc-sys 0.47)".to_owned()
    }
    fn keygen(&self, pk: &mut [u8], sk: &mut [u8]) {
        let seed: [u8; SEED] = random::array();
        assert_eq!(unsafe { (self.keypair)(pk.as_mut_ptr(), sk.as_mut_ptr(), seed.as_ptr()) }, 1, "AWS-LC");
    }
    fn sign(&self, sk: &[u8], message: &[u8], sig: &mut [u8]) {
        let rnd: [u8; SEED] = random::array();
        let mut length = sig.len();
        let (text, before) = (message.as_ptr(), NO_CONTEXT.as_ptr());
        let (sk, to, rnd) = (sk.as_ptr(), sig.as_mut_ptr(), rnd.as_ptr());
        let status = unsafe { (self.sign)(sk, to, &mut length, text, message.len(), before, NO_CONTEXT.len(), rnd) };
        assert_eq!(status, 1, "AWS-LC");
    }
    fn verify(&self, pk: &[u8], message: &[u8], sig: &[u8]) -> bool {
        let (text, before) = (message.as_ptr(), NO_CONTEXT.as_ptr());
        let (pk, from) = (pk.as_ptr(), sig.as_ptr());
        (unsafe { (self.verify)(pk, from, sig.len(), text, message.len(), before, NO_CONTEXT.len()) }) == 1
    }
}

/// The crate declares only what is in AWS-LC's public headers, and links all of it under names with its version.
macro_rules! aws_lc {
    ($module:ident, $keypair:literal, $sign:literal, $verify:literal) => {
        mod $module {
            use libc::c_int;
            extern "C" {
                #[link_name = $keypair]
                pub fn keypair(pk: *mut u8, sk: *mut u8, seed: *const u8) -> c_int;
                #[link_name = $sign]
                pub fn sign(
                    sk: *const u8, sig: *mut u8, sig_length: *mut usize, message: *const u8, length: usize, before: *const u8,
                    before_length: usize, rnd: *const u8,
                ) -> c_int;
                #[link_name = $verify]
                pub fn verify(
                    pk: *const u8, sig: *const u8, sig_length: usize, message: *const u8, length: usize, before: *const u8,
                    before_length: usize,
                ) -> c_int;
            }
            pub fn all() -> super::AwsLc {
                super::AwsLc { keypair, sign, verify }
            }
        }
    };
}
aws_lc!(
    mldsa44,
    "aws_lc_0_47_0_ml_dsa_44_keypair_internal",
    "aws_lc_0_47_0_ml_dsa_44_sign_internal",
    "aws_lc_0_47_0_ml_dsa_44_verify_internal"
);
aws_lc!(
    mldsa65,
    "aws_lc_0_47_0_ml_dsa_65_keypair_internal",
    "aws_lc_0_47_0_ml_dsa_65_sign_internal",
    "aws_lc_0_47_0_ml_dsa_65_verify_internal"
);
aws_lc!(
    mldsa87,
    "aws_lc_0_47_0_ml_dsa_87_keypair_internal",
    "aws_lc_0_47_0_ml_dsa_87_sign_internal",
    "aws_lc_0_47_0_ml_dsa_87_verify_internal"
);

struct Liboqs(&'static sig::OQS_SIG);

impl Liboqs {
    fn new(method: &str) -> Self {
        let method = CString::new(method).unwrap();
        unsafe {
            common::OQS_init();
            rand::OQS_randombytes_custom_algorithm(Some(random::polykem_peers_random));
            Self(sig::OQS_SIG_new(method.as_ptr()).as_ref().expect("a method of this build of liboqs"))
        }
    }
}

impl Signer for Liboqs {
    fn name(&self) -> String {
        format!("liboqs 0.13, {CPU}")
    }
    fn keygen(&self, pk: &mut [u8], sk: &mut [u8]) {
        let status = unsafe { sig::OQS_SIG_keypair(self.0, pk.as_mut_ptr(), sk.as_mut_ptr()) };
        assert!(status == common::OQS_STATUS::OQS_SUCCESS, "liboqs");
    }
    fn sign(&self, sk: &[u8], message: &[u8], sig: &mut [u8]) {
        let mut length = sig.len();
        let (to, text) = (sig.as_mut_ptr(), message.as_ptr());
        let status = unsafe { sig::OQS_SIG_sign(self.0, to, &mut length, text, message.len(), sk.as_ptr()) };
        assert!(status == common::OQS_STATUS::OQS_SUCCESS, "liboqs");
    }
    fn verify(&self, pk: &[u8], message: &[u8], sig: &[u8]) -> bool {
        let (from, text) = (sig.as_ptr(), message.as_ptr());
        let status = unsafe { sig::OQS_SIG_verify(self.0, text, message.len(), from, sig.len(), pk.as_ptr()) };
        status == common::OQS_STATUS::OQS_SUCCESS
    }
}

/// OpenSSL's EVP interface. Its keys are objects.
struct OpenSsl {
    name: &'static [u8],
    generator: *mut EVP_PKEY_CTX,
}

struct OpenSslKey(*mut EVP_PKEY);

impl OpenSslKey {
    fn done(status: c_int) {
        assert_eq!(status, 1, "OpenSSL: {}", unsafe { ERR_get_error() });
    }
    fn private(name: &'static [u8], sk: &[u8]) -> Self {
        let name = name.as_ptr().cast::<c_char>();
        let key = unsafe { EVP_PKEY_new_raw_private_key_ex(null_mut(), name, null(), sk.as_ptr(), sk.len()) };
        assert!(!key.is_null());
        Self(key)
    }
    fn public(name: &'static [u8], pk: &[u8]) -> Self {
        let name = name.as_ptr().cast::<c_char>();
        let key = unsafe { EVP_PKEY_new_raw_public_key_ex(null_mut(), name, null(), pk.as_ptr(), pk.len()) };
        assert!(!key.is_null());
        Self(key)
    }
    fn sign(&self, message: &[u8], sig: &mut [u8]) {
        let mut length = sig.len();
        unsafe {
            let context = EVP_MD_CTX_new();
            Self::done(EVP_DigestSignInit(context, null_mut(), null(), null_mut(), self.0));
            Self::done(EVP_DigestSign(context, sig.as_mut_ptr(), &mut length, message.as_ptr(), message.len()));
            EVP_MD_CTX_free(context);
        }
    }
    fn verify(&self, message: &[u8], sig: &[u8]) -> bool {
        unsafe {
            let context = EVP_MD_CTX_new();
            Self::done(EVP_DigestVerifyInit(context, null_mut(), null(), null_mut(), self.0));
            let status = EVP_DigestVerify(context, sig.as_ptr(), sig.len(), message.as_ptr(), message.len());
            EVP_MD_CTX_free(context);
            status == 1
        }
    }
}

impl Drop for OpenSslKey {
    fn drop(&mut self) {
        unsafe { EVP_PKEY_free(self.0) };
    }
}

impl OpenSsl {
    fn new(name: &'static [u8]) -> Self {
        let generator = unsafe { EVP_PKEY_CTX_new_from_name(null_mut(), name.as_ptr().cast::<c_char>(), null()) };
        assert!(!generator.is_null());
        OpenSslKey::done(unsafe { EVP_PKEY_keygen_init(generator) });
        Self { name, generator }
    }
}

impl Signer for OpenSsl {
    fn name(&self) -> String {
        crate::openssl::version()
    }
    fn keygen(&self, pk: &mut [u8], sk: &mut [u8]) {
        let mut seed: [u8; SEED] = random::array();
        let (mut key, mut pk_bytes, mut sk_bytes) = (null_mut(), pk.len(), sk.len());
        unsafe {
            OpenSslKey::done(EVP_PKEY_CTX_set_params(self.generator, crate::openssl::octets(b"seed\0", &mut seed).as_ptr()));
            OpenSslKey::done(EVP_PKEY_keygen(self.generator, &mut key));
            OpenSslKey::done(EVP_PKEY_get_raw_public_key(key, pk.as_mut_ptr(), &mut pk_bytes));
            OpenSslKey::done(EVP_PKEY_get_raw_private_key(key, sk.as_mut_ptr(), &mut sk_bytes));
            EVP_PKEY_free(key);
        }
    }
    fn sign(&self, sk: &[u8], message: &[u8], sig: &mut [u8]) {
        OpenSslKey::private(self.name, sk).sign(message, sig);
    }
    fn verify(&self, pk: &[u8], message: &[u8], sig: &[u8]) -> bool {
        OpenSslKey::public(self.name, pk).verify(message, sig)
    }
    fn signing_key(&self, sk: &[u8]) -> Option<SigningKey> {
        let key = OpenSslKey::private(self.name, sk);
        Some(Box::new(move |message, sig| key.sign(message, sig)))
    }
    fn verifying_key(&self, pk: &[u8]) -> Option<VerifyingKey> {
        let key = OpenSslKey::public(self.name, pk);
        Some(Box::new(move |message, sig| key.verify(message, sig)))
    }
}

impl Drop for OpenSsl {
    fn drop(&mut self) {
        unsafe { EVP_PKEY_CTX_free(self.generator) };
    }
}

/// The peers of each set.
pub fn peers_by_set() -> Vec<(&'static str, Vec<Box<dyn Signer>>)> {
    let all = |level, aws_lc: AwsLc, method, name| -> Vec<Box<dyn Signer>> {
        vec![Box::new(WolfSsl::new(level)), Box::new(aws_lc), Box::new(Liboqs::new(method)), Box::new(OpenSsl::new(name))]
    };
    vec![
        ("mldsa44", all(2, mldsa44::all(), "ML-DSA-44", b"ML-DSA-44\0")),
        ("mldsa65", all(3, mldsa65::all(), "ML-DSA-65", b"ML-DSA-65\0")),
        ("mldsa87", all(5, mldsa87::all(), "ML-DSA-87", b"ML-DSA-87\0")),
    ]
}
