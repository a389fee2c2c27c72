"""
Kills the server at every point of acts of people, and checks that each act has happened completely or not at all.

A point is a statement, the end of a transaction, or an answer of PostgreSQL (`KillingProxy`). A person prepares and
performs an act, and the server is killed at its first point. With another person, the server is killed at the second
point, and so on, until an act ends before the point is reached. After each kill the database is compared with its state
before the act, the server starts again, and the person repeats the act.
"""

import base64
import hashlib
import hmac
import http.client
import json
import struct
import time

from people import PATIENCE, Crowd, Person

# The number of people who sign up at a time.
BATCH = 20


class Owner(Person):
    """A person with an account and several browsers, each with its own token."""

    def ask(self, method, path, body=None, token=None):
        """Repeats a request for up to a minute while the answer is 503. Returns the status and the body."""
        self.token = token
        deadline = time.monotonic() + 60
        while True:
            status, answer = self.exchange(method, path, body)
            if status != 503 or time.monotonic() > deadline:
                return status, answer
            time.sleep(0.1)

    def get(self, method, path, body=None, token=None, expected=(200,)):
        """Repeats a request until its status is one of the expected, and returns the body."""
        self.token = token
        self.deadline = time.monotonic() + PATIENCE
        return self.send(method, path, body, set(expected))[1]

    def sign_in(self, password=None, identifier=None):
        body = {"identifier": identifier or self.address, "password": password or self.password, "transport": "bearer"}
        return self.ask("POST", "/session", body)

    def code(self, address, earlier):
        """Waits until the address has got more codes than `earlier`, and returns the newest one."""
        self.crowd.service.deliver_mail()
        return self.crowd.service.mailbox.wait_for_code(address, earlier + 1, timeout=60)[-1]

    def codes(self, address):
        return len(self.crowd.service.mailbox.codes(address))


# Parts of the SQL of transactions that serve no request: sending mail, the reaper, the funnel and the like.
UPKEEP = (
    *("claim_mail(", "UPDATE outbox", "INSERT INTO funnel_daily", "create_draft_partition", "imported_kinds()"),
    *("reaper_lock", "pg_relation_size(", "FROM pg_inherits", "due_applications("),
)
# Parts of the SQL of transactions that deliver events, and of those that deliver logouts.
DELIVERIES = (
    "claim_deliveries(",
    "WHERE id = ANY (ARRAY(SELECT jsonb_array_elements_text(",
    "DELETE FROM deliveries",
    "UPDATE deliveries",
)
LOGOUTS = ("claim_logouts(", "DELETE FROM logouts", "UPDATE logouts")


def has(texts, parts):
    """Returns True if the SQL of one of the statements contains one of the parts."""
    return any(part in text for text in texts for part in parts)


def of_request(texts):
    """Returns True if a transaction with these statements serves a request."""
    return not has(texts, UPKEEP + DELIVERIES + LOGOUTS)


class Broken(Exception):
    """Is raised if a check fails."""


