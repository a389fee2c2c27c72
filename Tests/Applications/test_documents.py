"""The examples of documents work as the documents say."""

import json
import os
import re
import runpy
import subprocess
import time
import uuid
from pathlib import Path

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from listener import WEBHOOK_SECRETS
from visitor import Visitor

DOCS = Path(__file__).parents[2] / "docs"


def blocks(name, language=""):
    """Returns the code blocks of a document in a language, such as `yaml`."""
    return re.findall(rf"^```{language}\n(.*?)^```$", (DOCS / name).read_text(), re.MULTILINE | re.DOTALL)


def test_the_python_example_is_part_of_the_shop(document):
    shop = Path(__file__).parents[2] / "examples" / "shop" / "shop.py"
    assert document("python") in shop.read_text()


# MARK: docs/events.md


class Stop(Exception):
    """Ends the loop of the document."""


def run_loop(listener, cursor=None, limit=None):
    """Runs the loop of docs/events.md until it would wait. Returns the handled events, and the lists."""
    (loop,) = blocks("events.md", "python")
    program = listener.file.with_name("loop.py")
    program.write_text(loop)
    handled, lists, saved = [], [], []

    def get(path, parameters):
        lists.append(listener.get(path, parameters | ({"limit": limit} if limit else {})))
        return lists[-1]

    def sleep(seconds):
        raise Stop

    names = {"get": get, "handle": handled.append, "save": saved.append, "sleep": sleep, "cursor": cursor}
    with pytest.raises(Stop):
        runpy.run_path(str(program), names)
    assert saved == [list["next"] for list in lists]
    assert [event for list in lists for event in list["events"]] == handled
    return handled, lists


def types(events):
    return [event["type"] for event in events]


def test_the_list_and_its_events_have_the_documented_form(listener):
    kim = Visitor(listener.site)
    account = kim.sign_up()["account"]["id"]
    listener.wait_for_list()
    answer = listener.get("/events", {})
    text = re.search(r"returns `(\{\"events\".*?\})`", (DOCS / "events.md").read_text())[1]
    shown = json.loads(text.replace("[...]", "[]"))
    assert [(name, type(value)) for name, value in answer.items()] == [(n, type(v)) for n, v in shown.items()]
    assert answer["more"] is shown["more"]

    created, signed_in = answer["events"]
    (block,) = blocks("events.md", "json")
    expected = json.loads(block)
    assert re.sub(r"\d", "0", created["timestamp"]) == re.sub(r"\d", "0", expected["timestamp"])
    expected |= {"id": str(uuid.UUID(created["id"])), "timestamp": created["timestamp"]}
    expected["data"]["account"] |= {"id": account, "email": kim.email}
    assert created == expected
    assert list(created["data"]["account"]) == list(expected["data"]["account"])
    # `sequence` counts the events of one account.
    assert (signed_in["type"], signed_in["sequence"]) == ("session.created", expected["sequence"] + 1)


@pytest.mark.parametrize("limit", [1, None])
def test_the_loop_handles_each_event_once(listener, limit):
    kim = Visitor(listener.site)
    account = kim.sign_up()["account"]["id"]
    listener.wait_for_list()
    handled, lists = run_loop(listener, limit=limit)
    assert types(handled) == ["account.created", "session.created"]
    # A full list may have more behind it.
    assert [list["more"] for list in lists] == ([True, True, False] if limit else [False])
    cursor = lists[-1]["next"]

    handled, lists = run_loop(listener, cursor, limit)
    assert handled == [] and lists[0]["next"] == cursor, "the cursor is kept after an empty list"

    kim.send("DELETE", "/account")
    listener.wait_for_list()
    handled, _ = run_loop(listener, cursor, limit)
    assert types(handled) == ["account.erased"]
    assert handled[0]["data"] == {"account": {"id": account}}


def test_the_loop_goes_on_after_an_empty_list_with_more_behind_it(listener):
    # An id begins with the time of the event, and the service deletes old events.
    listener.site.sql(
        "INSERT INTO events (id, account, sequence, type)"
        " SELECT overlay(gen_random_uuid()::text PLACING 'ffff' FROM 1 FOR 4)::uuid, gen_random_uuid(), 1, 'another'"
        " FROM generate_series(1, 5000)"
    )
    Visitor(listener.site).sign_up()
    listener.wait_for_list()
    handled, lists = run_loop(listener)
    assert [(len(list["events"]), list["more"]) for list in lists] == [(0, True), (2, False)]
    assert types(handled) == ["account.created", "session.created"]


def test_a_webhook_is_verified_with_each_secret_and_keeps_its_id_in_every_attempt(listener):
    listener.statuses = [500]
    listener.start()
    Visitor(listener.site).sign_up()
    assert "500" in listener.wait_for_failure()
    listener.make_due()
    listener.wait_for_delivery()
    ids, events = zip(*listener.webhooks(), strict=True)
    assert types(events) == ["account.created", "account.created", "session.created"]
    assert ids[0] == ids[1] != ids[2]
    listener.wait_for_list()
    listed = listener.get("/events", {})["events"]
    assert [{"id": id} | event for id, event in zip(ids[1:], events[1:], strict=True)] == listed

    for _, headers, body in listener.requests:
        assert len(headers["webhook-signature"].split(" ")) == len(WEBHOOK_SECRETS)
        assert abs(time.time() - int(headers["webhook-timestamp"])) < 600
        for secret in WEBHOOK_SECRETS:
            with pytest.raises(WebhookVerificationError):
                Webhook(secret).verify(body + b" ", headers)


# MARK: docs/applications.md


def test_the_check_prints_the_documented_mistakes(tmp_path):
    shown = blocks("applications.md", "yaml")[0].replace("/run/secrets/", "")
    (tmp_path / "shop").write_text("a" * 64)
    (tmp_path / "shop-hooks").write_text(WEBHOOK_SECRETS[0])
    (mistakes,) = [block for block in blocks("applications.md") if block.startswith("applications.yaml:")]

    def check(text):
        (tmp_path / "applications.yaml").write_text(text)
        command = [os.environ["ACCOUNTS_API"], "applications", "check", "applications.yaml"]
        settings = {"PATH": os.environ["PATH"], "PUBLIC_URL": "https://accounts.example"}
        return subprocess.run(command, check=False, cwd=tmp_path, env=settings, capture_output=True, text=True)

    assert check(shown).returncode == 0
    wrong = shown.replace("https://shop.example/callback", "http://shop.example/callback")
    wrong = wrong.replace("claims: [email, username, display_name]", "claims: [email, password]")
    result = check(wrong)
    assert (result.returncode, result.stderr) == (1, mistakes)
