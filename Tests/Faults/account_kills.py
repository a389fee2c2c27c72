"""Kills the server at every point of the acts of people who have an account, and checks that each act happened or did not.

A point is a statement, the end of a transaction, or an answer of PostgreSQL (`KillingProxy`). For each act, a person
prepares it and does it while the server is killed at the first point; another person does it with the second one, and so
on, until the act is over before the point is reached. After each kill the database is compared with what it was before
the act, the server starts again, and the person repeats the act.
"""

import base64
import hashlib
import hmac
import http.client
import json
import struct
import time

from people import PATIENCE, Crowd, Person

# So many people sign up at a time.
BATCH = 20


class Owner(Person):
    """A person with an account, who asks as different browsers: each has its own token."""

    def ask(self, method, path, body=None, token=None):
        """Sends a request once, or again while the server has no time for it, and returns the status and the body."""
        self.token = token
        deadline = time.monotonic() + 60
        while True:
            status, answer = self.exchange(method, path, body)
            if status != 503 or time.monotonic() > deadline:
                return status, answer
            time.sleep(0.1)

    def get(self, method, path, body=None, token=None, expected=(200,)):
        """Sends a request until it is answered as expected, and returns the body."""
        self.token = token
        self.deadline = time.monotonic() + PATIENCE
        return self.send(method, path, body, set(expected))[1]

    def sign_in(self, password=None, identifier=None):
        body = {"identifier": identifier or self.address, "password": password or self.password, "transport": "bearer"}
        return self.ask("POST", "/session", body)

    def code(self, address, earlier):
        codes = self.crowd.service.mailbox.wait_for_code(address, earlier + 1, timeout=60)
        return codes[-1]

    def codes(self, address):
        return len(self.crowd.service.mailbox.codes(address))


class Broken(Exception):
    """What must hold does not."""


class Act:
    """
    An act of a person, in one request or several. Each of its stages is what the requests so far may change in the facts
    about the account: a condition of the old and the new value by the name of the fact. Other facts stay as they are.
    """

    name = ""
    stages = ()
    # Whether the facts stay as they are if an act that has happened is repeated.
    is_repeatable = True
    # The mails that tell the person: the beginning of the subject, and whether it goes to the new address.
    notices = ()

    def __init__(self, owner, service):
        self.owner, self.service = owner, service
        self.account = owner.committed["account"]["id"]
        self.session, self.token = owner.committed["session"]["id"], owner.committed["token"]
        # Another browser of the person.
        self.other = None
        self.acknowledged = 0

    def check(self, condition, what):
        if not condition:
            raise Broken(what)

    def answer(self, status, method, path, body=None, token=None):
        """Does a request that must be answered with that status, and returns the body."""
        found, answer = self.owner.ask(method, path, body, token)
        self.check(found == status, f"{method} {path} was answered with {found} {answer}, not {status}")
        return answer

    def act(self, method, path, body, token, status):
        """A request of the act itself."""
        answer = self.answer(status, method, path, body, token)
        self.acknowledged += 1
        return answer

    def prepare(self):
        self.other = self.signs_in(True)["token"]

    def perform(self):
        """Does the whole act."""

    def verify_before(self):
        """Checks from outside that nothing has happened."""

    def repeat(self, stage):
        """Repeats the act, of which so many stages have happened. The account is then as if it had been done once."""
        if stage == 0:
            self.perform()

    def goes_on(self, stage):
        """Whether the person can repeat the act from that stage on, and need not begin anew."""
        return True

    def verify_after(self):
        """Checks from outside that the act has happened."""

    # What the person can see

    def signs_in(self, expected, password=None, identifier=None):
        status, answer = self.owner.sign_in(password, identifier)
        wanted = 201 if expected else 401
        self.check(status == wanted, f"the sign-in was answered with {status} {answer}, not {wanted}")
        return answer

    def is_alive(self, token, expected, who):
        status, _ = self.owner.ask("GET", "/session", token=token)
        self.check((status == 200) == expected, f"the session {who} is {'gone' if expected else 'still there'}")

    # Steps of preparations

    def add_authenticator(self):
        """Gives the session two factors, and returns the secret and the recovery codes."""
        secret = self.owner.get("GET", "/account/totp", token=self.token)["secret"]
        answer = self.owner.get("PUT", "/account/totp", {"code": totp(secret)}, token=self.token)
        self.token = answer["token"]
        self.forget_used_code()
        return secret, answer["recovery_codes"]

    def forget_used_code(self):
        """As if half a minute had passed, after which the app shows another code."""
        self.service.query(f"UPDATE authenticators SET last_step = 0 WHERE account = '{self.account}'")

    def start(self, flow, token=None):
        """Starts a draft of another flow, and returns its token."""
        return self.owner.get("POST", flow, {"transport": "bearer"}, token=token, expected=(201,))["token"]

    def prove(self, flow, address, draft):
        earlier = self.owner.codes(address)
        self.owner.get("PUT", f"{flow}/email", {"email": address}, token=draft)
        self.owner.get("PUT", f"{flow}/code", {"code": self.owner.code(address, earlier)}, token=draft)


