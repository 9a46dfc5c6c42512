# SPDX-License-Identifier: Apache-2.0
"""Files of OpenFHE 1.6 for CKKS."""

from __future__ import annotations

import contextlib
import math
import os
import re
import secrets
from collections.abc import Iterator
from typing import Any, Literal, Union

from .. import _core
from ._alignment import SCALE_ROUNDING
from ._batches import Ciphertexts
from ._context import Context
from ._errors import (ArgumentError, FormatError, InsecureError, MissingReaderError, ParameterError, ResidueError,
                      ScaleError)
from ._evaluator import Evaluator
from ._keys import Keys, PublicKey, SecretKey
from ._noise import SPARSE_WEIGHT, NoiseModel
from ._parameters import Parameters, level_scale, special_primes

Kind = Literal["context", "public key", "secret key", "ciphertext", "relinearisation keys", "automorphism keys"]
Object = Union[Context, PublicKey, SecretKey, Ciphertexts, Keys]

# Enough to recognise a file, and less than a secret key's file has before its first residue: they leave no copies.
_HEAD_BYTES = 512
# OpenFHE's numbers of its scaling techniques.
_FIXED_MANUAL, _FIXED_AUTO, _FLEXIBLE_AUTO, _FLEXIBLE_AUTO_EXT, _COMPOSITE_AUTO, _COMPOSITE_MANUAL = range(6)
_FIXED = (_FIXED_MANUAL, _FIXED_AUTO)
_AUXILIARY_BITS = 60
# Slightly below 3.19, the error deviation that the standard's table assumes.
_LEAST_DEVIATION = 3.18
_SCALE_RATIO = 2.0 ** -10


def load(source: Any, context: Context | None = None, *, kind: Kind | None = None, key_tag: str | None = None,
         threads: int = 0, allow_insecure: bool = False) -> Object:
    """Read a file that OpenFHE or `save` wrote, in JSON or in the binary form.

    Parameters
    ----------
    source : path or bytes
        The file, or what is in it.
    context : Context, optional
        The context of the result. It must have the file's parameters; without one, a context is made of them.
    kind : str, optional
        What is in the file, if it is not recognised: "context", "public key", "secret key", "ciphertext",
        "relinearisation keys" or "automorphism keys".
    key_tag : str, optional
        Selects keys from a file with the keys of several secret keys.
    threads, allow_insecure
        Of the context that is made.

    Returns
    -------
    Context, PublicKey, SecretKey, Keys or Ciphertexts
        Ciphertexts are a batch of one; `join` makes one batch of several.

    Raises
    ------
    FormatError
        The file is not one of OpenFHE for CKKS; the text names the place.
    ParameterError
        polykem does not support the parameters, or they are not those of `context`.
    InsecureError
        They leave less than 128 bits of security: the moduli, or sparse secrets or errors smaller than the standard's.
    OSError
        The file cannot be read.
    """
    _need_openfhe()
    source, head = _opened(source)
    what: str | None = kind or kind_of(head)
    if what == "key":
        file, what = _read_key(source)
    elif what in _READERS:
        file = _READERS[what](source)
    else:
        raise FormatError("this is not a file of OpenFHE for CKKS" if what is None else f"there is no kind {what!r}")
    made = _Contexts(context, threads, allow_insecure)
    if what == "context":
        return made.of(file)
    if what in ("relinearisation keys", "automorphism keys"):
        return _keys(file, made, key_tag)
    with _of_the_file():
        context = made.of(file.context)
        core = file.make(context._core)
    if what == "ciphertext":
        return Ciphertexts(context, core, file.noise_degree, file.key_tag)
    return (PublicKey if what == "public key" else SecretKey)(context, core, file.key_tag)


@contextlib.contextmanager
def _of_the_file() -> Iterator[None]:
    """Turn errors about a file's values, which are not arguments, into FormatError."""
    try:
        yield
    except (ArgumentError, ResidueError, ScaleError) as error:
        raise FormatError(str(error)) from None


