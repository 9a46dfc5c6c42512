# SPDX-License-Identifier: Apache-2.0
"""Tests that a library linked with stubs needs no newer glibc and works on this one, that gaps are noticed, and that
flags of the builder do not count."""

import ctypes
import os
import re
import subprocess
import tempfile
import unittest
import unittest.mock
import zipfile
from pathlib import Path

from tools_path import TOOLS

import link_stubs
import record
import wheel

HERE = Path(__file__).resolve().parent
OPTIONS = ["-std=c++20", "-O1", "-fPIC", "-fvisibility=hidden", "-shared", "-static-libstdc++",
           "-Wl,--exclude-libs,ALL", f"-Wl,--version-script={TOOLS}/exports.map"]
FORMER = ["-Wl,--push-state,--no-as-needed", "-l:libpthread.so.0", "-l:libdl.so.2", "-l:librt.so.1",
          "-Wl,--pop-state"]
# The library with the wait that older systems need.
WITHOUT_CLOCKWAIT = """
#include <dlfcn.h>
#define dlsym(handle, name) static_cast<void*>(nullptr)
#include "old_glibc.cpp"
"""


def newest_glibc(library):
    versions = re.findall(r"GLIBC_([\d.]+)", subprocess.run(["readelf", "-VW", library], check=True, text=True,
                                                            capture_output=True).stdout)
    return max(map(link_stubs.numbers, versions))


class Linked(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.folder = Path(cls.scratch.name)
        cls.stubs = cls.folder / "stubs"
        subprocess.run([TOOLS / "link_stubs.py", "2.28", cls.stubs], check=True)
        cls.object = cls.folder / "library.o"
        subprocess.run(["c++", "-std=c++20", "-O1", "-fPIC", "-fvisibility=hidden", "-c", HERE / "library.cpp", "-o",
                        cls.object], check=True)

    def link(self, name, *sources):
        library = self.folder / name
        subprocess.run(["c++", *OPTIONS, f"-L{self.stubs}", f"-I{TOOLS}", *FORMER, self.object, *sources,
                        "-o", library], check=True)
        return library

    def works(self, library):
        run = ctypes.CDLL(str(library)).polykem_cuda_module
        run.argtypes = [ctypes.c_double, ctypes.c_char_p, ctypes.c_char_p]
        self.assertEqual(run(1.0, str(HERE).encode(), __file__.encode()), 0)

    def test_it_needs_no_newer_glibc_and_works(self):
        library = self.link("linked.so", TOOLS / "old_glibc.cpp")
        self.assertLessEqual(newest_glibc(library), (2, 28))
        self.assertEqual(wheel.undefined_without_version(library), [])
        exported = subprocess.run(["nm", "-D", "--defined-only", library], check=True, text=True, capture_output=True)
        self.assertEqual([line.split()[-1] for line in exported.stdout.splitlines()], ["polykem_cuda_module"])
        self.works(library)

    def test_it_waits_without_the_newer_function(self):
        source = self.folder / "without.cpp"
        source.write_text(WITHOUT_CLOCKWAIT, encoding="utf-8")
        self.works(self.link("without.so", source))

    def test_a_missing_function_stops_the_wheel(self):
        library = self.link("missing.so")
        self.assertIn("pthread_cond_clockwait", wheel.undefined_without_version(library))
        packed = self.folder / "missing.whl"
        with zipfile.ZipFile(packed, "w") as archive:
            archive.write(library, "polykem/_core.so")
        with self.assertRaisesRegex(SystemExit, "does not have .*pthread_cond_clockwait"):
            wheel.check(packed, self.folder)

    def test_the_folder_of_the_build_stops_the_wheel(self):
        packed = self.folder / "named.whl"
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("polykem/_core.pyi", f"# {self.folder}/source")
        with self.assertRaisesRegex(SystemExit, "name of the folder"):
            wheel.check(packed, self.folder)


class Environment(unittest.TestCase):
    def test_flags_of_the_builder_do_not_count(self):
        flags = {"CFLAGS": "-march=native", "LDFLAGS": "-s", "CXX": "clang++", "CMAKE_BUILD_TYPE": "Debug",
                 "CMAKE_BUILD_PARALLEL_LEVEL": "2"}
        with unittest.mock.patch.dict(os.environ, flags):
            found = wheel.environment(Path("/scratch"), record.Commit("a" * 40, 5))
        self.assertFalse({"LDFLAGS", "CXX", "CMAKE_BUILD_TYPE"} & set(found))
        self.assertNotIn("native", found["CFLAGS"])
        self.assertEqual((found["CMAKE_BUILD_PARALLEL_LEVEL"], found["SOURCE_DATE_EPOCH"]), ("2", "5"))


if __name__ == "__main__":
    unittest.main()
