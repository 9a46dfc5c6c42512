#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs polykemd as its systemd unit would, where there is no systemd; needs root.

    unit_sandbox.py --unit cli/daemon/polykemd.service.in [--calls FILE] [--set KEY=VALUE]... -- polykemd [OPTIONS]

It does these as the unit says: the socket that is handed over, a user without a name, capabilities or new privileges,
read-only files, a /tmp and a network of its own, no home folders, the kernel's settings read-only, a /dev with the
devices of DeviceAllow= alone, the limits, and a filter of system calls. --set overrides a key, as `systemctl edit`
would. The rest of the unit (Restart=, KeyringMode=, MemorySwapMax=, Protect* for what the filter or the missing
capabilities refuse anyhow) is not done.

FILE lists the system calls of @system-service, "name number" a line; by default systemd-analyze names them.
--print-calls writes such a list.
"""

import argparse
import ctypes
import errno
import fnmatch
import os
import pathlib
import re
import resource
import shutil
import socket
import stat
import struct
import subprocess
import sys

SOCKET = pathlib.Path("/run/polykem/socket")
CACHE = pathlib.Path("/var/cache/polykem")
USER = 61184  # the first of those that systemd lends
HEADER = pathlib.Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
ALWAYS = ("null", "zero", "full", "random", "urandom", "tty", "ptmx")  # DevicePolicy=closed allows these
LIBC = ctypes.CDLL(None, use_errno=True)

CLONE_NEWNS, CLONE_NEWNET = 0x00020000, 0x40000000
CLONE_NEW_ANY = 0x7E020080
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_BIND, MS_REC, MS_PRIVATE = 1 << 12, 1 << 14, 1 << 18
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, PR_CAPBSET_DROP = 38, 22, 24
AUDIT_ARCH_X86_64 = 0xC000003E
SECCOMP_ALLOW, SECCOMP_ERRNO = 0x7FFF0000, 0x00050000


def checked(result, what):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source, target, kind=None, flags=0, data=None):
    encoded = [None if word is None else str(word).encode() for word in (source, target, kind)]
    checked(LIBC.mount(*encoded, ctypes.c_ulong(flags), None if data is None else data.encode()), f"mount {target}")


def prctl(*words):
    return LIBC.prctl(*(ctypes.c_ulong(word) for word in words))


def settings_of(unit, overrides):
    """Returns {key: its last value in [Service]}; for DeviceAllow, all values."""
    section = unit.read_text(encoding="utf-8").partition("[Service]\n")[2].partition("\n[")[0]
    found = {"DeviceAllow": []}
    for key, value in re.findall(r"^(\w+)=(.*)$", section, re.MULTILINE):
        if key == "DeviceAllow":
            found[key].append(value)
        else:
            found[key] = value
    return {**found, **dict(word.split("=", 1) for word in overrides)}


def allowed_nodes(settings):
    """Returns the device nodes below /dev that DeviceAllow= names, by the kernel's names of their drivers."""
    drivers = re.findall(r"^\s*(\d+) (\S+)$", pathlib.Path("/proc/devices").read_text().partition("Block")[0],
                         re.MULTILINE)
    majors = {int(major) for major, name in drivers for rule in settings["DeviceAllow"]
              if fnmatch.fnmatch(name, rule.split()[0].removeprefix("char-"))}
    nodes = [path for path in pathlib.Path("/dev").rglob("*") if stat.S_ISCHR(path.lstat().st_mode)]
    return [path for path in nodes if os.major(path.stat().st_rdev) in majors]


def private_dev(settings):
    """Makes a /dev with only the allowed nodes. systemd instead refuses to open the others."""
    nodes = [pathlib.Path("/dev") / name for name in ALWAYS if (pathlib.Path("/dev") / name).exists()]
    granted = allowed_nodes(settings)
    made = [(path, path.stat()) for path in dict.fromkeys([*nodes, *granted]) if path.parent.name != "pts"]
    mount("tmpfs", "/dev", "tmpfs", MS_NOSUID, "mode=755")
    os.umask(0)
    for path, about in made:
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        os.mknod(path, about.st_mode, about.st_rdev)
        os.chmod(path, stat.S_IMODE(about.st_mode))
    for name, number in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
        os.symlink(f"/proc/self/fd/{number}", f"/dev/{name}")
    os.symlink("/proc/self/fd", "/dev/fd")
    os.mkdir("/dev/shm", 0o1777)
    return granted


def files(settings):
    """Makes the mounts, in a namespace of its own. Returns the devices that DeviceAllow= grants."""
    mount(None, "/", None, MS_REC | MS_PRIVATE)
    granted = private_dev(settings)
    if settings["PrivateTmp"] == "yes":
        for folder in ("/tmp", "/var/tmp"):
            mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777")
    if settings["ProtectHome"] == "yes":
        for folder in filter(os.path.isdir, ("/home", "/root", "/run/user")):
            mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV | MS_RDONLY, "mode=000")
    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, f"hidepid={settings['ProtectProc']}")
    for folder in ("/proc/sys", "/proc/irq", "/proc/bus") if settings["ProtectKernelTunables"] == "yes" else ():
        mount(folder, folder, None, MS_BIND)
        mount(None, folder, None, MS_BIND | MS_REMOUNT | MS_RDONLY)
    mount(CACHE, CACHE, None, MS_BIND)
    points = [line.split()[4] for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()]
    writable = ("/dev", "/proc", "/tmp", "/var/tmp", str(CACHE))
    for point in (p for p in points if not p.startswith(writable)) if settings["ProtectSystem"] == "strict" else ():
        try:
            mount(None, point, None, MS_BIND | MS_REMOUNT | MS_RDONLY)
        except OSError as error:
            print(f"unit_sandbox: {error}", file=sys.stderr)
    return granted


