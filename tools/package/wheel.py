#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the source distribution and wheels of the Python package from the commit that is checked out, in dist/.

    tools/package/wheel.py [--sdist | --cuda | --python PYTHON...] [--define NAME=VALUE]... [--dist FOLDER]
                           [--scratch FOLDER]

Without --python it builds a wheel for each of python3.10, python3.11 and python3.12 that runs here; the last one is of
the stable ABI and serves later versions too. The wheels load on glibc 2.28 and newer (manylinux_2_28): they are linked
with stubs (link_stubs.py), and with libstdc++ and libcrypto as static libraries. The same commit gives the same bytes
in every folder, with the same compiler and the tools of requirements.txt. --sdist stops after the source distribution;
--cuda builds the wheel of the CUDA modules, polykem-cuda, for every GPU since Turing, which takes an hour of a core.
"""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import cuda_wheel
import record

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SCRATCH = ROOT / "build-wheel"
CUDA_SCRATCH = Path("/var/tmp/polykem-wheel-cuda")  # nvcc gives kernels names that depend on the folder
OLDEST_GLIBC = "2.28"
PYTHONS = ("python3.10", "python3.11", "python3.12")
OF_PYTHON = re.compile(r"_?Py")
# Variables by which whoever builds would change the result; how many jobs run does not.
CHOICES = re.compile(r"POLYKEM_|SKBUILD|PYTHON|CMAKE_(?!BUILD_PARALLEL_LEVEL$)|(CC|CXX|CPPFLAGS|LDFLAGS)$")


def run(*command, **options):
    subprocess.run([str(word) for word in command], check=True, **options)


def runs(python):
    """Returns whether the interpreter runs: a version manager may have the name of one that is not chosen."""
    path = shutil.which(python)
    return path is not None and subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0


def tools_for(python):
    """Returns the Python of an environment with requirements.txt, which is made once."""
    name = record.output_of(python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])")
    folder, wanted = ROOT / ".venv-package" / name, (HERE / "requirements.txt").read_text(encoding="utf-8")
    installed = folder / "installed"
    if not installed.exists() or installed.read_text(encoding="utf-8") != wanted:
        run(python, "-m", "venv", "--clear", folder)
        run(folder / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
            "-r", HERE / "requirements.txt")
        installed.write_text(wanted, encoding="utf-8")
    return folder / "bin/python"


def environment(scratch, commit):
    """Returns environment variables that keep this machine's folders, flags and time out of the results."""
    maps = f"-ffile-prefix-map={ROOT}=tools -ffile-prefix-map={scratch}=."  # nanobind's sources lie in ROOT
    result = {name: value for name, value in os.environ.items() if not CHOICES.match(name)}
    result.update(CFLAGS=maps, CXXFLAGS=maps, SOURCE_DATE_EPOCH=str(commit.seconds))
    if shutil.which("ccache"):
        result.update(CMAKE_C_COMPILER_LAUNCHER="ccache", CMAKE_CXX_COMPILER_LAUNCHER="ccache")
    return result


def source_of(commit, scratch):
    archive, folder = scratch / "source.tar", scratch / "source"
    folder.mkdir()
    run("git", "-C", ROOT, "archive", "-o", archive, commit.name)
    run("tar", "-xf", archive, "-C", folder)
    return folder


def build_sdist(python, source, scratch, variables):
    out = scratch / "sdist"
    run(python, "-m", "build", "--sdist", "--no-isolation", "--outdir", out, source, env=variables)
    (archive,) = out.iterdir()
    return archive


def build_wheel(python, source, scratch, variables, defines):
    """Builds a wheel, in one folder for all interpreters, so that the library is compiled only once."""
    settings = [f"build-dir={scratch}/build", "wheel.reproducible=true"]
    settings += [f"cmake.define.{define}" for define in defines]
    out = Path(tempfile.mkdtemp(prefix="wheel", dir=scratch))
    run(python, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, source,
        *(f"--config-setting={setting}" for setting in settings), env=variables)
    (wheel,) = out.iterdir()
    return wheel