# Conditions of facts


def changed(old, new):
    return old != new and new is not None


def empty(old, new):
    return not new


def grown_by(number):
    return lambda old, new: (new or 0) == (old or 0) + number


def one_more(old, new):
    return len(new) == len(old) + 1 and [one for one in new if one not in old] and all(one in new for one in old)


def one_replaced(old, new):
    return len(new) == len(old) and len(set(new) - set(old)) == 1


def mailed(*templates):
    def condition(old, new):
        expected = dict(old)
        for template in templates:
            expected[template] = expected.get(template, 0) + 1
        return new == expected

    return condition


def only(session, renewed=True):
    """Whether only that session is left, with a new token."""

    def condition(old, new):
        return [one["id"] for one in new] == [session] and (not renewed or new[0] not in old)

    return condition


class SignIn(Act):
    """In a browser with another session, which ends."""

    name = "sign-in"
    is_repeatable = False

    @property
    def stages(self):
        def replaced(old, new):
            return one_more([one for one in old if one["id"] != self.old_session], new)

        return [{"sessions": replaced, "devices": one_more}]

    def prepare(self):
        answer = self.signs_in(True)
        self.other, self.old_session = answer["token"], answer["session"]["id"]

    def perform(self):
        body = {"identifier": self.owner.username, "password": self.owner.password, "transport": "bearer"}
        self.new = self.act("POST", "/session", body, self.other, 201)["token"]

    def verify_before(self):
        self.is_alive(self.other, True, "that is to be replaced")

    def repeat(self, stage):
        self.perform()

    def verify_after(self):
        self.is_alive(self.new, True, "of the sign-in")
        self.is_alive(self.other, False, "that was replaced")
        self.is_alive(self.token, True, "in the other browser")


# What the password may change before the second factor.
WAITING = {"sign_ins": one_more}


class SignInWithApp(Act):
    name = "sign-in with the app"
    factor = "totp"
    is_repeatable = False
    stages = (WAITING, {"sessions": one_more, "devices": one_more, "step": changed})

    def prepare(self):
        self.secret, self.recovery_codes = self.add_authenticator()
        self.pending = self.new = None

    def perform(self):
        self.enter_password()
        self.enter_factor()

    def enter_password(self):
        body = {"identifier": self.owner.address, "password": self.owner.password, "transport": "bearer"}
        self.pending = self.act("POST", "/session", body, None, 201)["token"]

    def enter_factor(self):
        self.new = self.act("PUT", f"/session/{self.factor}", {"code": self.code}, self.pending, 200)["token"]

    @property
    def code(self):
        return totp(self.secret)

    def goes_on(self, stage):
        # The token of the waiting sign-in may be lost.
        return stage != 1 or self.pending is not None

    def repeat(self, stage):
        if stage == 1 and self.pending:
            # The code was not used up, and the sign-in still waits for it.
            self.enter_factor()
        elif stage == 2:
            if not self.new:
                self.answer(401, "PUT", f"/session/{self.factor}", {"code": self.code}, self.pending)
            self.answer_used_code()
            self.perform()
        else:
            self.perform()

    def answer_used_code(self):
        """A code is accepted once, and the next one as well."""
        self.enter_password()
        step = self.service.query(f"SELECT last_step FROM authenticators WHERE account = '{self.account}'")[0]
        self.answer(422, "PUT", "/session/totp", {"code": totp(self.secret, int(step))}, self.pending)
        self.forget_used_code()

    def verify_after(self):
        self.is_alive(self.new, True, "of the sign-in")
        self.is_alive(self.token, True, "in the other browser")


