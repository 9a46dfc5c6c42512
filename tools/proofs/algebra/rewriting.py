# SPDX-License-Identifier: Apache-2.0
"""Writes terms in another way.

Grouped puts sums in another order, mod 2^width: what depends on one and the same term comes together, as it does in the
source. Compilers add x, y and a multiple of x in any order, and rules of ranges know little about x + y alone.

Lowest makes terms of fewer bits. Lane says what a term of interleaved items is for one of them, and Only, on which word
a term depends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from proofs.algebra.facts import NotProved
from proofs.algebra.terms import Term, add, alike, bitwise, compare, concat, const, extract, ite, mul, sext, sub


def rebuilt(term: Term, args: Sequence[Term]) -> Term:
    """Returns the term with other operands of the same widths."""
    match term.op:
        case "add":
            return add(*args)
        case "sub":
            return sub(*args)
        case "mul":
            return mul(*args)
        case "and" | "or" | "xor":
            return bitwise(term.op, *args)
        case "extract":
            return extract(args[0], *term.extra)  # type: ignore[misc]
        case "concat":
            return concat(*args)
        case "sext":
            return sext(args[0], term.width)
        case "eq" | "ult" | "slt":
            return compare(term.op, *args)
        case "ite":
            return ite(*args)
        case "alike":
            return alike(args[0], term.width // args[0].width)
    return term


def rewritten(root: Term, done: dict[Term, Term], rewrite: Callable[[Term, list[Term]], Term]) -> Term:
    """Returns what `rewrite` makes of a term and of its arguments, rewritten before it. `done` keeps all of these."""
    stack = [root]
    while stack:
        term = stack[-1]
        waiting = [arg for arg in term.args if arg not in done] if term not in done else []
        stack += waiting
        if not waiting:
            stack.pop()
            if term not in done:
                done[term] = rewrite(term, [done[arg] for arg in term.args])
    return done[root]


class Lowest:
    """Terms in which the lowest bits of small sums and products are those of the lowest bits of their operands."""

    def __init__(self) -> None:
        self._done: dict[Term, Term] = {}

    def of(self, root: Term) -> Term:
        """Returns a term that is equal for all values of its variables."""
        return rewritten(root, self._done, lambda term, args: _lowest_bits(rebuilt(term, args)))


def _lowest_bits(term: Term, depth: int = 8) -> Term:
    if depth == 0 or term.op != "extract" or term.args[0].op not in ("add", "sub", "mul"):
        return term
    (high, low), whole = term.extra, term.args[0]  # type: ignore[misc]
    args = [_lowest_bits(extract(arg, high, 0), depth - 1) for arg in whole.args]
    return extract(rebuilt(whole, args), high, low)


class Lane:
    """Terms of lanes alike as one item's: its lane of each of them is a function of that item's words."""

    def __init__(self, item: int) -> None:
        self._item = item
        self._done: dict[Term, Term] = {}

    def of(self, root: Term) -> Term:
        """Returns the term over the words of one item. Raises NotProved if it depends on another item's."""
        stack = [root]
        while stack:
            term = stack[-1]
            inside = term.op == "extract" and term.args[0].op == "alike"
            waiting = [] if inside else [arg for arg in term.args if arg not in self._done]
            stack += waiting
            if not waiting:
                stack.pop()
                if term not in self._done:
                    self._done[term] = self._inside(term) if inside else self._outside(term)
        return self._done[root]

    def _inside(self, term: Term) -> Term:
        lane, (high, low) = term.args[0].args[0], term.extra  # type: ignore[misc]
        first = self._item * lane.width
        if not first <= low <= high < first + lane.width:
            raise NotProved(f"{term} is of another item than {self._item}")
        return extract(lane, high - first, low - first)

    def _outside(self, term: Term) -> Term:
        if term.op in ("alike", "variable"):
            raise NotProved(f"{term} is of all items")
        return rebuilt(term, [self._done[arg] for arg in term.args])


class Grouped:
    """Terms with their sums in the other order."""

    def __init__(self) -> None:
        self._done: dict[Term, Term] = {}
        self._bases: dict[Term, Term | None] = {}
        self._whole: set[Term] = set()  # sums of which something else than a sum is made: they are not taken apart
        self._seen: set[Term] = set()

    def of(self, root: Term) -> Term:
        """Returns a term that is equal for all values of its variables."""
        self._see(root)
        stack = [root]
        while stack:
            term = stack[-1]
            parts = [part for part, _ in self._summands(term)] if term.op in ("add", "sub") else term.args
            waiting = [part for part in parts if part not in self._done] if term not in self._done else []
            stack += waiting
            if not waiting:
                stack.pop()
                if term not in self._done:
                    self._done[term] = self._sum(term) if term.op in ("add", "sub") else rebuilt(
                        term, [self._done[arg] for arg in term.args])
        return self._done[root]

    def _sum(self, term: Term) -> Term:
        groups: dict[Term | None, Term] = {}
        for part, sign in self._summands(term):
            part = self._done[part]
            base = self.base(part)
            before = groups.get(base, const(0, term.width))
            groups[base] = add(before, part) if sign > 0 else sub(before, part)
        total = const(0, term.width)
        for base in sorted(groups, key=lambda base: -1 if base is None else base.number, reverse=True):
            total = add(total, groups[base])
        return total

    def base(self, root: Term) -> Term | None:
        """Returns the term of which alone another one is made, the deepest one; None for constants."""
        stack = [root]
        while stack:
            term = stack[-1]
            waiting = [arg for arg in term.args if arg not in self._bases] if term not in self._bases else []
            stack += waiting
            if not waiting:
                stack.pop()
                if term not in self._bases:
                    bases = {self._bases[arg] for arg in term.args} - {None}
                    only = bases.pop() if len(bases) == 1 else term
                    self._bases[term] = None if term.value is not None else only
        return self._bases[root]

    def _see(self, root: Term) -> None:
        stack = [root]
        while stack:
            term = stack.pop()
            if term in self._seen:
                continue
            self._seen.add(term)
            stack += term.args
            if term.op not in ("add", "sub"):
                self._whole |= {arg for arg in term.args if arg.op in ("add", "sub")}

    def _summands(self, term: Term) -> list[tuple[Term, int]]:
        """Returns terms and signs whose sum, mod 2^width, is the given one."""
        result, stack = [], [(term, 1)]
        while stack:
            top, sign = stack.pop()
            if top.op in ("add", "sub") and (top is term or top not in self._whole):
                stack += [(top.args[1], sign if top.op == "add" else -sign), (top.args[0], sign)]
            else:
                result.append((top, sign))
        return result


class Only:
    """Finds the one of some words on which a term depends."""

    def __init__(self, words: Iterable[Term]) -> None:
        self._words = set(words)
        self._found: dict[Term, Term | None] = {word: word for word in self._words}

    def of(self, root: Term) -> Term | None:
        """Returns it; None if there are several, or other variables, or none."""
        stack = [root]
        while stack:
            term = stack[-1]
            waiting = [arg for arg in term.args if arg not in self._found]
            if waiting and term not in self._found:
                stack += waiting
                continue
            stack.pop()
            if term not in self._found:
                sources = {self._found[arg] for arg in term.args if arg.value is None}
                self._found[term] = sources.pop() if len(sources) == 1 else None
        return self._found[root]
