"""Photos of a sign-up: chosen, dropped or pasted, cropped in the page, and stored by the server."""

import base64
from pathlib import Path
from urllib.request import Request, urlopen

from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin

IMAGES = Path(__file__).parent.parent / "Fuzzing" / "corpus" / "image"

# A picture whose upper corners are red and green, and whose lower corners are blue and white.
PICTURE = IMAGES / "plain.png"


def choose(kim, picture=PICTURE):
    kim.find("[name=photo]").send_keys(str(picture))


def is_dialog_open(kim):
    return kim.find(".image dialog").is_displayed()


def colour(kim, x, y):
    """Returns the name of the colour at this position of the canvas; None for any other colour."""
    # Reads from another canvas, because reading from the canvas of the page slows that one down.
    pixel = """
        const context = new OffscreenCanvas(512, 512).getContext("2d");
        context.drawImage(document.querySelector("canvas"), 0, 0);
        return [...context.getImageData(...arguments, 1, 1).data];
    """
    return {(255, 0, 0): "red", (0, 255, 0): "green", (0, 0, 255): "blue", (255, 255, 255): "white"}.get(
        tuple(kim.run_script(pixel, x, y)[:3])
    )


def corners(kim):
    return [colour(kim, *position) for position in [(20, 20), (490, 20), (20, 490), (490, 490)]]


def crop_position(kim):
    """Returns the text of the dialog about the position of the middle of the crop."""
    return kim.find("[data-place]").text


def count_stored(kim):
    """Returns the number of photos that the server stores for the draft of the page, as text."""
    draft = kim.find("#answers").get_attribute("data-draft")
    return kim.site.sql(f"SELECT count(*) FROM draft_photos WHERE draft = '{draft}'")


def is_loaded(kim, image):
    return kim.run_script("const [image] = arguments; return image.complete && image.naturalWidth", image) == 512


def test_a_photo_is_chosen_cropped_and_stored_with_the_account(person):
    kim = person().go_to("profile")
    kim.type("username", kim.username)
    choose(kim)
    kim.wait_until(lambda: is_dialog_open(kim))
    assert corners(kim) == ["red", "green", "blue", "white"]
    kim.find("[data-use]").click()
    assert not is_dialog_open(kim) and kim.find(".preview").is_displayed()
    kim.press_next()
    kim.wait_for_path("/signup/contact")
    kim.open("/signup/profile")
    kim.wait_until(lambda: is_loaded(kim, kim.find(".preview")))
    assert count_stored(kim) == "1"
    kim.press_next()
    for step, following in [("contact", "totp"), ("totp", "terms"), ("terms", "review")]:
        kim.wait_for_path(f"/signup/{step}")
        kim.complete(step)
        kim.wait_for_path(f"/signup/{following}")
    kim.wait_until(lambda: is_loaded(kim, kim.find("dd img")))
    kim.find("button.main").click()
    kim.wait_for_path("/signup")
    stored = kim.site.sql(
        f"SELECT type, length(image) BETWEEN 1000 AND 100000 FROM photos JOIN accounts ON account = id"
        f" WHERE username = '{kim.username}'"
    )
    assert stored == "image/jpeg|t"


def test_the_keyboard_moves_and_zooms_the_crop(person):
    kim = person().go_to("profile")
    choose(kim)
    kim.wait_until(lambda: is_dialog_open(kim))
    assert kim.run_script("return document.activeElement.tagName") == "CANVAS"
    # At the strongest zoom, the crop fits into one quadrant of the picture.
    kim.press("+" * 20)
    kim.press(Keys.ARROW_LEFT * 40, Keys.ARROW_UP * 40)
    assert corners(kim) == ["red"] * 4
    kim.press(Keys.ARROW_RIGHT * 150)
    assert corners(kim) == ["green"] * 4
    kim.press(Keys.ENTER)
    assert not is_dialog_open(kim) and kim.focused == "photo"
    assert kim.find(".preview").get_attribute("src").startswith("data:image/jpeg;base64,")


def test_dragging_and_clicking_move_the_crop_and_the_wheel_zooms_it(person):
    kim = person().go_to("profile")
    choose(kim)
    kim.wait_until(lambda: is_dialog_open(kim))
    canvas = kim.find("canvas")
    kim.press("+" * 20)
    for _ in range(4):
        ActionChains(kim.browser).click_and_hold(canvas).move_by_offset(120, 120).release().perform()
    assert corners(kim) == ["red"] * 4
    for _ in range(6):
        ActionChains(kim.browser).move_to_element_with_offset(canvas, 130, 130).click().perform()
    assert corners(kim) == ["white"] * 4
    before = kim.find("[type=range]").get_attribute("value")
    ActionChains(kim.browser).scroll_from_origin(ScrollOrigin.from_element(canvas), 0, 200).perform()
    kim.wait_until(lambda: float(kim.find("[type=range]").get_attribute("value")) < float(before))