class SignInWithRecoveryCode(SignInWithApp):
    name = "sign-in with a recovery code"
    factor = "recovery-code"
    stages = (WAITING, {"sessions": one_more, "devices": one_more, "recovery_codes": one_replaced})

    @property
    def code(self):
        return self.recovery_codes[0]

    def answer_used_code(self):
        self.enter_password()
        self.answer(422, "PUT", "/session/recovery-code", {"code": self.code}, self.pending)
        self.recovery_codes.pop(0)


class ChangePassword(Act):
    name = "change of the password"
    notices = (("Your password was changed", False),)

    @property
    def stages(self):
        return [
            {
                "password": changed,
                "sessions": only(self.session),
                "sign_ins": empty,
                "devices": empty,
                "version": grown_by(1),
                "mails": mailed("password-changed"),
            }
        ]

    def perform(self):
        self.new = f"another grey pass phrase {self.owner.number}"
        body = {"password": self.new, "confirmation": self.new}
        self.token = self.act("PUT", "/account/password", body, self.token, 200)["token"]

    def verify_before(self):
        self.signs_in(False, self.new)
        self.signs_in(True)
        self.is_alive(self.token, True, "that changes the password")
        self.is_alive(self.other, True, "in the other browser")

    def repeat(self, stage):
        if stage == 0:
            self.perform()
        elif not self.acknowledged:
            # The token of the answer is lost, so the person signs in with the new password.
            self.answer(401, "GET", "/session", token=self.token)

    def verify_after(self):
        self.is_alive(self.other, False, "in the other browser")
        self.signs_in(False)
        self.signs_in(True, self.new)


class Recovery(Act):
    name = "recovery"
    notices = (("Your password was changed", False),)
    stages = (
        {
            "password": changed,
            "sessions": lambda old, new: len(new) == 1 and new[0]["id"] not in [one["id"] for one in old],
            "sign_ins": empty,
            "devices": lambda old, new: len(new) == 1 and new[0] not in old,
            "version": grown_by(1),
            "mails": mailed("password-changed"),
            "drafts": one_more,
        },
    )

    def prepare(self):
        super().prepare()
        self.draft, self.new = self.start("/recovery"), f"another grey pass phrase {self.owner.number}"
        self.prove("/recovery", self.owner.address, self.draft)
        body = {"password": self.new, "confirmation": self.new}
        self.owner.get("PUT", "/recovery/password", body, token=self.draft)

    def perform(self):
        self.token_of_recovery = self.act("POST", "/recovery/commit", None, self.draft, 200)["token"]

    def verify_before(self):
        self.signs_in(False, self.new)
        self.signs_in(True)
        self.is_alive(self.token, True, "of the sign-up")
        self.is_alive(self.other, True, "in the other browser")

    def repeat(self, stage):
        self.perform()

    def verify_after(self):
        token = self.token_of_recovery
        self.perform()
        self.check(self.token_of_recovery == token, "a repeated recovery has another session")
        self.is_alive(token, True, "of the recovery")
        self.is_alive(self.token, False, "of the sign-up")
        self.is_alive(self.other, False, "in the other browser")
        self.signs_in(False)
        self.signs_in(True, self.new)


class SecondFactorOfRecovery(Act):
    """Enters a recovery code, which is replaced."""

    name = "recovery code in a recovery"
    stages = ({"recovery_codes": one_replaced},)

    def prepare(self):
        _, self.recovery_codes = self.add_authenticator()
        self.draft = self.start("/recovery")
        self.prove("/recovery", self.owner.address, self.draft)

    def perform(self):
        body = {"second_factor": self.recovery_codes[0]}
        self.act("PUT", "/recovery/second-factor", body, self.draft, 200)

    def state(self):
        steps = self.owner.get("GET", "/recovery", token=self.draft)["steps"]
        return next(step["state"] for step in steps if step["name"] == "second-factor")

    def verify_before(self):
        self.check(self.state() == "current", "the second factor is accepted, and the recovery code unused")

    def repeat(self, stage):
        if stage:
            self.check(self.state() == "complete", "the recovery code is used up, and the second factor not accepted")
        self.perform()

    def verify_after(self):
        self.check(self.state() == "complete", "the second factor is not accepted")
        new = f"another grey pass phrase {self.owner.number}"
        self.owner.get("PUT", "/recovery/password", {"password": new, "confirmation": new}, token=self.draft)
        session = self.answer(200, "POST", "/recovery/commit", None, self.draft)["session"]
        self.check(session["assurance"] == "aal2", "the recovery has one factor")