def undefined_without_version(library):
    """Returns symbols that the linker did not find, except for Python's, which the interpreter has, and weak ones."""
    table = record.output_of("readelf", "-W", "--dyn-syms", library)
    names = re.findall(r"GLOBAL +DEFAULT +UND (\S+)$", table, re.M)
    return [name for name in names if not OF_PYTHON.match(name)]


def check(wheel, scratch):
    """Checks for the faults that neither the linker nor auditwheel reports."""
    folder = Path(tempfile.mkdtemp(prefix="check", dir=scratch))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    for library in folder.rglob("*.so"):
        missing = undefined_without_version(library)
        if missing:
            sys.exit(f"{wheel.name}: glibc {OLDEST_GLIBC} does not have {', '.join(missing)}, which {library.name} "
                     "calls; replace them in tools/package/old_glibc.cpp")
    for file in folder.rglob("*"):
        if file.is_file() and any(str(place).encode() in file.read_bytes() for place in (scratch, ROOT)):
            sys.exit(f"{wheel.name}: {file.relative_to(folder)} contains the name of the folder that it was built in")


def repair(python, wheel, dist, variables):
    """Renames the wheel with auditwheel, which checks that it is what its name promises and must not add a library."""
    tag = f"manylinux_{OLDEST_GLIBC.replace('.', '_')}_{platform.machine()}"
    out = Path(tempfile.mkdtemp(prefix="repaired", dir=wheel.parent))
    variables = {**variables, "PATH": f"{python.parent}:{variables['PATH']}"}
    run(python, "-m", "auditwheel", "repair", "--only-plat", "--plat", tag, "--wheel-dir", out, wheel, env=variables)
    (repaired,) = out.iterdir()
    with zipfile.ZipFile(repaired) as archive:
        added = [name for name in archive.namelist() if ".libs/" in name]
    if added:
        sys.exit(f"{repaired.name}: auditwheel added {', '.join(added)}, which must be linked statically")
    return Path(shutil.copy(repaired, dist))


def libstdcxx():
    return record.Part("libstdc++", record.output_of("c++", "-dumpfullversion"),
                       "GPL-3.0-or-later WITH GCC-exception-3.1", "https://gcc.gnu.org")


def macros_of(header):
    text = record.output_of("c++", "-E", "-dM", "-include", header, "-x", "c++", "/dev/null")
    return dict(re.findall(r"^#define (\w+) (.+)$", text, re.M))


def wheel_parts(python):
    """Returns the software that is linked into a wheel; python/NOTICE has the licences."""
    nanobind = record.output_of(python, "-c", "import nanobind; print(nanobind.__version__)")
    openssl = macros_of("openssl/opensslv.h")["OPENSSL_VERSION_STR"].strip('"')
    json = macros_of("nlohmann/json.hpp")
    json = ".".join(json[f"NLOHMANN_JSON_VERSION_{part}"] for part in ("MAJOR", "MINOR", "PATCH"))
    return [record.Part("nanobind", nanobind, "BSD-3-Clause", "https://github.com/wjakob/nanobind"),
            record.Part("robin-map", "as in nanobind", "MIT", "https://github.com/Tessil/robin-map"),
            record.Part("nlohmann-json", json, "MIT", "https://github.com/nlohmann/json"),
            record.Part("openssl", openssl, "Apache-2.0", "https://www.openssl.org"), libstdcxx()]


def build_modules(nvcc, source, scratch, variables, defines):
    """Builds the CUDA modules for all GPUs and returns their folder."""
    folder = scratch / "cuda"
    settings = {"CMAKE_BUILD_TYPE": "Release", "POLYKEM_CUDA": "ON", "POLYKEM_NVCC": nvcc,
                "POLYKEM_CUDA_ARCHS": "all", "POLYKEM_BUILD_TESTS": "OFF",
                "POLYKEM_BUILD_CLI": "OFF", "POLYKEM_BUILD_PROVIDER": "OFF", "POLYKEM_BUILD_EXAMPLES": "OFF"}
    run("cmake", "-G", "Ninja", "-S", source, "-B", folder, *(f"-D{name}={value}" for name, value in settings.items()),
        *(f"-D{define}" for define in defines), env=variables)
    run("cmake", "--build", folder, "--target", "polykem_cuda", "polykem_ckks_cuda", env=variables)
    for name in cuda_wheel.MODULES:  # nvcc's temporary files left their names in the table
        run("strip", "--strip-unneeded", folder / "bin" / name)
    return folder / "bin"


