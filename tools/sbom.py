#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a list of the software in the library and the program of a build, as SPDX 2.3 in JSON.

    tools/sbom.py BUILD FILE

The library has no third-party code. The versions of the libraries that the program uses are those of the headers that
the compiler finds; the ones that it loads at run time are read from the program itself.
"""

import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import time
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# name: (header, macros of the version, licence, where it comes from, shared libraries)
PARTS = {
    "CLI11": ("CLI/CLI.hpp", ["CLI11_VERSION"], "BSD-3-Clause", "https://github.com/CLIUtils/CLI11", ()),
    "fmt": ("fmt/core.h", ["FMT_VERSION"], "MIT", "https://github.com/fmtlib/fmt", ("libfmt",)),
    "nlohmann-json": ("nlohmann/json.hpp", [f"NLOHMANN_JSON_VERSION_{p}" for p in ("MAJOR", "MINOR", "PATCH")], "MIT",
                      "https://github.com/nlohmann/json", ()),
    "asio": ("asio/version.hpp", ["ASIO_VERSION"], "BSL-1.0", "https://github.com/chriskohlhoff/asio", ()),
    "prometheus-cpp-core": ("prometheus/metric_family.h", [], "MIT", "https://github.com/jupp0r/prometheus-cpp",
                            ("libprometheus-cpp-core",)),
    "civetweb": ("civetweb.h", ["CIVETWEB_VERSION"], "MIT", "https://github.com/civetweb/civetweb", ("libcivetweb",)),
    "zlib": ("zlib.h", ["ZLIB_VERSION"], "Zlib", "https://zlib.net", ("libz",)),
    "openssl": ("openssl/opensslv.h", ["OPENSSL_VERSION_STR"], "Apache-2.0", "https://www.openssl.org",
                ("libcrypto", "libssl")),
}


def compiler(build):
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    return re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache, re.M)[1]


def version_of(name, macros):
    """Returns the version as people write it."""
    if not PARTS[name][1]:  # no header says it
        asked = subprocess.run(["pkg-config", "--modversion", name], capture_output=True, text=True, check=True)
        return asked.stdout.strip()
    values = [macros[key].strip('"') for key in PARTS[name][1]]
    if name == "fmt":  # major * 10000 + minor * 100 + patch
        number = int(values[0])
        return f"{number // 10000}.{number // 100 % 100}.{number % 100}"
    if name == "asio":  # major * 100000 + minor * 100 + patch
        number = int(values[0])
        return f"{number // 100000}.{number // 100 % 1000}.{number % 100}"
    return ".".join(values)


def header_macros(build):
    source = "#define ASIO_STANDALONE\n" + "".join(f"#include <{part[0]}>\n" for part in PARTS.values())
    text = subprocess.run([compiler(build), "-std=c++20", "-E", "-dM", "-x", "c++", "-"], input=source, text=True,
                          capture_output=True, check=True).stdout
    return dict(re.findall(r"^#define (\w+) (.+)$", text, re.M))


def loaded(program):
    """Returns the libraries that the program loads at run time."""
    text = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.*?)\.so", text)


RUN_TIME = {"libstdc++", "libm", "libgcc_s", "libc", "ld-linux-x86-64", "ld-linux-aarch64"}


def package(name, version, licence, origin, **more):
    return {"SPDXID": f"SPDXRef-{name}", "name": name, "versionInfo": version, "downloadLocation": origin,
            "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION",
            "supplier": "NOASSERTION", "filesAnalyzed": False, **more}


def built_files(build, version):
    """Returns the files of this build and their checksums."""
    for name in (f"src/libpolykem.so.{version}", "src/libpolykem.a", "bin/polykem", "bin/polykemd",
                 "bin/libpolykem_cuda.so", "bin/libpolykem_ckks_cuda.so"):
        path = build / name
        if path.exists():
            content = path.read_bytes()
            yield {"SPDXID": "SPDXRef-File-" + path.name.replace("_", "-"), "fileName": "./" + name,
                   "checksums": [{"algorithm": a, "checksumValue": hashlib.new(a.lower(), content).hexdigest()}
                                 for a in ("SHA1", "SHA256")],
                   "licenseConcluded": "Apache-2.0", "copyrightText": "NOASSERTION"}


def document(build):
    version = re.search(r"^project\(polykem VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]
    files = list(built_files(build, version))
    program = build / "bin/polykem"
    if not program.exists():
        sys.exit(f"sbom: there is no {program}; build it first (make)")
    macros, needs = header_macros(build), set(loaded(program))
    unknown = needs - RUN_TIME - {library for *_, libraries in PARTS.values() for library in libraries}
    if unknown:
        sys.exit(f"sbom: the program loads {', '.join(sorted(unknown))}, which PARTS in tools/sbom.py lacks; add it")
    packages = [package("polykem", version, "Apache-2.0", "NOASSERTION", primaryPackagePurpose="LIBRARY")]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-polykem")]
    relations += [("SPDXRef-polykem", "GENERATES", file["SPDXID"]) for file in files]
    for name, (_, _, licence, origin, libraries) in PARTS.items():
        packages.append(package(name, version_of(name, macros), licence, origin))
        linked = "DYNAMIC_LINK" if needs.intersection(libraries) else "STATIC_LINK"
        relations.append(("SPDXRef-File-polykem", linked, f"SPDXRef-{name}"))
    modules = [name for name in ("libpolykem_cuda.so", "libpolykem_ckks_cuda.so") if (build / "bin" / name).exists()]
    if modules:  # nvcc links the CUDA runtime into them
        packages.append(package("cudart", "NOASSERTION", "NOASSERTION", "https://developer.nvidia.com/cuda-toolkit"))
        relations += [("SPDXRef-File-" + name.replace("_", "-"), "STATIC_LINK", "SPDXRef-cudart") for name in modules]
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    created = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    identity = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([files, packages], sort_keys=True))
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"polykem-{version}",
            "documentNamespace": f"https://spdx.org/spdxdocs/polykem-{version}-{identity}",
            "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: polykem-sbom"]},
            "packages": packages, "files": files,
            "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                              for a, kind, b in relations]}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    target = Path(sys.argv[2])
    text = json.dumps(document(Path(sys.argv[1])), indent=1) + "\n"
    target.write_text(text, encoding="utf-8")
    print(f"{target}: {len(json.loads(text)['packages'])} packages")


if __name__ == "__main__":
    main()
