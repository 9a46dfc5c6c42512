#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies Debian packages to the folder of a release, and notes how each was built.

    tools/package/deb_records.py dist/bookworm      to dist/ and dist/.records/

They must have just been built there from the commit that is checked out (make package-deb). The versions of tools, and
of headers whose compiled parts a package contains, are those of the .buildinfo that dpkg left beside them.
"""

import re
import shutil
import sys
from pathlib import Path

import record

TOOLS = re.compile(r"binutils|cmake|debhelper|dpkg-dev|(gcc|g\+\+)-\d+|libc6-dev|libstdc\+\+-\d+-dev|python3-dev")
NANOBIND = Path(__file__).resolve().parent / "nanobind.txt"

# Package: the software of others in it, as name, Debian's package of the headers, licence, origin.
PARTS = {
    "polykem-tools": [("CLI11", "libcli11-dev", "BSD-3-Clause", "https://github.com/CLIUtils/CLI11"),
                      ("nlohmann-json", "nlohmann-json3-dev", "MIT", "https://github.com/nlohmann/json"),
                      ("fmt", "libfmt-dev", "MIT", "https://github.com/fmtlib/fmt"),
                      ("asio", "libasio-dev", "BSL-1.0", "https://github.com/chriskohlhoff/asio")],
    "python3-polykem": [("nanobind", None, "BSD-3-Clause", "https://github.com/wjakob/nanobind"),
                        ("robin-map", None, "MIT", "https://github.com/Tessil/robin-map")],
    "polykem-cuda": [("cudart", None, "LicenseRef-NVIDIA-CUDA-EULA", "https://developer.nvidia.com/cuda-toolkit")],
}


def installed_versions(folder):
    """Returns the versions of the packages in the system that built, by name."""
    found = list(folder.glob("*.buildinfo"))
    if len(found) != 1:
        sys.exit(f"deb_records: {folder} has {len(found)} files .buildinfo instead of one; build the packages again")
    listed = found[0].read_text(encoding="utf-8").split("Installed-Build-Depends:")[1]
    return dict(re.findall(r"^ (\S+) \(= ([^)\s]+)\)", listed, re.M))


def version_of(name, headers, versions):
    if headers:
        return versions[headers]
    if name == "nanobind":
        return re.search(r"nanobind==([\d.]+)", NANOBIND.read_text(encoding="utf-8"))[1]
    return "as in nanobind" if name == "robin-map" else "NOASSERTION"


def parts_of(package, versions):
    return [record.Part(name, version_of(name, headers, versions), licence, origin)
            for name, headers, licence, origin in PARTS.get(package, [])]


def publish(folder, commit):
    stamp = folder.parent / ".commits" / folder.name
    if not stamp.is_file() or stamp.read_text(encoding="utf-8").split()[0] != commit.name:
        sys.exit(f"deb_records: {folder} was not built of the commit that is checked out; run make package-deb")
    versions = installed_versions(folder)
    tools = {name: version for name, version in versions.items() if TOOLS.fullmatch(name)}
    debs = sorted(folder.glob("*.deb"))
    for deb in debs:
        copy = Path(shutil.copy(deb, folder.parent))
        record.write(copy, commit, parts_of(deb.name.split("_")[0], versions), {**tools, "system": folder.name})
    print(f"{folder.parent}: {len(debs)} packages of {folder.name}")


def main():
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit(__doc__)
    publish(Path(sys.argv[1]).resolve(), record.commit_of(record.ROOT))


if __name__ == "__main__":
    main()
