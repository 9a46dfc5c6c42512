# SPDX-License-Identifier: Apache-2.0
"""Contexts of many messages and of exported secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from .._arrays import ByteArray, StatusArray, check_whole
from .._batch import Errors
from .._errors import ArgumentError, SizeError
from .._messages import Listed, Messages, one_count
from .._secret import Secret, check_unwiped, secrets_of
from ._algorithms import TAG_BYTES
from ._messages import OutputBuffer
from ._results import Opened, check, check_errors, finish

if TYPE_CHECKING:
    from ._suite import Suite

MAX_MESSAGE_NUMBER = (1 << 64) - 1


class Contexts:
    """The base of `Sender` and `Recipient`."""

    def __init__(self, suite: Suite, made: Any, status: StatusArray) -> None:
        self.suite, self.status, self._core = suite, status, made

    def __len__(self) -> int:
        return len(self.status)

    def __repr__(self) -> str:
        return f"<polykem.hpke.{type(self).__name__}: {len(self)} contexts of {self.suite!r}>"

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError("contexts cannot be pickled or copied: a copy would use the same nonces again")

    @property
    def numbers(self) -> npt.NDArray[np.uint64]:
        """uint64, (n,): the number of each context's next message."""
        out = np.zeros(len(self), np.uint64)
        check(self._core.numbers(out), "reading the numbers")
        return out

    def skip_to(self, number: int) -> None:
        """Advance every context that is before this message number to it; the messages in between are lost."""
        check(self._core.skip_to(message_number(number, "number")), "skipping messages")

    def export(self, exporter_context: Any, length: int, *, errors: Errors = "raise") -> Secret:
        """Export a secret from each context: the same on both sides.

        Parameters
        ----------
        exporter_context : bytes, array of uint8, (n, width), or list of bytes
            What the secrets are for; one for all contexts, or one for each.
        length : int
            Bytes of a secret; at most 255 hashes with HKDF, 65,535 with SHAKE.
        errors : {"raise", "return"}
            What to do if the setup of some contexts has failed; their secrets are zeros.

        Returns
        -------
        Secret
            (n, length).
        """
        check_errors(errors)
        contexts = Messages.bound(exporter_context, "exporter_context")
        maximum = self.suite._core.max_export_bytes
        length = check_whole(length, "length")
        if not 1 <= length <= maximum:
            raise SizeError(f"length is {length}; a context of {self.suite.kdf.name} exports 1 to {maximum} bytes")
        one_count({"exporter_context": contexts.count, "the contexts": len(self)}, 1)
        out, status = Secret.zeros((len(self), length)), np.zeros(len(self), np.int32)
        check(self._core.export_secrets(contexts.core, length, out, status), "exporting")
        check_unwiped(secrets_of(exporter_context), "exporting")
        return finish("exporting", status, out, errors)


class Sender(Contexts):
    """Contexts that seal messages: number 0, 1, 2, ... of each item. `Suite.sender` makes them.

    One thread at a time may use them; a second one gets an error. They do not seal in a copy of their process, by
    fork() or clone(), where nonces would be used twice; a virtual machine that is resumed twice from one snapshot does
    use them twice. Their keys are overwritten when they are released.

    Attributes
    ----------
    enc : numpy.ndarray
        uint8, (n, enc_bytes): what the recipients need.
    status : numpy.ndarray
        int32, (n,): an ``ItemStatus`` of each setup.

    Examples
    --------
    >>> import polykem
    >>> from polykem import hpke
    >>> ctx = polykem.Context(threads=1)
    >>> suite = hpke.Suite("X-Wing", "HKDF-SHA256", "AES-256-GCM")
    >>> pk, sk = suite.generate(ctx, 2)
    >>> sender = suite.sender(ctx, pk, info=b"chat")
    >>> recipient = suite.recipient(ctx, sk, sender.enc, info=b"chat")
    >>> recipient.open(sender.seal([b"hello", b"ahoy"])).plaintexts
    [b'hello', b'ahoy']
    >>> recipient.open(sender.seal(b"more")).plaintexts.shape
    (2, 4)
    >>> sender.export(b"a key", 32) == recipient.export(b"a key", 32)
    True
    """

    def __init__(self, suite: Suite, made: Any, status: StatusArray, enc: ByteArray) -> None:
        super().__init__(suite, made, status)
        self.enc = enc

    @overload
    def seal(self, plaintexts: Listed, aad: Any = b"", *, errors: Errors = "raise") -> list[bytes]: ...
    @overload
    def seal(self, plaintexts: Any, aad: Any = b"", *, errors: Errors = "raise") -> ByteArray: ...

    def seal(self, plaintexts: Any, aad: Any = b"", *, errors: Errors = "raise") -> Any:
        """Seal the next message of every context.

        A call that Ctrl-C interrupts has used the numbers of some messages, which are lost:
        ``skip_to(int(numbers.max()))`` with the sender's numbers, on both sides, goes on.

        Parameters
        ----------
        plaintexts, aad
            As `Suite.seal` takes them.
        errors : {"raise", "return"}
            What to do if items fail, after the others are done; their ciphertexts are zeros.

        Returns
        -------
        numpy.ndarray or list of bytes
            uint8, (n, width + 16); a list if `plaintexts` is one.
        """
        check_errors(errors)
        self.suite._check_cipher()
        messages, data = Messages.of(plaintexts, "plaintexts"), Messages.bound(aad, "aad")
        one_count({"plaintexts": messages.count, "aad": data.count, "the contexts": len(self)}, 1)
        status, out = np.zeros(len(self), np.int32), OutputBuffer(messages, len(self), TAG_BYTES, False)
        check(self._core.seal(data.core, messages.core, out.core, status), "sealing")
        check_unwiped(secrets_of(plaintexts, aad), "sealing")
        return finish("sealing", status, out.result, errors)