def save(thing: Object, path: Any, form: Literal["binary", "json"] = "binary", *,
         part: Literal["relinearisation", "automorphisms"] | None = None) -> None:
    """Write a file that OpenFHE reads.

    Level, scale, noise degree and key tag are those that OpenFHE would have. In contexts of its technique FIXEDMANUAL
    it takes every scale for a power of 2^m (m the scaling modulus size), so the numbers that it decrypts differ by the
    ratio of that to the scale. In the other techniques it takes ciphertexts of one level to have one scale, 2^m in
    FIXEDAUTO: those with a level left are brought to its square, as a product that OpenFHE has not rescaled. In the
    last level they keep their scale: OpenFHE decrypts them right, in FIXEDAUTO but for the ratio, and adds them to its
    own with an error of the ratio.

    Parameters
    ----------
    thing : Context, PublicKey, SecretKey, Keys or Ciphertexts
        Ciphertexts must be a batch of one. A secret key's file can be read by its owner only.
    path : path
        Replaced when the new file is complete.
    form : {"binary", "json"}
    part : {"relinearisation", "automorphisms"}, optional
        Which keys: OpenFHE has a file for each of the two. Needed if there are both.

    Raises
    ------
    ArgumentError
        A batch of several ciphertexts, no keys of that part, or keys on a GPU.
    ParameterError
        OpenFHE, which chooses the special primes itself, would choose others and could not use the keys.
    MissingReaderError
        This build has no reader of OpenFHE's files.
    ScaleError
        The scale is too far from every scale that OpenFHE knows in this context.
    OSError
        The file cannot be written.
    """
    _need_openfhe()
    if form not in ("binary", "json"):
        raise ArgumentError(f'the form is "binary" or "json", not {form!r}')
    path = os.path.abspath(os.fsdecode(os.fspath(path)))
    temporary = os.path.join(os.path.dirname(path), f".polykem-{secrets.token_hex(8)}.part")
    mode = 0o600 if isinstance(thing, SecretKey) else 0o666
    descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
    try:
        # By its descriptor: nobody can have put another file in its place.
        _write(thing, f"/proc/self/fd/{descriptor}", form == "json", part)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    finally:
        os.close(descriptor)


def kind_of(head: bytes) -> str | None:
    """Return the kind of a file by its head: "key" for a public or a secret key, None if it is not one of OpenFHE."""
    return _kind_of_binary(head[1:]) if head[:1] in (b"\0", b"\1") else _kind_of_json(head)


def _kind_of_binary(head: bytes) -> str | None:
    """Tell binary files apart: a pointer begins with a mark of its class and a number, a map with its size and key."""
    def number(at: int, size: int = 4) -> int:
        return int.from_bytes(head[at:at + size], "little")
    new, same_class = 0x80000001, 0x40000000
    if number(0) != same_class:
        tag_bytes = number(8, 8)
        return "automorphism keys" if number(16 + tag_bytes) == new else "relinearisation keys"
    if number(4) != new or number(8) > 1:
        return None
    if number(8) == 0:
        return "key"
    return "context" if number(12) == new else "ciphertext"


def _kind_of_json(head: bytes) -> str | None:
    text = re.sub(rb"\s+", b"", head)
    pointer = rb'\{"value0":\{"polymorphic_id":\d+,"ptr_wrapper":\{"id":\d+,"data":\{"cereal_class_version":'
    for kind, pattern in (("context", pointer + rb'1,"cc"'), ("ciphertext", pointer + rb"1,"),
                          ("key", pointer + rb"0,"),
                          ("automorphism keys", rb'\{"value0":\[\{"key":"[^"]*","value":\{'),
                          ("relinearisation keys", rb'\{"value0":\[')):
        if re.match(pattern, text):
            return kind
    return None


_READERS: dict[str, Any] = {}
if hasattr(_core, "OpenfheContext"):
    _READERS = {
        "context": _core.openfhe_read_context,
        "public key": _core.openfhe_read_public_key,
        "secret key": _core.openfhe_read_secret_key,
        "ciphertext": _core.openfhe_read_ciphertext,
        "relinearisation keys": _core.openfhe_read_relinearisation_keys,
        "automorphism keys": _core.openfhe_read_automorphism_keys,
    }


def _need_openfhe() -> None:
    if not _READERS:
        raise MissingReaderError("this build of polykem does not read or write OpenFHE's files, because nlohmann-json "
                                 "was missing: install nlohmann-json3-dev, then POLYKEM_CKKS=ON pip install "
                                 "--force-reinstall --no-cache-dir .")


def _opened(source: Any) -> tuple[Union[str, memoryview], bytes]:
    """Return the source for the extension to read, and its first bytes."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        view = memoryview(source)
        whole = view.cast("B") if view.c_contiguous else memoryview(bytes(view))
        return whole, bytes(whole[:_HEAD_BYTES])
    path = os.fsdecode(os.fspath(source))
    with open(path, "rb", buffering=0) as file:
        return path, file.read(_HEAD_BYTES)


def _read_key(source: Any) -> tuple[Any, str]:
    """Read a public or a secret key, which begin alike."""
    try:
        return _READERS["public key"](source), "public key"
    except FormatError as public:
        try:
            return _READERS["secret key"](source), "secret key"
        except FormatError as secret:
            raise (secret if re.search(r"\.h (is|has) ", str(public)) else public) from None


class _Contexts:
    """Makes contexts of those in files, or takes the one that was given."""

    def __init__(self, given: Context | None, threads: int, allow_insecure: bool):
        self._given, self._threads, self._allow_insecure = given, threads, allow_insecure

    def of(self, file: Any, special: tuple[Any, Any] = ((), ())) -> Context:
        """Return the context of a file. `special`: the special primes and their roots, if keys have them."""
        weak = _weakness(file)
        if weak and not self._allow_insecure and not (self._given is not None and self._given._weak):
            raise InsecureError(f"the file's keys have {weak}, which leaves less than 128 bits of security: make them "
                                "with SetSecretKeyDist(UNIFORM_TERNARY) and the standard deviation 3.19, or allow it "
                                "for tests")
        if self._given is not None:
            return self._checked(self._given, file, special)
        context = Context(_parameters(file, special), self._threads, self._allow_insecure)
        context._openfhe, context._weak, context._openfhe_special = file, bool(weak), bool(special[0])
        context._noise = _noise_model(context.parameters, file)
        return context

    @staticmethod
    def _checked(given: Context, file: Any, special: tuple[Any, Any]) -> Context:
        x = given.parameters
        same = (x.log_n, x.q, x.q_roots, x.digits) == (file.log_n, tuple(file.q), tuple(file.q_roots), _digits(file))
        if not same or (special[0] and (x.p, x.p_roots) != tuple(map(tuple, special))):
            raise ParameterError("the file has other parameters than the context that was given: "
                                 f"{_parameters(file, special)}, not {x}")
        given._weak = given._weak or bool(_weakness(file))
        given._noise = _noise_model(given.parameters, file)
        if given._openfhe is None:
            given._openfhe = file
        given._openfhe_special = given._openfhe_special or bool(special[0])
        return given


def _weakness(file: Any) -> str:
    """Return why the standard's table does not apply to a file's keys; empty if it does."""
    if file.sparse:
        return "sparse secrets"
    deviation = float(file.noise_deviation)
    return f"errors of the standard deviation {deviation:g}" if deviation < _LEAST_DEVIATION else ""


def _noise_model(parameters: Parameters, file: Any) -> NoiseModel:
    """Return the noise of keys of a file's context; it is unknown for secrets that are not ternary."""
    weight = min(SPARSE_WEIGHT, 1 << parameters.log_n) if file.sparse else math.nan if file.gaussian else None
    return NoiseModel(parameters, weight, float(file.noise_deviation) ** 2)


