"""Opens connections from IPv6 addresses, and keeps them: connections.py PORT COUNT ADDRESS...

Prints for each address how many of its connections the server serves.
"""

import socket
import sys

request = b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"
port, count = int(sys.argv[1]), int(sys.argv[2])
kept = []


def is_served(address: str) -> bool:
    client = socket.socket(socket.AF_INET6)
    kept.append(client)
    client.bind((address, 0))
    client.connect(("::1", port))
    try:
        client.sendall(request)
        return client.recv(4096).startswith(b"HTTP/1.1 200")
    except ConnectionError:
        return False


for address in sys.argv[3:]:
    print(sum(is_served(address) for _ in range(count)), flush=True)
