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
        self.process, self.end = pty.fork()
        if self.process == 0:
            os.execvp(command[0], command)

    def read(self):
        """What is shown next; nothing if the shell has ended."""
        if not select.select([self.end], [], [], 0.1)[0]:
            return b""
        try:
            piece = os.read(self.end, 65536)
        except OSError:
            return None
        # A terminal is asked where its cursor is.
        for _ in range(piece.count(b"\x1b[6n")):
            os.write(self.end, b"\x1b[1;1R")
        return piece or None

    def wait_for(self, *wanted):
        """Reads until these texts are shown, one after another, that were not shown before."""
        until = time.monotonic() + PATIENCE_S
        seen = b""
        while not follow(wanted, plain(seen)):
            piece = self.read()
            if piece is None or time.monotonic() > until:
                sys.exit(f"never shown: {wanted!r} in {plain(seen)!r}")
            seen += piece

    def type(self, keys):
        os.write(self.end, keys.encode())

    def close(self):
        """Reads to the end; gives the exit status."""
        until = time.monotonic() + PATIENCE_S
        while self.read() is not None:
            if time.monotonic() > until:
                sys.exit("the shell does not end")
        _, status = os.waitpid(self.process, 0)
        return os.waitstatus_to_exitcode(status)


def follow(wanted, text):
    """Do these texts stand in another, in this order?"""
    for part in wanted:
        place = text.find(part)
        if place < 0:
            return False
        text = text[place + len(part) :]
    return True


def plain(data):
    """What is shown, without colours and moves of the cursor."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", data.decode(errors="replace"))


def main(command):
    terminal = Terminal(command)
    terminal.wait_for("orca> ")
    terminal.type("f = def(x) {\r")
    terminal.wait_for("... ")
    terminal.type("return x + 1 }\r")
    terminal.wait_for("}", "orca> ")
    terminal.type("f(41) * 10\r")
    terminal.wait_for("420", "orca> ")
    terminal.type("existsCata\t")
    terminal.wait_for("existsCatalog")
    terminal.type('("market")\r')
    terminal.wait_for("true", "orca> ")
    terminal.type("\\sql\r")
    terminal.wait_for("sql> ")
    terminal.type("select 40 + 3 as n;\r")
    terminal.wait_for("43", "sql> ")
    # What was typed before comes back.
    terminal.type("\x1b[A\r")
    terminal.wait_for("43", "sql> ")
    terminal.type("select nothing;\r")
    terminal.wait_for("unknown", "sql> ")
    terminal.type("\x04")
    sys.exit(terminal.close())


if __name__ == "__main__":
    main(sys.argv[1:])
