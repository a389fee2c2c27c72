"""Proxies that break what passes through them: one resets connections, one kills the server at a chosen message."""

import random
import socket
import struct
import threading


class Proxy:
    """Listens on an address and forwards to another one: a pair of host and port, or the path of a socket."""

    def __init__(self, listen, forward):
        self.forward = forward
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
        self.copy_both(client, server)

    def stop(self):
        self.listener.close()


class ResettingProxy(Proxy):
    """Resets a share of all connections in the middle."""

    def __init__(self, listen, forward, share):
        self.share = share
        super().__init__(listen, forward)

    def copy_both(self, client, server):
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


class KillingProxy(Proxy):
    """
    Speaks the protocol of PostgreSQL, without TLS, and can be armed to kill the server at one of the points at which its
    death makes a difference, just before what passes there is forwarded:

    - a statement (Execute): those before it in the transaction have run;
    - the end of a transaction (Sync): all of it has run, and nothing is committed;
    - an answer (everything up to ReadyForQuery): the transaction is committed, and the server does not know.
    """

    def __init__(self, listen, forward):
        self.lock = threading.Lock()
        self.kill = None
        self.left = 0
        # What the server was killed at; nil if it was not.
        self.point = None
        self.connections = set()
        super().__init__(listen, forward)

    def arm(self, number, kill):
        """Calls `kill` at the point with that number, counted from now and from 1."""
        with self.lock:
            self.kill, self.left, self.point = kill, number, None

    def disarm(self):
        """Returns what the server was killed at."""
        with self.lock:
            self.kill = None
            return self.point

    def copy_both(self, client, server):
        with self.lock:
            self.connections |= {client, server}
        statements = Statements()
        for target, arguments in (
            (self.copy_requests, (client, server, statements)),
            (self.copy_answers, (server, client, statements)),
        ):
            threading.Thread(target=target, args=arguments, daemon=True).start()

    def copy_requests(self, client, server, statements):
        # The first message has no type.
        messages = read_messages(client, first_has_type=False)
        self.copy(client, server, messages, lambda kind, body: statements.passing(kind, body))

    def copy_answers(self, server, client, statements):
        messages = join_answers(read_messages(server))
        self.copy(server, client, messages, lambda kind, body: "the answer" if kind == b"Z" else None)

    def copy(self, source, target, messages, point):
        try:
            for kind, data in messages:
                name = point(kind, data)
                with self.lock:
                    if source not in self.connections or (name and self.is_killed_at(name)):
                        break
                target.sendall(data)
        except OSError:
            pass
        with self.lock:
            self.connections -= {source, target}
        reset(source)
        reset(target)

    def is_killed_at(self, name):
        if not self.kill:
            return False
        self.left -= 1
        if self.left:
            return False
        self.kill()
        self.kill, self.point = None, name
        # Whatever else the server has sent is lost as well.
        for connection in self.connections:
            reset(connection)
        self.connections = set()
        return True


class Statements:
    """The SQL of the prepared statements of a connection."""

    def __init__(self):
        self.prepared, self.bound = {}, ""

    def passing(self, kind, data):
        """The name of the point at which this request passes, if it is one."""
        if kind == b"P":
            name, text = data[5:].split(b"\0")[:2]
            self.prepared[name] = " ".join(text.decode(errors="replace").split())[:90]
        elif kind == b"B":
            self.bound = self.prepared.get(data[5:].split(b"\0")[1], "")
        elif kind == b"E":
            return f"the statement {self.bound}"
        elif kind == b"S":
            return "the end of the transaction"
        return None


def read_messages(connection, first_has_type=True):
    """Yields the type and the bytes of each message of PostgreSQL's protocol."""
    buffer, has_type = b"", first_has_type
    while data := connection.recv(65536):
        buffer += data
        while len(buffer) >= 5:
            start = 1 if has_type else 0
            length = start + int.from_bytes(buffer[start : start + 4], "big")
            if len(buffer) < length:
                break
            yield buffer[:start], buffer[:length]
            buffer, has_type = buffer[length:], True


def join_answers(messages):
    """Everything up to a ReadyForQuery as one message of that type. What comes alone, such as a notice, waits for it."""
    answer = b""
    for kind, data in messages:
        answer += data
        # The exchange of a login has no ReadyForQuery before the client goes on.
        if kind in (b"Z", b"R", b"E"):
            yield kind, answer
            answer = b""


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
