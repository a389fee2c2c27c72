"""Many tabs of one application, which share a refresh token and use it at the same time."""

import http.client
import json
import threading
from urllib.parse import urlencode

from application_kills import FORM, ApplicationAct, Member, stranger
from people import Crowd

TABS, ROTATIONS = 50, 1000


class Tabs:
    """In each rotation, all tabs refresh with the same token at the same time, and must get the same next one."""

    def __init__(self, service, token):
        self.service = service
        self.token = token
        self.used = {token}
        # The refresh tokens of the present rotation; None stands for a tab that got none.
        self.answers = set()
        self.violations = []
        self.lock = threading.Lock()
        self.barrier = threading.Barrier(TABS, action=self.rotate)

    def rotate(self):
        if len(self.answers) != 1 or None in self.answers:
            self.violations.append(f"rotation {len(self.used)}: the tabs got {len(self.answers)} different answers")
        self.token = max(self.answers - {None}, default=self.token)
        self.used.add(self.token)
        self.answers = set()

    def refresh_all(self):
        threads = [threading.Thread(target=self.refresh, args=(number,)) for number in range(TABS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def refresh(self, number):
        connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=60)
        headers = FORM | self.service.application.credentials | {"X-Forwarded-For": f"10.9.0.{number + 1}"}
        for _ in range(ROTATIONS):
            form = {"grant_type": "refresh_token", "refresh_token": self.token}
            connection.request("POST", "/oauth/token", urlencode(form), headers)
            answer = json.loads(connection.getresponse().read())
            with self.lock:
                self.answers.add(answer.get("refresh_token"))
            self.barrier.wait(300)


def refresh_in_tabs(service):
    """Refreshes in all tabs, and returns the violations."""
    crowd = Crowd(1, service, Member)
    crowd.sign_up()
    service.application.learn_keys(stranger(service).request("GET", "/oauth/keys", None, {})[2])
    act = ApplicationAct(crowd.people[0], service)
    tabs = Tabs(service, act.new_tokens(act.token)["refresh_token"])
    tabs.refresh_all()
    found = crowd.complaints + tabs.violations
    if len(tabs.used) != ROTATIONS + 1:
        found.append(f"{len(tabs.used)} different tokens were used, not {ROTATIONS + 1}")
    for table in ("authorizations", "sessions"):
        if service.query(f"SELECT count(*) FROM {table}") != ["1"]:
            found.append(f"there is not one row in {table}")
    print(f"{TABS} tabs, {ROTATIONS} rotations: {len(found)} violations", flush=True)
    for violation in found:
        print(f"  {violation}", flush=True)
    return found
