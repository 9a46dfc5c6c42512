# SPDX-License-Identifier: Apache-2.0
"""What ends the command with a sentence, a hint and an exit code of docs/exit_codes.md."""

OK, CHECK_FAILED, USAGE, BAD_INPUT, BACKEND, IO, DEFECT, RESOURCES = range(8)


class ReportError(Exception):
    """A sentence; `hint` says what to do and may be empty."""

    def __init__(self, code: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint
