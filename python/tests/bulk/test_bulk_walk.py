# SPDX-License-Identifier: Apache-2.0
"""Tests that the files of a folder that count as its rows are those that pyarrow takes."""

import os

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from bulk_support import fixed

import polykem
from polykem.bulk import BulkError, cli, inputs

COUNTED = ["a.parquet", "b/c.parquet", "b/d/e.parquet", "far/g.parquet"]
HIDDEN = ["_temporary/0/part-0.parquet", ".ipynb_checkpoints/a-checkpoint.parquet", "b/_x.parquet", "b/.y.parquet",
          "b/_z/deep/er.parquet", ".hidden.arrow"]


@pytest.fixture(params=["keys", "_keys", ".keys"])
def tree(request, tmp_path):
    """Files of ten rows, hidden files and folders, and a link to a folder elsewhere; the root may be hidden."""
    root = tmp_path / request.param
    pk, _ = polykem.Context(threads=1).keygen("mlkem512", 10)
    table = pa.table({"pk": fixed(pk)})
    for name in [*COUNTED[:3], *HIDDEN, "../outside/g.parquet"]:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, path)
    os.symlink("../outside", root / "far")
    (root / "_SUCCESS").touch()
    (root / ".a.parquet.crc").write_text("x")
    return root


def test_hidden_files_and_folders_are_no_rows(tree):
    dataset = inputs.Dataset(tree)
    assert dataset.names == COUNTED and dataset.rows == 10 * len(COUNTED) and dataset.left_out == len(HIDDEN)
    assert pq.read_table(tree).num_rows == dataset.rows
    theirs = pyarrow.dataset.dataset(tree, format="parquet").files
    assert sorted(theirs) == [str(tree / name) for name in COUNTED]


def test_how_many_are_left_out_is_said(place, tree, capfd):
    command = ["encaps", "sent", "--scheme", "mlkem512", "--input", str(tree), "--key-file", "key", "--ray", "none"]
    assert cli.main(command) == 0
    assert f"{len(HIDDEN)} files in {tree} are left out" in capfd.readouterr().err
    command[1] = "again"
    assert place(*command[:-2])["left_out_files"] == len(HIDDEN)


def test_nothing_but_hidden_files(tmp_path):
    (tmp_path / "_temporary").mkdir()
    pq.write_table(pa.table({"pk": [1]}), tmp_path / "_temporary/a.parquet")
    with pytest.raises(BulkError, match="holds no file") as error:
        inputs.Dataset(tmp_path)
    assert error.value.hint.startswith("1 are hidden")


def test_a_link_that_leads_back_is_refused(tmp_path):
    pq.write_table(pa.table({"pk": [1]}), tmp_path / "a.parquet")
    os.symlink(tmp_path, tmp_path / "again")
    with pytest.raises(BulkError, match="again is a link to a folder that it lies in"):
        inputs.Dataset(tmp_path)