def test_one_finger_moves_the_crop_and_two_fingers_zoom_it(person):
    kim = person().go_to("profile")
    choose(kim)
    kim.wait_until(lambda: is_dialog_open(kim))
    canvas = kim.find("canvas").rect
    x, y = canvas["x"] + canvas["width"] / 2, canvas["y"] + canvas["height"] / 2

    def touch(type_, *points):
        kim.browser.execute_cdp_cmd(
            "Input.dispatchTouchEvent",
            {
                "type": type_,
                "touchPoints": [{"x": x + offset, "y": y, "id": number} for number, offset in enumerate(points)],
            },
        )

    touch("touchStart", -25, 25)
    for distance in range(26, 105):
        touch("touchMove", -distance, distance)
    touch("touchEnd")
    kim.wait_until(lambda: kim.find("[type=range]").get_attribute("value") == "4")
    for _ in range(4):
        touch("touchStart", -120)
        touch("touchMove", 120)
        touch("touchEnd")
    # The fingers have dragged the crop to the left edge of the photo, which is red and blue.
    kim.wait_until(lambda: set(corners(kim)) <= {"red", "blue"}, "the left edge")


def test_a_photo_can_be_dropped_or_pasted(person):
    kim = person().go_to("profile")
    send_transfer = """
        const [target, type, data, member, text] = arguments;
        const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
        const transfer = new DataTransfer();
        transfer.items.add(new File([bytes], "me.png", { type: "image/png" }));
        if (text) transfer.items.add(text, "text/plain");
        const options = { bubbles: true, cancelable: true, [member]: transfer };
        target.dispatchEvent(type === "paste" ? new ClipboardEvent(type, options) : new DragEvent(type, options));
    """
    data = base64.b64encode(PICTURE.read_bytes()).decode()
    for type_, member, target in [("drop", "dataTransfer", ".image"), ("paste", "clipboardData", "[name=username]")]:
        kim.run_script(send_transfer, kim.find(target), type_, data, member)
        kim.wait_until(lambda: is_dialog_open(kim))
        kim.find("[data-leave]").click()
        assert not is_dialog_open(kim) and not kim.find(".preview").is_displayed()
    # Spreadsheets copy a cell as text and as an image. Such a paste opens the dialog, except in a text field.
    kim.run_script(send_transfer, kim.find("[name=display_name]"), "paste", data, "clipboardData", "Kim")
    assert not is_dialog_open(kim) and kim.find(".image").get_attribute("aria-busy") != "true"
    kim.run_script(send_transfer, kim.find("body"), "paste", data, "clipboardData", "Kim")
    kim.wait_until(lambda: is_dialog_open(kim))


def test_an_unusable_file_shows_an_error_and_does_not_disable_next(person, tmp_path):
    kim = person().go_to("profile")
    kim.type("username", kim.username)
    kim.wait_until(lambda: kim.is_ready)
    broken = tmp_path / "broken.png"
    broken.write_bytes(PICTURE.read_bytes()[:60])
    for picture in [IMAGES / "moves.gif", IMAGES / "drawing.svg", broken]:
        choose(kim, picture)
        kim.wait_until(lambda: "can't be used" in kim.refusal("photo"))
        kim.wait_until(lambda: kim.is_ready)
        assert not is_dialog_open(kim)
        assert kim.run_script("return document.querySelector('[name=photo]').files.length") == 0
        choose(kim)
        kim.wait_until(lambda: is_dialog_open(kim))
        assert kim.refusal("photo") == ""
        kim.find("[data-leave]").click()


def test_the_previous_photo_stays_after_a_cancelled_crop_or_an_unusable_file(person):
    kim = person().go_to("profile")
    choose(kim)
    kim.wait_until(lambda: is_dialog_open(kim))
    kim.press(Keys.ENTER)
    before = kim.find(".preview").get_attribute("src")
    choose(kim, IMAGES / "turned-6.jpg")
    kim.wait_until(lambda: is_dialog_open(kim))
    kim.press(Keys.ESCAPE)
    file_name = "return document.querySelector('[name=photo]').files[0].name"
    assert not is_dialog_open(kim) and kim.find(".preview").get_attribute("src") == before
    assert kim.run_script(file_name) == "photo.jpg"
    choose(kim, IMAGES / "moves.gif")
    kim.wait_until(lambda: "can't be used" in kim.refusal("photo"))
    assert kim.find(".preview").get_attribute("src") == before and kim.run_script(file_name) == "photo.jpg"


def test_an_unsaved_photo_is_kept_when_the_person_leaves_the_step_and_returns(person):
    kim = person().go_to("profile")
    choose(kim)
    kim.wait_until(lambda: is_dialog_open(kim))
    kim.press(Keys.ENTER)
    kim.find("[data-back]").click()
    kim.wait_for_path("/signup/password")
    kim.browser.back()
    kim.wait_for_path("/signup/profile")
    assert kim.find(".preview").is_displayed()
    kim.type("username", kim.username)
    kim.press_next()
    kim.wait_for_path("/signup/contact")
    kim.open("/signup/profile")
    assert count_stored(kim) == "1"


def test_a_stored_photo_can_be_removed(person):
    kim = person().go_to("profile")
    kim.type("username", kim.username)
    choose(kim)
    kim.wait_until(lambda: is_dialog_open(kim))
    kim.press(Keys.ENTER)
    kim.press_next()
    kim.wait_for_path("/signup/contact")
    kim.open("/signup/profile")
    kim.find(".image button[form]").click()
    kim.wait_until(lambda: kim.find("[name=photo]") and not kim.find_all(".image button[form]"))
    assert not kim.find(".preview").is_displayed() and count_stored(kim) == "0"
    assert kim.find("[name=username]").get_attribute("value") == kim.username


def test_a_chosen_photo_can_be_discarded(person):
    kim = person().go_to("profile")
    kim.type("username", kim.username)
    choose(kim)
    kim.wait_until(lambda: is_dialog_open(kim))
    kim.press(Keys.ENTER)
    kim.find("[data-drop]").click()
    assert not kim.find(".preview").is_displayed() and not kim.find("[data-drop]").is_displayed()
    assert kim.focused == "photo"
    kim.browser.refresh()
    assert not kim.find(".preview").is_displayed()
    kim.press_next()
    kim.wait_for_path("/signup/contact")
    kim.open("/signup/profile")
    assert count_stored(kim) == "0"


def test_without_script_a_photo_is_uploaded_and_removed_and_unusable_files_are_refused(person, tmp_path):
    kim = person(script=False)
    kim.open("/signup")
    kim.type("email", kim.email)
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.path == "/signup/code")
    kim.type("code", kim.site.mailbox.code(kim.email))
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.path == "/signup/password")
    for name in ["password", "confirmation"]:
        kim.type(name, "a pass phrase of mine")
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.path == "/signup/profile")
    kim.type("username", kim.username)
    choose(kim, IMAGES / "moves.gif")
    kim.find("button.main").click()
    kim.wait_until(lambda: "can't be used" in kim.refusal("photo"))
    assert kim.find("[name=username]").get_attribute("value") == kim.username
    choose(kim, IMAGES / "turned-6.jpg")
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.path == "/signup/contact")
    kim.open("/signup/profile")
    cookie = kim.browser.get_cookie("signup")["value"]
    photo = Request(kim.find(".preview").get_attribute("src"), headers={"Cookie": f"signup={cookie}"})
    assert urlopen(photo).read().startswith(b"\xff\xd8")
    kim.find(".image button[form]").click()
    kim.wait_until(lambda: kim.find("[name=photo]") and not kim.find_all(".image button[form]"))
    assert count_stored(kim) == "0"
    large = tmp_path / "large.jpg"
    large.write_bytes((IMAGES / "baseline.jpg").read_bytes() + bytes(6_000_000))
    choose(kim, large)
    kim.find("button.main").click()
    kim.wait_until(lambda: "too large" in kim.refusal("photo"))


def test_the_dialog_announces_the_position_of_the_crop(person):
    kim = person().go_to("profile")
    choose(kim)
    kim.wait_until(lambda: is_dialog_open(kim))
    assert crop_position(kim) == "Center: 50% from the left, 50% from the top", "nothing moves when it appears"
    assert kim.run_script("return document.querySelector('[data-place]').matches('dialog output')"), (
        "a screen reader announces an output element"
    )
    kim.find("canvas").send_keys("+" * 10, Keys.ARROW_RIGHT * 4, Keys.ARROW_DOWN * 2)
    kim.wait_until(lambda: crop_position(kim) != "Center: 50% from the left, 50% from the top", "the new place")
    # At zoom 2, the crop has 24 of the 64 × 48 pixels. An arrow key moves it by a twentieth of that: four by 4.8 of 64
    # pixels, two by 2.4 of 48.
    assert crop_position(kim) == "Center: 58% from the left, 55% from the top"


def test_the_dialog_has_no_gap_above_its_buttons(person):
    kim = person().go_to("profile")
    choose(kim)
    kim.wait_until(lambda: is_dialog_open(kim))
    space = (
        "const [slider, buttons] = ['[type=range]', '.actions']"
        ".map((part) => document.querySelector(`.image dialog ${part}`).getBoundingClientRect());"
        "return buttons.top - slider.bottom"
    )
    assert kim.run_script(space) <= 16


def test_the_photo_in_the_dialog_is_large_enough_at_400_percent(person):
    """A window of 1280 by 1024 at 400 % has 320 by 256 pixels of CSS."""
    kim = person().go_to("profile")
    window = {"width": 320, "height": 256, "deviceScaleFactor": 4, "mobile": False}
    try:
        kim.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", window)
        choose(kim)
        kim.wait_until(lambda: is_dialog_open(kim))
        size = kim.find("canvas").size
        assert size["width"] == size["height"] >= 190
        assert kim.run_script("return document.documentElement.scrollWidth") <= 320
        kim.find("[data-use]").click()
        assert not is_dialog_open(kim)
    finally:
        kim.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
