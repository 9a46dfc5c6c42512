# SPDX-License-Identifier: Apache-2.0
"""Computes terms for arrays of values of other terms."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from proofs.algebra import methods
from proofs.algebra.facts import NotProved
from proofs.algebra.terms import Term


def evaluate(term: Term, known: dict[Term, NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """Returns a term for arrays of values of other terms, which determine it. All are below 2^width."""
    methods.used.add("tables")
    done = dict(known)
    stack = [term]
    while stack:
        top = stack[-1]
        if top in done:
            stack.pop()
            continue
        waiting = [arg for arg in top.args if arg not in done]
        if waiting:
            stack += waiting
            continue
        stack.pop()
        done[top] = _compute(top, [done[arg] for arg in top.args])
    return done[term]


def _signed(x: NDArray[np.uint64], width: int) -> NDArray[np.int64]:
    up = np.uint64(64 - width)
    return (x << up).view(np.int64) >> np.int64(64 - width)


def _compute(term: Term, x: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    if term.value is not None:
        return np.array([term.value], dtype=np.uint64)
    if term.op == "variable":
        raise NotProved(f"{term} is not known")
    with np.errstate(over="ignore"):
        width = term.args[0].width
        match term.op:
            case "add":
                result = x[0] + x[1]
            case "sub":
                result = x[0] - x[1]
            case "mul":
                result = x[0] * x[1]
            case "and":
                result = x[0] & x[1]
            case "or":
                result = x[0] | x[1]
            case "xor":
                result = x[0] ^ x[1]
            case "extract":
                result = x[0] >> np.uint64(term.extra[1])  # type: ignore[index]
            case "sext":
                result = _signed(x[0], width).view(np.uint64)
            case "concat":
                result = x[0]
                for part, value in zip(term.args[1:], x[1:]):
                    result = result << np.uint64(part.width) | value
            case "eq":
                result = (x[0] == x[1]).astype(np.uint64)
            case "ult":
                result = (x[0] < x[1]).astype(np.uint64)
            case "slt":
                result = (_signed(x[0], width) < _signed(x[1], width)).astype(np.uint64)
            case "ite":
                result = np.where(x[0] != 0, x[1], x[2])
            case _:
                raise ValueError(term.op)
    return result & _ones(term.width)


def meanings(bits: NDArray[np.uint64], width: int) -> Iterable[NDArray[np.int64]]:
    """Returns the integers that bits stand for: signed ones and, where they differ, unsigned ones."""
    if width == 64:
        yield bits.astype(np.int64)
        return
    unsigned = bits.astype(np.int64)
    signed = unsigned - ((unsigned >> (width - 1)) << width)
    yield signed
    if signed.min() < 0:
        yield unsigned


def _ones(width: int) -> np.uint64:
    return np.uint64((1 << width) - 1)


def bits_of(x: NDArray[np.int64], width: int) -> NDArray[np.uint64]:
    """Returns the bits of integers."""
    return x.astype(np.uint64) & _ones(width)
