// SPDX-License-Identifier: Apache-2.0
//! Links the static library that CMake built in POLYKEM_BUILD, and adds the C++ files of this folder and wolfSSL.
use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// What ML-KEM and FrodoKEM need of wolfSSL.
const WOLFSSL: [&str; 14] = [
    "aes.c", "aes_asm.S", "aes_x86_64_asm.S", "cpuid.c", "memory.c", "sha3.c", "sha3_asm.S", "wc_frodokem.c", "wc_frodokem_asm.S",
    "wc_frodokem_mat.c", "wc_mlkem.c", "wc_mlkem_asm.S", "wc_mlkem_poly.c", "wc_port.c",
];

/// The folder of wolfSSL's sources, where cargo has put the crate that carries them.
fn wolfssl_folder() -> PathBuf {
    let arguments = ["metadata", "--format-version", "1", "--locked", "--features", "wolfssl-sys"];
    let output = Command::new(env::var("CARGO").unwrap()).args(arguments).output().expect("cargo metadata");
    let text = String::from_utf8(output.stdout).expect("cargo metadata");
    let end = text.find("wolfssl-sys-5.3.0/Cargo.toml").expect("wolfssl-sys 5.3.0 in cargo metadata");
    let start = text[..end].rfind('"').unwrap() + 1;
    Path::new(&text[start..end]).join("wolfssl-sys-5.3.0/wolfssl-src")
}

fn main() {
    println!("cargo:rerun-if-env-changed=POLYKEM_BUILD");
    println!("cargo:rerun-if-changed=src");
    let sources = ["src/clock.cpp", "src/random.cpp"];
    cc::Build::new().cpp(true).std("c++20").include("../../src").files(sources).compile("polykem_peers_helpers");
    println!("cargo:rustc-link-arg=-Wl,--wrap=PQCRYPTO_RUST_randombytes");
    let folder = wolfssl_folder();
    cc::Build::new()
        .flag("-include")
        .flag(format!("{}/src/wolfssl_settings.h", env::var("CARGO_MANIFEST_DIR").unwrap()))
        .define("WOLFSSL_X86_64_BUILD", None)
        .include(&folder)
        .flags(["-maes", "-msse4.1", "-mpclmul"])
        .warnings(false)
        .files(WOLFSSL.map(|name| folder.join("wolfcrypt/src").join(name)))
        .file("src/wolfssl.c")
        .compile("polykem_peers_wolfssl");
    let build = env::var("POLYKEM_BUILD").expect("set POLYKEM_BUILD to polykem's build directory, or use `make bench-peers`");
    let library = Path::new(&build).join("src");
    println!("cargo:rustc-link-search=native={}", library.display());
    println!("cargo:rerun-if-changed={}", library.join("libpolykem.a").display());
    println!("cargo:rustc-link-lib=static=polykem");
    println!("cargo:rustc-link-lib=dylib=stdc++");
}
