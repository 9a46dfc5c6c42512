# SPDX-License-Identifier: Apache-2.0
"""Errors that end the command with a sentence, a hint and an exit code of docs/exit_codes.md."""

OK, CHECK_FAILED, USAGE, BAD_INPUT, BACKEND, IO, DEFECT, RESOURCES = range(8)


class ReportError(Exception):
    """An error with a sentence; `hint` says what to do and may be empty."""

    def __init__(self, code: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint
