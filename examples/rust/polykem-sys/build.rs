// SPDX-License-Identifier: Apache-2.0
//! Asks pkg-config for the library's folder, without the crate pkg-config, so that the example needs no other crates.
use std::process::Command;

fn pkg_config(option: &str) -> String {
    let output = Command::new("pkg-config")
        .args([option, "polykem"])
        .output()
        .unwrap_or_else(|error| panic!("pkg-config does not run: {error}"));
    if !output.status.success() {
        panic!("{}", String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8(output.stdout).expect("a path in UTF-8")
}

fn main() {
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    println!("cargo:rustc-link-search=native={}", pkg_config("--variable=libdir").trim());
    println!("cargo:rustc-link-lib=dylib=polykem");
    println!("cargo:include={}", pkg_config("--variable=includedir").trim());
}
