"""What a person does at a browser, for tests that read like what happens."""

import base64
import hashlib
import hmac
import itertools
import struct

from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

GONE = [NoSuchElementException, StaleElementReferenceException]
PASSWORD = "a pass phrase of mine"
STEPS = ["email", "code", "password", "profile", "contact", "totp", "terms"]

numbers = itertools.count(1)


class Person:
    def __init__(self, browser, site, language):
        self.browser = browser
        self.site = site
        self.language = language
        self.number = next(numbers)
        self.email = f"person{self.number}@example.com"
        self.username = f"person{self.number}"

    def leave(self):
        """Whatever the console says is a fault of the page, but for answers that were to be refusals."""
        complaints = [
            entry["message"]
            for entry in self.browser.get_log("browser")
            if "Failed to load resource" not in entry["message"]
        ]
        assert complaints == []

    # Looking

    def one(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    @property
    def path(self):
        return self.browser.current_url.removeprefix(self.site.url)

    @property
    def focused(self):
        """The name of the control that has the focus."""
        return self.browser.switch_to.active_element.get_attribute("name")

    @property
    def text(self):
        return self.one("main").text

    def refusal(self, name):
        return self.one(f"[data-field={name}] .refusal").text

    def run(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def until(self, condition, what="it"):
        # A page may go while it is looked at.
        wait = WebDriverWait(self.browser, 30, poll_frequency=0.02, ignored_exceptions=GONE)
        return wait.until(lambda _: condition(), f"never came: {what}")

    def arrives(self, path):
        self.until(lambda: self.path == path and self.run("return document.readyState") == "complete", path)

    # Doing

    def open(self, path):
        self.browser.get(self.site.url + path)

    def press(self, *keys):
        ActionChains(self.browser).send_keys(*keys).perform()

    def type(self, name, text):
        field = self.one(f"[name={name}]")
        field.clear()
        field.send_keys(text)
        return field

    @property
    def is_ready(self):
        """Whether Next leads on."""
        return self.one("button.main").get_attribute("aria-disabled") != "true"

    def next(self):
        self.until(lambda: self.is_ready, "Next")
        self.one("button.main").click()

    def begin(self):
        self.open("/signup")
        self.one("button.main").click()
        self.arrives("/signup/email")
        return self

    def pick(self, name, day):
        """A date input takes its value as script does, since what its keys mean hangs on the language."""
        self.run(
            "const [input, day] = arguments; input.value = day; input.dispatchEvent(new Event('input', {bubbles: true}))",
            self.one(f"[name={name}]"),
            day,
        )

    def show_code_of_app(self):
        """As an authenticator app does that was told the secret on this page (RFC 6238)."""
        secret = base64.b32decode("".join(group.text for group in self.all(".secret span")))
        step = struct.pack(">Q", int(self.run("return Date.now() / 1000")) // 30)
        digest = hmac.new(secret, step, hashlib.sha1).digest()
        place = digest[-1] & 15
        number = struct.unpack(">I", digest[place : place + 4])[0] & 0x7FFFFFFF
        self.type("totp", f"{number % 1_000_000:06}")
        self.next()

    def answer(self, step):
        """Fills a step in, and sends it."""
        if step == "email":
            self.type("email", self.email)
        elif step == "code":
            self.type("code", self.site.mailbox.code(self.email))
        elif step == "password":
            self.type("password", PASSWORD)
            self.until(self.one("[name=confirmation]").is_displayed, "the confirmation")
            self.type("confirmation", PASSWORD)
        elif step == "profile":
            self.type("username", self.username)
        elif step == "contact":
            self.pick("birth_date", "2001-02-28")
        elif step == "totp":
            self.one("button.plain").click()
            return
        elif step == "terms":
            self.one("[name=terms]").click()
        self.next()

    def walk(self, until):
        """From the first page to that step, or to the review."""
        self.begin()
        for step, following in zip(STEPS, STEPS[1:] + ["review"]):
            if step == until:
                break
            self.answer(step)
            self.arrives(f"/signup/{following}")
        return self
