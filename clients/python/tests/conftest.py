"""Every test has a client of the server at ORCA_URL, and a catalog of its own."""

import os
import socket
import threading
import urllib.parse
import uuid

import orca
import pytest


@pytest.fixture(scope="session")
def url() -> str:
    return os.environ.get("ORCA_URL", "http://127.0.0.1:8848")


@pytest.fixture(scope="session")
def client(url):
    with orca.connect(url) as client:
        yield client


@pytest.fixture
def catalog(client):
    name = "c" + uuid.uuid4().hex[:12]
    client.run(f'createCatalog("{name}")')
    return name


@pytest.fixture
def lab(url, catalog):
    """A client whose bare names are of a catalog with one table."""
    with orca.connect(url, catalog=catalog) as client:
        client.run(
            f"""
            use catalog {catalog}
            createOrcaStreamTable("Tick", `sym`at`price`qty, [SYMBOL, TIMESTAMP, DOUBLE, INT])
            """
        )
        yield client


class Wire:
    """A way to the server that can be cut."""

    def __init__(self, url: str) -> None:
        parts = urllib.parse.urlsplit(url)
        self._server = (parts.hostname, parts.port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                here, _ = self._listener.accept()
            except OSError:
                return
            there = socket.create_connection(self._server)
            self._open += [here, there]
            for one, other in ((here, there), (there, here)):
                threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    @staticmethod
    def _carry(one: socket.socket, other: socket.socket) -> None:
        try:
            while data := one.recv(65_536):
                other.sendall(data)
        except OSError:
            pass
        finally:
            other.close()

    def cut(self) -> None:
        """Ends every connection there is, whatever is under way."""
        ends, self._open = self._open, []
        for end in ends:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()

    def close(self) -> None:
        self._listener.close()
        self.cut()


@pytest.fixture
def wire(url):
    wire = Wire(url)
    yield wire
    wire.close()