def nvcc_parts(nvcc):
    release = re.search(r"release [\d.]+, V([\d.]+)", record.output_of(str(nvcc), "--version"))[1]
    return [record.Part("cudart", release, "LicenseRef-NVIDIA-CUDA-EULA", "https://developer.nvidia.com/cuda-toolkit"),
            libstdcxx()]


def build_cuda(arguments, scratch, commit, variables, defines):
    nvcc = record.output_of(ROOT / "tools/cuda_toolchain.sh", "--wheels")
    modules = build_modules(nvcc, source_of(commit, scratch), scratch, variables,
                            [*defines, f"POLYKEM_COMMIT={commit.name}"])
    wheel = cuda_wheel.pack(modules, record.version(), commit.seconds, scratch)
    check(wheel, scratch)
    result = repair(tools_for(sys.executable), wheel, arguments.dist, variables)
    record.write(result, commit, nvcc_parts(nvcc))
    return [result]


def build_for_pythons(arguments, scratch, commit, variables, defines):
    pythons = arguments.python or [python for python in PYTHONS if runs(python)] or [sys.executable]
    sdist = build_sdist(tools_for(pythons[0]), source_of(commit, scratch), scratch, variables)
    results = [Path(shutil.copy(sdist, arguments.dist))]
    record.write(results[0], commit, [])
    # Wheels are built from the source distribution, so that a file that it lacks is noticed.
    run("tar", "-xf", sdist, "-C", scratch)
    unpacked = scratch / sdist.name.removesuffix(".tar.gz")
    for python in [] if arguments.sdist else pythons:
        tools = tools_for(python)
        wheel = build_wheel(tools, unpacked, scratch, variables,
                            [*defines, "POLYKEM_CUDA=OFF", "OPENSSL_USE_STATIC_LIBS=ON"])
        check(wheel, scratch)
        results.append(repair(tools, wheel, arguments.dist, variables))
        record.write(results[-1], commit, wheel_parts(tools))
    return results


def build(arguments, scratch):
    commit = record.commit_of(ROOT)
    variables = environment(scratch, commit)
    run(sys.executable, HERE / "link_stubs.py", OLDEST_GLIBC, scratch / "stubs")
    defines = ["POLYKEM_CKKS=ON", f"POLYKEM_LINK_STUBS={scratch}/stubs", *arguments.define]
    return (build_cuda if arguments.cuda else build_for_pythons)(arguments, scratch, commit, variables, defines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--sdist", action="store_true", help="build no wheel")
    what.add_argument("--cuda", action="store_true", help="build the wheel of the CUDA modules")
    what.add_argument("--python", action="append", default=[], help="build a wheel for it")
    parser.add_argument("--define", action="append", default=[], metavar="NAME=VALUE", help="a variable of CMake")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="where the results go")
    parser.add_argument("--scratch", type=Path, help="a new folder to build in")
    arguments = parser.parse_args()
    for python in arguments.python:
        if not runs(python):
            parser.error(f"{python} does not run")
    if platform.machine() != "x86_64":
        sys.exit("wheel.py: packages can only be built on x86-64")
    arguments.dist.mkdir(parents=True, exist_ok=True)
    scratch = arguments.scratch or (CUDA_SCRATCH if arguments.cuda else SCRATCH)
    if scratch == SCRATCH:  # in the same folder as the last time, so that ccache finds the same commands
        shutil.rmtree(SCRATCH, ignore_errors=True)
    if scratch.exists():
        sys.exit(f"wheel.py: {scratch} is there already; remove it, or build in another folder (--scratch)")
    os.umask(0o022)  # of files in archives
    scratch.mkdir(mode=0o700, parents=True)
    try:
        for file in build(arguments, scratch.resolve()):
            print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
