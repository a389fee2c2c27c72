"""A proxy that resets a share of all connections in the middle."""

import random
import socket
import struct
import threading


class ResettingProxy:
    """Listens on an address and forwards to another one: a pair of host and port, or the path of a socket."""

    def __init__(self, listen, forward, share):
        self.forward, self.share = forward, share
        self.listener = self.socket(listen)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(listen)
        self.listener.listen(512)
        threading.Thread(target=self.accept, daemon=True).start()

    @staticmethod
    def socket(address):
        return socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET)

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        server = self.socket(self.forward)
        try:
            server.connect(self.forward)
        except OSError:
            client.close()
            return
        # A request or a response of the clients is one packet; a connection to the database carries many.
        packets = random.randint(0, 3) if isinstance(self.forward, tuple) else random.randint(20, 400)
        budget = [packets if random.random() < self.share else None]
        for source, target in ((client, server), (server, client)):
            threading.Thread(target=self.copy, args=(source, target, budget), daemon=True).start()

    def copy(self, source, target, budget):
        try:
            while data := source.recv(65536):
                if budget[0] is not None:
                    budget[0] -= 1
                    if budget[0] < 0:
                        reset(source)
                        reset(target)
                        return
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            reset(source)
            reset(target)

    def stop(self):
        self.listener.close()


def reset(connection):
    """Ends a connection with RST: lingering for no time drops what was not sent.

    The shutdown wakes the other thread that reads from it: its call would keep a closed socket open.
    """
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # the other side has ended it
    connection.close()