class Move(Act):
    name = "change of the address"
    notices = (("Your new address", True), ("Your address was changed", False))

    @property
    def stages(self):
        def moved(old, new):
            return new == sorted(
                [
                    *({**one, "reserved": True} if one["kind"] == "email" else one for one in old),
                    {"kind": "email", "value": self.new, "reserved": False},
                ],
                key=lambda one: (one["kind"], one["value"]),
            )

        return [
            {
                "email": lambda old, new: new == self.new,
                "identifiers": moved,
                "address_changes": grown_by(1),
                "sessions": only(self.session),
                "sign_ins": empty,
                "devices": empty,
                "version": grown_by(1),
                "mails": mailed("address-changed", "address-left"),
                "drafts": one_more,
            }
        ]

    def prepare(self):
        super().prepare()
        self.new = self.owner.address.replace("person", "moved")
        self.draft = self.start("/email-change", self.token)
        self.prove("/email-change", self.new, self.draft)

    def perform(self):
        self.moved = self.act("POST", "/email-change/commit", None, self.draft, 200)["token"]

    def verify_before(self):
        self.signs_in(False, identifier=self.new)
        self.signs_in(True)
        self.is_alive(self.token, True, "that changes the address")
        self.is_alive(self.other, True, "in the other browser")

    def repeat(self, stage):
        self.perform()

    def verify_after(self):
        self.is_alive(self.moved, True, "that has changed the address")
        self.is_alive(self.token, False, "that has changed the address, with its old token,")
        self.is_alive(self.other, False, "in the other browser")
        self.signs_in(False)
        self.signs_in(True, identifier=self.new)


class Undo(Move):
    name = "return to the old address"
    notices = (*Move.notices, ("Your old address is back", True), ("Your old address is back", False))

    @property
    def stages(self):
        def restored(old, new):
            return new == [{**one, "reserved": False} for one in old if one["value"] != self.new]

        return [
            {
                "email": lambda old, new: new == self.owner.address,
                "identifiers": restored,
                "address_changes": empty,
                "password": empty,
                "sessions": empty,
                "sign_ins": empty,
                "devices": empty,
                "version": grown_by(1),
                "mails": mailed("address-restored", "address-restored"),
            }
        ]

    def prepare(self):
        super().prepare()
        self.answer(200, "POST", "/email-change/commit", None, self.draft)
        self.link = self.wait_for_link()
        self.other = self.signs_in(True, identifier=self.new)["token"]

    def wait_for_link(self):
        mailbox = self.service.mailbox

        def links():
            texts = [mail["text"] for mail in mailbox.mails if mail.get("to") == [self.owner.address]]
            return [part.split()[0] for text in texts for part in text.split("/email-change/undo?token=")[1:]]

        with mailbox.changed:
            mailbox.changed.wait_for(links, timeout=60)
            return links()[-1]

    def perform(self):
        self.act("POST", "/email-change/undo", {"token": self.link}, None, 204)

    def verify_before(self):
        self.signs_in(False)
        self.signs_in(True, identifier=self.new)
        self.is_alive(self.other, True, "in the other browser")

    def repeat(self, stage):
        if stage == 0:
            self.perform()
        else:
            self.answer(422, "POST", "/email-change/undo", {"token": self.link})

    def verify_after(self):
        self.is_alive(self.other, False, "in the other browser")
        self.signs_in(False)
        self.signs_in(False, identifier=self.new)


