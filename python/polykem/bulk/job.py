# SPDX-License-Identifier: Apache-2.0
"""A job's description: operation, inputs, outputs, partitions. Written once, to job.json, and never changed."""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import json
import secrets as random_source
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import bounds, kem, messages, secrets, sources
from .authentic import JOB, Authority
from .column import Column, Json, Kept
from .errors import DATA, USAGE, BulkError
from .values import is_storable

SCHEMA, FORMER = "polykem-bulk-job-2", {"polykem-bulk-job-1"}
PARTITION_BYTES = 256 << 20
ROW_GROUP_BYTES = 16 << 20

if TYPE_CHECKING:
    from .inputs import Dataset
    from .keys import Keys


@dataclass(frozen=True)
class Job:
    """One job. It, the job's secret and the inputs determine every byte of the result.

    Attributes
    ----------
    operation : str
        "keygen", "encaps", "decaps", "seal", "open" or "rewrap".
    scheme, to_scheme : str
        A parameter set, or an HPKE suite; `to_scheme` is what rewrap seals to.
    rows, partition_rows, group_rows : int
        Rows of the job, of a partition (a file), of a row group in it.
    inputs : list of dict
        Datasets side by side, with the same number of rows: {"path", "files"}, and of each file what tells it from
        another: {"name", "rows", "bytes", "time", "footer"}, or the manifest's {"name", "rows", "bytes", "sha256"}.
    reads, writes : list of Column
    keep : list of Kept
        Input columns that are copied.
    constants : dict
        Role of an input column -> SHA-256 of the one record that stands for the whole column.
    secrets : dict
        How secret columns are protected; holds the sealed column key.
    secret_check : str
        Tells whether a job secret is this job's.
    mac : str
        Authenticates all the other fields.
    """

    operation: str
    scheme: str
    rows: int
    partition_rows: int
    group_rows: int
    reads: list[Column] = field(default_factory=list)
    writes: list[Column] = field(default_factory=list)
    inputs: list[Json] = field(default_factory=list)
    keep: list[Kept] = field(default_factory=list)
    constants: dict[str, str] = field(default_factory=dict)
    to_scheme: str = ""
    info: str = ""
    aad: str = ""
    id: str = ""
    secrets: dict[str, str] = field(default_factory=dict)
    secret_check: str = ""
    mac: str = ""

    @property
    def partitions(self) -> int:
        return -(-self.rows // self.partition_rows)

    def span(self, partition: int) -> tuple[int, int]:
        """Returns (first row, rows) of a partition."""
        first = partition * self.partition_rows
        return first, min(self.partition_rows, self.rows - first)

    def record(self) -> Json:
        """Returns the contents of job.json."""
        return {"schema": SCHEMA, **dataclasses.asdict(self)}

    def to_json(self) -> str:
        return json.dumps(self.record(), indent=1) + "\n"

    def fingerprint(self) -> bytes:
        """Returns the SHA-256 of job.json, on which coins depend."""
        return hashlib.sha256(json.dumps(self.record(), sort_keys=True).encode()).digest()


def from_json(text: str, path: object) -> Job:
    """Returns the job that a job.json describes."""
    try:
        fields = json.loads(text)
        schema = fields.pop("schema")
        if schema in FORMER:
            raise BulkError(f"{path} is of an earlier version ({schema}), whose coins did not depend on its inputs",
                            DATA, "begin a new job in another folder; the version that wrote it can read and export it")
        if schema != SCHEMA:
            raise ValueError("another schema")
        for name in ("reads", "writes"):
            fields[name] = [Column(**column) for column in fields[name]]
        fields["keep"] = [Kept(**column) for column in fields["keep"]]
        job = Job(**fields)
        check_types(job)
        return job
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BulkError(f"{path} does not describe a bulk job of this version ({error})", DATA) from None


def check_types(job: Job) -> None:
    """Raises TypeError or ValueError if a record cannot be a job's, before anything else uses it."""
    for name, minimum in (("rows", 1), ("partition_rows", 1), ("group_rows", 1)):
        value = getattr(job, name)
        if type(value) is not int or not minimum <= value < 1 << 63:
            raise ValueError(f"{name} is {value!r}")
    for one in dataclasses.fields(job):
        value = getattr(job, one.name)
        kind = str(one.type).partition("[")[0]
        if kind in ("str", "list", "dict") and type(value).__name__ != kind:
            raise TypeError(f"{one.name} is not a {kind}")
    for column in (*job.reads, *job.writes):
        if type(column.width) is not int or not all(isinstance(text, str) for text in (column.role, column.name)):
            raise TypeError("a column is malformed")
    for record in job.inputs:
        if not isinstance(record["path"], str) or not all(isinstance(file["name"], str) and type(file["rows"]) is int
                                                          for file in record["files"]):
            raise TypeError("an input is malformed")
    if not isinstance(job.secrets.get("kind"), str):
        raise ValueError("it does not say how secrets are protected")


def rows_of_a_partition(row: int, partition_bytes: int, group_bytes: int) -> tuple[int, int]:
    """Returns (rows of a partition, rows of a row group) if a row takes `row` bytes of a worker's memory."""
    partition = max(1, partition_bytes // row)
    return partition, max(1, min(partition, group_bytes // row))


def pick(columns: list[Column], wanted: Sequence[str] | None) -> list[Column]:
    """Returns the columns whose roles are named, or all. With a secret column comes the status, which tells zeros from
    secrets."""
    unknown = set(wanted or ()) - {column.role for column in columns}
    if unknown:
        raise BulkError(f"the operation writes no column '{sorted(unknown)[0]}'", USAGE,
                        "it writes " + ", ".join(column.role for column in columns))
    secret = any(column.secret and column.role in (wanted or ()) for column in columns)
    return [column for column in columns
            if not wanted or column.role in wanted or (secret and column.role == "status")]


def check_roles(columns: list[Column], names: Mapping[str, str], constants: Mapping[str, bytes]) -> None:
    """Raises unless names and constants are of columns that the operation reads."""
    roles = [column.role for column in columns]
    for role in (*names, *constants):
        if role not in roles:
            raise BulkError(f"the operation reads no column '{role}'", USAGE,
                            "it reads " + (", ".join(roles) or "none"))
        if role in names and role in constants:
            raise BulkError(f"column '{role}' is given as one record and as the dataset's '{names[role]}'", USAGE,
                            "give --one or --column for it, not both")


def located(columns: list[Column], inputs: Sequence[Dataset], names: Mapping[str, str],
            constants: Mapping[str, bytes]) -> list[Column]:
    """Returns the columns with their names in the datasets and the numbers of their inputs."""
    found = {column.role: sources.find(inputs, names.get(column.role, column.role), f"--column {column.role}=")
             for column in columns if column.role not in constants}
    sources.check_rotation(inputs, found, names)
    return [dataclasses.replace(column, source=found[column.role][0], name=found[column.role][1])
            if column.role in found else column for column in columns]


def describe(operation: str, scheme: str, *, rows: int | None = None, inputs: Sequence[Dataset] = (),
             to_scheme: str = "", plaintext_bytes: int | None = None, names: Mapping[str, str] | None = None,
             only: Sequence[str] | None = None, keep: Sequence[str] = (), constants: Mapping[str, bytes] | None = None,
             seeds: bool = False, info: str = "", aad: str = "", protection: str = "aes-256-gcm",
             partition_bytes: int = PARTITION_BYTES, group_bytes: int = ROW_GROUP_BYTES) -> Job:
    """Returns the job that a command asks for, checked against its inputs, without id and keys.

    Parameters
    ----------
    inputs : sequence of polykem.bulk.inputs.Dataset
        Side by side.
    constants : dict of str to bytes
        Input columns that are one record for all rows.
    names : dict of str to str
        The dataset's name of an input column, where it is not the operation's or where several inputs have it:
        "pk", or "3:pk" for the third input's.
    keep : sequence of str
        Columns to copy, named in the same way.
    seeds : bool
        keygen writes, and decaps reads, secret keys as seeds.
    info, aad : str
        HPKE's info and additional data of all rows. `names` or `constants` make them columns.
    protection : str
        Of secret columns: "aes-256-gcm" (a key file), "hpke" (a public key) or "plain".
    """
    constants, names = dict(constants or {}), dict(names or {})
    check_arguments(operation, rows, partition_bytes, group_bytes, [*names.values(), *keep, info, aad])
    if operation in messages.OPERATIONS:
        messages.suite(scheme)
    if operation in messages.OPERATIONS and plaintext_bytes is None:
        role = "plaintext" if operation == "seal" else "ciphertext"
        plaintext_bytes = messages.message_bytes(operation, message_width(inputs, role, names, constants))
    reads, writes = kem.columns(operation, scheme, to_scheme, plaintext_bytes, seeds)
    if operation in messages.OPERATIONS:
        reads += bound_columns(inputs, names, constants, {"info": info, "aad": aad})
    row = kem.row_bytes(operation, scheme, [*reads, *writes])
    check_roles(reads, names, constants)
    rows = agree_on_rows(rows, inputs)
    reads, writes = located(reads, inputs, names, constants), pick(writes, only)
    check_columns(reads, inputs, constants, to_scheme)
    kept = check_kept(reads, writes, inputs, keep)
    partition_rows, group_rows = rows_of_a_partition(row, partition_bytes, group_bytes)
    return Job(operation, scheme, rows, partition_rows, group_rows, reads, writes,
               [dataset.record() for dataset in inputs], kept,
               {role: hashlib.sha256(value).hexdigest() for role, value in constants.items()}, to_scheme, info, aad,
               secrets={"kind": protection})


def check_arguments(operation: str, rows: int | None, partition_bytes: int, group_bytes: int,
                    texts: Sequence[str]) -> None:
    """Checks the arguments that do not depend on the inputs."""
    if operation not in (*kem.OPERATIONS, *messages.OPERATIONS):
        raise BulkError(f"there is no operation {operation!r:.40}", USAGE,
                        "there are " + ", ".join((*kem.OPERATIONS, *messages.OPERATIONS)))
    if rows is not None:
        bounds.check(rows, "the number of rows", 1, bounds.ROWS)
    for value, name in ((partition_bytes, "partition_bytes"), (group_bytes, "group_bytes")):
        bounds.check(value, name, 1, bounds.PARTITION_MB << 20)
    for text in texts:
        bounds.check_utf8(text, "the text")


def bound_columns(inputs: Sequence[Dataset], names: Mapping[str, str], constants: Mapping[str, bytes],
                  texts: Mapping[str, str]) -> list[Column]:
    """Returns the columns of info and additional data, if columns are named for them."""
    columns = []
    for role in messages.BOUND:
        if role not in names and role not in constants:
            continue
        if texts[role]:
            raise BulkError(f"{role} is given as one text and as a column", USAGE,
                            f"give --{role} or --column {role}=NAME, not both")
        columns.append(Column(role, role, message_width(inputs, role, names, constants)))
    return columns


def message_width(inputs: Sequence[Dataset], role: str, names: Mapping[str, str],
                  constants: Mapping[str, bytes]) -> int:
    """Returns the width of the messages, which the operation does not fix."""
    if role in constants:
        return len(constants[role])
    return width_of(inputs, *sources.find(inputs, names.get(role, role), f"--column {role}="))


def width_of(inputs: Sequence[Dataset], source: int, name: str) -> int:
    """Returns the bytes of a row of an input's column: its type's or, if that has no fixed width, its first value's."""
    dataset = inputs[source - 1]
    if name not in dataset.binary:
        raise not_binary(dataset, name)
    width = dataset.widths[name] or dataset.length_of(name)
    if width is None:
        raise BulkError(f"column '{name}' of {dataset.path} has no value whose length could be taken", DATA)
    return width


def not_binary(dataset: Dataset, name: str) -> BulkError:
    return BulkError(f"column '{name}' of {dataset.path} is {dataset.types[name]}, but the operation reads bytes", DATA,
                     "cast it: pyarrow's column.cast(pyarrow.binary())")


def agree_on_rows(rows: int | None, inputs: Sequence[Dataset]) -> int:
    counts = {dataset.path: dataset.rows for dataset in inputs}
    if len(set(counts.values())) > 1:
        raise BulkError("the inputs have different numbers of rows: "
                        + ", ".join(f"{path} {count}" for path, count in counts.items()), DATA)
    known = next(iter(counts.values()), rows)
    if rows is not None and rows != known:
        raise BulkError(f"--count is {rows}, but the inputs have {known} rows", USAGE, "leave --count out")
    if not known:
        raise BulkError("there are no rows to compute", DATA if inputs else USAGE,
                        "" if inputs else "give --count or --input")
    return known


def check_columns(reads: list[Column], inputs: Sequence[Dataset], constants: Mapping[str, bytes],
                  to_scheme: str) -> None:
    """Checks that every input column has the right width and, if it is encrypted, a key."""
    for column in reads:
        if column.role in constants:
            width = len(constants[column.role])
        else:
            source = inputs[column.source - 1]
            source.check_not_sealed(column.name)
            if column.name not in source.binary:
                raise not_binary(source, column.name)
            fixed = source.widths[column.name]
            width = column.width if fixed is None else fixed  # without a fixed width, a worker checks each row's
            if source.is_encrypted(column.name) and source.column_key is None:
                raise source.no_key(column.name)
        if width != column.width:
            raise BulkError(f"column '{column.name}' has {width} bytes a row, but the operation needs {column.width}",
                            DATA, "give the new keys' --to-suite" if column.role == "to_pk" and not to_scheme else
                            "is this the right parameter set and column?")


def check_kept(reads: list[Column], writes: list[Column], inputs: Sequence[Dataset], keep: Sequence[str]) -> list[Kept]:
    """Returns the columns to copy. Raises if one is secret, or if two output columns would have one name."""
    kept = [Kept(name, source) for source, name in (sources.find(inputs, text, "--keep ") for text in keep)]
    names = [*(column.name for column in kept), *(column.name for column in writes)]
    for name in names:
        if names.count(name) > 1:
            raise BulkError(f"two output columns would be called '{name}'", USAGE)
    secret = {(column.name, column.source) for column in reads if column.secret}
    for column in kept:
        inputs[column.source - 1].check_not_sealed(column.name)
        if inputs[column.source - 1].is_secret(column.name) or (column.name, column.source) in secret:
            raise BulkError(f"column '{column.name}' is secret and cannot be kept: it would be written in plain", USAGE)
        source = inputs[column.source - 1]
        if not is_storable(source.kinds[column.name]):
            raise BulkError(f"column '{column.name}' of {source.path} is {source.types[column.name]}, which Parquet "
                            "cannot hold: it cannot be kept", DATA, "cast it to another type")
    return kept


def complete(job: Job, keys: Keys) -> Job:
    """Returns the job with a fresh id, and with its column key sealed as `keys` say."""
    job = dataclasses.replace(job, id=random_source.token_hex(16))
    secret = keys.secret_of(job.id)
    key = column_key(secret, job.id)
    job = dataclasses.replace(job, secrets=keys.protect(job.id, key), secret_check=secret_check_of(secret, job.id))
    return dataclasses.replace(job, mac=Authority(key, job.id).mac(JOB, job.record()))


def column_key(secret: bytes, job_id: str) -> bytes:
    """Returns the key from which all data keys of the job are derived."""
    return secrets.derive(secret, b"columns", job_id.encode())


def secret_check_of(secret: bytes, job_id: str) -> str:
    return secrets.derive(secret, b"check", job_id.encode())[:8].hex()


def authority_of(job: Job, column_key: bytes) -> Authority:
    """Returns the job's `Authority`. Raises if job.json is not as the job wrote it."""
    authority = Authority(column_key, job.id)
    if not authority.wrote(JOB, job.record()):
        raise BulkError("job.json was changed after this job wrote it", DATA,
                        "somebody has altered it: restore it from a copy, or begin a new job in another folder")
    return authority


def check_secret(job: Job, secret: bytes) -> Authority:
    """Raises if `secret` is another job's, or job.json was altered. Returns the job's `Authority`."""
    if not hmac.compare_digest(secret_check_of(secret, job.id), job.secret_check):
        raise BulkError("the job secret is not the one that this job was begun with", DATA,
                        "give the same --key-file or --job-secret as at the first start")
    return authority_of(job, column_key(secret, job.id))