class Act:
    """
    An act of a person, in one request or several. A stage is a state that the act may leave behind: it has a condition
    for each fact about the account that the requests so far have changed. A condition compares the old and the new
    value of its fact. All other facts must be unchanged.
    """

    name = ""
    stages = ()
    # True if the facts do not change when an act that has happened is repeated.
    is_repeatable = True
    # True if the person has no account before the act.
    signs_up = False
    # The mails about the act: the beginning of the subject without the name of the service, and True if the mail goes to
    # the new address.
    notices = ()

    def __init__(self, owner, service):
        self.owner, self.service = owner, service
        self.account = owner.committed["account"]["id"]
        self.session, self.token = owner.committed["session"]["id"], owner.committed["token"]
        # The token of another browser of the person.
        self.other = None
        # The number of stages whose last request was answered.
        self.acknowledged = 0

    def check(self, condition, what):
        if not condition:
            raise Broken(what)

    def answer(self, status, method, path, body=None, token=None):
        """Sends a request, checks the status of the answer, and returns the body."""
        found, answer = self.owner.ask(method, path, body, token)
        self.check(found == status, f"{method} {path} was answered with {found} {answer}, not {status}")
        return answer

    def counts(self, texts):
        """Returns True if a transaction with these statements has points of this act; by default, every one has."""
        return True

    def act(self, method, path, body, token, status):
        """Sends a request of the act itself, and counts its answer."""
        answer = self.answer(status, method, path, body, token)
        self.acknowledged += 1
        return answer

    def prepare(self):
        self.other = self.signs_in(True)["token"]

    def perform(self):
        """Performs the whole act."""

    def verify_before(self):
        """Checks through the API that the act has not happened."""

    def repeat(self, stage):
        """Repeats the act after `stage` of its stages have happened. The account is then as if it was done once."""
        if stage == 0:
            self.perform()

    def goes_on(self, stage):
        """Returns True if the person can continue from this stage, and False if the act must begin anew."""
        return True

    def verify_after(self):
        """Checks through the API that the act has happened."""

    # Checks through the API

    def signs_in(self, expected, password=None, identifier=None):
        status, answer = self.owner.sign_in(password, identifier)
        wanted = 201 if expected else 401
        self.check(status == wanted, f"the sign-in was answered with {status} {answer}, not {wanted}")
        return answer

    def is_alive(self, token, expected, who):
        status, _ = self.owner.ask("GET", "/session", token=token)
        self.check((status == 200) == expected, f"the session {who} is {'gone' if expected else 'still there'}")

    # Steps of the preparation

    def add_authenticator(self):
        """Gives the session two factors, and returns the secret and the recovery codes."""
        secret = self.owner.get("GET", "/account/totp", token=self.token)["secret"]
        answer = self.owner.get("PUT", "/account/totp", {"code": totp(secret)}, token=self.token)
        self.token = answer["token"]
        self.forget_used_code()
        return secret, answer["recovery_codes"]

    def forget_used_code(self):
        """Makes the current code of the app acceptable again, as if the app already showed another one."""
        self.service.query(f"UPDATE authenticators SET last_step = 0 WHERE account = '{self.account}'")

    def start(self, flow, token=None):
        """Starts a draft of the flow at this path, and returns its token."""
        return self.owner.get("POST", flow, {"transport": "bearer"}, token=token, expected=(201,))["token"]

    def prove(self, flow, address, draft):
        earlier = self.owner.codes(address)
        self.owner.get("PUT", f"{flow}/email", {"email": address}, token=draft)
        self.owner.get("PUT", f"{flow}/code", {"code": self.owner.code(address, earlier)}, token=draft)


# Conditions that compare the old and the new value of a fact


def changed(old, new):
    return old != new and new is not None


def empty(old, new):
    return not new


def grown_by(number):
    return lambda old, new: (new or 0) == (old or 0) + number


def one_more(old, new):
    return len(new) == len(old) + 1 and [one for one in new if one not in old] and all(one in new for one in old)


def only_a_new_one(old, new):
    return len(new) == 1 and new[0] not in old


def one_replaced(old, new):
    return len(new) == len(old) and len(set(new) - set(old)) == 1


def renewed(session):
    """Returns a condition: only this session differs, for example in its token."""

    def condition(old, new):
        others = [one["id"] for one, other in zip(old, new) if one != other]
        return len(new) == len(old) and others == [session] == [one["id"] for one in new if one not in old]

    return condition


def mailed(*templates):
    def condition(old, new):
        expected = dict(old)
        for template in templates:
            expected[template] = expected.get(template, 0) + 1
        return new == expected

    return condition


def only(session, renewed=True):
    """Returns a condition: only this session is left, with a new token if `renewed`."""

    def condition(old, new):
        return [one["id"] for one in new] == [session] and (not renewed or new[0] not in old)

    return condition


# The facts in the database about an account. They contain no counts of attempts and no times of use, because an act
# that has not happened may have changed these.
FACTS = {
    "email": "SELECT to_json(email) FROM accounts WHERE id = '{0}'",
    "username": "SELECT to_json(username) FROM accounts WHERE id = '{0}'",
    "profile": "SELECT to_json(profile) FROM accounts WHERE id = '{0}'",
    "version": "SELECT to_json(credentials_version) FROM accounts WHERE id = '{0}'",
    "added": "SELECT to_json(authenticators_added) FROM accounts WHERE id = '{0}'",
    "identifiers": """
        SELECT json_agg(json_build_object('kind', kind, 'value', value, 'reserved', reserved_until IS NOT NULL)
                        ORDER BY kind, value) FROM identifiers WHERE account = '{0}'""",
    "password": "SELECT to_json(secret) FROM credentials WHERE account = '{0}'",
    "authenticator": "SELECT to_json(sealed) FROM authenticators WHERE account = '{0}'",
    "step": "SELECT to_json(last_step) FROM authenticators WHERE account = '{0}'",
    "recovery_codes": "SELECT json_agg(digest ORDER BY digest) FROM recovery_codes WHERE account = '{0}'",
    "sessions": """
        SELECT json_agg(json_build_object('id', id, 'token', token_hash, 'methods', methods, 'assurance', assurance)
                        ORDER BY id) FROM sessions WHERE account = '{0}'""",
    "sign_ins": "SELECT json_agg(id ORDER BY id) FROM sign_ins WHERE account = '{0}'",
    "devices": "SELECT json_agg(digest ORDER BY digest) FROM devices WHERE account = '{0}'",
    "address_changes": "SELECT to_json(count(*)) FROM address_changes WHERE account = '{0}'",
    "photos": "SELECT json_agg(md5(image)) FROM photos WHERE account = '{0}'",
    "consents": "SELECT json_agg(field ORDER BY field) FROM consents WHERE account = '{0}'",
    "drafts": "SELECT json_agg(id ORDER BY id) FROM drafts WHERE account_id = '{0}'",
    # The mails to all people, because only one person acts at a time.
    "mails": "SELECT json_object_agg(template, n) FROM (SELECT template, count(*) AS n FROM outbox GROUP BY 1) AS sent",
    # The number of rows that contain the id of the account, for each column.
    "references": "SELECT json_object_agg(name, n) FROM ({references}) AS counted WHERE n > 0",
}
LISTS = ("identifiers", "recovery_codes", "sessions", "sign_ins", "devices", "drafts")