class AddAuthenticator(Act):
    name = "setting up the app"
    notices = (("An authenticator app was added", False),)

    @property
    def stages(self):
        return [
            {
                "authenticator": changed,
                "step": changed,
                "added": grown_by(1),
                "recovery_codes": lambda old, new: len(new) == 10,
                "sessions": lambda old, new: only(self.session)(old, new) and new[0]["assurance"] == 2,
                "sign_ins": empty,
                "version": grown_by(1),
                "mails": mailed("authenticator-added"),
            }
        ]

    def prepare(self):
        super().prepare()
        self.secret = self.owner.get("GET", "/account/totp", token=self.token)["secret"]

    def perform(self):
        self.token = self.act("PUT", "/account/totp", {"code": totp(self.secret)}, self.token, 200)["token"]

    def verify_before(self):
        self.check(self.signs_in(True)["session"]["state"] == "active", "the sign-in asks for a code of the app")
        self.is_alive(self.other, True, "in the other browser")

    def verify_after(self):
        self.is_alive(self.other, False, "in the other browser")
        self.is_alive(self.token, self.acknowledged > 0, "that adds the app")
        pending = self.signs_in(True)
        self.check(pending["session"]["state"] == "second-factor", "the sign-in does not ask for a code of the app")
        self.forget_used_code()
        self.answer(200, "PUT", "/session/totp", {"code": totp(self.secret)}, pending["token"])


class RemoveAuthenticator(Act):
    name = "removal of the app"
    notices = (("Your authenticator app was removed", False),)
    path, method, status = "/account/totp", "DELETE", 200

    @property
    def stages(self):
        return [
            {
                "authenticator": empty,
                "step": empty,
                "recovery_codes": empty,
                "sessions": only(self.session),
                "sign_ins": empty,
                "version": grown_by(1),
                "mails": mailed("authenticator-removed"),
            }
        ]

    def prepare(self):
        self.secret, self.recovery_codes = self.add_authenticator()
        pending = self.signs_in(True)["token"]
        self.other = self.answer(200, "PUT", "/session/totp", {"code": totp(self.secret)}, pending)["token"]
        self.forget_used_code()

    def perform(self):
        answer = self.act(self.method, self.path, None, self.token, self.status)
        self.token, self.recovery_codes = answer["token"], answer.get("recovery_codes", self.recovery_codes)

    def verify_before(self):
        self.is_alive(self.other, True, "in the other browser")
        self.enter_recovery_code(200)

    def verify_after(self):
        self.is_alive(self.other, False, "in the other browser")
        self.is_alive(self.token, self.acknowledged > 0, "that removes the app")
        self.check(self.signs_in(True)["session"]["state"] == "active", "the sign-in asks for a code of the app")

    def enter_recovery_code(self, expected):
        pending = self.signs_in(True)["token"]
        self.answer(expected, "PUT", "/session/recovery-code", {"code": self.recovery_codes.pop()}, pending)


class ReplaceRecoveryCodes(RemoveAuthenticator):
    name = "new recovery codes"
    notices = (("Your recovery codes were replaced", False),)
    path, method, status = "/account/recovery-codes", "POST", 200

    @property
    def stages(self):
        return [
            {
                "recovery_codes": lambda old, new: len(new) == 10 and not set(new) & set(old),
                "sessions": only(self.session),
                "sign_ins": empty,
                "version": grown_by(1),
                "mails": mailed("recovery-codes-replaced"),
            }
        ]

    def verify_after(self):
        self.is_alive(self.other, False, "in the other browser")
        self.is_alive(self.token, self.acknowledged > 0, "that replaces the codes")
        # Without the answer, the person has the old codes only.
        self.enter_recovery_code(200 if self.acknowledged else 422)


class EditProfile(Act):
    """Takes another username as well, which moves the identifier."""

    name = "change of the profile"

    @property
    def stages(self):
        def renamed(old, new):
            return new == [{**one, "value": self.new} if one["kind"] == "username" else one for one in old]

        return [{"username": lambda old, new: new == self.new, "profile": changed, "identifiers": renamed}]

    def prepare(self):
        super().prepare()
        self.new = self.owner.username.replace("person", "renamed")

    def perform(self):
        body = {"username": self.new, "display_name": "Another name"}
        self.act("PUT", "/account/profile", body, self.token, 200)

    def verify_before(self):
        self.signs_in(False, identifier=self.new)
        self.signs_in(True, identifier=self.owner.username)

    def repeat(self, stage):
        self.perform()

    def verify_after(self):
        self.is_alive(self.other, True, "in the other browser")
        self.signs_in(False, identifier=self.owner.username)
        self.signs_in(True, identifier=self.new)


