# SPDX-License-Identifier: Apache-2.0
"""The program polykem-bulk."""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import os
import shlex
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ..report.options import Parser as OptionParser
from ..report.options import UnknownOption
from ..report.streams import lost_output, open_streams, say, tell
from . import bounds
from .column import SUITE, Json
from .errors import CHECK_FAILED, DATA, DEFECT, INTERRUPTED, IO, RESOURCES, USAGE, BulkError, explained

if TYPE_CHECKING:
    from .job import Job
    from .keys import Keys

EPILOG = """\
Secret columns are encrypted unless --plain-secrets is given. polykem-bulk new-key FILE makes a key file.
docs/bulk.md has the guarantees, the file layout and examples.
"""
OPERATIONS = {"keygen": "make key pairs", "encaps": "encapsulate to public keys", "decaps": "decapsulate ciphertexts",
              "seal": "encrypt messages to recipients (HPKE)", "open": "decrypt messages",
              "rewrap": "open with an old key and seal to a new one, in memory"}
LOUD = """\
polykem-bulk: --plain-secrets: SECRET KEYS AND SHARED SECRETS ARE WRITTEN IN PLAIN to {folder}.
polykem-bulk: whoever can read that folder, its backups or its disks has them.
"""


class Parser(OptionParser):
    """An argument parser that reports errors in the form of this program's other errors."""

    def _print_message(self, message: str | None, file: Any = None) -> None:
        """Prints --help; argparse's own method ignores write errors."""
        say(message or "")

    def error(self, message: str) -> NoReturn:
        raise BulkError(message, USAGE, f"see {self.prog} --help")


def pair(text: str) -> tuple[str, str]:
    """Parses ROLE=VALUE into a tuple."""
    role, equals, value = text.partition("=")
    if not (role and equals and value):
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form COLUMN=VALUE")
    return role, value


