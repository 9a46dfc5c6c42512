# SPDX-License-Identifier: Apache-2.0
"""Opens, makes and renames a job's files.

Whoever prepared the folder, or may write to it, must not be able to lead a job to other files. So everything is opened
relative to the descriptor of its folder, never through a link; a new file is made only where there is none; existing
files are not truncated; and what belongs to another user is refused. Only their owner may read the files.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import uuid
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from .errors import DATA, IO, USAGE, BulkError, explained

FILE_MODE, FOLDER_MODE = 0o600, 0o700
LINKS = {errno.ELOOP, errno.ENOTDIR, errno.EMLINK}  # what systems report for a link that must not be followed


class Foreign(BulkError):
    """The error for something that no job made: a link, a pipe, another user's file."""

    def __reduce__(self) -> tuple[type[BulkError], tuple[str, int, str]]:
        return Foreign, (self.message, self.code, self.hint)


def check_owner(status: os.stat_result, path: Path) -> None:
    """Raises if the owner is neither this user nor root."""
    if status.st_uid not in (0, os.geteuid()):
        raise Foreign(f"{path} belongs to another user (uid {status.st_uid})", USAGE,
                      "name a folder that nobody else has made")


class Directory:
    """An open folder.

    Parameters
    ----------
    descriptor : int
        Closed with this object.
    path : pathlib.Path
        Its name in messages.
    ours : bool
        Whether to refuse what belongs to other users, as wherever a job writes.
    """

    def __init__(self, descriptor: int, path: Path, ours: bool) -> None:
        self.descriptor, self.path, self.ours = descriptor, path, ours
        weakref.finalize(self, os.close, descriptor)
        if ours:
            check_owner(os.fstat(descriptor), path)

    def _open(self, name: str, flags: int) -> int:
        try:
            return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE, dir_fd=self.descriptor)
        except OSError as error:
            if error.errno in LINKS:
                kind = "a link" if stat.S_ISLNK(self.status(name).st_mode) else "not a folder"
                raise Foreign(f"{self.path / name} is {kind}, which no job has made", DATA,
                              "find out who put it there, and remove it") from None
            raise

    def status(self, name: str) -> os.stat_result:
        """Returns the status of a name, without following a link."""
        return os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)

    def folder(self, name: str, make: bool = False) -> Directory:
        """Opens a folder in this one."""
        if make:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, FOLDER_MODE, dir_fd=self.descriptor)
        return Directory(self._open(name, os.O_RDONLY | os.O_DIRECTORY), self.path / name, self.ours)

    def read(self, name: str, for_lock: bool = False) -> BinaryIO:
        """Opens a file for reading. A pipe or a device is refused before it can block.

        With `for_lock` the file is also opened for writing, which NFS demands of a lock; do not write to it.
        """
        descriptor = self._open(name, (os.O_RDWR if for_lock else os.O_RDONLY) | os.O_NONBLOCK)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise Foreign(f"{self.path / name} is not an ordinary file", DATA,
                              "find out who put it there, and remove it")
            if self.ours:
                check_owner(status, self.path / name)
            return os.fdopen(descriptor, "r+b" if for_lock else "rb")
        except BaseException:
            os.close(descriptor)
            raise

    def read_text(self, name: str) -> str:
        with self.read(name) as file:
            return file.read().decode()

    def new(self, name: str) -> BinaryIO:
        """Creates a new file for writing."""
        return os.fdopen(self._open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb")

    def has(self, name: str) -> bool:
        """Returns whether the name exists, also as a dangling link."""
        try:
            self.status(name)
        except FileNotFoundError:
            return False
        return True

    def names(self) -> list[str]:
        return sorted(os.listdir(self.descriptor))

    def move(self, name: str, target: Directory, new_name: str) -> None:
        """Moves a file to another folder. Replaces an existing file of that name; a link is not followed."""
        os.rename(name, new_name, src_dir_fd=self.descriptor, dst_dir_fd=target.descriptor)

    def remove(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.descriptor)

    def remove_folder(self, name: str) -> None:
        """Removes an empty folder; one that is not empty stays."""
        with contextlib.suppress(OSError):
            os.rmdir(name, dir_fd=self.descriptor)

    def flush(self) -> None:
        """Makes the folder's entries survive a power cut."""
        os.fsync(self.descriptor)

    def keep_private(self) -> None:
        """Revokes other users' access to this user's own folder."""
        status = os.fstat(self.descriptor)
        if status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) != FOLDER_MODE:
            os.fchmod(self.descriptor, FOLDER_MODE)


def open_folder(path: str | os.PathLike[str], ours: bool = False) -> Directory:
    """Opens a folder by its path. If `ours`, the folder and a link that leads there must be this user's or root's."""
    path = Path(path)
    with explained(path):
        if ours:
            check_owner(os.lstat(path), path)
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except NotADirectoryError:
            raise BulkError(f"{path} is not a folder", IO) from None
        return Directory(descriptor, path, ours)


@contextlib.contextmanager
def replacing(folder: Directory, name: str, waiting: Directory) -> Iterator[BinaryIO]:
    """Yields a file that takes its name in `folder` when the block has ended without an error.

    Until then it lies in the folder `waiting`, on the same disk, under a name of its own.
    """
    temporary = f"{name}.{uuid.uuid4().hex}.tmp"
    with explained(folder.path / name):
        try:
            with waiting.new(temporary) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            waiting.move(temporary, folder, name)
        except BaseException:
            with contextlib.suppress(OSError):
                waiting.remove(temporary)
            raise
        folder.flush()
