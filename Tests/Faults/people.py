"""People who sign up at the same time, and repeat the requests that fail."""

import http.client
import json
import random
import threading
import time
from pathlib import Path

PICTURE = (Path(__file__).parents[1] / "Fuzzing/corpus/image/plain.png").read_bytes()

# A person gives up after this many seconds.
PATIENCE = 300


class GaveUp(Exception):
    pass


class Crowd:
    """The people, and the answers that they have got from the service."""

    # The maximum time in seconds until a request is answered, whatever the database does.
    LONGEST_ANSWER = 10

    def __init__(self, count, service, person=None, first=0):
        self.service = service
        self.lock = threading.Condition()
        self.acknowledged = 0
        self.is_over = False
        self.repeated = 0
        self.slowest = 0.0
        # The people whose first attempt at the password step was answered with anything but 200.
        self.refused_passwords = set()
        # The addresses of attackers, to which mail is also sent.
        self.strangers = set()
        # The ids of the created accounts, by their addresses.
        self.accounts = {}
        self.complaints = []
        self.people = [(person or Person)(number, self) for number in range(first, first + count)]

    def sign_up(self):
        threads = [threading.Thread(target=person.sign_up, name=person.address) for person in self.people]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with self.lock:
            self.is_over = True
            self.lock.notify_all()

    def wait(self, share):
        """Waits until this share of all answers that the people need has arrived, or all people have finished."""
        needed = share * len(self.people) * Person.REQUESTS
        with self.lock:
            self.lock.wait_for(lambda: self.acknowledged >= needed or self.is_over, timeout=PATIENCE)

    def wait_for_failures(self, number):
        """Waits until this number of further requests has failed, or all people have finished."""
        with self.lock:
            expected = self.repeated + number
            self.lock.wait_for(lambda: self.repeated >= expected or self.is_over, timeout=PATIENCE)

    def count(self, seconds, repeated=False):
        with self.lock:
            self.slowest = max(self.slowest, seconds)
            if repeated:
                self.repeated += 1
            else:
                self.acknowledged += 1
            self.lock.notify_all()

    def complain(self, text):
        with self.lock:
            self.complaints.append(text)


class Person:
    # The number of requests of a sign-up: start, address, code, password, profile, contact, authenticator, terms,
    # review and commit.
    REQUESTS = 10

    def __init__(self, number, crowd):
        self.crowd = crowd
        self.number = number
        self.address = f"person{number}@example.com"
        self.username = f"person.{number}"
        # Each person has a separate IP address, and so separate rate limits.
        self.network = f"10.0.{number // 250}.{number % 250 + 1}"
        self.password = f"my grey pass phrase {number}"
        self.token = None
        self.deadline = None
        # The body of the answer to the commit.
        self.committed = None

    def sign_up(self):
        self.deadline = time.monotonic() + PATIENCE
        try:
            self.token = self.send("POST", "/signup", {"transport": "bearer"}, {201})[1]["token"]
            self.submit("email", {"email": self.address})
            self.prove()
            self.submit("password", {"password": self.password, "confirmation": self.password})
            self.submit("profile", {"username": self.username, "display_name": f"Person {self.number}"})
            if self.number % 5 == 0:
                self.send("PUT", "/signup/profile/photo", PICTURE, {204})
            self.submit("contact", {"birth_date": "1990-01-01"})
            self.submit("totp", {})
            self.submit("terms", {"terms": True})
            self.review()
            self.committed = self.send("POST", "/signup/commit", None, {200, 201})[1]
            account = self.committed["account"]
            if (account["email"], account["username"]) != (self.address, self.username):
                self.crowd.complain(f"{self.address} got another account: {account}")
            with self.crowd.lock:
                self.crowd.accounts[self.address] = account["id"]
        except GaveUp as error:
            self.crowd.complain(f"{self.address}: {error}")

    def submit(self, step, answers):
        return self.send("PUT", f"/signup/{step}", answers, {200})

    def prove(self):
        """Enters the newest code until one is accepted, and requests another code if none arrives for 65 seconds."""
        mailbox = self.crowd.service.mailbox
        tried = 0
        asked = time.monotonic()
        while True:
            codes = mailbox.wait_for_code(self.address, tried + 1, timeout=5)
            if len(codes) > tried:
                tried = len(codes)
                status, _ = self.send("PUT", "/signup/code", {"code": codes[-1]}, {200, 422})
                if status == 200:
                    return
            elif time.monotonic() - asked > 65:
                self.send("POST", "/signup/code/resend", None, {202, 429})
                asked = time.monotonic()
            if time.monotonic() > self.deadline:
                raise GaveUp("no right code arrived")

    def review(self):
        """Checks that the draft still has every acknowledged value."""
        values = self.send("GET", "/signup/review", None, {200})[1]["values"]
        kept = {name: values.get(name) for name in ("email", "username", "display_name", "birth_date", "terms")}
        expected = {
            "email": self.address,
            "username": self.username,
            "display_name": f"Person {self.number}",
            "birth_date": "1990-01-01",
        }
        for name, value in expected.items():
            if kept[name] != value:
                self.crowd.complain(f"{self.address}: {name} is {kept[name]!r}, but {value!r} was acknowledged")

    def send(self, method, path, body, expected):
        """Repeats a request until its status is one of the expected. Returns the status and the body."""
        wait = 0.1
        while True:
            started = time.monotonic()
            try:
                status, answer = self.exchange(method, path, body)
                failure = f"{status} {answer.get('type', '')}"
            except (OSError, http.client.HTTPException, ValueError) as error:
                status, answer, failure = None, {}, repr(error)
            seconds = time.monotonic() - started
            if seconds > self.crowd.LONGEST_ANSWER:
                self.crowd.complain(f"{method} {path} took {seconds:.1f} s: {failure}")
            if status in expected:
                self.crowd.count(seconds)
                return status, answer
            self.crowd.count(seconds, repeated=True)
            if path == "/signup/password":
                self.crowd.refused_passwords.add(self.address)
            # Only after these statuses, or without an answer, can the same request succeed later.
            if status is not None and status not in (429, 502, 503):
                raise GaveUp(f"{method} {path} was answered with {failure} {answer.get('detail', '')}")
            if time.monotonic() > self.deadline:
                raise GaveUp(f"{method} {path} had no answer in time; the last one was {failure}")
            time.sleep(wait * random.uniform(0.5, 1))
            wait = min(2, wait * 2)

    def exchange(self, method, path, body):
        headers = {}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if isinstance(body, bytes):
            headers["Content-Type"] = "image/png"
        elif body is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(body)
        status, _, text = self.request(method, path, body, headers)
        return status, json.loads(text) if text else {}

    def request(self, method, path, body, headers):
        """Sends a request, and returns the status, the header fields and the body of the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.crowd.service.port, timeout=30)
        try:
            defaults = {"X-Forwarded-For": self.network, "Accept": "application/json"}
            connection.request(method, path, body, defaults | headers)
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()
