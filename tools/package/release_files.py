#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the files that are published beside the packages of a release, in their folder.

    tools/package/release_files.py DIST [KIND:KEY]

    polykem-VERSION.spdx.json         the software in each package, as SPDX 2.3
    polykem-VERSION.provenance.jsonl  how each was built: an in-toto statement with SLSA's provenance a line
    SHA256SUMS                        of all of these; sha256sum -c reads it
    its signature                     gpg:ID makes SHA256SUMS.asc, minisign:FILE SHA256SUMS.minisig and openssl:FILE, a
                                      private key in PEM, SHA256SUMS.sig

Every package must have the note that its build left (record.py), be unchanged since then, and be of the same commit.
"""

import datetime
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import record

SUMS = "SHA256SUMS"
SIGNATURES = {"gpg": ".asc", "minisign": ".minisig", "openssl": ".sig"}
PROJECT = "polykem"


def fail(message):
    sys.exit(f"release_files: {message}")


def is_ours(name):
    """Returns whether this program writes a file of that name."""
    return name.startswith(SUMS) or name.endswith((".spdx.json", ".provenance.jsonl"))


def notes_of(dist):
    """Returns the notes of the packages. Ends the program if one has no note or has changed since."""
    files = sorted(path for path in dist.iterdir() if path.is_file() and not is_ours(path.name))
    if not files:
        fail(f"{dist} has no packages; build them first (make package-wheel package-sdist)")
    notes = [record.read(path) for path in files]
    for path, note in zip(files, notes):
        if note is None:
            fail(f"nobody noted how {path.name} was built; build it again, or remove it")
        if note["sha256"] != record.digest(path):
            fail(f"{path.name} has changed since it was built; build it again")
    for what in ("commit", "version"):
        if len({note[what] for note in notes}) > 1:
            fail(f"the packages are not of one {what}: " +
                 ", ".join(f"{note['file']} {note[what][:12]}" for note in notes))
    return notes


def spdx_id(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", name)


def spdx_package(identity, name, version, licence, origin, **more):
    return {"SPDXID": identity, "name": name, "versionInfo": version, "downloadLocation": origin,
            "licenseConcluded": "NOASSERTION", "licenseDeclared": licence, "copyrightText": "NOASSERTION",
            "supplier": "NOASSERTION", "filesAnalyzed": False, **more}


def licences(note):
    """Returns the SPDX expression of all licences in a package."""
    others = {part["licence"] for part in note["parts"]} - {"Apache-2.0"}
    return " AND ".join(["Apache-2.0", *(f"({each})" if " OR " in each else each for each in sorted(others))])


def sbom(notes):
    """Returns the SPDX document: the packages, and the software of others in each."""
    packages, relations = {}, []
    for note in notes:
        identity = spdx_id(note["file"])
        packages[identity] = spdx_package(
            identity, PROJECT, note["version"], licences(note), "NOASSERTION", packageFileName=note["file"],
            checksums=[{"algorithm": "SHA256", "checksumValue": note["sha256"]}])
        relations.append(("SPDXRef-DOCUMENT", "DESCRIBES", identity))
        for part in note["parts"]:
            inner = spdx_id(f"{part['name']}-{part['version']}")
            packages[inner] = spdx_package(inner, part["name"], part["version"], part["licence"], part["origin"])
            relations.append((identity, "CONTAINS", inner))
    first = notes[0]
    created = datetime.datetime.fromtimestamp(first["source_date_epoch"], datetime.timezone.utc)
    used = {part["licence"] for note in notes for part in note["parts"]}
    extracted = [{"licenseId": licence, "extractedText": "The file NOTICE in the package names it."}
                 for licence in sorted(used) if licence.startswith("LicenseRef-")]
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"{PROJECT}-{first['version']}",
            "documentNamespace": f"https://spdx.org/spdxdocs/{PROJECT}-{first['version']}-{first['commit']}",
            "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: polykem-release"]},
            "packages": list(packages.values()),
            **({"hasExtractedLicensingInfos": extracted} if extracted else {}),
            "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                              for a, kind, b in relations]}


def statement(note):
    """Returns a package's provenance as SLSA defines it, without the time of the build, which must affect no byte."""
    dependencies = [{"uri": f"urn:{PROJECT}:git", "digest": {"gitCommit": note["commit"]}}]
    dependencies += [{"name": part["name"], "annotations": {"version": part["version"]}} for part in note["parts"]]
    return {"_type": "https://in-toto.io/Statement/v1",
            "subject": [{"name": note["file"], "digest": {"sha256": note["sha256"]}}],
            "predicateType": "https://slsa.dev/provenance/v1",
            "predicate": {
                "buildDefinition": {
                    "buildType": f"urn:{PROJECT}:package",
                    "externalParameters": {"commit": note["commit"], "version": note["version"]},
                    "internalParameters": {"SOURCE_DATE_EPOCH": note["source_date_epoch"], "tools": note["tools"]},
                    "resolvedDependencies": dependencies},
                "runDetails": {"builder": {"id": f"urn:{PROJECT}:maintainer"}}}}


def signing_command(kind, key, file):
    signature = f"{file}{SIGNATURES[kind]}"
    return {"gpg": ["gpg", "--batch", "--yes", "--local-user", key, "--armor", "--output", signature, "--detach-sign",
                    file],
            "minisign": ["minisign", "-S", "-s", key, "-x", signature, "-m", file],
            "openssl": ["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", key, "-in", file, "-out", signature]}[kind]


def sign(sums, signer):
    kind, _, key = signer.partition(":")
    if kind not in SIGNATURES or not key:
        fail(f"'{signer}' is not a key; name one as gpg:ID, minisign:FILE or openssl:FILE")
    if shutil.which(kind) is None:
        fail(f"{kind} is not installed; install it, or name a key of {' or '.join(set(SIGNATURES) - {kind})}")
    if subprocess.run(signing_command(kind, key, sums), check=False).returncode != 0:
        fail(f"{kind} did not sign {sums.name}; nothing was signed")


def write(dist, signer):
    notes = notes_of(dist)
    for path in list(dist.iterdir()):
        if is_ours(path.name):
            path.unlink()
    stem = f"{PROJECT}-{notes[0]['version']}"
    (dist / f"{stem}.spdx.json").write_text(json.dumps(sbom(notes), indent=1) + "\n", encoding="utf-8")
    lines = [json.dumps(statement(note), sort_keys=True) + "\n" for note in notes]
    (dist / f"{stem}.provenance.jsonl").write_text("".join(lines), encoding="utf-8")
    published = sorted(path for path in dist.iterdir() if path.is_file())
    sums = dist / SUMS
    sums.write_text("".join(f"{record.digest(path)}  {path.name}\n" for path in published), encoding="utf-8")
    if signer:
        sign(sums, signer)
    print(f"{sums}: {len(published)} files of commit {notes[0]['commit'][:12]}" + ("" if signer else ", not signed"))


def main():
    if len(sys.argv) not in (2, 3) or not Path(sys.argv[1]).is_dir():
        sys.exit(__doc__)
    write(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) == 3 else "")


if __name__ == "__main__":
    main()
