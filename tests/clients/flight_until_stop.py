"""Reads a subscription until the server ends it, and says how it was told."""

import json
import sys

import pyarrow.flight as flight

client = flight.connect(f"grpc://{sys.argv[1]}")
reader = client.do_get(flight.Ticket(json.dumps({"subscribe": sys.argv[2]}).encode()))
reader.read_chunk()
print("reading", flush=True)
try:
    while True:
        reader.read_chunk()
except flight.FlightUnavailableError as error:
    assert "server is stopping" in str(error), error
    print("told", flush=True)
