#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loads the libraries of wheels on Debian 11's glibc, 2.31, and calls one that is linked alike.

    older_glibc.py WHEEL...

The C library comes from Debian's archive, without a change to this system; if it is not available, the exit code is 77.
Python's own functions are stubs: the test is that the linker finds all others.
"""

import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from tools_path import TOOLS

import link_stubs
import record
import wheel

HERE = Path(__file__).resolve().parent
SUITE, KEYS = "bullseye", "/usr/share/keyrings/debian-archive-keyring.gpg"
FORMER = [f"-l:{library}" for library in link_stubs.FORMER]
LOADER = r"""
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <stdio.h>
int main(int count, char** files) {
  int (*call)(double, const char*, const char*) = NULL;
  for (int i = 1; i < count; ++i) {
    void* library = dlopen(files[i], RTLD_NOW);
    if (library == NULL) return printf("%s\n", dlerror()), 1;
    if (i == 1) *(void**)&call = dlsym(library, "polykem_cuda_module");
  }
  printf("glibc %s loads %d libraries\n", gnu_get_libc_version(), count - 1);
  return call == NULL ? 1 : call(1.0, "/tmp", files[1]);
}
"""


def run(*command, **options):
    words = [str(word) for word in command]
    return subprocess.run(words, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def archive():
    """Returns the archive of this system's packages, which also has the older suite."""
    targets = run("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages").split()
    return next((target for target in targets if target.endswith("/debian/")), None)


def fetch_glibc(folder):
    """Unpacks the library. Returns a root folder, or None if the archive cannot be reached."""
    (folder / "lists/partial").mkdir(parents=True)
    (folder / "cache/archives/partial").mkdir(parents=True)
    settings = {"Dir::Etc::sourcelist": folder / "sources.list", "Dir::Etc::sourceparts": "-",
                "Dir::State::Lists": folder / "lists", "Dir::State::status": "/dev/null", "APT::Sandbox::User": "root",
                "Dir::Cache": folder / "cache", "Acquire::Languages": "none"}
    apt = ["apt-get", "-q", *(f"-o{name}={value}" for name, value in settings.items())]
    try:
        (folder / "sources.list").write_text(f"deb [signed-by={KEYS}] {archive()} {SUITE} main\n", encoding="utf-8")
        run(*apt, "update", stderr=subprocess.STDOUT)
        run(*apt, "download", "libc6", "libgcc-s1", cwd=folder, stderr=subprocess.STDOUT)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"older_glibc: no packages of Debian's {SUITE}: {(getattr(error, 'output', '') or str(error))[-200:]}")
        return None
    for package in folder.glob("*.deb"):
        run("dpkg", "-x", package, folder / "root")
    return folder / "root"


def python_stubs(libraries, folder):
    """Makes a library with every symbol of Python that the libraries need."""
    needed = "".join(record.output_of("readelf", "-W", "--dyn-syms", library) for library in libraries)
    names = sorted(set(re.findall(r"UND (_?Py\w+)$", needed, re.M)))
    text = "".join(f".globl {name}\n.type {name}, @object\n.size {name}, 8\n{name}: .quad 0\n" for name in names)
    run("cc", "-shared", "-nostdlib", "-x", "assembler", "-", "-o", folder / "python.so", input=f".data\n{text}")
    return folder / "python.so"


def link(folder):
    """Builds a loader and a library to call, for the older glibc."""
    stubs = folder / "stubs"
    run(TOOLS / "link_stubs.py", wheel.OLDEST_GLIBC, stubs)
    options = [f"-L{stubs}", "-Wl,--no-as-needed", *FORMER]
    run("cc", "-x", "c", "-", "-o", folder / "loader", *options, input=LOADER)
    run("c++", "-std=c++20", "-O1", "-fPIC", "-fvisibility=hidden", "-shared", "-static-libstdc++",
        "-Wl,--exclude-libs,ALL", f"-Wl,--version-script={TOOLS}/exports.map", *options, HERE / "library.cpp",
        TOOLS / "old_glibc.cpp", "-o", folder / "library.so")
    return folder / "loader", folder / "library.so"


def libraries_of(wheels, folder):
    for path in wheels:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.endswith(".so"):
                    yield Path(archive.extract(name, folder / Path(path).stem))


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        root = fetch_glibc(folder)
        if root is None:
            sys.exit(77)
        loader, library = link(folder)
        libraries = [library, *libraries_of(sys.argv[1:], folder)]
        place = root / "lib/x86_64-linux-gnu"
        try:
            print(run(place / "ld-linux-x86-64.so.2", "--preload", python_stubs(libraries, folder), "--library-path",
                      place, loader, *libraries), end="")
        except subprocess.CalledProcessError as error:
            sys.exit(f"older_glibc: {error.output}exit code {error.returncode}")


if __name__ == "__main__":
    main()
