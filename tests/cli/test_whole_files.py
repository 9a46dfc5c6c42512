# SPDX-License-Identifier: Apache-2.0
"""Tests that outputs appear whole, together and durably, or not at all: signals, errors and many file systems."""

import os
import pathlib
import resource
import signal
import stat
import subprocess
import time
import unittest

from program import BAD_INPUT, DATA, IO, OK, PROGRAM, SET, USAGE, Case

FAULTS = os.environ.get("POLYKEM_FAULTS", "build/bin/libpolykem_cli_faults.so")


def faults(**kinds):
    """Returns the environment of a program that meets these faults (see faults.c)."""
    env = {f"FAULT_{name.upper()}": str(value) for name, value in kinds.items()}
    # The address sanitizer demands to be the first library, which it is not here.
    return {"LD_PRELOAD": os.path.abspath(FAULTS), "ASAN_OPTIONS": "verify_asan_link_order=0", **env}


class WholeFiles(Case):
    COMMANDS = (
        ("keygen", "-s", SET, "--pk", "new_pk", "--sk", "new_sk"),
        ("encaps", "--pk", "pk", "--ct", "new_ct", "--ss", "new_ss"),
        ("decaps", "--sk", "sk", "--ct", "ct", "--ss", "new_ss"),
        ("sign", "--sk", "signing_sk", "ct", "ss"),
    )

    def setUp(self):
        super().setUp()
        self.assertTrue(os.path.exists(FAULTS), f"{FAULTS}: build polykem_cli_faults, or set POLYKEM_FAULTS")

    def inputs(self):
        self.keys()
        self.ok("encaps", "--pk", "pk", "--ct", "ct", "--ss", "ss")
        self.ok("keygen", "-s", "mldsa44", "--pk", "signing_pk", "--sk", "signing_sk")
        return self.files()

    def test_a_signal_leaves_nothing(self):
        before = self.inputs()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGXCPU, signal.SIGKILL):
            for command in self.COMMANDS:
                with self.subTest(signal=number, command=command[0]):
                    done = self.run_program(*command, env=faults(signal=int(number)))
                    self.assertEqual(done.returncode, -number, done.stderr)
                    said = f"polykem: interrupted by {number.name}: no output file was written\n"
                    self.assertEqual(done.stderr.decode(), "" if number == signal.SIGKILL else said)
                    self.assertEqual(self.files(), before)

    def test_a_signal_leaves_nothing_where_files_need_names(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            done = self.run_program(*self.COMMANDS[0], env=faults(signal=int(number), no_tmpfile=1))
            self.assertEqual(done.returncode, -number, done.stderr)
            self.assertEqual(self.files(), [])

    def test_a_signal_while_files_get_their_names_waits(self):
        """The third fsync is the folder's. Both files have their names then, and what they replaced still exists."""
        for force in ((), ("--force",)):
            env = faults(signal=int(signal.SIGTERM), signal_at=3)
            done = self.run_program(*self.COMMANDS[0], *force, env=env)
            self.assertEqual(done.returncode, -signal.SIGTERM, done.stderr)
            self.assertEqual(done.stderr, b"polykem: interrupted by SIGTERM: all output was written\n")
            self.assertEqual(self.files(), ["new_pk", "new_sk"])
            self.ok("encaps", "--pk", "new_pk", "--ct", "ct", "--ss", "a")
            self.ok("decaps", "--sk", "new_sk", "--ct", "ct", "--ss", "b")
            self.assertEqual(self.read("a"), self.read("b"))
            for name in ("ct", "a", "b"):
                (self.dir / name).unlink()

    def test_a_signal_tells_of_output_that_has_gone(self):
        command = ("keygen", "-s", SET, "--pk", "-", "--sk", "new_sk")
        done = self.run_program(*command, env=faults(signal=int(signal.SIGINT)))
        self.assertEqual(done.returncode, -signal.SIGINT)
        self.assertEqual(done.stderr.decode(),
                         "polykem: interrupted by SIGINT: no output file was written, and other output is "
                         "incomplete\n")
        self.assertEqual(self.files(), [])

    def test_a_shell_sees_130(self):
        env = {**os.environ, **faults(signal=int(signal.SIGINT))}
        done = subprocess.run(["bash", "-c", '"$@"; echo $?', "bash", PROGRAM, *self.COMMANDS[0]], cwd=self.dir,
                              env=env, capture_output=True, check=False)  # fmt: skip
        self.assertEqual(done.stdout, b"130\n")

    def test_commands_without_files_say_so_too(self):
        for command in (("bench", "-s", SET, "--seconds", "60"), ("profile", "-s", SET, "--seconds", "60")):
            for number in (signal.SIGINT, signal.SIGTERM):
                with self.subTest(command, signal=number):
                    process = subprocess.Popen([PROGRAM, *command], cwd=self.dir, stdout=subprocess.DEVNULL,
                                               stderr=subprocess.PIPE)  # fmt: skip
                    self.wait_for_handlers(process)
                    process.send_signal(number)
                    _, error = process.communicate(timeout=60)
                    self.assertEqual(process.returncode, -number)
                    self.assertEqual(error.decode(),
                                     f"polykem: interrupted by {number.name}: no output file was written\n")

    def wait_for_handlers(self, process):
        """Waits until the kernel says that the process catches SIGXCPU, the last of the signals that it handles."""
        caught = 0
        deadline = time.monotonic() + 60
        while not caught >> (signal.SIGXCPU - 1) & 1 and time.monotonic() < deadline:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            caught = int(next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt")), 16)

    def test_no_room_is_said_before_the_work(self):
        command = ("keygen", "-s", SET, "--pk", "pk", "--sk", "sk", "--count", "100000000")
        for form in ((), ("--format", "raw")):
            error = self.fails(IO, ["cannot write 'pk'", "are needed", "has 1,000 B free", "make room"], *command,
                               *form, env=faults(free=1000)).stderr.decode()  # fmt: skip
            self.assertRegex(error, r": [\d.]+ GiB are needed")
        self.fails(IO, ["are needed", "MiB free"], *command, env=faults(free=200 << 20))
        self.ok("keygen", "-s", SET, "--pk", "-", "--sk", "/dev/null", env=faults(free=0))
        self.assertEqual(self.files(), [])

    def test_what_is_needed_is_not_overstated(self):
        """Exactly as much space as the files take is enough, in every format; half of it is not."""
        keygen = ("keygen", "-s", "mlkem512", "--pk", "a", "--sk", "b", "--count", "20")
        encaps = ("encaps", "--pk", "a", "--ct", "c", "--ss", "d")
        decaps = ("decaps", "--sk", "b", "--ct", "c", "--ss", "e")
        forms = [(keygen, "ab", ("--format", form, "--sk-form", sk)) for form in ("pem", "der")
                 for sk in ("seed", "expanded", "both")]  # fmt: skip
        forms += [(command, outputs, ("--format", form)) for command, outputs in
                  ((keygen, "ab"), (encaps, "cd"), (decaps, "e")) for form in ("raw", "armour")]  # fmt: skip
        for command, outputs, form in forms:
            with self.subTest(command, form=form):
                self.ok(*command, *form, "-f")
                total = sum(len(self.read(name)) for name in outputs)
                self.ok(*command, *form, "-f", env=faults(free=total))
                self.fails(IO, ["are needed"], *command, *form, "-f", env=faults(free=total // 2))

    def test_other_blocks_between_keys_need_no_room(self):
        self.ok("keygen", "-s", "mlkem512", "--pk", "a", "--sk", "b", "--format", "pem")
        other = (DATA / "foreign_keys" / "ca.crt").read_bytes()
        self.write("keys", self.read("a") + 200 * other + self.read("a"))
        self.ok("encaps", "--pk", "keys", "--ct", "c", "--ss", "d", env=faults(free=10000))

    def test_a_disk_that_becomes_full(self):
        before = self.inputs()
        for command in self.COMMANDS:
            for kind in ({}, {"no_tmpfile": 1}):
                error = self.fails(IO, ["No space left", "are needed", "40 B were written", "free"], *command,
                                   env=faults(room=40, **kind)).stderr.decode()  # fmt: skip
                self.assertIn("make room", error)
                self.assertEqual(self.files(), before)
        self.fails(IO, ["No space left", "40 B were written"], "list", "--json", "l", env=faults(room=40))
        self.assertEqual(self.files(), before)

    def test_an_ignored_signal_stays_ignored(self):
        env = {**os.environ, **faults(signal=int(signal.SIGHUP))}
        done = subprocess.run(["nohup", PROGRAM, *self.COMMANDS[0]], cwd=self.dir, env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, check=False)  # fmt: skip
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertEqual(self.files(), ["new_pk", "new_sk"])

    def test_a_limit_of_file_size_is_an_error(self):
        done = subprocess.run([PROGRAM, *self.COMMANDS[0]], cwd=self.dir, capture_output=True, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500)))  # fmt: skip
        self.assertEqual(done.returncode, IO, done.stderr)
        self.assertIn(b"File too large", done.stderr)
        self.assertEqual(self.files(), [])

    def test_files_and_folder_are_flushed_to_the_disk(self):
        log = self.dir / "log"
        self.ok(*self.COMMANDS[0], env=faults(log=log))
        self.assertEqual(log.read_text().split(), ["file", "file", "folder"])

    def test_other_file_systems(self):
        """Without unnamed files, hard links or exchange, the resulting files are the same."""
        kinds = ({"no_tmpfile": 1}, {"no_tmpfile": 1, "no_link": 1}, {"no_exchange": 1},
                 {"no_tmpfile": 1, "no_link": 1, "no_exchange": 1})  # fmt: skip
        for kind in kinds:
            with self.subTest(kind):
                for name in self.files():
                    (self.dir / name).unlink()
                self.ok(*self.COMMANDS[0], env=faults(**kind))
                self.assertEqual(self.files(), ["new_pk", "new_sk"])
                self.assertEqual(stat.S_IMODE((self.dir / "new_sk").stat().st_mode), 0o600)
                old = self.read("new_sk")
                self.fails(USAGE, ["exists"], *self.COMMANDS[0], env=faults(**kind))
                self.assertEqual(self.read("new_sk"), old)
                self.ok(*self.COMMANDS[0], "--force", env=faults(**kind))
                self.assertNotEqual(self.read("new_sk"), old)
                self.assertEqual(self.files(), ["new_pk", "new_sk"])

    def test_both_appear_or_neither(self):
        self.fails(IO, ["new_sk"], *self.COMMANDS[0], env=faults(link=2))
        self.assertEqual(self.files(), [])
        self.write("new_pk", "old public")
        self.write("new_sk", "old secret")
        # Each replacement takes two links: one that finds the old file, one to a name beside it.
        self.fails(IO, ["new_sk"], *self.COMMANDS[0], "--force", env=faults(link=4))
        self.assertEqual((self.read("new_pk"), self.read("new_sk")), (b"old public", b"old secret"))
        self.assertEqual(self.files(), ["new_pk", "new_sk"])


class SameFile(Case):
    """Tests that an output is refused that is the same file as an input or another output, under any name."""

    def setUp(self):
        super().setUp()
        self.keys()
        self.ok("encaps", "--pk", "pk", "--ct", "ct", "--ss", "ss")
        (self.dir / "symbolic").symlink_to("pk")
        os.link(self.dir / "pk", self.dir / "hard")
        (self.dir / "folder").mkdir()
        self.before = {name: self.read(name) for name in self.files() if name != "folder"}

    def refused(self, words, *args, **kwargs):
        self.fails(USAGE, words, *args, "--force", **kwargs)
        self.assertEqual({name: self.read(name) for name in self.files() if name != "folder"}, self.before)

    def test_output_that_is_read(self):
        for name in ("pk", "./pk", "folder/../pk", "symbolic", "hard", self.dir / "pk"):
            with self.subTest(name):
                self.refused(["would overwrite 'pk'"], "encaps", "--pk", "pk", "--ct", name, "--ss", "x")
                self.refused(["would overwrite 'pk'"], "encaps", "--pk", "pk", "--ct", "x", "--ss", name)
                self.refused(["would overwrite 'pk'"], "encaps", "--pk", "pk", "--ct", "x", "--ss", "y", "--json", name)
        self.refused(["would overwrite 'sk'"], "decaps", "--sk", "sk", "--ct", "ct", "--ss", "sk")
        self.refused(["would overwrite 'ct'"], "decaps", "--sk", "sk", "--ct", "ct", "--ss", "ct")

    def test_two_outputs(self):
        for name in ("pk", "symbolic", "hard"):
            self.refused(["two outputs"], "keygen", "-s", SET, "--pk", "pk", "--sk", name)
        self.refused(["two outputs"], "keygen", "-s", SET, "--pk", "new", "--sk", "folder/../new")
        self.refused(["two outputs"], "keygen", "-s", SET, "--pk", "hard", "--sk", "b", "--json", "pk")

    def test_standard_streams_that_are_files(self):
        with open(self.dir / "pk", "rb") as source:
            done = subprocess.run([PROGRAM, "encaps", "--pk", "-", "--ct", "pk", "--ss", "x", "-f"], cwd=self.dir,
                                  stdin=source, capture_output=True, check=False)  # fmt: skip
        self.assertEqual(done.returncode, USAGE)
        self.assertIn(b"would overwrite standard input", done.stderr)
        with open(self.dir / "pk", "ab") as target:
            done = subprocess.run([PROGRAM, "encaps", "--pk", "pk", "--ct", "-", "--ss", "x"], cwd=self.dir,
                                  stdout=target, stderr=subprocess.PIPE, check=False)  # fmt: skip
        self.assertEqual(done.returncode, USAGE)
        self.assertIn(b"would overwrite 'pk'", done.stderr)
        self.assertEqual(self.read("pk"), self.before["pk"])

    def test_known_answers_are_kept(self):
        self.write("kat.json", "{}")
        self.fails(USAGE, ["would overwrite 'kat.json'"], "kat", "kat.json", "--json", "kat.json", "--force")
        self.assertEqual(self.read("kat.json"), b"{}")


class OddInputs(Case):
    def test_devices_and_folders_are_refused(self):
        outputs = ("--ct", "x", "--ss", "y")
        for path, words in (("/dev/zero", "a device"), ("/dev/urandom", "a device"), (".", "a directory")):
            with self.subTest(path):
                self.fails(IO, [f"'{path}'", words], "encaps", "-s", SET, "--pk", path, *outputs)
                self.fails(IO, [f"'{path}'", words], "decaps", "-s", SET, "--sk", path, "--ct", path, "--ss", "y")
                self.fails(IO, [f"'{path}'", words], "kat", path)
        with open("/dev/zero", "rb") as zero:
            done = subprocess.run([PROGRAM, "encaps", "-s", SET, "--pk", "-", "--ct", "x", "--ss", "y"], cwd=self.dir,
                                  stdin=zero, capture_output=True, timeout=60, check=False)  # fmt: skip
        self.assertEqual(done.returncode, IO)
        self.assertIn(b"standard input: it is a device", done.stderr)
        self.assertEqual(self.files(), [])

    def test_a_line_without_an_end(self):
        text = b"-----BEGIN " + SET.encode() + b" PUBLIC KEY-----\n" + b"A" * (1 << 20)
        self.fails(BAD_INPUT, ["line is longer"], "encaps", "--pk", "-", "--ct", "x", "--ss", "y", stdin=text)
        lines = (b"A" * 64 + b"\n") * (3 << 14)
        self.fails(BAD_INPUT, ["longer than any key"], "encaps", "--pk", "-", "--ct", "x", "--ss", "y",
                   stdin=text[:50].split(b"\n")[0] + b"\n" + lines)  # fmt: skip
        self.assertEqual(self.files(), [])

    def test_a_pipe_is_read_to_its_end(self):
        self.ok("keygen", "-s", SET, "--pk", "pk", "--sk", "sk", "--count", "300", "--format", "raw")
        content = self.read("pk")
        self.ok("encaps", "-s", SET, "--pk", "-", "--ct", "ct", "--ss", "ss", "--format", "raw", stdin=content)
        self.assertEqual(len(self.read("ct")), len(content))
        words = f"{len(content) - 1:,} bytes, expected a multiple of {len(content) // 300} for public keys"
        self.fails(BAD_INPUT, [words], "encaps", "-s", SET, "--pk", "-", "--ct", "x", "--ss", "y", stdin=content[:-1])


if __name__ == "__main__":
    unittest.main()
