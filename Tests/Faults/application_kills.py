"""
The acts of people at an application. The server is killed at every point of each act.

After each kill and restart, a code or a refresh token works as if nothing had happened, or not at all. A code works
once; a repeated refresh gets the same successor. In the end the application has received every event in the database,
in order, and a logout for every ended session for which it had a grant; and the events are those of the acts that have
happened.
"""

import json
import time
from collections import Counter
from urllib.parse import urlencode

import account_kills
from application import VERIFIER
from killing import (
    DELIVERIES,
    FACTS,
    LISTS,
    LOGOUTS,
    UPKEEP,
    Act,
    Broken,
    Killing,
    Owner,
    changed,
    empty,
    has,
    kill_in,
    mailed,
    of_request,
    one_more,
)
from people import Crowd

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class Member(Owner):
    """A person who uses the application, in several browsers with a cookie each."""

    def open(self, path, token=None):
        """Opens a page, and returns the status and the `Location` header, which is empty if there is none."""
        headers = {"Accept": "text/html"} | ({"Cookie": f"session={token}"} if token else {})
        status, fields, _ = self.until_ready("GET", path, None, headers)
        return status, fields.get("Location", "")

    def until_ready(self, *request):
        """Sends a request, and repeats it for up to a minute while the answer is 503."""
        deadline = time.monotonic() + 60
        while True:
            answer = self.request(*request)
            if answer[0] != 503 or time.monotonic() > deadline:
                return answer
            time.sleep(0.1)


class ApplicationAct(Act):
    """An act in which the application takes part."""

    def __init__(self, owner, service):
        super().__init__(owner, service)
        self.application = service.application
        self.application.arrival = self.arrival

    def counts(self, texts):
        return of_request(texts)

    def arrival(self, path):
        """Is called for each request to the application. Returns True if it has killed the server."""
        return False

    # Requests of the application

    def post(self, status, path, **form):
        """Sends a request of the application, checks the status of the answer, and returns the body."""
        headers = FORM | self.application.credentials
        found, _, text = self.owner.until_ready("POST", path, urlencode(form), headers)
        self.check(found == status, f"POST {path} was answered with {found} {text}, not {status}")
        return json.loads(text) if text else {}

    def new_code(self, token):
        """Gets an authorization code for a signed-in person, through the browser with this session token."""
        status, location = self.owner.open(self.application.authorization(), token)
        code = self.application.code(location)
        self.check(status == 303 and code, f"the authorization was answered with {status} {location}")
        return code

    def redeem(self, code, status=200):
        form = {"redirect_uri": self.application.callback, "code_verifier": VERIFIER}
        tokens = self.post(status, "/oauth/token", grant_type="authorization_code", code=code, **form)
        if status == 400:
            self.check(tokens["error"] == "invalid_grant", f"the code was answered with {tokens}")
        else:
            self.claims = self.application.claims(tokens)
            self.check(self.claims["sub"] == self.account, f"the tokens are those of {self.claims['sub']}")
        return tokens

    def refresh(self, tokens, status=200):
        answer = self.post(status, "/oauth/token", grant_type="refresh_token", refresh_token=tokens["refresh_token"])
        if status == 400:
            self.check(answer["error"] == "invalid_grant", f"the refresh token was answered with {answer}")
        else:
            self.application.claims(answer)
        return answer

    def new_tokens(self, token):
        return self.redeem(self.new_code(token))

    # Observations from outside

    def check_tokens(self, tokens, expected):
        """Checks that these tokens are valid and the only ones; or, if not expected, that the account has no tokens."""
        active = self.post(200, "/oauth/introspect", token=tokens["access_token"])["active"]
        self.check(active == expected, f"the access token is {'active' if active else 'not active'}")
        families = self.number_of("authorizations", "code_use IS NOT NULL")
        self.check(families == expected, f"there are {families} families of tokens")

    def number_of(self, table, condition="true"):
        join = "" if table == "grants" else "JOIN grants ON grants.id = grant_id"
        query = f"SELECT count(*) FROM {table} {join} WHERE account = '{self.account}' AND {condition}"
        return int(self.service.query(query)[0])

    def pass_minute(self):
        """Makes all exchanges of refresh tokens a minute old. Each is stored with `@` and its time in milliseconds."""
        exchanges = rf"regexp_replace(refresh_tokens, '@\d+', '@{int((time.time() - 60) * 1000)}', 'g')"
        self.service.query(
            f"UPDATE authorizations SET refresh_tokens = {exchanges} FROM grants"
            f" WHERE grants.id = grant_id AND account = '{self.account}'"
        )


