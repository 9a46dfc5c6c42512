# SPDX-License-Identifier: Apache-2.0
"""Tests the wheel of the CUDA modules: it has what pip needs, and the same bytes each time."""

import base64
import csv
import hashlib
import io
import tempfile
import unittest
import zipfile
from pathlib import Path

import tools_path  # noqa: F401

import cuda_wheel


class CudaWheel(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        for name in cuda_wheel.MODULES:
            (self.folder / name).write_bytes(name.encode() * 1000)

    def pack(self, seconds=1_700_000_000):
        return cuda_wheel.pack(self.folder, "1.2.3", seconds, self.folder)

    def test_the_record_is_of_what_it_holds(self):
        with zipfile.ZipFile(self.pack()) as archive:
            record = archive.read("polykem_cuda-1.2.3.dist-info/RECORD").decode()
            rows = {name: (digest, size) for name, digest, size in csv.reader(io.StringIO(record))}
            self.assertEqual(set(rows), set(archive.namelist()))
            for name in archive.namelist():
                data = archive.read(name)
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
                if not name.endswith("/RECORD"):
                    self.assertEqual(rows[name], (f"sha256={digest}", str(len(data))))

    def test_only_modules_and_time_decide_the_bytes(self):
        first = self.pack().read_bytes()
        self.assertEqual(self.pack().read_bytes(), first)
        self.assertNotEqual(self.pack(1_700_000_060).read_bytes(), first)

    def test_the_modules_lie_beside_the_extension_of_their_version(self):
        with zipfile.ZipFile(self.pack()) as archive:
            for name in cuda_wheel.MODULES:
                self.assertEqual(archive.read(f"polykem/{name}"), (self.folder / name).read_bytes())
            self.assertIn(b"Requires-Dist: polykem==1.2.3\n", archive.read("polykem_cuda-1.2.3.dist-info/METADATA"))


if __name__ == "__main__":
    unittest.main()
