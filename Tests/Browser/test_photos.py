"""A photo in the sign-up: chosen, dragged or pasted, cut in the page, and kept by the server."""

import base64
from pathlib import Path
from urllib.request import Request, urlopen

from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin

IMAGES = Path(__file__).parent.parent / "Fuzzing" / "corpus" / "image"

# Red and green above blue and white.
PICTURE = IMAGES / "plain.png"


def choose(kim, picture=PICTURE):
    kim.one("[name=photo]").send_keys(str(picture))


def is_open(kim):
    return kim.one(".image dialog").is_displayed()


def cut(kim, x=256, y=256):
    """The colour at that place of what is to be used."""
    # Read from another canvas, since to read from the page's own would slow it down.
    pixel = """
        const context = new OffscreenCanvas(512, 512).getContext("2d");
        context.drawImage(document.querySelector("canvas"), 0, 0);
        return [...context.getImageData(...arguments, 1, 1).data];
    """
    return {(255, 0, 0): "red", (0, 255, 0): "green", (0, 0, 255): "blue", (255, 255, 255): "white"}.get(
        tuple(kim.run(pixel, x, y)[:3])
    )


def corners(kim):
    return [cut(kim, *place) for place in [(20, 20), (490, 20), (20, 490), (490, 490)]]


def kept(kim):
    """The photos of the draft that is shown, each as the server has it."""
    draft = kim.one("#answers").get_attribute("data-draft")
    return kim.site.sql(f"SELECT count(*) FROM draft_photos WHERE draft = '{draft}'")


def is_loaded(kim, image):
    return kim.run("const [image] = arguments; return image.complete && image.naturalWidth", image) == 512


def test_a_photo_is_chosen_cut_and_the_accounts(person):
    kim = person().walk("profile")
    kim.type("username", kim.username)
    choose(kim)
    kim.until(lambda: is_open(kim))
    assert corners(kim) == ["red", "green", "blue", "white"]
    kim.one("[data-use]").click()
    assert not is_open(kim) and kim.one(".preview").is_displayed()
    kim.next()
    kim.arrives("/signup/contact")
    kim.open("/signup/profile")
    kim.until(lambda: is_loaded(kim, kim.one(".preview")))
    assert kept(kim) == "1"
    kim.next()
    for step, following in [("contact", "totp"), ("totp", "terms"), ("terms", "review")]:
        kim.arrives(f"/signup/{step}")
        kim.answer(step)
        kim.arrives(f"/signup/{following}")
    kim.until(lambda: is_loaded(kim, kim.one("dd img")))
    kim.one("button.main").click()
    kim.arrives("/signup")
    type_ = kim.site.sql(
        f"SELECT type, length(image) BETWEEN 1000 AND 100000 FROM photos JOIN accounts ON account = id"
        f" WHERE username = '{kim.username}'"
    )
    assert type_ == "image/jpeg|t"


def test_the_cut_is_moved_and_made_smaller_by_keyboard(person):
    kim = person().walk("profile")
    choose(kim)
    kim.until(lambda: is_open(kim))
    assert kim.run("return document.activeElement.tagName") == "CANVAS"
    kim.press("+" * 20)
    kim.press(Keys.ARROW_LEFT * 40, Keys.ARROW_UP * 40)
    assert corners(kim) == ["red"] * 4
    kim.press(Keys.ARROW_RIGHT * 150)
    assert corners(kim) == ["green"] * 4
    kim.press(Keys.ENTER)
    assert not is_open(kim) and kim.focused == "photo"
    assert kim.one(".preview").get_attribute("src").startswith("data:image/jpeg;base64,")


