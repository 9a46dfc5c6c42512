// SPDX-License-Identifier: Apache-2.0
//! Compiles wolfSSL, for the build scripts of this folder and of tests/interop.
use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// What ML-KEM, FrodoKEM and ML-DSA need of wolfSSL.
const WOLFSSL: [&str; 19] = [
    "aes.c", "aes_asm.S", "aes_x86_64_asm.S", "cpuid.c", "hash.c", "memory.c", "sha256.c", "sha256_asm.S", "sha3.c", "sha3_asm.S",
    "wc_frodokem.c", "wc_frodokem_asm.S", "wc_frodokem_mat.c", "wc_mldsa.c", "wc_mldsa_asm.S", "wc_mlkem.c", "wc_mlkem_asm.S",
    "wc_mlkem_poly.c", "wc_port.c",
];

/// What its keys in DER need besides.
const KEY_FILES: [&str; 3] = ["asn.c", "sp_int.c", "wolfmath.c"];

/// The folder of wolfSSL's sources, where cargo has put the crate that carries them.
fn wolfssl_folder() -> PathBuf {
    let arguments = ["metadata", "--format-version", "1", "--locked", "--features", "wolfssl-sys"];
    let output = Command::new(env::var("CARGO").unwrap()).args(arguments).output().expect("cargo metadata");
    let text = String::from_utf8(output.stdout).expect("cargo metadata");
    let end = text.find("wolfssl-sys-5.3.0/Cargo.toml").expect("wolfssl-sys 5.3.0 in cargo metadata");
    let start = text[..end].rfind('"').unwrap() + 1;
    Path::new(&text[start..end]).join("wolfssl-sys-5.3.0/wolfssl-src")
}

/// `settings`: the folder of wolfssl_settings.h and wolfssl.c. `key_files`: with FrodoKEM's keys in DER.
pub fn compile(settings: &Path, key_files: bool) {
    let folder = wolfssl_folder();
    let settings = settings.canonicalize().expect("the folder of wolfssl_settings.h");
    let mut build = cc::Build::new();
    if key_files {
        build.define("POLYKEM_WOLFSSL_KEY_FILES", None);
        build.files(KEY_FILES.map(|name| folder.join("wolfcrypt/src").join(name)));
    }
    build
        .flag("-include")
        .flag(settings.join("wolfssl_settings.h"))
        .define("WOLFSSL_X86_64_BUILD", None)
        .include(&folder)
        .flags(["-maes", "-msse4.1", "-mpclmul"])
        .warnings(false)
        .files(WOLFSSL.map(|name| folder.join("wolfcrypt/src").join(name)))
        .file(settings.join("wolfssl.c"))
        .compile("polykem_peers_wolfssl");
}