# Conditions that compare the old and the new value of a fact


def one_used(old, new):
    used = [one for one in new if one not in old]
    return len(new) == len(old) and len(used) == 1 and used[0]["used"]


def refreshed(old, new):
    return [one["id"] for one in new] == [one["id"] for one in old] and new != old


def without(session):
    def condition(old, new):
        return new == [one for one in old if one["id"] != session] and new != old

    return condition


def with_events(*types):
    return lambda old, new: new[: len(old)] == old and new[len(old) :] == [*types]


class Authorize(ApplicationAct):
    """Authorizes the application for a person who is already signed in."""

    name = "authorization"
    is_repeatable = False
    stages = ({"grants": one_more, "authorizations": one_more},)

    def perform(self):
        self.code = self.new_code(self.token)
        self.acknowledged += 1

    def repeat(self, stage):
        self.perform()

    def verify_after(self):
        self.check_tokens(self.redeem(self.code), True)
        grants = self.number_of("grants")
        self.check(grants == 1, f"the session has {grants} grants")


class Redeem(ApplicationAct):
    name = "redemption of a code"
    is_repeatable = False
    stages = ({"authorizations": one_used},)

    def prepare(self):
        self.code = self.new_code(self.token)

    def perform(self):
        self.tokens = self.redeem(self.code)
        self.acknowledged += 1

    def repeat(self, stage):
        if stage:
            # A thief may have been the first to use the code, so its second use revokes its tokens.
            self.redeem(self.code, 400)
            families = self.number_of("authorizations")
            self.check(families == 0, f"a code that was used twice still has {families} families of tokens")
            self.code = self.new_code(self.token)
        self.perform()

    def verify_after(self):
        self.check_tokens(self.tokens, True)
        self.redeem(self.code, 400)
        self.check_tokens(self.tokens, False)
        self.is_alive(self.token, True, "at the service")


class Refresh(ApplicationAct):
    name = "refresh"
    stages = ({"authorizations": refreshed},)

    def prepare(self):
        self.first = self.new_tokens(self.token)

    def perform(self):
        self.second = self.refresh(self.first)
        self.acknowledged += 1

    def repeat(self, stage):
        self.perform()

    def verify_after(self):
        again = self.refresh(self.first)
        self.check(again["refresh_token"] == self.second["refresh_token"], "a repeated refresh has another successor")
        third = self.refresh(self.second)
        self.check(third["refresh_token"] != self.second["refresh_token"], "a refresh token has no successor")
        self.check_tokens(third, True)
        self.is_alive(self.token, True, "at the service")


class RefreshLater(Refresh):
    """
    Repeats the request after a minute. The act is not repeated if the first request was answered: the application then
    has the next token, and the old one would count as stolen.
    """

    name = "refresh, repeated after a minute"
    is_repeatable = False

    def repeat(self, stage):
        self.pass_minute()
        self.perform()


class ReuseRefreshToken(ApplicationAct):
    """Uses a refresh token that was replaced long ago, as a thief does."""

    name = "reuse of a refresh token"
    notices = (("An app was signed out", False),)
    stages = (
        {
            "authorizations": empty,
            "events": with_events("refresh.reused"),
            "mails": mailed("application-signed-out"),
        },
    )

    def prepare(self):
        self.first = self.new_tokens(self.token)
        self.last = self.refresh(self.refresh(self.first))
        self.pass_minute()

    def perform(self):
        self.refresh(self.first, 400)
        self.acknowledged += 1

    def verify_before(self):
        self.check_tokens(self.last, True)

    def repeat(self, stage):
        self.perform()

    def verify_after(self):
        self.check_tokens(self.last, False)
        self.refresh(self.last, 400)
        self.is_alive(self.token, True, "at the service")


