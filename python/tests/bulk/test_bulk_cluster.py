# SPDX-License-Identifier: Apache-2.0
"""Tests jobs on a Ray cluster whose workers, nodes and drivers die. On a busy machine Ray may give up nodes."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bulk_support import data_files, undisturbed

from polykem import bulk

ray = pytest.importorskip("ray")
from ray.cluster_utils import Cluster  # noqa: E402

pytestmark = pytest.mark.long

# 62 ms a partition of 35 rows with this backend: slow enough to be killed in the middle.
ROWS, PARTITIONS = 1400, 40
COMMAND = ["keygen", "--scheme", "frodokem640shake", "--count", str(ROWS), "--key-file", "key", "--partition-mb", "1"]
WAIT_SECONDS = 60


@pytest.fixture(scope="module")
def cluster():
    """A cluster with a head that computes nothing, and two nodes of one CPU."""
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    for _ in range(2):
        made.add_node(num_cpus=1)
    yield made
    ray.shutdown()
    made.shutdown()


class Driver:
    """polykem-bulk in a process of its own."""

    def __init__(self, cluster, folder, *options, stderr=False):
        self.receipts = Path(folder) / "receipts"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "polykem.bulk", COMMAND[0], folder, *COMMAND[1:], "--backend", "ref", "--ray",
             cluster.address, "--quiet", "--json", "-", *options], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if stderr else None, text=True)

    def ends(self):
        """Waits for the end. Returns the exit code and the text on standard error."""
        out, err = self.process.communicate(timeout=WAIT_SECONDS)
        return self.process.returncode, json.loads(out)["error"], err

    def wait_for(self, partitions):
        """Waits until so many partitions are committed. Returns their receipts, the newest last."""
        for _ in range(WAIT_SECONDS * 100):
            found = sorted(self.receipts.glob("*.json"), key=os.path.getmtime) if self.receipts.is_dir() else []
            if len(found) >= partitions:
                assert len(found) < PARTITIONS, "the job was over before it could be disturbed"
                return [json.loads(path.read_text()) for path in found]
            assert self.process.poll() is None
            time.sleep(0.01)
        raise AssertionError("no progress")

    def summary(self):
        out, _ = self.process.communicate(timeout=WAIT_SECONDS)
        assert self.process.returncode == 0
        return json.loads(out)


def check(place, summary):
    """Checks that the files are those of an undisturbed job: no row is lost, repeated or wrong."""
    assert summary["rows"] == ROWS and summary["partitions"] == PARTITIONS
    assert data_files("keys") == undisturbed(place, "keys", *COMMAND)
    assert place("verify", "keys", "--key-file", "key")["complete"]
    pk, = place.columns("keys", "pk")
    assert len({row.tobytes() for row in pk}) == ROWS


def test_a_worker_dies(place, cluster):
    driver = Driver(cluster, "keys")
    receipts = driver.wait_for(4)
    os.kill(receipts[-1]["pid"], signal.SIGKILL)
    summary = driver.summary()
    assert 0 < summary["retries"] <= 2 and summary["workers"] == 2  # the partitions that the worker was computing
    check(place, summary)


def test_a_node_dies(place, cluster):
    driver = Driver(cluster, "keys")
    driver.wait_for(4)
    cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
    summary = driver.summary()
    assert summary["retries"] > 0
    check(place, summary)
    cluster.add_node(num_cpus=1)


def test_the_driver_dies_and_the_job_is_resumed(place, cluster):
    driver = Driver(cluster, "keys")
    driver.wait_for(4)
    driver.process.kill()
    driver.process.wait()
    summary = Driver(cluster, "keys", "--resume").summary()
    assert 0 < summary["computed_partitions"] < PARTITIONS
    check(place, summary)


def test_workers_errors_reach_the_caller(place, cluster):
    error = place("keygen", "keys", "--count", 10, "--key-file", "key", "--backend", "abacus",
                  ray=cluster.address, expect=4)
    assert "abacus" in error["error"]


def test_no_cluster_answers(place):
    error = place("keygen", "keys", "--count", 10, "--key-file", "key", ray="127.0.0.1:9", expect=7)
    assert "no Ray cluster" in error["error"]


def test_sigterm_names_the_command_that_goes_on(place, cluster):
    driver = Driver(cluster, "keys", stderr=True)
    driver.wait_for(4)
    driver.process.terminate()
    code, error, said = driver.ends()
    assert code == 143 and "SIGTERM" in error
    command = next(line for line in said.splitlines() if "to go on: " in line).partition("to go on: ")[2]
    program, *arguments = shlex.split(command)
    assert program == "polykem-bulk" and arguments[-1] == "--resume" and "***" not in said
    again = subprocess.run([sys.executable, "-m", "polykem.bulk", *arguments, "--json", "-"], stdout=subprocess.PIPE,
                           text=True, check=True, timeout=WAIT_SECONDS)
    check(place, json.loads(again.stdout))


def test_the_head_dies(place):
    """The job ends with its own error, although Ray by itself would end the process with 1 after a minute."""
    from ray._private import ray_constants
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        driver = Driver(made, "keys", stderr=True)
        driver.wait_for(2)
        made.head_node.all_processes[ray_constants.PROCESS_TYPE_GCS_SERVER][0].process.kill()
        code, error, said = driver.ends()
        assert code == 7 and "the head of the Ray cluster at" in error and "--resume" in said
    finally:
        made.shutdown()
    assert 0 < place(*COMMAND[:1], "keys", *COMMAND[1:], "--resume")["computed_partitions"] < PARTITIONS


@pytest.mark.parametrize("address", ["auto", "its own"])
def test_the_callers_own_connection_stays(place, cluster, address):
    ray.init(address=cluster.address, log_to_driver=False)
    address = cluster.address if address == "its own" else address
    try:
        before = ray.get_runtime_context().get_job_id()
        summary = bulk.run("keygen", "mlkem512", count=20, output=place / "keys", ray=address, gpus=False, cpus=1,
                           keys=bulk.Keys.under(bulk.read_key_file("key")))
        assert summary["rows"] == 20 and ray.is_initialized()
        assert ray.get_runtime_context().get_job_id() == before
        assert ray.get(ray.put(5)) == 5
    finally:
        ray.shutdown()