# Each query finds violations of an invariant of all accounts, whatever has happened to them.
INVARIANTS = {
    "an address with two accounts": "SELECT email FROM accounts GROUP BY email HAVING count(*) > 1",
    "an account without its identifiers": """
        SELECT id FROM accounts
         WHERE ARRAY['email ' || email, 'username ' || username] IS DISTINCT FROM
               (SELECT array_agg(kind || ' ' || value ORDER BY kind) FROM identifiers
                 WHERE account = accounts.id AND reserved_until IS NULL)""",
    "a reserved address without its change, or a change without its reserved address": """
        SELECT id FROM accounts
         WHERE (SELECT count(*) FROM identifiers WHERE account = accounts.id AND reserved_until IS NOT NULL)
            <> (SELECT count(*) FROM address_changes WHERE account = accounts.id)""",
    "an app without its recovery codes, or recovery codes without an app": """
        SELECT id FROM accounts
         WHERE (SELECT count(*) FROM recovery_codes WHERE account = accounts.id)
            <> CASE WHEN EXISTS (SELECT FROM authenticators WHERE account = accounts.id) THEN 10 ELSE 0 END""",
    "a session of an account without a known device": """
        SELECT account FROM sessions WHERE account NOT IN (SELECT account FROM devices) AND nonce IS NULL""",
    "a waiting sign-in without an account": "SELECT id FROM sign_ins WHERE account NOT IN (SELECT id FROM accounts)",
    "mail that was not delivered": "SELECT template, state, last_error FROM outbox WHERE state <> 'delivered'",
}