def test_the_cut_is_moved_by_dragging_and_by_clicking(person):
    kim = person().walk("profile")
    choose(kim)
    kim.until(lambda: is_open(kim))
    canvas = kim.one("canvas")
    kim.press("+" * 20)
    for _ in range(4):
        ActionChains(kim.browser).click_and_hold(canvas).move_by_offset(120, 120).release().perform()
    assert corners(kim) == ["red"] * 4
    for _ in range(6):
        ActionChains(kim.browser).move_to_element_with_offset(canvas, 130, 130).click().perform()
    assert corners(kim) == ["white"] * 4
    before = kim.one("[type=range]").get_attribute("value")
    ActionChains(kim.browser).scroll_from_origin(ScrollOrigin.from_element(canvas), 0, 200).perform()
    kim.until(lambda: float(kim.one("[type=range]").get_attribute("value")) < float(before))


def test_one_finger_moves_the_cut_and_two_make_it_smaller(person):
    kim = person().walk("profile")
    choose(kim)
    kim.until(lambda: is_open(kim))
    place = kim.one("canvas").rect
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2

    def touch(type_, *points):
        kim.browser.execute_cdp_cmd(
            "Input.dispatchTouchEvent",
            {
                "type": type_,
                "touchPoints": [{"x": x + right, "y": y, "id": number} for number, right in enumerate(points)],
            },
        )

    touch("touchStart", -25, 25)
    for apart in range(26, 105):
        touch("touchMove", -apart, apart)
    touch("touchEnd")
    kim.until(lambda: kim.one("[type=range]").get_attribute("value") == "4")
    for _ in range(4):
        touch("touchStart", -120)
        touch("touchMove", 120)
        touch("touchEnd")
    kim.until(lambda: corners(kim) in (["red", "red", "blue", "blue"], ["blue"] * 4, ["red"] * 4))


def test_a_photo_is_dragged_here_or_pasted(person):
    kim = person().walk("profile")
    give = """
        const [target, type, data, name] = arguments;
        const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
        const transfer = new DataTransfer();
        transfer.items.add(new File([bytes], "me.png", { type: "image/png" }));
        if (arguments[4]) transfer.items.add(arguments[4], "text/plain");
        const options = { bubbles: true, cancelable: true, [name]: transfer };
        target.dispatchEvent(type === "paste" ? new ClipboardEvent(type, options) : new DragEvent(type, options));
    """
    data = base64.b64encode(PICTURE.read_bytes()).decode()
    for type_, name, target in [("drop", "dataTransfer", ".image"), ("paste", "clipboardData", "[name=username]")]:
        kim.run(give, kim.one(target), type_, data, name)
        kim.until(lambda: is_open(kim))
        kim.one("[data-leave]").click()
        assert not is_open(kim) and not kim.one(".preview").is_displayed()
    # As a spreadsheet gives a cell: who is typing wants the text.
    kim.run(give, kim.one("[name=display_name]"), "paste", data, "clipboardData", "Kim")
    kim.run(give, kim.one("body"), "paste", data, "clipboardData", "Kim")
    kim.until(lambda: is_open(kim))


def test_what_is_no_photo_says_so_beside_the_field_and_keeps_nobody_from_going_on(person, tmp_path):
    kim = person().walk("profile")
    kim.type("username", kim.username)
    kim.until(lambda: kim.is_ready)
    broken = tmp_path / "broken.png"
    broken.write_bytes(PICTURE.read_bytes()[:60])
    for picture in [IMAGES / "moves.gif", IMAGES / "drawing.svg", broken]:
        choose(kim, picture)
        kim.until(lambda: "cannot be used" in kim.refusal("photo"))
        kim.until(lambda: kim.is_ready)
        assert not is_open(kim)
        assert kim.run("return document.querySelector('[name=photo]').files.length") == 0
        choose(kim)
        kim.until(lambda: is_open(kim))
        assert kim.refusal("photo") == ""
        kim.one("[data-leave]").click()
    choose(kim)
    kim.until(lambda: is_open(kim))
    assert kim.refusal("photo") == ""


