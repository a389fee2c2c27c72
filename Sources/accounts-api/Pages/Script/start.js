// Runs last: starts the parts of the script that this page uses.

const backKey = "signup-back";

/// Whether the person has come by the Back button of a page, or by Back or Forward of the browser.
function cameBack() {
  const usedBackLink = sessionStorage.getItem(backKey);
  sessionStorage.removeItem(backKey);
  return usedBackLink || performance.getEntriesByType("navigation")[0]?.type === "back_forward";
}

/// Moves the focus to the first field that is refused, or else to the first that is empty. A person who comes back to a
/// complete step begins at its heading.
function focusFirstField() {
  const refused = fields.find((field) => field.isRefused);
  // A person who edits the account chooses what to change.
  if (!refused && form.dataset.page === "edit") return;
  if (!refused && one(".steps .complete[aria-current]")) return focusHeading();
  const first = refused ?? fields.find((field) => field.isEmpty);
  if (!first?.isHidden) first?.control.focus();
}

function focusHeading() {
  const heading = one("h1");
  heading.tabIndex = -1;
  heading.focus();
}

function startStep() {
  // An earlier sign-up in this tab may belong to another person.
  forgetKept(storagePrefix, storageKey.slice(0, storageKey.lastIndexOf(":") + 1));
  restoreAnswers();
  if (!hasDraft) forgetAnswers();
  for (const field of fields) {
    if (field.confirms && !field.isRefused) field.element.hidden = true;
    showDayInWords(field);
    if (!pictures.includes(field)) listenToTyping(field);
  }
  if (pictures.length) listenForPictures();
  nameEnterKeys();
  form.addEventListener("keydown", continueOnEnter);
  form.addEventListener("submit", submit);
  one(".languages")?.addEventListener("submit", keepAnswers);
  document.documentElement.dataset.started = "yes";
  if (!cameBack()) focusFirstField();
  checkFilledFields();
  updateNext();
}

/// The script moves the focus past the notice, so screen readers would not say it.
function announceNews() {
  const news = one("#notice.news:not([hidden])");
  if (news) announce(news.textContent);
}

function startCancel() {
  const dialog = document.getElementById("cancel");
  if (!dialog) return;
  for (const link of all("[data-cancel]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      dialog.showModal();
    });
  }
  one("[data-close]")?.addEventListener("click", () => dialog.close());
}

/// Sends the code of the link that the person has opened. It is in the fragment, which browsers do not send, so that it
/// is in no log.
function sendLinkCode(form) {
  const code = takeFragment(form);
  if (!code) return;
  history.replaceState(null, "", location.pathname);
  form.requestSubmit();
}

/// Fills the first field with the value in the fragment, and returns the value.
function takeFragment(form) {
  const value = location.hash.split("=")[1];
  if (value) one("input", form).value = value;
  return value;
}

/// Hides the field if the link has filled it.
function startFragmentForm(form) {
  if (takeFragment(form)) one(".field", form).hidden = true;
}

/// The tab remembers the identifier that the person has typed, because the sign-in may need a mailed code first. After
/// the code, the page that asks for the password is filled in with the identifier.
function rememberIdentifier(input) {
  const key = "sign-in";
  if (location.search.startsWith("?known")) {
    input.value ||= sessionStorage.getItem(key) ?? "";
    // The browser first moves the focus to the field with `autofocus`.
    if (input.value) requestAnimationFrame(() => one("[type=password]", input.form)?.focus());
  }
  sessionStorage.removeItem(key);
  input.form.addEventListener("submit", () => sessionStorage.setItem(key, input.value));
}

/// Shows the moment of a `<time>` as day and time, in the time zone of the browser.
function showMoment(element) {
  const format = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  element.textContent = format.format(new Date(element.dateTime));
}

// After a refused form, a reload, and a return to it in the history, get the page again instead of sending the form
// again. The exception is a page with new recovery codes, which are shown only once: there the browser asks before it
// reloads.
const hasFields = !!one("form :is(input:not([type=hidden]), textarea, select)");
if ((hasFields || location.pathname === "/account/authenticator") && !document.getElementById("codes"))
  history.replaceState(null, "");
announceNews();
all("[data-until], [data-period]").forEach(startClock);
all("[data-resend]").forEach(waitToResend);
all("[data-codes]").forEach(startCodes);
all("[data-reveal]").forEach(startReveal);
all("[data-moment]").forEach(showMoment);
all("[name=identifier]").forEach(rememberIdentifier);
one("[data-back]")?.addEventListener("click", () => sessionStorage.setItem(backKey, "yes"));
startCancel();
if (form) startStep();
else if (one("[data-page=start], [data-page=done]")) forgetKept(storagePrefix);
// Changes to the account that were not saved.
if (one("[data-page=account]")) forgetKept(`${storagePrefix}edit:`);
for (const other of all("form")) if (other !== form) other.addEventListener("submit", submitOnce);
all("[data-link]").forEach(sendLinkCode);
all("[data-fragment]").forEach(startFragmentForm);
addEventListener("pageshow", allowSending);
for (const type of ["input", "click"]) addEventListener(type, hush, true);
window.visualViewport?.addEventListener("resize", showFocusedControl);
