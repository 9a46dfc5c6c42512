# SPDX-License-Identifier: Apache-2.0
"""Tests that the files beside published packages describe them as they are, and that nothing else is published."""

import contextlib
import hashlib
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import tarfile
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import tools_path

import deb_records
import oci_records
import record
import release_files

COMMIT = record.Commit("a" * 40, 1_700_000_000)
PART = record.Part("libstdc++", "12.2.0", "LicenseRef-own", "https://gcc.gnu.org")


# dpkg's list of the packages in a system.
STATUS = """Package: haproxy
Status: install ok installed
Version: 2.6.12-1
Description: reliable reverse proxy
 Its: text

Package: polykem-tools
Source: polykem
Version: 0.2.0-1~deb12

Package: libc6
Source: glibc (2.36-9)
Version: 2.36-9+deb12u1
"""


def run(*command):
    subprocess.run(command, check=True, capture_output=True)


def add_file(archive, name, data):
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    archive.addfile(entry, io.BytesIO(data))


def archive_of(files):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for name, content in files.items():
            add_file(archive, name, content)
    return data.getvalue()


def write_image(file, revision, layers):
    """Writes an archive of OCI's layout. layers: the files of each, by name."""
    blobs = {}

    def descriptor_of(data):
        data = data if isinstance(data, bytes) else json.dumps(data).encode()
        digest = hashlib.sha256(data).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = data
        return {"digest": f"sha256:{digest}"}

    config = {"config": {"Labels": {"org.opencontainers.image.revision": revision}}}
    manifest = {"config": descriptor_of(config), "layers": [descriptor_of(archive_of(files)) for files in layers]}
    index = {"manifests": [descriptor_of(manifest)]}
    file.write_bytes(archive_of({"index.json": json.dumps(index).encode(), **blobs}))