class Revoke(ApplicationAct):
    name = "revocation"
    stages = ({"authorizations": empty},)

    def prepare(self):
        self.tokens = self.new_tokens(self.token)

    def perform(self):
        self.post(200, "/oauth/revoke", token=self.tokens["refresh_token"])
        self.acknowledged += 1

    def verify_before(self):
        self.check_tokens(self.tokens, True)

    def repeat(self, stage):
        self.perform()

    def verify_after(self):
        self.check_tokens(self.tokens, False)
        self.refresh(self.tokens, 400)
        self.is_alive(self.token, True, "at the service")


class SignOut(ApplicationAct):
    """Signs out at the service."""

    name = "sign-out"

    @property
    def stages(self):
        return [{"sessions": without(self.session)}]

    def prepare(self):
        super().prepare()
        self.new_tokens(self.other)
        self.tokens = self.new_tokens(self.token)
        self.sid = self.claims["sid"]

    def perform(self):
        self.act("DELETE", "/session", None, self.token, 204)

    def verify_before(self):
        self.is_alive(self.token, True, "that signs out")
        self.check(
            self.sid not in self.application.logouts, "the application got a logout for a session that has not ended"
        )
        self.refresh(self.tokens)

    def repeat(self, stage):
        if stage == 0:
            self.perform()
        else:
            self.answer(401, "DELETE", "/session", token=self.token)

    def verify_after(self):
        self.is_alive(self.token, False, "that has signed out")
        self.is_alive(self.other, True, "in the other browser")
        self.refresh(self.tokens, 400)
        self.service.deliver_events()
        self.check(self.sid in self.application.logouts, "the application got no logout for the session that has ended")


class SignOutAtApplication(SignOut):
    name = "sign-out at the application"

    def perform(self):
        target = f"{self.application.url}/"
        query = {"id_token_hint": self.tokens["id_token"], "post_logout_redirect_uri": target, "state": "a state"}
        status, location = self.owner.open(f"/oauth/logout?{urlencode(query)}", self.token)
        returns = status == 303 and location == f"{target}?state=a%20state"
        self.check(returns, f"the sign-out was answered with {status} {location}")
        self.acknowledged += 1

    def repeat(self, stage):
        self.perform()


class SignUp(ApplicationAct):
    """
    Signs up from the application, until the application gets a code. After a kill, the person repeats the request that
    has no answer, and goes on from there.
    """

    name = "sign-up for the application"
    signs_up = True
    is_repeatable = False
    stages = (
        {"mails": mailed("verification-code")},
        {
            "mails": mailed("verification-code", "account-created"),
            **dict.fromkeys(
                ("email", "username", "profile", "version", "added", "identifiers", "password", "consents"), changed
            ),
            **dict.fromkeys(("sessions", "devices", "drafts"), one_more),
        },
    )
    stages += (stages[1] | {"grants": one_more, "authorizations": one_more},)

    def __init__(self, owner, service):
        # The base class reads these values, but the account does not exist yet.
        owner.committed = {"account": {"id": None}, "session": {"id": None}, "token": None}
        super().__init__(owner, service)
        self.steps = [
            *(self.begin, self.start, self.enter_address, self.enter_code, self.enter_password, self.enter_profile),
            *(self.enter_birth_date, self.skip_authenticator, self.accept_terms, self.commit, self.go_back),
        ]

    @property
    def account(self):
        found = self.service.query(f"SELECT id FROM accounts WHERE email = '{self.owner.address}'")
        return found[0] if found else "00000000-0000-0000-0000-000000000000"

    @account.setter
    def account(self, _):
        """Ignores the id, because the account is found by its address."""

    def prepare(self):
        self.done = 0

    def perform(self):
        while self.done < len(self.steps):
            self.steps[self.done]()
            self.done += 1

    def repeat(self, stage):
        if stage == len(self.stages):
            # The answer with the code may be lost, so the person follows the link again.
            self.done = min(self.done, len(self.steps) - 1)
        self.perform()

    def put(self, step, body):
        return self.answer(200, "PUT", f"/signup/{step}", body, self.draft)

    def begin(self):
        status, self.page = self.owner.open(self.application.authorization(prompt="create"))
        leads = status == 303 and self.page.startswith("/signup?request=")
        self.check(leads, f"the authorization was answered with {status} {self.page}")

    def start(self):
        body = {"transport": "bearer", "request": self.page.partition("request=")[2]}
        self.draft = self.answer(201, "POST", "/signup", body)["token"]

    def enter_address(self):
        self.put("email", {"email": self.owner.address})
        self.acknowledged += 1

    def enter_code(self):
        self.put("code", {"code": self.owner.code(self.owner.address, 0)})

    def enter_password(self):
        self.put("password", {"password": self.owner.password, "confirmation": self.owner.password})

    def enter_profile(self):
        self.put("profile", {"username": self.owner.username, "display_name": "Kim"})

    def enter_birth_date(self):
        self.put("contact", {"birth_date": "1990-01-01"})

    def skip_authenticator(self):
        self.put("totp", {})

    def accept_terms(self):
        self.put("terms", {"terms": True})

    def commit(self):
        status, answer = self.owner.ask("POST", "/signup/commit", token=self.draft)
        self.check(status in (200, 201), f"the commit was answered with {status} {answer}")
        self.token, self.link = answer["token"], answer["continue"]["href"]
        self.acknowledged += 1

    def go_back(self):
        status, location = self.owner.open(self.link, self.token)
        self.code = self.application.code(location)
        self.check(status == 303 and self.code, f"the way back was answered with {status} {location}")
        self.acknowledged += 1

    def verify_before(self):
        self.signs_in(False)

    def verify_after(self):
        self.check_tokens(self.redeem(self.code), True)
        self.check(self.claims.get("account_created") is True, "the ID token lacks account_created")
        self.is_alive(self.token, True, "of the sign-up")