def calls_of_systemd(name="@system-service"):
    """Returns the names of the system calls in one of systemd's sets."""
    said = subprocess.run(["systemd-analyze", "syscall-filter", name], capture_output=True, text=True, check=True)
    words = [line.strip() for line in said.stdout.splitlines()[1:]]
    found = set()
    for word in words:
        if word.startswith("@"):
            found |= calls_of_systemd(word)
        elif word and not word.startswith("#"):
            found.add(word)
    return found


def numbers_of(names):
    known = dict(re.findall(r"#define __NR_(\w+) (\d+)", HEADER.read_text()))
    return {name: int(known[name]) for name in names if name in known}


class Filter:
    """A seccomp program, instruction by instruction."""

    def __init__(self):
        self.code = b""

    def add(self, code, value, if_true=0, if_false=0):
        self.code += struct.pack("<HBBI", code, if_true, if_false, value)

    def load(self, offset):
        self.add(0x20, offset)

    def returns(self, value):
        self.add(0x06, value)

    def when_equal(self, value, result):
        self.add(0x15, value, 0, 1)
        self.returns(result)

    def install(self):
        program = ctypes.create_string_buffer(self.code)
        header = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(self.code) // 8, ctypes.addressof(program)))
        checked(prctl(PR_SET_SECCOMP, 2, ctypes.addressof(header)), "seccomp")


def system_calls(settings, numbers):
    """Returns SystemCallFilter=, RestrictAddressFamilies= and RestrictNamespaces= as one filter."""
    refused = SECCOMP_ERRNO | errno.EPERM
    made = Filter()
    made.load(4)
    made.add(0x15, AUDIT_ARCH_X86_64, 1, 0)
    made.returns(refused)
    made.load(0)
    families = [getattr(socket, name) for name in settings["RestrictAddressFamilies"].split()]
    made.add(0x15, numbers["socket"], 0, 3 + 2 * len(families))
    made.load(16)
    for family in families:
        made.when_equal(family, SECCOMP_ALLOW)
    made.returns(SECCOMP_ERRNO | errno.EAFNOSUPPORT)
    made.load(0)
    if settings["RestrictNamespaces"] == "yes":
        for name in ("unshare", "setns"):
            made.when_equal(numbers[name], refused)
        made.when_equal(numbers["clone3"], SECCOMP_ERRNO | errno.ENOSYS)
        made.add(0x15, numbers["clone"], 0, 4)
        made.load(16)
        made.add(0x45, CLONE_NEW_ANY, 0, 1)
        made.returns(refused)
        made.load(0)
    for number in sorted(numbers.values()):
        made.when_equal(number, SECCOMP_ALLOW)
    made.returns(refused)
    made.install()


def listening_socket():
    SOCKET.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    SOCKET.unlink(missing_ok=True)
    listens = socket.socket(socket.AF_UNIX)
    listens.bind(str(SOCKET))
    SOCKET.chmod(0o666)
    listens.listen(512)
    return listens


def become_user(settings):
    for capability in range(64):
        if prctl(PR_CAPBSET_DROP, capability) != 0:
            break
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    files_limit = min(int(settings["LimitNOFILE"]), resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (files_limit, files_limit))
    try:
        locked = resource.RLIM_INFINITY if settings["LimitMEMLOCK"] == "infinity" else int(settings["LimitMEMLOCK"])
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (locked, locked))
    except (OSError, ValueError) as error:  # in a container, root may not raise it
        print(f"unit_sandbox: LimitMEMLOCK: {error}", file=sys.stderr)
    os.setgroups([])
    os.setresgid(USER, USER, USER)
    os.setresuid(USER, USER, USER)
    os.umask(int(settings["UMask"], 8))


def main():
    if sys.argv[1:] == ["--print-calls"]:
        for name, number in sorted(numbers_of(calls_of_systemd()).items()):
            print(name, number)
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--unit", type=pathlib.Path, required=True)
    parser.add_argument("--calls", type=pathlib.Path, help="system calls, instead of asking systemd-analyze")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--without", choices=["calls", "devices"], action="append", default=[],
                        help="leaves a restriction out, to find the one that refuses something")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    settings = settings_of(options.unit, options.set)
    if options.calls is None:
        numbers = numbers_of(calls_of_systemd())
    else:
        numbers = {name: int(number) for name, number in map(str.split, options.calls.read_text().splitlines())}
    CACHE.mkdir(parents=True, exist_ok=True)
    os.chown(CACHE, USER, USER)
    program = shutil.which(options.command[0])
    listens = listening_socket()
    checked(LIBC.unshare(CLONE_NEWNS | (CLONE_NEWNET if settings["PrivateNetwork"] == "yes" else 0)), "unshare")
    if "devices" in options.without:
        settings["DeviceAllow"] = ["char-* rw"]
    granted = files(settings)
    print("unit_sandbox: devices", *map(str, granted), file=sys.stderr, flush=True)
    become_user(settings)
    os.dup2(listens.fileno(), 3)
    os.set_inheritable(3, True)
    kept = {key: value for key, value in os.environ.items() if key in ("PATH", "LD_LIBRARY_PATH")
            or key.startswith("POLYKEM_")}
    named = dict(word.split("=", 1) for word in settings["Environment"].split())
    environment = {**kept, **named, "LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1"}
    checked(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    if "calls" not in options.without:
        system_calls(settings, numbers)
    os.execve(program, options.command, environment)


if __name__ == "__main__":
    main()
