"""The pages in a language that only a file of texts adds: examples/texts/ja.yaml."""

from pathlib import Path

import pytest
from selenium.webdriver import Keys

from server import serve
from test_looks import violations

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def japanese_site():
    """A server that has Japanese by the file of texts alone."""
    with serve(TEXTS_FILE=str(ROOT / "examples" / "texts" / "ja.yaml")) as site:
        yield site


def test_a_person_begins_a_sign_up_in_japanese(person, japanese_site):
    kim = person("ja", at=japanese_site)
    kim.open("/signup")
    assert kim.find("html").get_attribute("lang") == "ja"
    assert kim.find("h1").text == "メールアドレスの入力" and "Acmeの新規登録" in kim.text
    assert violations(kim) == []
    kim.type("email", "kim").send_keys(Keys.ENTER)
    kim.wait_until(lambda: "メールアドレスを正しい形式で" in kim.refusal("email"), "the refusal")
    kim.type("email", kim.email)
    kim.press_next()
    kim.wait_for_path("/signup/code")
    assert "次のメールアドレスにメールを送信しました。" in kim.text
    kim.wait_until(
        lambda: "秒後に再送信できます" in kim.text or "有効期限まで" in kim.text, "the countdown of the script"
    )
    assert "{left}" not in kim.text
    kim.type("code", kim.site.mailbox.code(kim.email))
    kim.press_next()
    kim.wait_for_path("/signup/password")


def test_the_first_page_offers_japanese_by_its_own_name(person, japanese_site):
    kim = person("en", at=japanese_site)
    kim.open("/signup")
    assert kim.find("html").get_attribute("lang") == "en"
    assert "日本語" in kim.find("body").text