def _parameters(file: Any, special: tuple[Any, Any]) -> Parameters:
    p, p_roots = special
    if not p and file.hybrid:
        p = special_primes(file.log_n, file.q, _digits(file), file.auxiliary_bits, file.composite_degree)
    return Parameters(file.log_n, file.q, p, _digits(file), file.q_roots, p_roots, _scale(file),
                      file.composite_degree, file.scaling == _FLEXIBLE_AUTO_EXT)


def _digits(file: Any) -> int:
    primes = len(file.q)
    size: int = -(-primes // min(file.digits, primes))
    return -(-primes // size)


def _scale(file: Any) -> float:
    """Return the scale of a level as OpenFHE has it: a power of two, or what the first rescaling drops."""
    if file.scaling not in (*_FIXED, _FLEXIBLE_AUTO, _FLEXIBLE_AUTO_EXT, _COMPOSITE_AUTO, _COMPOSITE_MANUAL):
        raise ParameterError("OpenFHE's scaling technique NORESCALE is not supported: choose another one in OpenFHE")
    q = file.q[:-1] if file.scaling == _FLEXIBLE_AUTO_EXT else file.q
    if file.scaling in _FIXED or len(q) <= 1:
        return float(2.0 ** file.scaling_bits)
    return level_scale(q, file.composite_degree)


def _keys(file: Any, made: _Contexts, key_tag: str | None) -> Keys:
    tags = sorted({tag for tag, _ in file.entries})
    if key_tag is None and len(tags) == 1:
        key_tag = tags[0]
    if key_tag is None or key_tag not in tags:
        raise ArgumentError(f"name the secret key whose keys to take by key_tag, one of {tags}" if tags
                            else "there are no keys in this file")
    mine = [i for i, (tag, _) in enumerate(file.entries) if tag == key_tag]
    of_file = file.context(mine[0])
    if not of_file.hybrid:
        raise ParameterError("keys for BV key switching are not supported: choose HYBRID in OpenFHE")
    with _of_the_file():
        context = made.of(of_file, file.special(mine[0]))
        keys = {file.entries[i][1]: file.make(i, context._core) for i in mine}
    return Keys(context, key_tag, keys.pop(0, None), keys)


def _openfhe_context(context: Context) -> Any:
    x = context.parameters
    if context._openfhe is None:
        context._openfhe = _core.openfhe_context(context.ring_dimension, x.q, x.q_roots, x.digits, _scaling_bits(x),
                                                 _scaling(x), x.limbs_per_level, _auxiliary_bits(x))
    return context._openfhe


def _scaling_bits(x: Parameters) -> int:
    return round(math.log2(x.scale))


def _scaling(x: Parameters) -> int:
    """Return the technique with which OpenFHE, and `load`, have the same scale and limbs in a level."""
    if x.limbs_per_level == 1 and x.scale == 2.0 ** _scaling_bits(x):
        return _FIXED_MANUAL
    if x.scale == level_scale(x.q, x.limbs_per_level) and len(x.q) % x.limbs_per_level == 0:
        return _FLEXIBLE_AUTO if x.limbs_per_level == 1 else _COMPOSITE_MANUAL
    raise ParameterError(f"OpenFHE has no context with the scale {x.scale:g} and {x.limbs_per_level} limbs per level: "
                         "take a power of two and one limb, or the product of the primes that a level drops")


def _auxiliary_bits(x: Parameters) -> int:
    """Return the bits of the special primes of `x`, as OpenFHE would choose them."""
    return max((p.bit_length() for p in x.p), default=_AUXILIARY_BITS)


def _write(thing: Object, path: str, json: bool, part: str | None) -> None:
    if isinstance(thing, Context):
        _core.openfhe_write_context(_openfhe_context(thing), path, json)
    elif isinstance(thing, PublicKey):
        _core.openfhe_write_public_key(_openfhe_context(thing.context), thing._core, thing.key_tag, path, json)
    elif isinstance(thing, SecretKey):
        _core.openfhe_write_secret_key(_openfhe_context(thing.context), thing._core, thing.key_tag, path, json)
    elif isinstance(thing, Keys):
        _write_keys(thing, path, json, part)
    elif isinstance(thing, Ciphertexts):
        _write_ciphertext(thing.to_host(), path, json)
    else:
        raise ArgumentError(f"{type(thing).__name__} cannot be saved in a file of OpenFHE")


def _write_keys(keys: Keys, path: str, json: bool, part: str | None) -> None:
    if keys._on_gpu:
        raise ArgumentError("these keys lie on a GPU: save those of which they are copies")
    context, x = _openfhe_context(keys.context), keys.context.parameters
    if not keys.context._openfhe_special and x.p != special_primes(x.log_n, x.q, x.digits, context.auxiliary_bits,
                                                                   x.limbs_per_level):
        raise ParameterError("OpenFHE would choose other special primes for these parameters and could not use the "
                             "keys: take those of Parameters.choose")
    if part is None and keys.relinearises and keys.elements:
        raise ArgumentError('OpenFHE has a file for each part of the keys: say part="relinearisation" or '
                            'part="automorphisms"')
    part = part or ("relinearisation" if keys.relinearises else "automorphisms")
    file = _core.openfhe_key_file(context, x.p, x.p_roots, x.digits, keys.key_tag)
    if part == "relinearisation" and keys.relinearises:
        _core.openfhe_write_relinearisation_key(file, keys._relinearisation, path, json)
    elif part == "automorphisms" and keys.elements:
        _core.openfhe_write_automorphism_keys(file, sorted(keys._automorphisms.items()), path, json)
    else:
        raise ArgumentError(f"there are no keys of the part {part!r}")


def _write_ciphertext(ciphertexts: Ciphertexts, path: str, json: bool) -> None:
    if ciphertexts.count != 1:
        raise ArgumentError(f"a file of OpenFHE holds one ciphertext: save the {ciphertexts.count} one by one, "
                            "ciphertexts[i]")
    context = _openfhe_context(ciphertexts.context)
    if context.scaling != _FIXED_MANUAL:
        ciphertexts = _at_level_scale(ciphertexts, context)
    scale = _scale_of(context, ciphertexts.limbs, ciphertexts.degree)
    if abs(ciphertexts.scale / scale - 1) > _SCALE_RATIO:
        raise ScaleError(f"OpenFHE would take the scale for 2^{math.log2(scale):.4f}, but it is "
                         f"2^{math.log2(ciphertexts.scale):.4f}: rescale, or encode factors at the context's scale")
    _core.openfhe_write_ciphertext(context, ciphertexts._core, 0, ciphertexts.key_tag, ciphertexts.degree,
                                   scale if context.scaling in _FIXED else ciphertexts.scale, path, json)


def _scale_of(file: Any, limbs: int, degree: int) -> float:
    """Return the scale that OpenFHE takes ciphertexts of that many limbs to have."""
    scale, step = _scale(file), file.composite_degree
    top = len(file.q) - (file.scaling == _FLEXIBLE_AUTO_EXT)
    if limbs > top:
        return float((scale * file.q[-1]) ** (degree / 2))
    while file.scaling not in _FIXED and top - step >= limbs:
        scale *= scale / level_scale(file.q[:top], step)
        top -= step
    return float(scale ** degree)


def _at_level_scale(a: Ciphertexts, file: Any) -> Ciphertexts:
    """Return the ciphertexts at the square of their level's scale: a product that OpenFHE rescales before the next one.
    They stay as they are if their scale is right or far from right, and if no level is left for that."""
    evaluator, step = Evaluator(a.context), file.composite_degree

    def off(a: Ciphertexts) -> float:
        return abs(a.scale / _scale_of(file, a.limbs, a.degree) - 1)
    while a.degree > 1 and a.limbs > 2 * step and off(a) > SCALE_ROUNDING:
        a = evaluator.rescale(a)
    if a.degree > 1 or a.limbs < 2 * step or not SCALE_ROUNDING < off(a) <= _SCALE_RATIO:
        return a
    one = a.context.encode([1.0], limbs=a.limbs, scale=_scale_of(file, a.limbs, 2) / a.scale)
    return evaluator.mul(a, one, rescale=False)
