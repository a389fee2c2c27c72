"""The actions of a person, sent as JSON over HTTP and without a browser."""

import itertools
from urllib.parse import parse_qs, urlsplit

import requests

PASSWORD = "a pass phrase of mine"
numbers = itertools.count(1)


class Visitor:
    def __init__(self, site):
        self.site = site
        self.number = next(numbers)
        self.email = f"visitor{self.number}@example.com"
        self.username = f"visitor{self.number}"
        self.http = requests.Session()

    def open(self, url, **options):
        """Opens a page as a browser does, without following redirects."""
        return self.http.get(url, headers={"Accept": "text/html"}, allow_redirects=False, **options)

    def redirect(self, url):
        """Opens a page that must redirect, and returns the URL of the redirect."""
        response = self.open(url)
        assert response.is_redirect, f"{response.status_code} {response.text}"
        return requests.compat.urljoin(url, response.headers["Location"])

    def send(self, method, path, **json):
        response = self.http.request(method, self.site.url + path, json=json)
        assert response.ok, f"{method} {path}: {response.status_code} {response.text}"
        return response.json() if response.content else None

    def sign_up(self, page=None):
        """Signs up, and returns the body of the answer to the commit.

        page: the URL of the first page, if an application has redirected the person to it.
        """
        request = parameters(page).get("request") if page else None
        self.send("POST", "/signup", **({"request": request} if request else {}))
        self.send("PUT", "/signup/email", email=self.email)
        self.send("PUT", "/signup/code", code=self.site.mailbox.code(self.email))
        self.send("PUT", "/signup/password", password=PASSWORD, confirmation=PASSWORD)
        self.send("PUT", "/signup/profile", username=self.username, display_name="Kim")
        self.send("PUT", "/signup/contact", birth_date="2001-02-28")
        self.send("PUT", "/signup/totp")
        self.send("PUT", "/signup/terms", terms=True)
        return self.send("POST", "/signup/commit")

    def sign_up_at(self, url):
        """Signs up after the application has redirected to this URL, and returns the URL that leads back to it."""
        commit = self.sign_up(self.redirect(url))
        return self.redirect(self.site.url + commit["continue"]["href"])

    def sign_out(self):
        self.send("DELETE", "/session")


def parameters(url):
    """Returns the parameters in the query of a URL. Each must occur once."""
    query = parse_qs(urlsplit(url).query, keep_blank_values=True, strict_parsing=True)
    assert all(len(values) == 1 for values in query.values()), url
    return {name: values[0] for name, values in query.items()}
