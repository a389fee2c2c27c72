"""Opens connections from IPv6 addresses, and keeps them: connections.py PORT COUNT ADDRESS...

Prints for each address how many of its connections the server serves.
"""

import socket
import sys
import time

request = b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"
port, count = int(sys.argv[1]), int(sys.argv[2])
kept = []


def connect(address):
    """A new connection with a request, which the server may close at once."""
    client = socket.socket(socket.AF_INET6)
    client.bind((address, 0))
    client.connect(("::1", port))
    return client if ask(client) else None


def ask(client):
    try:
        client.sendall(request)
        return True
    except ConnectionError:
        return False


def is_served(client):
    try:
        return client.recv(4096).startswith(b"HTTP/1.1 200")
    except ConnectionError:
        return False


# The server closes a connection that is idle for a minute, so a busy machine uses the kept ones in between.
used = time.monotonic()
for address in sys.argv[3:]:
    if time.monotonic() - used > 20:
        assert all(ask(client) for client in kept) and all(is_served(client) for client in kept)
        used = time.monotonic()
    # All requests of an address are sent before the first answer is read, which takes less time than one by one.
    clients = [client for client in [connect(address) for _ in range(count)] if client]
    served = [client for client in clients if is_served(client)]
    print(len(served), flush=True)
    kept += served
