// Runs last: prepares what the page has.

const backKey = "signup-back";

/// True when the person came by Back, of the page or of the browser.
function cameBack() {
  const isByLink = sessionStorage.getItem(backKey);
  sessionStorage.removeItem(backKey);
  return isByLink || performance.getEntriesByType("navigation")[0]?.type === "back_forward";
}

/// Moves the focus to the first field that needs the person.
function focusFirstField() {
  const first =
    fields.find((field) => field.isRefused) ??
    fields.find((field) => field.isRequired && field.isEmpty) ??
    fields.find((field) => field.isEmpty);
  if (!first?.isHidden) first?.control.focus();
}

function startStep() {
  // Another sign-up in this tab may have been somebody else's.
  forgetSignups(`${storagePrefix}${form.dataset.draft}:`);
  restoreAnswers();
  for (const field of fields) {
    if (field.confirms && !field.isRefused) field.element.hidden = true;
    showDayInWords(field);
    if (!pictures.includes(field)) listenToTyping(field);
  }
  if (pictures.length) listenForPictures();
  all("[data-reveal]", form).forEach(startReveal);
  form.addEventListener("keydown", goOnByEnter);
  form.addEventListener("submit", submit);
  if (!cameBack()) focusFirstField();
  checkFilledFields();
  updateNext();
}

function startCancel() {
  const dialog = document.getElementById("cancel");
  one("[data-cancel]")?.addEventListener("click", (event) => {
    event.preventDefault();
    dialog.showModal();
  });
  one("[data-close]")?.addEventListener("click", () => dialog.close());
}

all("[data-until], [data-period]").forEach(startClock);
all("[data-resend]").forEach(waitToResend);
all("[data-codes]").forEach(startRecoveryCodes);
one("[data-back]")?.addEventListener("click", () => sessionStorage.setItem(backKey, "yes"));
startCancel();
if (form) startStep();
else if (one("[data-page=start], [data-page=done]")) forgetSignups();
for (const other of all("form")) if (other !== form) other.addEventListener("submit", submitOnce);
addEventListener("pageshow", allowSending);
window.visualViewport?.addEventListener("resize", showFocusedControl);