class WithTokens(ApplicationAct):
    """Mixed into an act at the service: the application first gets tokens for each browser of the person."""

    def prepare(self):
        super().prepare()
        for token in (self.token, self.other):
            if token and self.owner.ask("GET", "/session", token=token)[0] == 200:
                self.new_tokens(token)


class WithRevokedTokens(WithTokens):
    """Also expects that the remaining session loses its grants and tokens, because a thief may have copied them."""

    @property
    def stages(self):
        return [stage | {"grants": empty, "authorizations": empty} for stage in super().stages]


# The acts at the service that write events.
HEARD = [
    type(act.__name__, (heard, act), {"name": f"{act.name}, heard by the application"})
    for heard, act in (
        (WithTokens, account_kills.SignIn),
        (WithRevokedTokens, account_kills.ChangePassword),
        (WithTokens, account_kills.Recovery),
        (WithTokens, account_kills.Move),
        (WithTokens, account_kills.Undo),
        (WithRevokedTokens, account_kills.AddAuthenticator),
        (WithRevokedTokens, account_kills.RemoveAuthenticator),
        (WithTokens, account_kills.EditProfile),
        (WithTokens, account_kills.Erase),
    )
]


class DeliverEvent(ApplicationAct):
    """
    Kills the server at every point of the delivery of an event, from its claim to the deletion of the delivered rows.
    To cause the event, the person signs out when the server begins to look for events and logouts to deliver.
    """

    name = "delivery of an event"
    path, has_grant = "/hooks", False

    @property
    def stages(self):
        return [{"sessions": without(self.ended)}]

    def prepare(self):
        answer = self.signs_in(True)
        self.ending, self.ended = answer["token"], answer["session"]["id"]
        if self.has_grant:
            self.new_tokens(self.ending)
        self.service.deliver_events()
        # How often the server has looked for work since the act began, whether the person has tried to sign out, and the
        # error of that.
        self.rounds, self.has_ended, self.failure = 0, False, None

    def counts(self, texts):
        if has(texts, ("due_applications(",)):
            self.rounds += 1
            if self.rounds == 1:
                self.end()
        # Later claims find nothing, so they are not points of this act.
        is_first = self.rounds == 1 or not has(texts, ("claim_",))
        return self.has_ended and is_first and self.serves(texts)

    def serves(self, texts):
        return not has(texts, UPKEEP + LOGOUTS)

    def end(self):
        try:
            self.act("DELETE", "/session", None, self.ending, 204)
        except (Broken, OSError) as error:
            self.failure = error
        self.has_ended = True

    def arrival(self, path):
        return path == self.path and self.service.killer.reaches("the request to the application")

    def perform(self):
        """Waits until the server has delivered everything and claims again. Raises an error if the server is killed."""
        while not (self.rounds > 1 and self.is_over):
            if self.service.killer.point:
                raise ConnectionError("the server was killed")
            time.sleep(0.02)
        if self.failure:
            raise self.failure

    @property
    def is_over(self):
        return not self.service.query("SELECT 1 FROM deliveries UNION ALL SELECT 1 FROM logouts")

    def repeat(self, stage):
        self.service.deliver_events()

    def verify_after(self):
        query = f"SELECT id FROM events WHERE account = '{self.account}' ORDER BY sequence DESC LIMIT 1"
        heard = {id for id, _ in self.application.events}
        self.check(self.service.query(query)[0] in heard, "the application has not received the event")