class Recipient(Contexts):
    """Contexts that open what a `Sender` sealed, in its order or by number. `Suite.recipient` makes them.

    One thread at a time may use them; a second one gets an error. Their keys are overwritten when they are released.

    Attributes
    ----------
    status : numpy.ndarray
        int32, (n,): an ``ItemStatus`` of each setup.
    """

    @overload
    def open(self, ciphertexts: Listed, aad: Any = b"", *, numbers: Any = None,
             errors: Errors = "raise") -> Opened[list[bytes]]: ...
    @overload
    def open(self, ciphertexts: Any, aad: Any = b"", *, numbers: Any = None,
             errors: Errors = "raise") -> Opened[Secret]: ...

    def open(self, ciphertexts: Any, aad: Any = b"", *, numbers: Any = None,
             errors: Errors = "raise") -> Opened[Any]:
        """Open the next message of every context.

        A message that does not open is not counted: the context's number stays. If Ctrl-C interrupts the call, all
        numbers stay: it can be repeated.

        Parameters
        ----------
        ciphertexts, aad
            As `Suite.open` takes them.
        numbers : int, or array of whole numbers, (n,), optional
            Open the messages with these numbers instead; the contexts' own numbers stay.
        errors : {"raise", "return"}
            What to do if items fail, after the others are done.

        Returns
        -------
        Opened
            As `Suite.open` returns it.
        """
        check_errors(errors)
        self.suite._check_cipher()
        messages, data = Messages.of(ciphertexts, "ciphertexts"), Messages.bound(aad, "aad")
        one_count({"ciphertexts": messages.count or 1, "aad": data.count, "the contexts": len(self)}, 1)
        wanted = None if numbers is None else message_numbers(numbers, len(self))
        status, out = np.zeros(len(self), np.int32), OutputBuffer(messages, len(self), -TAG_BYTES, True)
        check(self._core.open(data.core, messages.core, wanted, out.core, status), "opening")
        check_unwiped(secrets_of(ciphertexts, aad), "opening")
        return finish("opening", status, Opened(out.result, status), errors)


def message_number(number: Any, name: str) -> int:
    whole = check_whole(number, name)
    if not 0 <= whole <= MAX_MESSAGE_NUMBER:
        raise ArgumentError(f"{name} is {whole}; message numbers are 0 to {MAX_MESSAGE_NUMBER}")
    return whole


def message_numbers(numbers: Any, count: int) -> npt.NDArray[np.uint64]:
    array = np.asarray(numbers, None if hasattr(numbers, "dtype") else object)
    if array.shape not in ((), (count,)):
        raise ArgumentError(f"numbers have shape {array.shape}; pass one message number or {count}")
    if array.dtype.kind not in "iu":
        whole = [message_number(number, "numbers") for number in array.ravel().tolist()]
        array = np.array(whole, np.uint64).reshape(array.shape)
    elif array.size:
        message_number(int(array.min()), "numbers")
    return np.ascontiguousarray(np.broadcast_to(array.astype(np.uint64), (count,)))
