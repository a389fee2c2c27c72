"""The acts of people with an account. The server is killed at every point of each act."""

from killing import (
    Act,
    Killing,
    changed,
    empty,
    grown_by,
    kill_in,
    mailed,
    of_request,
    one_more,
    one_replaced,
    only,
    only_a_new_one,
    renewed,
    totp,
)


class SignIn(Act):
    """Signs in from a browser that already has a session, which then ends."""

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


# The changes after the password and before the second factor.
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
        # If the answer with the token of the waiting sign-in is lost, the person begins anew.
        return stage != 1 or self.pending is not None

    def repeat(self, stage):
        if stage == 1 and self.pending:
            # The code is not used up, and the sign-in still waits for it.
            self.enter_factor()
        elif stage == 2:
            if not self.new:
                self.answer(401, "PUT", f"/session/{self.factor}", {"code": self.code}, self.pending)
            self.answer_used_code()
            self.perform()
        else:
            self.perform()

    def answer_used_code(self):
        """Checks that the used code is refused, and makes the next code of the app acceptable."""
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
    notices = (("A recovery code was used", False),)
    stages = (
        WAITING,
        {
            "sessions": one_more,
            "devices": one_more,
            "recovery_codes": one_replaced,
            "mails": mailed("recovery-code-used"),
        },
    )

    @property
    def code(self):
        return self.recovery_codes[0]

    def answer_used_code(self):
        self.enter_password()
        self.answer(422, "PUT", "/session/recovery-code", {"code": self.code}, self.pending)
        self.recovery_codes.pop(0)


class SignInWithMailedCode(Act):
    name = "sign-in with a mailed code"
    is_repeatable = False
    stages = (
        {"sign_ins": one_more, "mails": mailed("sign-in-code")},
        {"sessions": one_more, "devices": one_more, "mails": mailed("sign-in-code")},
    )

    def counts(self, texts):
        # The mail with the code is sent between the two requests. Its transactions are not points of this act.
        return of_request(texts)

    def prepare(self):
        super().prepare()
        self.pending = self.new = None

    def perform(self):
        self.ask_for_code()
        self.enter_code()

    def ask_for_code(self):
        earlier = self.owner.codes(self.owner.address)
        body = {"identifier": self.owner.address, "transport": "bearer"}
        self.pending = self.act("POST", "/session/code", body, None, 201)["token"]
        self.code = self.owner.code(self.owner.address, earlier)

    def enter_code(self):
        self.new = self.act("PUT", "/session/code", {"code": self.code}, self.pending, 200)["token"]

    def goes_on(self, stage):
        # If the answer with the token of the waiting sign-in is lost, the person begins anew.
        return stage != 1 or self.pending is not None

    def repeat(self, stage):
        if stage == 1 and self.pending:
            self.enter_code()
            return
        if stage == 2:
            self.answer(401, "PUT", "/session/code", {"code": self.code}, self.pending)
        # Resets the rate limits, as if a minute had passed, after which the address gets another mail.
        self.service.deliver_mail()
        self.service.query("DELETE FROM limits")
        self.perform()

    def verify_after(self):
        self.is_alive(self.new, True, "of the sign-in")
        self.is_alive(self.token, True, "in the other browser")


class Confirm(Act):
    name = "confirmation with the password"
    path = "/session/confirm"

    @property
    def stages(self):
        return [{"sessions": renewed(self.session)}]

    @property
    def body(self):
        return {"password": self.owner.password}

    def prepare(self):
        super().prepare()
        self.forget_proof()

    def forget_proof(self):
        """Makes the last proof an hour old. A change of the account then needs a confirmation."""
        self.service.query(f"UPDATE sessions SET auth_time = now() - interval '1 hour' WHERE id = '{self.session}'")

    def perform(self):
        self.token = self.act("PUT", self.path, self.body, self.token, 200)["token"]

    def verify_before(self):
        self.answer(403, "GET", "/account/totp", token=self.token)

    def repeat(self, stage):
        if stage == 0:
            self.perform()
        elif not self.acknowledged:
            # The answer with the new token is lost, and the old token does not work. The person must sign in again.
            self.answer(401, "GET", "/session", token=self.token)

    def verify_after(self):
        if self.acknowledged:
            self.answer(200, "GET", "/account/totp", token=self.token)
        if self.other:
            self.is_alive(self.other, True, "in the other browser")


class ConfirmWithApp(Confirm):
    name = "confirmation with the app"

    @property
    def stages(self):
        return [{"sessions": renewed(self.session), "step": changed}]

    @property
    def body(self):
        return {"code": totp(self.secret)}

    def prepare(self):
        self.secret, self.recovery_codes = self.add_authenticator()
        self.forget_proof()

    def verify_after(self):
        super().verify_after()
        step = self.service.query(f"SELECT last_step FROM authenticators WHERE account = '{self.account}'")[0]
        if self.acknowledged:
            self.answer(422, "PUT", self.path, {"code": totp(self.secret, int(step))}, self.token)


class ConfirmWithRecoveryCode(ConfirmWithApp):
    name = "confirmation with a recovery code"
    notices = (("A recovery code was used", False),)

    @property
    def stages(self):
        return [
            {
                "sessions": renewed(self.session),
                "recovery_codes": one_replaced,
                "mails": mailed("recovery-code-used"),
            }
        ]

    @property
    def body(self):
        return {"recovery_code": self.recovery_codes[0]}

    def verify_after(self):
        Confirm.verify_after(self)
        if self.acknowledged:
            self.answer(422, "PUT", self.path, self.body, self.token)


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
                "devices": only_a_new_one,
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
            # The answer with the new token is lost, and the old token does not work. The person must sign in again.
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
            "devices": only_a_new_one,
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
    """Enters a recovery code in a recovery. The service replaces the code."""

    name = "recovery code in a recovery"
    notices = (("A recovery code was used", False),)
    stages = ({"recovery_codes": one_replaced, "mails": mailed("recovery-code-used")},)

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
    notices = (("Your account has a new email address", True), ("Your email address was changed", False))

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
                "devices": only_a_new_one,
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
    notices = (*Move.notices, ("Your email address was removed", True), ("Your email address was restored", False))

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
                "mails": mailed("address-restored", "address-withdrawn"),
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
            return [part.split()[0] for text in texts for part in text.split("/email-change/undo#token=")[1:]]

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
    notices = (("New recovery codes", False),)
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
        # Without the answer, the person has only the old codes, which must be refused.
        self.enter_recovery_code(200 if self.acknowledged else 422)


class EditProfile(Act):
    """Changes the name and the username. The new username replaces the old one as an identifier."""

    name = "change of the profile"
    notices = (("Your username was changed", False),)

    @property
    def stages(self):
        def renamed(old, new):
            return new == [{**one, "value": self.new} if one["kind"] == "username" else one for one in old]

        return [
            {
                "username": lambda old, new: new == self.new,
                "profile": changed,
                "identifiers": renamed,
                "mails": mailed("username-changed"),
            }
        ]

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
            | {
                "mails": mailed("account-erased"),
                "references": lambda old, new: set(new) <= {"drafts.account_id", "outbox.account"},
            }
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
    SignInWithMailedCode,
    Confirm,
    ConfirmWithApp,
    ConfirmWithRecoveryCode,
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


def kill_in_acts(service):
    """Kills the server in all acts. Prints a line for each act, and returns the violations."""
    return kill_in(ACTS, Killing(service), list)
