"""Proxies that cause faults: one resets connections, and one kills the server at a chosen message."""

import collections
import random
import socket
import struct
import threading


class Proxy:
    """Forwards from one address to another. An address is a pair of host and port, or the path of a socket."""

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
    """Resets a share of all connections while data passes."""

    def __init__(self, listen, forward, share):
        self.share = share
        super().__init__(listen, forward)

    def copy_both(self, client, server):
        # A request or a response of the clients is one packet; a connection to PostgreSQL carries many packets.
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
    Speaks the protocol of PostgreSQL, without TLS. After `arm`, it kills the server at one of the following points,
    just before it forwards the message:

    - a statement (Execute): the earlier statements of the transaction have run;
    - the end of a transaction (Sync): all its statements have run, but it is not committed;
    - an answer (everything up to ReadyForQuery): the transaction is committed, but the server does not know this.
    """

    def __init__(self, listen, forward):
        self.lock = threading.Lock()
        self.countdown = None
        # The name of the point at which the server was killed; None if it was not.
        self.point = None
        self.connections = set()
        super().__init__(listen, forward)

    def arm(self, number, kill, counts=lambda texts: True):
        """
        Calls `kill` at the point with this number. Points are counted from now on, beginning with 1.

        counts: a function that returns True if the points of a transaction with these statements count. By default, the
        points of all transactions count.
        """
        with self.lock:
            self.countdown, self.point = Countdown(number, kill, counts), None

    def disarm(self):
        """Stops counting. Returns the name of the point at which the server was killed; None if it was not."""
        with self.lock:
            self.countdown = None
            return self.point

    def reaches(self, name):
        """Counts a point outside of the database. Returns True if the server was killed at it."""
        with self.lock:
            return self.is_killed_at(name, self.countdown)

    def copy_both(self, client, server):
        with self.lock:
            self.connections |= {client, server}
        transactions = Transactions(lambda: self.countdown)
        for source, target, messages in (
            # The first message of a client has no type.
            (client, server, transactions.requests(read_messages(client, first_has_type=False))),
            (server, client, transactions.answers(join_answers(read_messages(server)))),
        ):
            threading.Thread(target=self.copy, args=(source, target, messages), daemon=True).start()

    def copy(self, source, target, messages):
        try:
            for data, point, countdown in messages:
                with self.lock:
                    if source not in self.connections or (point and self.is_killed_at(point, countdown)):
                        break
                target.sendall(data)
        except OSError:
            pass
        with self.lock:
            self.connections -= {source, target}
        reset(source)
        reset(target)

    def is_killed_at(self, name, countdown):
        if not countdown or countdown is not self.countdown:
            return False
        countdown.left -= 1
        if countdown.left:
            return False
        countdown.kill()
        self.countdown, self.point = None, name
        # All other messages that the server has sent are lost, too.
        for connection in self.connections:
            reset(connection)
        self.connections = set()
        return True


class Countdown:
    """The number of points that are left until the server is killed, with the functions that count and kill."""

    def __init__(self, number, kill, counts):
        self.left, self.kill, self.counts = number, kill, counts


class Transactions:
    """
    Finds the points in the messages of a connection. Its methods yield the bytes to forward, the name of their point,
    and the countdown for which it counts; the name and the countdown are None if the bytes are no point.
    """

    def __init__(self, current):
        # A function that returns the current countdown.
        self.current = current
        # The SQL of the prepared statements by their names.
        self.prepared = {}
        # The countdowns of the transactions that have no answer yet, in their order.
        self.unanswered = collections.deque()

    def requests(self, messages):
        """
        Collects the messages of the client up to the end of a transaction. The client sends a whole transaction before
        it waits for the answer, so all its statements are known.
        """
        transaction = []
        for kind, data in messages:
            if kind not in QUERY:
                # The login and a query of the simple protocol are answered with ReadyForQuery, as transactions are.
                if kind in (b"", b"Q"):
                    self.unanswered.append(None)
                yield data, None, None
                continue
            transaction.append((kind, data))
            if kind == b"S":
                yield from self.points(transaction)
                transaction = []

    def points(self, transaction):
        bound, texts = "", []
        points = []
        for kind, data in transaction:
            point = None
            if kind == b"P":
                name, text = data[5:].split(b"\0")[:2]
                self.prepared[name] = " ".join(text.decode(errors="replace").split())
            elif kind == b"B":
                bound = self.prepared.get(data[5:].split(b"\0")[1], "")
            elif kind == b"E":
                texts.append(bound)
                point = f"the statement {bound[:90]}"
            elif kind == b"S":
                point = "the end of the transaction"
            points.append((data, point))
        countdown = self.current()
        if countdown and not countdown.counts(texts):
            countdown = None
        self.unanswered.append(countdown)
        for data, point in points:
            yield data, point, countdown

    def answers(self, messages):
        for kind, data in messages:
            if kind == b"Z":
                yield data, "the answer", self.unanswered.popleft() if self.unanswered else None
            else:
                yield data, None, None


# Parse, Bind, Describe, Execute, Close, Flush and Sync: the messages of a transaction.
QUERY = (b"P", b"B", b"D", b"E", b"C", b"H", b"S")


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
    """Joins all messages up to a ReadyForQuery to one message. A single notice waits for the next ReadyForQuery."""
    answer = b""
    for kind, data in messages:
        answer += data
        # During a login, the client goes on before a ReadyForQuery.
        if kind in (b"Z", b"R", b"E"):
            yield kind, answer
            answer = b""


def reset(connection):
    """Ends a connection with RST: without a linger time, the kernel drops the data that was not sent.

    The shutdown ends the `recv` of the other thread, which would otherwise keep the closed socket open.
    """
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # the other side has ended it
    connection.close()