class Erase(Act):
    name = "erasure"
    notices = (("Your account was deleted", False),)

    @property
    def stages(self):
        return [
            {
                name: empty
                for name in (
                    *(
                        "email",
                        "username",
                        "profile",
                        "version",
                        "added",
                        "identifiers",
                        "password",
                        "authenticator",
                        "step",
                    ),
                    *("recovery_codes", "sessions", "sign_ins", "devices", "address_changes", "photos", "consents"),
                )
            }
            | {"mails": mailed("account-erased"), "references": lambda old, new: set(new) <= {"drafts.account_id"}}
        ]

    def prepare(self):
        super().prepare()
        self.add_authenticator()
        self.pending = self.signs_in(True)["token"]

    def perform(self):
        self.act("DELETE", "/account", None, self.token, 204)

    def verify_before(self):
        self.check(self.signs_in(True)["session"]["state"] == "second-factor", "the app is gone")
        self.is_alive(self.token, True, "that erases the account")

    def repeat(self, stage):
        if stage == 0:
            self.perform()
        else:
            self.answer(401, "DELETE", "/account", token=self.token)

    def verify_after(self):
        self.is_alive(self.token, False, "that has erased the account")
        self.answer(401, "PUT", "/session/totp", {"code": "123456"}, self.pending)
        self.signs_in(False)
        self.signs_in(False, identifier=self.owner.username)


ACTS = [
    SignIn,
    SignInWithApp,
    SignInWithRecoveryCode,
    ChangePassword,
    Recovery,
    SecondFactorOfRecovery,
    Move,
    Undo,
    AddAuthenticator,
    RemoveAuthenticator,
    ReplaceRecoveryCodes,
    EditProfile,
    Erase,
]

# What the database knows about an account. Counts of attempts and times of use are left out: an act that has not happened
# may have changed them.
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
    # One person acts at a time.
    "mails": "SELECT json_object_agg(template, n) FROM (SELECT template, count(*) AS n FROM outbox GROUP BY 1) AS sent",
    # Every column that contains the id.
    "references": "SELECT json_object_agg(name, n) FROM ({references}) AS counted WHERE n > 0",
}
LISTS = ("identifiers", "recovery_codes", "sessions", "sign_ins", "devices", "drafts")

# What holds for all accounts, whatever has happened to them.
INVARIANTS = {
    "an address with two accounts": "SELECT email FROM accounts GROUP BY email HAVING count(*) > 1",
    "an account without its identifiers": """
        SELECT id FROM accounts
         WHERE ARRAY['email ' || email, 'username ' || username] IS DISTINCT FROM
               (SELECT array_agg(kind || ' ' || value ORDER BY kind) FROM identifiers
                 WHERE account = accounts.id AND reserved_until IS NULL)""",
    "a reserved address that nobody can restore, or the reverse": """
        SELECT id FROM accounts
         WHERE (SELECT count(*) FROM identifiers WHERE account = accounts.id AND reserved_until IS NOT NULL)
            <> (SELECT count(*) FROM address_changes WHERE account = accounts.id)""",
    "an app without its recovery codes, or the reverse": """
        SELECT id FROM accounts
         WHERE (SELECT count(*) FROM recovery_codes WHERE account = accounts.id)
            <> CASE WHEN EXISTS (SELECT FROM authenticators WHERE account = accounts.id) THEN 10 ELSE 0 END""",
    "a session without a device that is known": """
        SELECT account FROM sessions WHERE account NOT IN (SELECT account FROM devices) AND nonce IS NULL""",
    "a waiting sign-in without an account": "SELECT id FROM sign_ins WHERE account NOT IN (SELECT id FROM accounts)",
    "mail that was not delivered": "SELECT template, state, last_error FROM outbox WHERE state <> 'delivered'",
}


