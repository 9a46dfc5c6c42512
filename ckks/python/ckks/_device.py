# SPDX-License-Identifier: Apache-2.0
"""Devices: GPUs with the tables of a context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core
from ._errors import ArgumentError

if TYPE_CHECKING:
    from ._context import Context


class Device:
    """A GPU with the tables of a context; ``Context.device`` makes it. Several threads may use one: their work is done
    in the order of their calls. Batches and keys on it keep it open.

    Attributes
    ----------
    context : Context
    ordinal : int
        The GPU's number.
    """

    def __init__(self, context: Context, core: Any, ordinal: int):
        self.context, self._core, self.ordinal = context, core, ordinal

    def wait(self) -> None:
        """Wait for the results of all calls so far; calls return before their work is done.

        Raises
        ------
        DeviceError
            Something failed meanwhile.
        """
        self._core.wait()

    def __repr__(self) -> str:
        return f"<polykem.ckks.Device: GPU {self.ordinal}>"


def opened(context: Context, device: Device | int | str) -> Device:
    """Return a Device: `device` itself, or the one that a number, "cuda" or "cuda:1" names."""
    if isinstance(device, Device):
        if device.context is not context and not context.parameters.same_rings(device.context.parameters):
            raise ArgumentError("Device of another parameter set")
        return device
    if isinstance(device, str):
        name, _, number = device.partition(":")
        if name != "cuda" or not (number or "0").isdecimal():
            raise ArgumentError(f"device must be 'cuda', 'cuda:1', a number or a Device, not {device!r}")
        device = int(number or 0)
    return context.device(device)


def moved(device: Device, core: Any) -> Any:
    """Return a batch or a key on the device, copied unless it is there already."""
    return _core.ckks_to_device(device._core, core)
