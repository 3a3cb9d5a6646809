"""Every test has a client of the server at ORCA_URL, and a catalog of its own."""

import os
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