class DeliverLogout(DeliverEvent):
    name = "delivery of a logout"
    path, has_grant = "/logout", True

    def serves(self, texts):
        return not has(texts, UPKEEP + DELIVERIES)

    def verify_after(self):
        super().verify_after()
        self.check(self.claims["sid"] in self.application.logouts, "the application has not received the logout")


ACTS = [
    Authorize,
    Redeem,
    Refresh,
    RefreshLater,
    ReuseRefreshToken,
    Revoke,
    SignOutAtApplication,
    SignOut,
    SignUp,
    *HEARD,
    DeliverEvent,
    DeliverLogout,
]


class KillingWithApplication(Killing):
    queries = FACTS | {
        "events": "SELECT json_agg(type ORDER BY sequence) FROM events WHERE account = '{0}'",
        "grants": """
            SELECT json_agg(json_build_object('id', id, 'session', session) ORDER BY id)
              FROM grants WHERE account = '{0}'""",
        "authorizations": """
            SELECT json_agg(json_build_object('id', authorizations.id, 'grant', grant_id, 'used', code_use IS NOT NULL,
                                              'refresh_tokens', refresh_tokens) ORDER BY authorizations.id)
              FROM authorizations JOIN grants ON grants.id = grant_id WHERE account = '{0}'""",
    }
    lists = (*LISTS, "events", "grants", "authorizations")

    def __init__(self, service):
        super().__init__(service, Member)
        service.application.learn_keys(stranger(service).request("GET", "/oauth/keys", None, {})[2])

    def facts(self, account):
        facts = super().facts(account)
        self.service.application.sids |= {grant["id"] for grant in facts["grants"]}
        return facts

    def follows(self, name, before, now):
        if name == "events":
            added = now[name][len(before[name]) :]
            return before[name] == now[name][: len(before[name])] and Counter(added) == Counter(effects(before, now))
        sessions = {one["id"] for one in now["sessions"]}
        grants = [one for one in before["grants"] if one["session"] in sessions]
        if name == "grants":
            return now[name] == grants
        if name == "authorizations":
            held = {one["id"] for one in grants}
            return now[name] == [one for one in before[name] if one["grant"] in held]
        return super().follows(name, before, now)


def effects(before, now):
    """Returns the types of the events that the changes between the two must cause, in any order."""
    if now["version"] is None:
        return ["account.erased"] if before["version"] is not None else []
    old, new = ({one["id"] for one in facts["sessions"]} for facts in (before, now))
    types = ["session.created"] * len(new - old) + ["session.ended"] * len(old - new)
    if before["version"] is None:
        return [*types, "account.created"]
    if now["password"] not in (None, before["password"]):
        types.append("password.changed")
    if any(now[name] != before[name] for name in ("email", "username", "profile")):
        types.append("account.updated")
    if now["email"] != before["email"]:
        had = any(one["value"] == now["email"] for one in before["identifiers"])
        types.append("email.restored" if had else "email.changed")
    if now["authenticator"] != before["authenticator"]:
        types.append("factor.added" if now["authenticator"] else "factor.removed")
    return types


