# SPDX-License-Identifier: Apache-2.0
"""Chromium without a window, driven by its own protocol over a pipe."""

import json
import os
import subprocess
import time

PATIENCE = 60


class Browser:
    """Chromium and its protocol [CDP]: JSON messages that end with a zero byte, on descriptors 3 and 4."""

    FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
             "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe")

    def __init__(self, program, profile, *flags):
        theirs, self._send = os.pipe()
        self._receive, back = os.pipe()
        command = [program, *self.FLAGS, f"--user-data-dir={profile}", *flags, "about:blank"]
        shell = f"exec 3<&{theirs} 4>&{back}; exec \"$@\""
        self._process = subprocess.Popen(["bash", "-c", shell, "bash", *command], pass_fds=(theirs, back),
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(theirs)
        os.close(back)
        self._number, self._buffer, self.events = 0, b"", []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.call("Browser.close")
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._send)
        os.close(self._receive)

    def new_tab(self):
        """Opens an empty page. Returns its session."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        return self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def value(self, session, expression):
        """Returns the value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", session, expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def call(self, method, session=None, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self._write(json.dumps(message).encode() + b"\0")
        while (answer := self._read()).get("id") != self._number:
            self.events.append(answer)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        return answer["result"]

    def event(self, method):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for message in self.events:
                if message.get("method") == method:
                    return message["params"]
            self.events.append(self._read())
        raise AssertionError(f"no {method} came")

    def _write(self, data):
        while data:
            data = data[os.write(self._send, data):]

    def _read(self):
        while b"\0" not in self._buffer:
            data = os.read(self._receive, 65536)
            if not data:
                raise AssertionError("Chromium has ended")
            self._buffer += data
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)
