"""Starts a Chromium for the tests."""

from selenium import webdriver
from selenium.webdriver.chrome.service import Service as Driver


def start_browser(language="en", script=True, *arguments):
    options = webdriver.ChromeOptions()
    for argument in [
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        f"--lang={language}",
        "--window-size=1000,900",
        "--disable-background-networking",
        "--disable-component-update",
        *arguments,
    ]:
        options.add_argument(argument)
    preferences = {"intl.accept_languages": language, "credentials_enable_service": False}
    if not script:
        preferences["profile.managed_default_content_settings.javascript"] = 2
    options.add_experimental_option("prefs", preferences)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    options.binary_location = "/usr/bin/chromium"
    return webdriver.Chrome(options=options, service=Driver("/usr/bin/chromedriver"))
