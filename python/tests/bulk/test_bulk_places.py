# SPDX-License-Identifier: Apache-2.0
"""Tests that a folder that somebody else has prepared or written to leads no job to other files."""

import os
import shutil
import stat

import pytest
from test_bulk_jobs import small

from polykem.bulk import job_folder

KEY = ("--key-file", "key")


def keygen(place, name, *options, **how):
    return place("keygen", name, "--count", 200, *KEY, *options, **how)


@pytest.fixture
def victim(place):
    """Files that no job may touch; calling the fixture says whether they are unchanged."""
    (place / "victim/precious").mkdir(parents=True)
    (place / "victim/config").write_text("important\n")
    (place / "victim/precious/a").write_text("x")
    (place / "victim/empty").mkdir()

    def untouched():
        assert (place / "victim/config").read_text() == "important\n"
        assert sorted(os.listdir(place / "victim")) == ["config", "empty", "precious"]
        assert os.listdir(place / "victim/precious") == ["a"] and not os.listdir(place / "victim/empty")
    yield untouched
    untouched()


def contents(folder):
    return {path.relative_to(folder): (path.lstat().st_mode, path.lstat().st_mtime_ns, path.lstat().st_size)
            for path in folder.rglob("*")}


def refused(place, says, *options, expect):
    """Checks that the job is refused, and that nothing is made, emptied or removed."""
    before = contents(place / "job")
    assert says in keygen(place, "job", *options, expect=expect)["error"]
    assert contents(place / "job") == before


@pytest.mark.parametrize("name", ["lock", "tmp", "data", "receipts", "job.json"])
@pytest.mark.parametrize("target", ["victim/config", "victim/precious", "victim/empty", "victim/nothing"])
def test_a_link_in_a_new_folder(place, victim, name, target):
    (place / "job").mkdir()
    os.symlink(place / target, place / "job" / name)
    refused(place, f"{name} is a link", expect=3)


@pytest.mark.parametrize("name", ["lock", "tmp", "data", "receipts", "manifest.json"])
def test_a_link_in_a_job_that_is_resumed(place, victim, monkeypatch, name):
    small(monkeypatch)
    keygen(place, "job")
    for file in ("receipts/part-000001.json", "manifest.json"):
        (place / "job" / file).unlink()
    path = place / "job" / name
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    os.symlink(place / "victim" / ("config" if "." in name or name == "lock" else "precious"), path)
    if name == "manifest.json":  # replaced, not followed
        keygen(place, "job", "--resume")
        assert not path.is_symlink()
    else:
        assert f"{name} is a link" in keygen(place, "job", "--resume", expect=3)["error"]


@pytest.mark.parametrize("name", ["data/part-000001.parquet", "receipts/part-000001.json"])
def test_a_link_for_a_file_of_a_job(place, victim, monkeypatch, name):
    small(monkeypatch)
    keygen(place, "job")
    (place / "job" / name).unlink()
    os.symlink(place / "victim/config", place / "job" / name)
    assert place("verify", "job", *KEY, expect=1)["damaged"] == 1
    keygen(place, "job", "--resume")
    assert place("verify", "job", *KEY)["complete"] and not (place / "job" / name).is_symlink()


def test_other_files_stay(place):
    (place / "job").mkdir()
    (place / "job/lock").write_text("pid 17")
    refused(place, "lock was not made by polykem-bulk", expect=2)
    (place / "job/lock").unlink()
    for name in ("data", "receipts", "tmp"):
        (place / "job" / name).mkdir()
        (place / "job" / name / "letter").write_text("dear")
        refused(place, f"holds other files ('{name}')", expect=2)
        shutil.rmtree(place / "job" / name)
    os.mkfifo(place / "job/lock")
    refused(place, "not an ordinary file", expect=3)


def test_what_is_no_leftover_of_a_job_stays_in_tmp(place):
    keygen(place, "job")
    (place / "job/tmp").mkdir()
    (place / "job/tmp/thesis.tex").write_text("chapter 1")
    (place / "job/tmp/part-000000.parquet.0a1b.tmp").write_text("half")
    keygen(place, "job", "--resume")
    assert os.listdir(place / "job/tmp") == ["thesis.tex"]


def test_a_start_that_died_before_its_job_json_is_no_hindrance(place):
    folder = job_folder.Folder("job", ours=True)
    folder.make()
    with folder.locked():
        folder.make_folders()
        (place / "job/tmp/job.json.0a1b.tmp").write_text("{")
    keygen(place, "job")
    assert place("verify", "job", *KEY)["complete"]


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files to another user")
@pytest.mark.parametrize("name", [".", "lock", "data", "tmp", "job.json", "receipts/part-000000.json"])
def test_what_belongs_to_another_user(place, name):
    keygen(place, "job")
    (place / "job/tmp").mkdir()
    os.chown(place / "job" / name, 1234, -1)
    if name.startswith("receipts"):
        assert keygen(place, "job", "--resume")["computed_partitions"] == 1
    else:
        assert "another user (uid 1234)" in keygen(place, "job", "--resume", expect=2)["error"]


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a link to another user")
def test_a_link_to_the_folder_is_followed_if_its_owner_is_trusted(place):
    (place / "disk").mkdir()
    os.symlink("disk", place / "job")
    keygen(place, "job")
    assert (place / "disk/job.json").is_file()
    os.symlink("elsewhere", place / "other")
    os.chown(place / "other", 1234, -1, follow_symlinks=False)
    (place / "elsewhere").mkdir()
    assert "another user" in keygen(place, "other", expect=2)["error"] and not os.listdir("elsewhere")


@pytest.mark.parametrize("protection", [KEY, ("--job-secret", "key", "--plain-secrets")])
def test_files_are_for_their_owner_alone(place, protection):
    umask = os.umask(0)
    try:
        (place / "keys").mkdir(mode=0o755)
        place("keygen", "keys", "--count", 4, *protection)
        place("export", "keys", "out.parquet", "--plain-secrets", *KEY)
    finally:
        os.umask(umask)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [place / "keys", *(place / "keys").rglob("*")]}
    assert {modes.pop(name) for name in ("keys", "data", "receipts")} == {0o700}
    assert set(modes.values()) == {0o600} and len(modes) == 5
    assert stat.S_IMODE((place / "out.parquet").stat().st_mode) == 0o600
