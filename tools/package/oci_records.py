#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies images to the folder of a release, and notes how each was built.

    tools/package/oci_records.py dist/oci dist/bookworm      to dist/ and dist/.records/

The images must be of the commit that is checked out, made by `make package-oci` from the packages in the second folder.
Their contents are read from them: Debian's packages, and the software in polykem's own packages.
"""

import json
import shutil
import sys
import tarfile
from pathlib import Path

import deb_records
import record

STATUS = "var/lib/dpkg/status"
REVISION = "org.opencontainers.image.revision"
TOOLS = ("buildah", "mmdebstrap")


class Image:
    """An image in an archive of OCI's layout."""

    def __init__(self, file):
        self.archive = tarfile.open(file)
        self.manifest = self.json_of(json.load(self.archive.extractfile("index.json"))["manifests"][0])
        self.config = self.json_of(self.manifest["config"])

    def blob(self, descriptor):
        return self.archive.extractfile("blobs/" + descriptor["digest"].replace(":", "/"))

    def json_of(self, descriptor):
        return json.load(self.blob(descriptor))

    def installed(self):
        """Returns the fields of each Debian package. The uppermost layer that has dpkg's list has all of it."""
        for layer in reversed(self.manifest["layers"]):
            with tarfile.open(fileobj=self.blob(layer)) as files:
                if STATUS in files.getnames():
                    text = files.extractfile(STATUS).read().decode()
                    return [fields(entry) for entry in text.strip().split("\n\n")]
        raise LookupError(f"no layer has {STATUS}")


def fields(entry):
    return dict(line.split(": ", 1) for line in entry.splitlines() if ": " in line and not line.startswith(" "))


def debian_part(package):
    source = package.get("Source", package["Package"]).split(" ")[0]
    return record.Part(package["Package"], package["Version"], "NOASSERTION",
                       f"https://tracker.debian.org/pkg/{source}")


def parts_of(image, versions):
    parts = []
    for package in image.installed():
        if package.get("Source", "").split(" ")[0] == "polykem":
            parts += deb_records.parts_of(package["Package"], versions)
        else:
            parts.append(debian_part(package))
    return parts


def publish(folder, packages, commit, tools):
    versions = deb_records.installed_versions(packages)
    files = sorted(folder.glob("*.oci.tar"))
    for file in files:
        image = Image(file)
        if image.config["config"]["Labels"][REVISION] != commit.name:
            sys.exit(f"oci_records: {file} is not of {commit.name}; build it again")
        record.write(Path(shutil.copy(file, folder.parent)), commit, parts_of(image, versions),
                     {**tools, "system": packages.name})
    print(f"{folder.parent}: {len(files)} images")


def main():
    if len(sys.argv) != 3 or not all(Path(name).is_dir() for name in sys.argv[1:]):
        sys.exit(__doc__)
    tools = {name: record.output_of("dpkg-query", "-W", "-f", "${Version}", name) for name in TOOLS}
    folder, packages = (Path(name).resolve() for name in sys.argv[1:])
    publish(folder, packages, record.commit_of(record.ROOT), tools)


if __name__ == "__main__":
    main()