def once(option: str, pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Returns the pairs of an option as a dict; refuses a role that occurs twice."""
    roles = [role for role, _ in pairs]
    for role in roles:
        if roles.count(role) > 1:
            raise BulkError(f"{option} names the column '{role}' more than once", USAGE)
    return dict(pairs)


def between(minimum: int, maximum: int) -> Callable[[str], int]:
    """Returns the type of an option that takes a whole number."""
    def number(text: str) -> int:
        try:
            return bounds.whole(text, minimum, maximum)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
    return number


count = between(1, bounds.ROWS)


def add_job_options(parser: argparse.ArgumentParser, operation: str) -> None:
    parser.add_argument("out", metavar="FOLDER", help="the job's folder; every worker reaches it under this path")
    suite = operation in ("seal", "open", "rewrap")
    if suite:
        parser.add_argument("--suite", dest="scheme", default=SUITE, metavar="KEM,KDF,AEAD", help="(%(default)s)")
    else:
        parser.add_argument("--scheme", default="mlkem768", help="parameter set (%(default)s)")
    if operation == "keygen":
        parser.add_argument("--suite", dest="scheme", metavar="KEM,KDF,AEAD", help="make keys of an HPKE suite")
    if operation == "rewrap":
        parser.add_argument("--to-suite", help="suite of the new keys (that of --suite)")
    if operation == "keygen":
        parser.add_argument("--count", type=count, help="how many key pairs")
    parser.add_argument("--input", action="append", default=[], metavar="DATASET",
                        help="Parquet or Arrow file or folder, or an earlier job's folder; several are joined by row")
    parser.add_argument("--input-key", action="append", default=[], metavar="FILE",
                        help="key file of an input that is a protected job; repeat it in the inputs' order")
    parser.add_argument("--input-private", action="append", default=[], metavar="FILE",
                        help="private key, instead of --input-key, of jobs protected with --to")
    parser.add_argument("--column", action="append", default=[], type=pair, metavar="COLUMN=[N:]NAME",
                        help="name of an input column in the dataset, or in input N, counted from 1")
    parser.add_argument("--one", action="append", default=[], type=pair, metavar="COLUMN=FILE",
                        help="one record, the bytes of FILE, for all rows")
    parser.add_argument("--keep", action="append", default=[], metavar="[N:]NAME", help="copy this input column")
    parser.add_argument("--only", action="append", default=[], metavar="COLUMN", help="write this output column alone")
    if operation in ("keygen", "decaps"):
        parser.add_argument("--seeds", action="store_true", help="secret keys as seeds (64 bytes with ML-KEM)")
    if suite:
        parser.add_argument("--info", default="", help="HPKE's info of all rows (--column info=NAME: of each row)")
        parser.add_argument("--aad", default="", help="HPKE's additional data, in the same way")
    secret = parser.add_argument_group("secrets")
    secret.add_argument("--key-file", metavar="FILE", help="encrypt secret columns under this key (AES-256-GCM)")
    secret.add_argument("--to", metavar="FILE", help="encrypt secret columns to this HPKE public key")
    secret.add_argument("--to-kem", default=SUITE, metavar="KEM,KDF,AEAD",
                        help="suite of --to (%(default)s)")
    secret.add_argument("--plain-secrets", action="store_true", help="write secret columns in plain")
    secret.add_argument("--job-secret", metavar="FILE",
                        help="32 bytes from which coins are derived; follows from --key-file unless given")
    add_run_options(parser)


def add_run_options(parser: argparse.ArgumentParser) -> None:
    where = parser.add_argument_group("where and how")
    where.add_argument("--ray", default="local", metavar="ADDRESS",
                       help="local (starts a cluster of this host), auto, an address, or none: no Ray (%(default)s)")
    where.add_argument("--backend", help="force polykem's backend: cuda, avx512, avx2, ref")
    where.add_argument("--cpus", type=between(0, bounds.CPUS), default=0, help="CPUs of a worker (all of its host)")
    where.add_argument("--no-gpu", action="store_true", help="one worker per host, even with GPUs")
    where.add_argument("--partition-mb", type=between(1, bounds.PARTITION_MB), default=256,
                       help="size of a partition in memory (%(default)s)")
    where.add_argument("--resume", action="store_true", help="continue the job in FOLDER")
    where.add_argument("--quick-resume", action="store_true", help="the same; compare sizes, not checksums")
    where.add_argument("--touched-inputs", action="store_true",
                       help="resume even if the inputs' times have changed; names, sizes and footers must be the same")
    where.add_argument("--quiet", action="store_true", help="no progress, no table")
    where.add_argument("--json", metavar="FILE", help="write the summary, or the error, to FILE (-: standard output)")


def parser() -> Parser:
    top = Parser(prog="polykem-bulk", description="Bulk jobs of polykem over Parquet and Arrow datasets.",
                 epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    for operation, text in OPERATIONS.items():
        add_job_options(commands.add_parser(operation, help=text, epilog=EPILOG), operation)
    verify = commands.add_parser("verify", help="compare a job's files with their checksums")
    export = commands.add_parser("export", help="write a job's rows to one Parquet file, secrets in plain")
    for reads in (verify, export):
        reads.add_argument("out", metavar="FOLDER")
        reads.add_argument("--key-file", metavar="FILE", help="decrypt secret columns")
        reads.add_argument("--private", metavar="FILE", help="the same, for a job protected with --to")
        reads.add_argument("--job-secret", metavar="FILE", help="the job's --job-secret: all records are authenticated")
        reads.add_argument("--json", metavar="FILE")
        reads.add_argument("--quiet", action="store_true")
    export.add_argument("target", metavar="FILE")
    export.add_argument("--column", action="append", default=[], metavar="NAME", help="this column alone")
    export.add_argument("--first", type=between(0, bounds.ROWS), default=0, metavar="ROW")
    export.add_argument("--count", type=count, metavar="ROWS")
    export.add_argument("--plain-secrets", action="store_true", help="needed where a secret column is written")
    key = commands.add_parser("new-key", help="make a key file: 32 random bytes")
    key.add_argument("out", metavar="FILE")
    key.add_argument("--json", metavar="FILE")
    key.add_argument("--quiet", action="store_true")
    pair = commands.add_parser("new-pair", help="make a key pair for --to: FILE and FILE.pub")
    pair.add_argument("out", metavar="FILE")
    pair.add_argument("--suite", default=SUITE, metavar="KEM,KDF,AEAD", help="(%(default)s)")
    pair.add_argument("--json", metavar="FILE")
    pair.add_argument("--quiet", action="store_true")
    return top


def read(path: str) -> bytes:
    with explained(path):
        return Path(path).read_bytes()


def input_keys(options: argparse.Namespace) -> list[bytes | None]:
    """Returns the inputs' column keys in order: protected jobs take key files, then private keys, as they are given."""
    from . import reader, secrets
    from .job_folder import Folder, is_job
    keys, files, privates = [], list(options.input_key), list(options.input_private)
    for path in options.input:
        kind = Folder(path).job().secrets["kind"] if is_job(path) else "plain"
        if kind == "aes-256-gcm" and files:
            name = files[0] if len(files) == 1 else files.pop(0)  # one key may serve several inputs
            keys.append(reader.open_column_key(path, secrets.read_key_file(name)))
        elif kind == "hpke" and privates:
            name = privates[0] if len(privates) == 1 else privates.pop(0)
            keys.append(reader.open_column_key(path, private_key=read(name)))
        else:
            keys.append(None)
    return keys


def protection(options: argparse.Namespace, job: Job) -> Keys:
    """Returns the `Keys` that the options name."""
    from .keys import Keys
    from .secrets import read_key_file
    secret_columns = [column.name for column in job.writes if column.secret]
    ways = [name for name in ("key_file", "to", "plain_secrets") if getattr(options, name)]
    if len(ways) > 1:
        raise BulkError("--key-file, --to and --plain-secrets exclude each other", USAGE)
    if secret_columns and not ways:
        raise BulkError(f"the job writes secrets ({', '.join(secret_columns)}) and no key to encrypt them is named",
                        USAGE, "--key-file FILE, --to PUBLIC, or, if it must be, --plain-secrets")
    job_secret = read_key_file(options.job_secret) if options.job_secret else None
    if options.key_file:
        return Keys.under(read_key_file(options.key_file), job_secret)
    if job_secret is None:
        raise BulkError("without --key-file the job needs a secret for its coins", USAGE,
                        "polykem-bulk new-key FILE, then --job-secret FILE; keep it until the job is done, "
                        "then destroy it")
    return Keys.sealed_to(read(options.to), job_secret, options.to_kem) if options.to else Keys.plain(job_secret)


def run_job(options: argparse.Namespace) -> Json:
    from . import statuses
    from .driver import compute_here, run
    from .inputs import Dataset
    from .job import describe
    keys = input_keys(options)
    inputs = [Dataset(path, key) for path, key in zip(options.input, keys)]
    for dataset in inputs:
        if dataset.left_out and not options.quiet:
            tell(f"polykem-bulk: {dataset.left_out} files in {dataset.path} are left out: names below it that begin "
                 "with . or _ are hidden\n")
    constants = {role: read(path) for role, path in once("--one", options.one).items()}
    job = describe(options.command, options.scheme, rows=getattr(options, "count", None), inputs=inputs,
                   to_scheme=getattr(options, "to_suite", None) or "", names=once("--column", options.column),
                   only=options.only, keep=options.keep, constants=constants, seeds=getattr(options, "seeds", False),
                   info=getattr(options, "info", ""), aad=getattr(options, "aad", ""),
                   protection="aes-256-gcm" if options.key_file else "hpke" if options.to else "plain",
                   partition_bytes=options.partition_mb << 20)
    protected = protection(options, job)
    if options.plain_secrets:
        tell(LOUD.format(folder=options.out))

    compute: Callable[..., None]
    if options.ray == "none":
        compute = functools.partial(compute_here, threads=options.cpus, backend=options.backend)
    else:
        from .cluster import compute_with_ray
        compute = compute_with_ray(options.ray, options.backend, options.cpus, not options.no_gpu)
    summary = run(options.out, job, protected, keys, constants, resume=options.resume or options.quick_resume,
                  thorough=not options.quick_resume, touched=options.touched_inputs, compute=compute,
                  quiet=options.quiet)
    summary["left_out_files"] = sum(dataset.left_out for dataset in inputs)
    if not options.quiet and options.json != "-":
        from .progress import print_table
        try:
            print_table(summary)
        except OSError as error:
            raise BulkError("the job is complete, but its table cannot be written to standard output: "
                            f"{error.strerror or error}", IO) from error
    if summary["bad_rows"]:
        summary["exit_code"] = DATA
        complain(*statuses.in_words(summary))
    return summary


def key_of_job(options: argparse.Namespace) -> bytes | None:
    """Returns the column key that the options of verify and export give; None if they give none."""
    from . import reader, secrets
    key, secret = (secrets.read_key_file(name) if name else None for name in (options.key_file, options.job_secret))
    return reader.open_column_key(options.out, key, read(options.private) if options.private else None, secret)


def run_verify(options: argparse.Namespace) -> Json:
    from . import reader
    column_key = key_of_job(options)
    found = reader.verify(options.out, column_key, lambda line: tell(line + "\n"))
    if not options.quiet and options.json != "-":
        print(f"{found['good']} of {found['partitions']} partitions are good, {found['missing']} missing, "
              f"{found['damaged']} damaged; the job is {'' if found['complete'] else 'not '}complete")
        if not found["authenticated"]:
            print("compared with checksums, which whoever can write to the folder can change: --key-file or "
                  "--job-secret shows whether the job wrote them")
    return {"schema": "polykem-bulk-verify-1", **found, "exit_code": 0 if found["complete"] else CHECK_FAILED}


def run_export(options: argparse.Namespace) -> Json:
    from . import reader
    if options.target == "-":
        raise BulkError("export writes Parquet to a file, not to standard output", USAGE, "name a file")
    job = reader.folder_of(options.out).job()
    secret = {column.name for column in job.writes if column.secret}
    if secret & set(options.column or secret) and not options.plain_secrets:
        raise BulkError("the export would hold secrets in plain", USAGE,
                        "say --plain-secrets, or name columns with --column")
    if options.plain_secrets:
        tell(LOUD.format(folder=options.target))
    rows = reader.export(options.out, options.target, key_of_job(options), options.column, options.first, options.count)
    return {"schema": "polykem-bulk-export-1", "rows": rows, "file": options.target}


def run_new_key(options: argparse.Namespace) -> Json:
    from . import secrets
    secrets.make_key_file(options.out)
    return {"schema": "polykem-bulk-key-1", "file": options.out}


def run_new_pair(options: argparse.Namespace) -> Json:
    from . import recipient
    recipient.make_pair(options.suite, options.out)
    return {"schema": "polykem-bulk-pair-1", "private": options.out, "public": options.out + ".pub"}


def complain(message: str, hint: str) -> None:
    tell(f"polykem-bulk: {message}\n" + (f"{hint}\n" if hint else ""))


def write_json(target: str, value: Json) -> None:
    """Writes a JSON object to standard output, or to a file that does not exist yet."""
    text = json.dumps(value, indent=2) + "\n"
    if target == "-":
        say(text)
        return
    with explained(target):
        try:
            with open(target, "x") as file:
                file.write(text)
        except FileExistsError:
            raise json_exists(target) from None


def json_exists(target: str) -> BulkError:
    return BulkError(f"{target} exists", USAGE, "name another file for --json")


def json_target(arguments: Sequence[str]) -> str | None:
    """Returns FILE of --json, even if the rest of the command line is invalid."""
    for i, argument in enumerate(arguments):
        if argument.startswith("--json="):
            return argument[7:]
        if argument == "--json" and i + 1 < len(arguments):
            return arguments[i + 1]
    return None


def attempt(arguments: Sequence[str]) -> tuple[Json, int]:
    """Runs a command. Returns the JSON of its result or error, and the exit code."""
    run = {"verify": run_verify, "export": run_export, "new-key": run_new_key, "new-pair": run_new_pair}
    try:
        for argument in arguments:
            bounds.check_utf8(argument, "the argument")
        options = parser().parse_args(arguments)
        result = run.get(options.command, run_job)(options)
        return result, result.pop("exit_code", 0)
    except SystemExit:  # --help
        raise
    except BaseException as error:  # noqa: BLE001  each has its exit code
        return failure_of(error, arguments)


def failure_of(error: BaseException, arguments: Sequence[str]) -> tuple[Json, int]:
    """Reports an exception. Returns its JSON and the exit code."""
    error = signal_behind(error)
    if isinstance(error, KeyboardInterrupt):
        return failure("interrupted", INTERRUPTED, resume_hint(arguments))
    if isinstance(error, Terminated):
        return failure(f"ended by {error.number.name}", error.exit_code, resume_hint(arguments))
    if isinstance(error, BulkError):
        return failure(error.message, error.code, error.hint)
    if isinstance(error, UnknownOption):
        return failure(str(error), USAGE, f"did you mean {error.close}?" if error.close else "see polykem-bulk --help")
    if isinstance(error, ImportError):
        return failure(f"{error.name} is not installed", RESOURCES, "pip install 'polykem[bulk]'")
    if isinstance(error, MemoryError):
        return failure("out of memory", RESOURCES, "a smaller --partition-mb needs less")
    if isinstance(error, OSError):
        return failure(f"{error.filename or ''} {error.strerror or error}".strip(), IO, "")
    return defect(error)


def signal_behind(error: BaseException) -> BaseException:
    """Returns the signal that caused an error, otherwise the error. A signal to the whole process group also ends Ray's
    processes while this one unwinds, and Ray's compiled code wraps what a handler raises in a SystemError."""
    link: BaseException | None = error
    while link is not None:
        if isinstance(link, (KeyboardInterrupt, Terminated)):
            return link
        link = link.__cause__ or link.__context__
    return error


class Terminated(BaseException):
    """SIGTERM or SIGHUP was received. Not an Exception, so that no handler takes it for a failure."""

    def __init__(self, number: int = signal.SIGTERM) -> None:
        super().__init__(number)
        self.number = signal.Signals(number)
        self.exit_code = 128 + number


def raise_terminated(number: int, _frame: object) -> NoReturn:
    raise Terminated(number)


@contextlib.contextmanager
def raising_on_termination() -> Iterator[None]:
    """Makes SIGTERM, and SIGHUP unless it is ignored (nohup), raise `Terminated` during the block, so that workers end
    and temporary files are removed. Does nothing outside a process's main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    for number, handler in before.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, raise_terminated)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)


def resume_hint(arguments: Sequence[str]) -> str:
    """Returns a hint with the command that resumes the job, if there is one."""
    if not arguments or arguments[0] not in OPERATIONS:
        return ""
    again = [] if {"--resume", "--quick-resume"} & set(arguments) else ["--resume"]
    words = list(arguments)
    for i, word in reversed(list(enumerate(words))):  # without --json, whose file has the error by then
        if word.startswith("--json"):
            del words[i:i + (1 if "=" in word else 2)]
    return "committed partitions stay; to go on: " + shlex.join(["polykem-bulk", *words, *again])


def defect(error: BaseException) -> tuple[Json, int]:
    """Reports an unexpected failure, with its traceback."""
    tell("".join(traceback.format_exception(error)))
    return failure(f"a defect: {error!r}", DEFECT, "please report it")


def failure(message: str, code: int, hint: str) -> tuple[Json, int]:
    complain(message, hint)
    return {"schema": "polykem-error-1", "error": message, "exit_code": code, "hint": hint}, code


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs polykem-bulk. Returns the exit code of docs/exit_codes.md."""
    arguments = sys.argv[1:] if arguments is None else arguments
    open_streams()
    code = perform(arguments)
    lost = lost_output()
    if lost:
        complain(lost, "")
    return IO if lost and not code else code


def perform(arguments: Sequence[str]) -> int:
    """Runs a command, prints what --json asks for, and returns the exit code."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        target = json_target(arguments)
        if target == "":
            raise BulkError("--json needs the name of a file", USAGE)
        if target not in (None, "-") and os.path.lexists(target):
            raise json_exists(target)
        with raising_on_termination():
            result, code = attempt(arguments)
        if target:
            write_json(target, result)
        return code
    except Terminated as ended:  # a second time
        return ended.exit_code
    except SystemExit as ended:  # --help
        return ended.code if isinstance(ended.code, int) else 0
    except BulkError as error:
        complain(error.message, error.hint)
        return error.code
    except OSError as error:
        complain(f"cannot write to {error.filename or 'a file'}: {error.strerror or error}", "")
        return IO
    except Exception as error:  # noqa: BLE001
        return defect(error)[1]