# Each query finds violations in events, deliveries and tokens, whatever has happened to the accounts.
EVENT_INVARIANTS = {
    "an account whose first event is not its creation": """
        SELECT account, min(type) FROM events WHERE sequence = 1 AND type <> 'account.created' GROUP BY 1
         UNION ALL SELECT account, type FROM events WHERE sequence > 1 AND type = 'account.created'
         UNION ALL SELECT id, 'none' FROM accounts WHERE id NOT IN (SELECT account FROM events)""",
    "an erased account without exactly one erasure event, or such an event of an account that still exists": """
        SELECT account FROM events GROUP BY account
        HAVING (account NOT IN (SELECT id FROM accounts)) <> bool_or(type = 'account.erased')
            OR count(*) FILTER (WHERE type = 'account.erased') > 1""",
    "an event after the erasure": """
        SELECT account, type FROM events AS one
         WHERE EXISTS (SELECT FROM events
                        WHERE account = one.account AND sequence < one.sequence AND type = 'account.erased')""",
    "a gap in the numbers of an account": """
        SELECT account FROM events GROUP BY account HAVING count(*) <> max(sequence) OR min(sequence) <> 1""",
    "an account whose number of sessions does not follow from its events": """
        SELECT id FROM accounts
         WHERE (SELECT count(*) FROM sessions WHERE account = accounts.id)
            <> (SELECT count(*) FILTER (WHERE type = 'session.created')
                     - count(*) FILTER (WHERE type = 'session.ended') FROM events WHERE account = accounts.id)""",
    "an undelivered event or logout": """
        SELECT event::text, state, last_error FROM deliveries
         UNION ALL SELECT sid::text, 'logout', last_error FROM logouts""",
    "a family of tokens without a session": """
        SELECT id FROM authorizations
         WHERE grant_id NOT IN (SELECT grants.id FROM grants JOIN sessions ON sessions.id = session)""",
}


def delivery_violations(service):
    """Compares the events and logouts that the application has received with the database. Returns the violations."""
    service.deliver_events()
    application = service.application
    found = [f"{what}: {rows}" for what, query in EVENT_INVARIANTS.items() if (rows := service.query(query))]
    found += application.complaints
    rows = [row.split("|") for row in service.query("SELECT id, account, sequence, type FROM events")]
    stored = {id: (account, int(sequence), type) for id, account, sequence, type in rows}
    heard = {id: (event["data"]["account"]["id"], event["sequence"], event["type"]) for id, event in application.events}
    found += [f"the application has not received the event {stored[id]}" for id in stored.keys() - heard.keys()]
    found += [
        f"the application has received an event that is not in the database: {heard[id]}"
        for id in heard.keys() - stored.keys()
    ]
    found += [
        f"the event {stored[id]} was received as {heard[id]}"
        for id in stored.keys() & heard.keys()
        if stored[id] != heard[id]
    ]
    last = {}
    for id, _ in application.events:
        account, sequence, _ = heard[id]
        if sequence < last.get(account, 0):
            found.append(f"the event {heard[id]} came after a later one")
        last[account] = sequence
    # An event is listed only after all transactions that began before its own have ended.
    deadline = time.monotonic() + 60
    while len(listed := list_events(service)) < len(stored) and time.monotonic() < deadline:
        time.sleep(0.5)
    if [*listed] != [*dict.fromkeys(listed)] or {*listed} != stored.keys():
        running = "SELECT backend_xid, xact_start, query FROM pg_stat_activity WHERE backend_xid IS NOT NULL"
        found.append(f"the list has {len(listed)} events, of {len(stored)}; now runs {service.query(running)}")
    alive = {*service.query("SELECT id FROM grants")}
    ended = {*application.logouts}
    missing = application.sids - alive - ended
    found += [f"the application got no logout for the ended session {sid}" for sid in missing]
    found += [f"the application got a logout for the session {sid}, which has not ended" for sid in ended & alive]
    print(
        f"{len(stored)} events in {len(application.events)} requests, "
        f"{len(ended)} logouts in {len(application.logouts)} requests",
        flush=True,
    )
    return found


def stranger(service):
    return Crowd(1, service, Member).people[0]


def list_events(service):
    """Returns the ids of all events in the list that applications without a webhook read."""
    ids, cursor = [], ""
    while True:
        _, _, text = stranger(service).request(
            "GET", f"/events?limit=100{cursor}", None, service.application.credentials
        )
        page = json.loads(text)
        ids += [event["id"] for event in page["events"]]
        if not page["more"]:
            return ids
        cursor = f"&after={page['next']}"


def kill_in_applications(service):
    """Kills the server in all acts. Prints a line for each act, and returns the violations."""
    return kill_in(ACTS, KillingWithApplication(service), lambda: delivery_violations(service))