def test_leaving_the_cut_leaves_what_was_there(person):
    kim = person().walk("profile")
    choose(kim)
    kim.until(lambda: is_open(kim))
    kim.press(Keys.ENTER)
    before = kim.one(".preview").get_attribute("src")
    choose(kim, IMAGES / "turned-6.jpg")
    kim.until(lambda: is_open(kim))
    kim.press(Keys.ESCAPE)
    file = "return document.querySelector('[name=photo]').files[0].name"
    assert not is_open(kim) and kim.one(".preview").get_attribute("src") == before
    assert kim.run(file) == "photo.jpg"
    choose(kim, IMAGES / "moves.gif")
    kim.until(lambda: "cannot be used" in kim.refusal("photo"))
    assert kim.one(".preview").get_attribute("src") == before and kim.run(file) == "photo.jpg"


def test_back_keeps_a_photo_that_was_not_sent(person):
    kim = person().walk("profile")
    choose(kim)
    kim.until(lambda: is_open(kim))
    kim.press(Keys.ENTER)
    kim.one("[data-back]").click()
    kim.arrives("/signup/password")
    kim.browser.back()
    kim.arrives("/signup/profile")
    assert kim.one(".preview").is_displayed()
    kim.type("username", kim.username)
    kim.next()
    kim.arrives("/signup/contact")
    kim.open("/signup/profile")
    assert kept(kim) == "1"


def test_a_photo_is_removed(person):
    kim = person().walk("profile")
    kim.type("username", kim.username)
    choose(kim)
    kim.until(lambda: is_open(kim))
    kim.press(Keys.ENTER)
    kim.next()
    kim.arrives("/signup/contact")
    kim.open("/signup/profile")
    kim.one(".image button[form]").click()
    kim.until(lambda: kim.one("[name=photo]") and not kim.all(".image button[form]"))
    assert not kim.one(".preview").is_displayed() and kept(kim) == "0"
    assert kim.one("[name=username]").get_attribute("value") == kim.username


def test_what_was_chosen_is_put_away_again(person):
    kim = person().walk("profile")
    kim.type("username", kim.username)
    choose(kim)
    kim.until(lambda: is_open(kim))
    kim.press(Keys.ENTER)
    kim.one("[data-drop]").click()
    assert not kim.one(".preview").is_displayed() and not kim.one("[data-drop]").is_displayed()
    assert kim.focused == "photo"
    kim.browser.refresh()
    assert not kim.one(".preview").is_displayed()
    kim.next()
    kim.arrives("/signup/contact")
    kim.open("/signup/profile")
    assert kept(kim) == "0"


def test_a_photo_without_script(person, tmp_path):
    kim = person(script=False)
    kim.open("/signup")
    kim.one("button.main").click()
    kim.until(lambda: kim.path == "/signup/email")
    kim.type("email", kim.email)
    kim.one("button.main").click()
    kim.until(lambda: kim.path == "/signup/code")
    kim.type("code", kim.site.mailbox.code(kim.email))
    kim.one("button.main").click()
    kim.until(lambda: kim.path == "/signup/password")
    for name in ["password", "confirmation"]:
        kim.type(name, "a pass phrase of mine")
    kim.one("button.main").click()
    kim.until(lambda: kim.path == "/signup/profile")
    kim.type("username", kim.username)
    choose(kim, IMAGES / "moves.gif")
    kim.one("button.main").click()
    kim.until(lambda: "cannot be used" in kim.refusal("photo"))
    assert kim.one("[name=username]").get_attribute("value") == kim.username
    choose(kim, IMAGES / "turned-6.jpg")
    kim.one("button.main").click()
    kim.until(lambda: kim.path == "/signup/contact")
    kim.open("/signup/profile")
    cookie = kim.browser.get_cookie("signup")["value"]
    photo = Request(kim.one(".preview").get_attribute("src"), headers={"Cookie": f"signup={cookie}"})
    assert urlopen(photo).read().startswith(b"\xff\xd8")
    kim.one(".image button[form]").click()
    kim.until(lambda: kim.one("[name=photo]") and not kim.all(".image button[form]"))
    assert kept(kim) == "0"
    large = tmp_path / "large.jpg"
    large.write_bytes((IMAGES / "baseline.jpg").read_bytes() + bytes(6_000_000))
    choose(kim, large)
    kim.one("button.main").click()
    kim.until(lambda: "too large" in kim.refusal("photo"))
