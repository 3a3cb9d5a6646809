"""Drives the shell on a terminal: types keys, answers what a terminal is asked, and prints what is shown at the end."""

import os
import pty
import re
import select
import sys
import time

PATIENCE_S = 30.0


class Terminal:
    def __init__(self, command):
        self.shown = b""
        self.process, self.end = pty.fork()
        if self.process == 0:
            os.execvp(command[0], command)

    def wait_for(self, wanted):
        """Reads until a text is shown that was not shown before."""
        until = time.monotonic() + PATIENCE_S
        seen = b""
        while wanted not in plain(seen):
            if time.monotonic() > until:
                sys.exit(f"never shown: {wanted!r} in {plain(seen)!r}")
            if not select.select([self.end], [], [], 0.1)[0]:
                continue
            try:
                piece = os.read(self.end, 65536)
            except OSError:
                sys.exit(f"ended before {wanted!r}: {plain(seen)!r}")
            # A terminal is asked where its cursor is.
            for _ in range(piece.count(b"\x1b[6n")):
                os.write(self.end, b"\x1b[1;1R")
            seen += piece
        self.shown += seen

    def type(self, keys):
        os.write(self.end, keys.encode())

    def close(self):
        _, status = os.waitpid(self.process, 0)
        return os.waitstatus_to_exitcode(status)


def plain(data):
    """What is shown, without colours and moves of the cursor."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", data.decode(errors="replace"))


def main(command):
    terminal = Terminal(command)
    terminal.wait_for("orca> ")
    terminal.type("f = def(x) {\r")
    terminal.wait_for("... ")
    terminal.type("return x + 1 }\r")
    terminal.wait_for("orca> ")
    terminal.type("f(41) * 10\r")
    terminal.wait_for("420")
    terminal.type("existsCata\t")
    terminal.wait_for("existsCatalog")
    terminal.type('("market")\r')
    terminal.wait_for("true")
    terminal.type("\\sql\r")
    terminal.wait_for("sql> ")
    terminal.type("select 40 + 3 as n;\r")
    terminal.wait_for("43")
    # What was typed before comes back.
    terminal.type("\x1b[A\r")
    terminal.wait_for("43")
    terminal.type("select nothing;\r")
    terminal.wait_for("nothing")
    terminal.type("\x04")
    sys.exit(terminal.close())


if __name__ == "__main__":
    main(sys.argv[1:])