class Killing:
    """Performs acts on one service, and collects the violations."""

    # The queries of the facts about an account, and the names of the facts that are lists.
    queries, lists = FACTS, LISTS

    def __init__(self, service, person=Owner):
        self.service = service
        self.person = person
        self.found = []
        self.owners = []
        self.signed_up = 0
        # The address and the beginning of the subject of each mail that has to arrive.
        self.notices = []
        service.wait_until_ready()
        columns = service.query(
            """
            SELECT table_name || '.' || column_name FROM information_schema.columns
              JOIN information_schema.tables USING (table_schema, table_name)
             WHERE table_schema = 'public' AND udt_name = 'uuid' AND table_type = 'BASE TABLE'
               AND table_name NOT LIKE 'drafts!_%' ESCAPE '!'
               -- These tables keep rows for applications after an account was erased, and change with the deliveries.
               AND table_name NOT IN ('events', 'event_sequences', 'deliveries', 'logouts') ORDER BY 1
            """
        )
        references = " UNION ALL ".join(
            f"SELECT '{name}' AS name, count(*) AS n FROM {name.split('.')[0]} WHERE {name.split('.')[1]} = '{{0}}'"
            for name in columns
        )
        facts = (f"'{name}', ({query.replace('{references}', references)})" for name, query in self.queries.items())
        self.facts_query = f"SELECT json_build_object({', '.join(facts)})"

    def actor(self, kind):
        if kind.signs_up:
            self.signed_up += 1
            return Crowd(1, self.service, self.person, self.signed_up - 1).people[0]
        return self.owner()

    def owner(self):
        if not self.owners:
            crowd = Crowd(BATCH, self.service, self.person, self.signed_up)
            crowd.sign_up()
            self.signed_up += BATCH
            self.found += crowd.complaints
            self.owners = [person for person in crowd.people if person.committed]
        return self.owners.pop(0)

    def facts(self, account):
        facts = json.loads("".join(self.service.query(self.facts_query.format(account))))
        return facts | {name: facts[name] or [] for name in self.lists}

    def run(self, kind):
        """Kills the server at every point of the act, and returns the number of points."""
        number = 1
        while self.kill_at(kind, number):
            number += 1
        return number - 1

    def kill_at(self, kind, number):
        """Performs the act once, with the server killed at this point. Returns False if the act has no such point."""
        service = self.service
        act = kind(self.actor(kind), service)
        point = None
        try:
            act.prepare()
            before = self.facts(act.account)
            service.killer.arm(number, service.server.kill, act.counts)
            try:
                act.perform()
                is_lost = False
            except (OSError, http.client.HTTPException):
                is_lost = True
            finally:
                point = service.killer.disarm()
            if point:
                service.server.wait()
                self.wait_for_backends()
            now = self.facts(act.account)
            stage = self.stage(act, before, now)
            act.check(point or not is_lost, "the connection was lost, but the server was not killed")
            act.check(stage >= act.acknowledged, "a request was answered, but its change has not happened")
            if point:
                service.start_server()
                service.wait_until_ready()
                self.repeat(act, stage, before, now)
            else:
                act.check(stage == len(act.stages), "the act was answered, but has not happened")
            self.notices += [(act.new if is_new else act.owner.address, text) for text, is_new in act.notices]
        except Broken as error:
            self.found.append(f"{act.name}, killed at {number}, {point}, {act.owner.address}: {error}")
        if point and service.server.poll() is not None:
            service.start_server()
            service.wait_until_ready()
        return point is not None

    def repeat(self, act, stage, before, now):
        last = len(act.stages)
        if stage == 0:
            act.verify_before()
            before = self.facts(act.account)
        elif not act.goes_on(stage):
            before = now
        act.repeat(stage)
        after = self.facts(act.account)
        if stage < last:
            act.check(self.stage(act, before, after) == last, "the repeated act has not happened")
        elif act.is_repeatable:
            act.check(after == now, f"the repeated act has changed {differences(now, after)}")
        act.verify_after()

    def missing_mail(self):
        """Returns the mails that have not arrived. A mail that was being sent at a kill may arrive twice."""
        mails = self.service.mailbox.mails
        arrived = [(to, mail["subject"].replace(" Accounts", "")) for mail in mails for to in mail.get("to", [])]
        return [
            f"no mail “{text}” to {address}"
            for address, text in self.notices
            if not any(to == address and subject.startswith(text) for to, subject in arrived)
        ]

    def stage(self, act, before, now):
        """Returns the number of stages that have happened completely. Raises Broken if one has happened in part."""
        if now == before:
            return 0
        wrong = []
        for number, conditions in enumerate(act.stages, start=1):
            wrong = [
                name
                for name in self.queries
                if not (
                    conditions[name](before[name], now[name])
                    if name in conditions
                    else self.follows(name, before, now) or before[name] == now[name]
                )
            ]
            if not wrong:
                return number
        raise Broken(f"the act has happened in part, see {wrong}: {differences(before, now)}")

    def follows(self, name, before, now):
        """Returns True if the new value of the fact follows from the other facts."""
        return name == "references"

    def wait_for_backends(self):
        """Waits until PostgreSQL has noticed the death of the server, and has rolled back its open transactions."""
        others = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        deadline = time.monotonic() + 30
        while self.service.query(others):
            if time.monotonic() > deadline:
                raise Broken("PostgreSQL keeps the connections of a killed server")
            time.sleep(0.01)


def differences(before, now):
    return {name: (before[name], now[name]) for name in before if before[name] != now[name]}


def totp(secret, step=None):
    """Returns the code of the app for a time step, by default the current one (RFC 6238)."""
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    step = int(time.time()) // 30 if step is None else step
    digest = hmac.new(key, struct.pack(">Q", step), hashlib.sha1).digest()
    number = struct.unpack(">I", digest[digest[-1] & 15 :][:4])[0] & 0x7FFFFFFF
    return f"{number % 10**6:06}"


def kill_in(acts, killing, settle):
    """
    Kills the server in all acts. Prints a line for each act, and returns the violations.

    settle: a function that waits until everything that the acts have caused is done, and returns violations.
    """
    kills = 0
    for kind in acts:
        known, started = len(killing.found), time.monotonic()
        points = killing.run(kind)
        kills += points
        new = killing.found[known:]
        seconds = time.monotonic() - started
        print(f"{kind.name}: killed at {points} points in {seconds:.0f} s, {'NOT ' * bool(new)}survived", flush=True)
        for violation in new:
            print(f"  {violation}", flush=True)
    killing.service.settle()
    found = settle()
    found += [f"{what}: {rows}" for what, query in INVARIANTS.items() if (rows := killing.service.query(query))]
    found += killing.missing_mail()
    for violation in found:
        print(f"  {violation}", flush=True)
    print(f"{kills} kills, {len(killing.found + found)} violations", flush=True)
    return killing.found + found
