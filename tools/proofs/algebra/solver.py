# SPDX-License-Identifier: Apache-2.0
"""Asks the solver Bitwuzla whether two terms are equal for all values of their variables."""

from __future__ import annotations

from collections.abc import Mapping

import bitwuzla

from proofs.algebra import methods
from proofs.algebra.facts import NotProved
from proofs.algebra.terms import Term

_KINDS = {"add": bitwuzla.Kind.BV_ADD, "sub": bitwuzla.Kind.BV_SUB, "mul": bitwuzla.Kind.BV_MUL,
          "and": bitwuzla.Kind.BV_AND, "or": bitwuzla.Kind.BV_OR, "xor": bitwuzla.Kind.BV_XOR,
          "concat": bitwuzla.Kind.BV_CONCAT}
_COMPARISONS = {"eq": bitwuzla.Kind.EQUAL, "ult": bitwuzla.Kind.BV_ULT, "slt": bitwuzla.Kind.BV_SLT}


def equal(a: Term, b: Term, instead: Mapping[Term, Term] | None = None) -> bool:
    """Returns whether the terms are equal for all values of their variables, where each term of `instead` in them is
    replaced by another, such as a new variable, which stands for anything that it may be."""
    methods.used.add("solver")
    manager = bitwuzla.TermManager()
    solver = bitwuzla.Bitwuzla(manager)
    done: dict[Term, bitwuzla.Term] = {}
    replaced = {term: _formula(manager, done, other) for term, other in (instead or {}).items()}
    done.update(replaced)
    solver.assert_formula(manager.mk_term(bitwuzla.Kind.DISTINCT, [_formula(manager, done, term) for term in (a, b)]))
    return solver.check_sat() == bitwuzla.Result.UNSAT


def _formula(manager: bitwuzla.TermManager, done: dict[Term, bitwuzla.Term], term: Term) -> bitwuzla.Term:
    stack = [term]
    while stack:
        top = stack[-1]
        waiting = [arg for arg in top.args if arg not in done] if top not in done else []
        if waiting:
            stack += waiting
            continue
        stack.pop()
        if top not in done:
            done[top] = _made(manager, top, [done[arg] for arg in top.args])
    return done[term]


def _made(manager: bitwuzla.TermManager, term: Term, args: list[bitwuzla.Term]) -> bitwuzla.Term:
    sort = manager.mk_bv_sort(term.width)
    if term.value is not None:
        return manager.mk_bv_value(sort, term.value)
    if term.op == "variable":
        return manager.mk_const(sort, str(term.extra))
    if term.op in _KINDS:
        return manager.mk_term(_KINDS[term.op], args)
    if term.op == "extract":
        return manager.mk_term(bitwuzla.Kind.BV_EXTRACT, args, list(term.extra))  # type: ignore[call-overload]
    if term.op == "sext":
        return manager.mk_term(bitwuzla.Kind.BV_SIGN_EXTEND, args, [term.width - term.args[0].width])
    one, zero = manager.mk_bv_value(manager.mk_bv_sort(1), 1), manager.mk_bv_value(manager.mk_bv_sort(1), 0)
    if term.op in _COMPARISONS:
        return manager.mk_term(bitwuzla.Kind.ITE, [manager.mk_term(_COMPARISONS[term.op], args), one, zero])
    if term.op == "alike":
        raise NotProved(f"{term} is of all items")
    if term.op == "ite":
        return manager.mk_term(bitwuzla.Kind.ITE, [manager.mk_term(bitwuzla.Kind.EQUAL, [args[0], one]), *args[1:]])
    raise ValueError(term.op)
