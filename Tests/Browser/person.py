"""The actions of a person in a browser."""

import base64
import hashlib
import hmac
import itertools
import json
import struct
from http.client import HTTPConnection

from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException, WebDriverException
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

PAGE_CHANGED = [NoSuchElementException, StaleElementReferenceException]
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

    def check_console(self):
        """Fails if the console has a message that is not about a refused request or the Clear-Site-Data header."""
        expected = ("Failed to load resource", "Clear-Site-Data header")
        messages = [
            entry["message"]
            for entry in self.browser.get_log("browser")
            if not any(text in entry["message"] for text in expected)
        ]
        assert messages == []

    # What the page shows

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def find_all(self, selector):
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
        return self.find("main").text

    def refusal(self, name):
        return self.find(f"[data-field={name}] .refusal").text

    def run_script(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def wait_until(self, condition, what="the condition"):
        # The page may change during the search.
        wait = WebDriverWait(self.browser, 300, poll_frequency=0.02, ignored_exceptions=PAGE_CHANGED)

        def poll(_):
            try:
                return condition()
            except WebDriverException as error:
                if "does not belong to the document" in str(error):
                    return False
                raise

        return wait.until(poll, f"timeout: {what}")

    def wait_for_path(self, path):
        self.wait_until(lambda: self.path == path and self.run_script("return document.readyState") == "complete", path)

    # Actions

    def open(self, path):
        self.browser.get(self.site.url + path)

    def press(self, *keys):
        ActionChains(self.browser).send_keys(*keys).perform()

    def press_focused_button(self):
        """Waits until the main button has the focus, which it gets after the page is complete, and presses Enter."""
        self.wait_until(lambda: self.run_script("return document.activeElement.matches('button.main')"), "the focus")
        self.press(Keys.ENTER)

    def type(self, name, text):
        field = self.find(f"[name={name}]")
        field.clear()
        field.send_keys(text)
        return field

    @property
    def is_ready(self):
        """True if the button Next is enabled."""
        return self.find("button.main").get_attribute("aria-disabled") != "true"

    def press_next(self):
        self.wait_until(lambda: self.is_ready, "Next")
        self.find("button.main").click()

    def start(self, step="email"):
        """Starts a sign-up without answers, as a program does, and opens its first step."""
        connection = HTTPConnection(self.site.url.removeprefix("http://"))
        body = json.dumps({"locale": self.language})
        connection.request("POST", "/signup", body, {"Content-Type": "application/json"})
        name, value = connection.getresponse().getheader("Set-Cookie").split(";")[0].split("=", 1)
        connection.close()
        self.browser.add_cookie({"name": name, "value": value, "httpOnly": True, "sameSite": "Lax"})
        self.open(f"/signup/{step}")
        return self

    def set_date(self, name, day):
        """Sets the date by script, because the keys of a date input depend on the language."""
        self.run_script(
            "const [input, day] = arguments; input.value = day; input.dispatchEvent(new Event('input', {bubbles: true}))",
            self.find(f"[name={name}]"),
            day,
        )

    @property
    def authenticator_code(self):
        """The code that an authenticator app computes from the secret on this page (RFC 6238)."""
        secret = base64.b32decode("".join(group.text for group in self.find_all(".secret span")))
        step = struct.pack(">Q", int(self.run_script("return Date.now() / 1000")) // 30)
        digest = hmac.new(secret, step, hashlib.sha1).digest()
        offset = digest[-1] & 15
        number = struct.unpack(">I", digest[offset : offset + 4])[0] & 0x7FFFFFFF
        return f"{number % 1_000_000:06}"

    def submit_authenticator_code(self):
        self.type("totp", self.authenticator_code)
        self.press_next()

    def complete(self, step):
        """Fills in a step and submits it."""
        if step == "email":
            self.type("email", self.email)
        elif step == "code":
            self.type("code", self.site.mailbox.code(self.email))
        elif step == "password":
            self.type("password", PASSWORD)
            self.wait_until(self.find("[name=confirmation]").is_displayed, "the confirmation")
            self.type("confirmation", PASSWORD)
        elif step == "profile":
            self.type("username", self.username)
        elif step == "contact":
            self.set_date("birth_date", "2001-02-28")
        elif step == "totp":
            self.find("button.plain").click()
            return
        elif step == "terms":
            self.find("[name=terms]").click()
        self.press_next()

    def go_to(self, last):
        """Starts a sign-up and completes the steps before `last`; all steps if it is the review."""
        if last == "email":
            return self.start()
        self.open("/signup")
        for step, following in zip(STEPS, STEPS[1:] + ["review"]):
            if step == last:
                break
            self.complete(step)
            self.wait_for_path(f"/signup/{following}")
        return self
