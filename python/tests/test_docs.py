# SPDX-License-Identifier: Apache-2.0
"""Tests that the examples in docstrings, pages and the notebook run and print what they show."""
import doctest
import importlib
import inspect
import os
import pkgutil
import re

import polykem
import pytest

from known_answers import ROOT

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = ["polykem"] + [f"polykem.{m.name}" for m in pkgutil.iter_modules(polykem.__path__)
                         if m.name.startswith("_") and m.name not in ("_core", "__main__")]
HPKE = ["polykem.hpke", "polykem.hpke._suite", "polykem.hpke._contexts"]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(name), optionflags=FLAGS).failed == 0


@pytest.mark.parametrize("name", HPKE)
def test_docstrings_of_hpke(name):
    module = pytest.importorskip(name, exc_type=ImportError)
    failed, attempted = doctest.testmod(module, optionflags=FLAGS)
    assert attempted > 0 and failed == 0


@pytest.mark.parametrize("page", ["README.md", "docs/python.md", "ckks/README.md", "docs/bulk.md"])
def test_pages(page, tmp_path, monkeypatch):
    if page == "docs/bulk.md":
        pytest.importorskip("pyarrow")
    if page == "ckks/README.md":
        pytest.importorskip("polykem.ckks", exc_type=ImportError)
    monkeypatch.chdir(tmp_path)
    path = ROOT / page
    if not path.exists():
        pytest.skip("the pages are not here")
    blocks = BLOCK.findall(path.read_text(encoding="utf-8"))
    assert blocks, f"{page} shows no Python"
    examples = [block for block in blocks if ">>>" in block]
    test = doctest.DocTestParser().get_doctest("\n".join(examples), {}, page, str(path), 0)
    assert doctest.DocTestRunner(optionflags=FLAGS).run(test).failed == 0
    for block in blocks:
        if ">>>" not in block:
            exec(compile(block, page, "exec"), {"__name__": page})


def test_every_public_thing_is_documented():
    for name in polykem.__all__:
        thing = getattr(polykem, name)
        if name != "__version__":
            assert thing.__doc__, name
        for attribute, member in vars(thing).items() if isinstance(thing, type) else ():
            if callable(member) and not attribute.startswith("_"):
                assert inspect.getdoc(getattr(thing, attribute)), f"{name}.{attribute}"


def test_the_notebook(monkeypatch):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    path = ROOT / "python" / "examples" / "from_one_key_to_a_million.ipynb"
    if not path.exists():
        pytest.skip("the notebook is not here")
    monkeypatch.setenv("POLYKEM_ITEMS", "5000")
    monkeypatch.setenv("PYTHONPATH", os.path.dirname(os.path.abspath(polykem.__path__[0])))  # the kernel's
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "commit the notebook without outputs"
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3",
                            resources={"metadata": {"path": os.fspath(path.parent)}}).execute()
    text = "".join(out.get("text", "") for cell in notebook.cells for out in cell.get("outputs", []))
    assert "5,000" in text and "True" in text