class ReleaseFiles(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dist = Path(scratch.name) / "dist"
        self.dist.mkdir()
        self.enterContext(contextlib.redirect_stdout(io.StringIO()))
        self.package("one.whl", COMMIT, [PART])
        self.package("two.tar.gz", COMMIT, [])

    def package(self, name, commit, parts):
        (self.dist / name).write_bytes(name.encode())
        record.write(self.dist / name, commit, parts)

    def refused(self, words, signer=""):
        with self.assertRaisesRegex(SystemExit, words):
            release_files.write(self.dist, signer)

    def one(self, pattern):
        (path,) = self.dist.glob(pattern)
        return path.read_text(encoding="utf-8")

    def sums_hold(self):
        return subprocess.run(["sha256sum", "--quiet", "--strict", "-c", "SHA256SUMS"], cwd=self.dist, check=False,
                              capture_output=True).returncode == 0

    def test_the_sums_are_of_every_file(self):
        release_files.write(self.dist, "")
        release_files.write(self.dist, "")  # its own files do not count as packages
        names = {line.split("  ")[1] for line in self.one("SHA256SUMS").splitlines()}
        self.assertEqual(names, {path.name for path in self.dist.iterdir() if path.is_file()} - {"SHA256SUMS"})
        self.assertTrue({"one.whl", "two.tar.gz"} < names)
        self.assertTrue(self.sums_hold())
        (self.dist / "one.whl").write_bytes(b"another")
        self.assertFalse(self.sums_hold())

    def test_only_what_a_build_left_is_published(self):
        (self.dist / "stray.whl").write_bytes(b"")
        self.refused("nobody noted how stray.whl was built")
        (self.dist / "stray.whl").unlink()
        (self.dist / "one.whl").write_bytes(b"another")
        self.refused("one.whl has changed since it was built")
        self.package("one.whl", record.Commit("b" * 40, 0), [])
        self.refused("not of one commit: one.whl bbbbbbbbbbbb, two.tar.gz aaaaaaaaaaaa")

    def test_an_empty_folder_has_no_release(self):
        shutil.rmtree(self.dist)
        self.dist.mkdir()
        self.refused("has no packages")

    def test_the_list_of_software_and_the_provenance(self):
        release_files.write(self.dist, "")
        listed = json.loads(self.one("*.spdx.json"))
        names = {package.get("packageFileName", package["name"]): package for package in listed["packages"]}
        self.assertEqual(set(names), {"one.whl", "two.tar.gz", "libstdc++"})
        self.assertEqual(names["one.whl"]["checksums"][0]["checksumValue"], record.digest(self.dist / "one.whl"))
        contains = [(r["spdxElementId"], r["relatedSpdxElement"]) for r in listed["relationships"]
                    if r["relationshipType"] == "CONTAINS"]
        self.assertEqual(contains, [(names["one.whl"]["SPDXID"], names["libstdc++"]["SPDXID"])])
        self.assertEqual(listed["hasExtractedLicensingInfos"][0]["licenseId"], "LicenseRef-own")
        statements = [json.loads(line) for line in self.one("*.provenance.jsonl").splitlines()]
        self.assertEqual([s["subject"][0]["name"] for s in statements], ["one.whl", "two.tar.gz"])
        definition = statements[0]["predicate"]["buildDefinition"]
        self.assertEqual(definition["resolvedDependencies"][0]["digest"]["gitCommit"], COMMIT.name)
        self.assertRegex(definition["internalParameters"]["tools"]["c++"], r"\d+\.\d+")

    def folder(self, name):
        folder = self.dist / name
        folder.mkdir()
        return folder

    def write_buildinfo(self, folder):
        headers = [part[1] for part in deb_records.PARTS["polykem-tools"]]
        (folder / "polykem_0.2.0-1~deb12_amd64.buildinfo").write_text(
            "Format: 1.0\nInstalled-Build-Depends:\n g++-12 (= 12.2.0-14),\n zlib1g-dev (= 1:1.2.13),\n" +
            ",\n".join(f" {name} (= {number}.0-1)" for number, name in enumerate(headers)) + "\nEnvironment:\n A=B\n")

    def test_debian_packages_have_the_versions_of_the_system_that_built_them(self):
        folder = self.folder("bookworm")
        (folder / "polykem-tools_0.2.0-1~deb12_amd64.deb").write_bytes(b"deb")
        stamp = self.folder(".commits") / "bookworm"
        stamp.write_text("b" * 40)
        with self.assertRaisesRegex(SystemExit, "was not built of the commit"):
            deb_records.publish(folder, COMMIT)
        stamp.write_text(f"{COMMIT.name} twice\n")
        with self.assertRaisesRegex(SystemExit, "has 0 files .buildinfo"):
            deb_records.publish(folder, COMMIT)
        self.write_buildinfo(folder)
        deb_records.publish(folder, COMMIT)
        release_files.write(self.dist, "")
        listed = json.loads(self.one("*.spdx.json"))["packages"]
        self.assertTrue({("CLI11", "0.0-1"), ("asio", "3.0-1")} < {(p["name"], p["versionInfo"]) for p in listed})
        statement = next(s for s in map(json.loads, self.one("*.provenance.jsonl").splitlines())
                         if s["subject"][0]["name"].endswith(".deb"))
        self.assertEqual(statement["predicate"]["buildDefinition"]["internalParameters"]["tools"],
                         {"g++-12": "12.2.0-14", "system": "bookworm"})

    def test_images_list_what_they_contain(self):
        images, packages = self.folder("oci"), self.folder("bookworm")
        self.write_buildinfo(packages)
        file = images / "polykemd-0.2.0.oci.tar"
        layers = [{"var/lib/dpkg/status": b"Package: older\nVersion: 1"}, {"var/lib/dpkg/status": STATUS.encode()},
                  {"etc/hosts": b""}]
        write_image(file, "b" * 40, layers)
        with self.assertRaisesRegex(SystemExit, f"is not of {COMMIT.name}"):
            oci_records.publish(images, packages, COMMIT, {})
        write_image(file, COMMIT.name, layers)
        oci_records.publish(images, packages, COMMIT, {"buildah": "1.28"})
        note = record.read(self.dist / file.name)
        parts = {(part["name"], part["version"]): part["origin"] for part in note["parts"]}
        self.assertTrue({("haproxy", "2.6.12-1"), ("libc6", "2.36-9+deb12u1"), ("CLI11", "0.0-1")} < set(parts))
        self.assertFalse({"older", "polykem-tools"} & {name for name, _ in parts})
        self.assertEqual(parts["libc6", "2.36-9+deb12u1"], "https://tracker.debian.org/pkg/glibc")
        self.assertEqual(note["tools"], {"buildah": "1.28", "system": "bookworm"})

    def throw_away_key(self, kind):
        """Makes a key. Returns its name for KEY=, and the file that users verify with, if they need one."""
        folder = self.dist.parent
        private = folder / "private"
        if kind == "gpg":
            home = folder / "gnupg"
            home.mkdir(mode=0o700)
            self.enterContext(unittest.mock.patch.dict(os.environ, GNUPGHOME=str(home)))
            self.addCleanup(run, "gpgconf", "--kill", "all")
            run("gpg", "--batch", "--passphrase", "", "--quick-generate-key", "rehearsal", "ed25519", "sign", "never")
            return "gpg:rehearsal", None
        if kind == "minisign":
            run("minisign", "-G", "-W", "-p", folder / "polykem.pub", "-s", private)
            return f"minisign:{private}", folder / "polykem.pub"
        run("openssl", "genpkey", "-algorithm", "ed25519", "-out", private)
        run("openssl", "pkey", "-in", private, "-pubout", "-out", folder / "polykem.pem")
        return f"openssl:{private}", folder / "polykem.pem"

    def holds(self, command):
        return subprocess.run(shlex.split(command), cwd=self.dist, check=False, capture_output=True).returncode == 0

    def rehearse(self, check_sums, check_signature):
        key, public = self.throw_away_key(check_signature.split()[0])
        run("make", "-C", tools_path.ROOT, "release-files", f"DIST={self.dist}", f"KEY={key}")
        if public:
            shutil.copy(public, self.dist)
        self.assertTrue(self.holds(check_sums))
        self.assertTrue(self.holds(check_signature))
        with open(self.dist / "SHA256SUMS", "a", encoding="utf-8") as sums:
            sums.write("\n")
        self.assertFalse(self.holds(check_signature))

    def test_a_rehearsal_is_signed_and_checked_as_the_page_says(self):
        page = (tools_path.ROOT / "docs/releasing.md").read_text(encoding="utf-8")
        sums, *signatures = re.search(r"<!-- run: check -->\n```sh\n(.*?)```", page, re.S)[1].splitlines()
        self.assertEqual({line.split()[0] for line in signatures}, set(release_files.SIGNATURES))
        for signature in signatures:
            if shutil.which(signature.split()[0]):
                with self.subTest(signature):
                    self.setUp()
                    self.rehearse(sums, signature)

    def test_a_key_that_does_not_sign_is_an_error(self):
        self.refused("'key.pem' is not a key", "key.pem")
        self.refused("openssl did not sign", f"openssl:{self.dist}/nowhere.pem")
        self.assertFalse((self.dist / "SHA256SUMS.sig").exists())


if __name__ == "__main__":
    unittest.main()
