#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes libraries to link with in place of this machine's glibc, which have no symbol newer than a version of it.

    link_stubs.py VERSION FOLDER      for example 2.28 build/stubs

A function that glibc has changed since then has both versions of its symbol here; the linker takes the newest one, and
the result does not load on older systems. A stub has the name (SONAME) of a library and of each symbol only the
newest version that VERSION had. What came later is missing in it: the link fails, or leaves a symbol without version,
which tools/package/wheel.py refuses. docs/adr/0024-wheels-for-older-systems.md explains why.
"""

import collections
import re
import subprocess
import sys
from pathlib import Path

SYMBOL = re.compile(r"(FUNC|IFUNC|OBJECT|TLS) +(?:GLOBAL|WEAK) +DEFAULT +\d+ (\w+)@@?GLIBC_([\d.]+)$", re.M)
LIBRARIES = ("libc.so.6", "libm.so.6")
# Until 2.34 libraries of their own; a program that runs on older systems names them, and newer ones have them empty.
FORMER = ("libpthread.so.0", "libdl.so.2", "librt.so.1")
# Of a symbol in assembler: its section and its type.
KINDS = {"FUNC": (".text", "function"), "IFUNC": (".text", "function"), "OBJECT": (".data", "object"),
         "TLS": ('.section .tdata,"awT",@progbits', "tls_object")}


def numbers(version):
    return tuple(int(part) for part in version.split("."))


def path_of(library):
    return Path(run("cc", f"-print-file-name={library}").strip())


def run(*command, **options):
    return subprocess.run(command, check=True, text=True, capture_output=True, **options).stdout


def symbols_of(library, newest):
    """Returns {name: (kind, version)} of what the library had at that version."""
    found = {}
    for kind, name, version in SYMBOL.findall(run("readelf", "-W", "--dyn-syms", path_of(library))):
        if numbers(version) <= newest and (name not in found or numbers(found[name][1]) < numbers(version)):
            found[name] = (kind, version)
    return found


def write_stub(library, symbols, folder):
    text, nodes = [], collections.defaultdict(list)
    for name, (kind, version) in sorted(symbols.items()):
        section, type_name = KINDS[kind]
        text += [section, f".globl {name}", f".type {name}, @{type_name}", f".size {name}, 8", f"{name}: .quad 0"]
        nodes[version].append(name)
    script = folder / f"{library}.map"
    script.write_text("".join(f"GLIBC_{version} {{ {'; '.join(names)}; }};\n"
                              for version, names in sorted(nodes.items(), key=lambda node: numbers(node[0]))))
    assemble(library, folder, text, f"-Wl,--version-script={script}")


def assemble(library, folder, text, *options):
    text = "".join(f"{line}\n" for line in text)
    run("cc", "-shared", "-nostdlib", f"-Wl,-soname,{library}", *options, "-x", "assembler", "-", "-o",
        folder / library, input=text)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    newest, folder = numbers(sys.argv[1]), Path(sys.argv[2]).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    for library in LIBRARIES:
        write_stub(library, symbols_of(library, newest), folder)
    for library in FORMER:
        assemble(library, folder, [])
    # What -lc and -lm find; atexit and its like are always linked statically.
    static, loader = path_of("libc_nonshared.a"), path_of("ld-linux-x86-64.so.2")
    (folder / "libc.so").write_text(f"GROUP ( {folder}/libc.so.6 {static} AS_NEEDED ( {loader} ) )\n")
    (folder / "libm.so").write_text(f"INPUT ( {folder}/libm.so.6 )\n")


if __name__ == "__main__":
    main()
