# SPDX-License-Identifier: Apache-2.0
"""Tests the cluster that a job starts for itself: on the loopback interface, and only for holders of its token."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

psutil = pytest.importorskip("psutil")
ray = pytest.importorskip("ray")
from polykem import bulk  # noqa: E402
from polykem.bulk import cluster  # noqa: E402

# Joins the cluster whose address is its argument, runs a task there and says so.
STRANGER = """
import ray, sys
ray.init(address=sys.argv[1], log_to_driver=False, logging_level="ERROR")
print("computed", ray.get(ray.remote(lambda: 6 * 7).remote(), timeout=60))
"""
PATIENCE_SECONDS = 120


def listening():
    """Returns (host, port) of each socket that this process or a child of it listens on."""
    found = set()
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        try:
            found |= {tuple(one.laddr) for one in process.net_connections("inet") if one.status == psutil.CONN_LISTEN}
        except psutil.Error:
            pass
    return found


def stranger(address, home, **environment):
    """Runs a program that tries to join the cluster without being a child of the job."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    clean["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # else Ray looks at this host's other address, in vain
    clean["RAY_NUM_REDIS_GET_RETRIES"] = "3"  # instead of 20, a second each, which give the same answer
    return subprocess.run([sys.executable, "-c", STRANGER, address], env={**clean, "HOME": str(home), **environment},
                          capture_output=True, text=True, timeout=PATIENCE_SECONDS)


@pytest.fixture(scope="module")
def observed():
    """A cluster that has run a task: its sockets, address and token. Its settings must be gone afterwards."""
    before, kept = listening(), {name: os.environ.get(name) for name in cluster.OWN_ENVIRONMENT}
    seen = {}
    with cluster.own_cluster(num_cpus=1):
        assert ray.get(ray.remote(lambda: 42).remote()) == 42
        seen["listening"] = listening() - before
        seen["address"] = ray.get_runtime_context().gcs_address
        seen["token"] = os.environ["RAY_AUTH_TOKEN"]
        yield seen
    assert {name: os.environ.get(name) for name in kept} == kept and not ray.is_initialized()


def test_it_listens_on_the_loopback_interface_alone(observed):
    assert len(observed["listening"]) >= 3
    assert {host.removeprefix("::ffff:") for host, _ in observed["listening"]} <= {"127.0.0.1", "::1"}


@pytest.mark.parametrize("environment", [{}, pytest.param({"RAY_AUTH_MODE": "disabled"}, marks=pytest.mark.long),
                                         pytest.param({"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0" * 64},
                                                      marks=pytest.mark.long)])
def test_without_the_token_nobody_gets_in(observed, tmp_path, environment):
    answer = stranger(observed["address"], tmp_path, **environment)
    assert answer.returncode != 0 and "computed" not in answer.stdout
    assert "Authentication token" in answer.stderr


@pytest.mark.long
def test_with_the_token_the_same_program_gets_in(observed, tmp_path):
    answer = stranger(observed["address"], tmp_path, RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=observed["token"])
    assert answer.stdout.split() == ["computed", "42"], answer.stderr


def test_the_token_is_in_no_argument_and_no_file_of_the_session(observed):
    token = observed["token"].encode()
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # it has ended
            assert token not in " ".join(process.cmdline()).encode()
    session = ray._private.worker._global_node.get_session_dir_path()
    for folder, _, names in os.walk(session):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    assert token not in file.read()


@pytest.mark.parametrize("address", ["local", "another"])
def test_a_cluster_that_the_caller_has_joined_is_used_only_if_it_is_meant(observed, place, address):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}" if address == "another" else address
        with pytest.raises(bulk.BulkError, match="has joined the Ray cluster at") as raised:
            bulk.run("keygen", "mlkem512", count=2, output=place / "keys", ray=address, gpus=False,
                     keys=bulk.Keys.under(bulk.read_key_file("key")))
    assert raised.value.code == 2 and observed["address"] in raised.value.hint and ray.is_initialized()


@pytest.mark.long
def test_sigterm_to_the_whole_process_group(tmp_path):
    """A job ends in order if Ray's processes get the signal too, as timeout, systemd and Slurm send it."""
    words = [sys.executable, "-m", "polykem.bulk"]
    subprocess.run([*words, "new-key", "key"], cwd=tmp_path, check=True)
    words += ["keygen", "keys", "--scheme", "frodokem640shake", "--count", "100000", "--key-file", "key", "--ray",
              "local", "--cpus", "1", "--backend", "ref", "--partition-mb", "1", "--json", "out.json"]
    job = subprocess.Popen(words, cwd=tmp_path, start_new_session=True, stderr=subprocess.PIPE, text=True)
    for _ in range(PATIENCE_SECONDS * 20):
        if list(tmp_path.glob("keys/receipts/*.json")) or job.poll() is not None:
            break
        time.sleep(0.05)
    os.killpg(job.pid, signal.SIGTERM)
    _, said = job.communicate(timeout=PATIENCE_SECONDS)
    assert job.returncode == 143 == json.loads((tmp_path / "out.json").read_text())["exit_code"], said
    assert "--resume" in said and "Traceback" not in said and "a defect" not in said


def test_a_job_computes_on_it(place):
    """A job runs on its own cluster; it needs a process of its own, since Ray's settings are global."""
    answer = subprocess.run([sys.executable, "-m", "polykem.bulk", "keygen", "keys", "--count", "20", "--key-file",
                             "key", "--ray", "local", "--cpus", "1", "--quiet", "--json", "-"], capture_output=True,
                            text=True, timeout=PATIENCE_SECONDS)
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["rows"] == 20
    assert place("verify", "keys", "--key-file", "key")["complete"]


def test_ray_that_does_not_start_is_no_defect(monkeypatch):
    def init(**_options):
        raise Exception("The current node timed out during startup. The GCS may be overloaded.")  # as Ray does
    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(ray, "is_initialized", lambda: False)  # even if an earlier test joined a cluster
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    with pytest.raises(bulk.BulkError, match="Ray did not start on this host: The current node timed out") as raised, \
            cluster.own_cluster(num_cpus=1):
        pytest.fail("there is no cluster")
    assert raised.value.code == 7 and "--resume" in raised.value.hint