class Killing:
    """The acts on one service, and what was found."""

    def __init__(self, service):
        self.service = service
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
               AND table_name NOT LIKE 'drafts!_%' ESCAPE '!' ORDER BY 1
            """
        )
        references = " UNION ALL ".join(
            f"SELECT '{name}' AS name, count(*) AS n FROM {name.split('.')[0]} WHERE {name.split('.')[1]} = '{{0}}'"
            for name in columns
        )
        facts = (f"'{name}', ({query.replace('{references}', references)})" for name, query in FACTS.items())
        self.facts_query = f"SELECT json_build_object({', '.join(facts)})"

    def owner(self):
        if not self.owners:
            crowd = Crowd(BATCH, self.service, Owner, self.signed_up)
            crowd.sign_up()
            self.signed_up += BATCH
            self.found += crowd.complaints
            self.owners = [person for person in crowd.people if person.committed]
        return self.owners.pop(0)

    def facts(self, account):
        facts = json.loads("".join(self.service.query(self.facts_query.format(account))))
        return facts | {name: facts[name] or [] for name in LISTS}

    def run(self, kind):
        """Kills the server at every point of the act, and returns the number of points."""
        number = 1
        while self.kill_at(kind, number):
            number += 1
        return number - 1

    def kill_at(self, kind, number):
        """Returns whether the act has this point."""
        service = self.service
        act = kind(self.owner(), service)
        point = None
        try:
            act.prepare()
            before = self.facts(act.account)
            service.killer.arm(number, service.server.kill)
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
            act.check(point or not is_lost, "the connection was lost, and the server not killed")
            act.check(stage >= act.acknowledged, "an answer was given, and what it tells has not happened")
            if point:
                service.start_server()
                service.wait_until_ready()
                self.repeat(act, stage, before, now)
            else:
                act.check(stage == len(act.stages), "the act was answered, and has not happened")
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
        """Every mail must arrive; it may arrive twice if the server is killed while it is sent."""
        mails = self.service.mailbox.mails
        arrived = {(to, mail["subject"].split(":")[0]) for mail in mails for to in mail.get("to", [])}
        return [f"no mail “{text}” to {address}" for address, text in self.notices if (address, text) not in arrived]

    @staticmethod
    def stage(act, before, now):
        """The number of stages that have happened, each of them as a whole."""
        if now == before:
            return 0
        wrong = []
        for number, conditions in enumerate(act.stages, start=1):
            wrong = [
                name
                for name in FACTS
                if not (conditions[name](before[name], now[name]) if name in conditions else before[name] == now[name])
                # They follow from the others.
                and (name != "references" or name in conditions)
            ]
            if not wrong:
                return number
        raise Broken(f"it has happened in part, by {wrong}: {differences(before, now)}")

    def wait_for_backends(self):
        """Waits until PostgreSQL has noticed that the server is gone, and has undone what was open."""
        others = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        deadline = time.monotonic() + 30
        while self.service.query(others):
            if time.monotonic() > deadline:
                raise Broken("PostgreSQL keeps the sessions of a server that is gone")
            time.sleep(0.01)


def differences(before, now):
    return {name: (before[name], now[name]) for name in before if before[name] != now[name]}


def totp(secret, step=None):
    """The code of the app (RFC 6238)."""
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    step = int(time.time()) // 30 if step is None else step
    digest = hmac.new(key, struct.pack(">Q", step), hashlib.sha1).digest()
    number = struct.unpack(">I", digest[digest[-1] & 15 :][:4])[0] & 0x7FFFFFFF
    return f"{number % 10**6:06}"


def kill_in_acts(service):
    """Prints a line for each act, and returns what is wrong."""
    killing = Killing(service)
    for kind in ACTS:
        known, started = len(killing.found), time.monotonic()
        points = killing.run(kind)
        new = killing.found[known:]
        seconds = time.monotonic() - started
        print(f"{kind.name}: killed at {points} points in {seconds:.0f} s, {'NOT ' * bool(new)}survived", flush=True)
        for violation in new:
            print(f"  {violation}", flush=True)
    service.settle()
    found = [f"{what}: {rows}" for what, query in INVARIANTS.items() if (rows := service.query(query))]
    found += killing.missing_mail()
    for violation in found:
        print(f"  {violation}", flush=True)
    return killing.found + found
