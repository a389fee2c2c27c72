// Reactions to typing, leaving a field and pressing Enter.

/// In milliseconds. A word is usually complete after such a pause.
const pauseInTyping = 500;

function listenToTyping(field) {
  let pause;
  const read = (event) => {
    // The characters of an input method are not complete yet.
    if (!event.isComposing) keepDigits(field.control);
    const wasRefused = field.isRefused;
    field.clear();
    if (wasRefused && !fields.some((other) => other.isRefused)) unmarkTitle();
    hideConfirmation(field);
    if (hasDraft) keepAnswers();
    updateNext();
    showDayInWords(field);
    clearTimeout(pause);
    pause = setTimeout(checkAndShow, field.liveCheck === "at-once" ? 0 : pauseInTyping, field, "pause");
    showCharacterCount(field);
    announceTally(field);
  };
  field.element.addEventListener("input", read);
  field.element.addEventListener("compositionend", read);
  field.element.addEventListener("focusout", (event) => {
    // A button of the field, or another window, has the focus: the person has not left the field.
    if (field.element.contains(event.relatedTarget) || !document.hasFocus()) return;
    clearTimeout(pause);
    checkAndShow(field, "left");
  });
  field.control.addEventListener("focus", () => hideConfirmation(field));
}

/// If the control has `data-digits`, removes all characters except digits, and digits beyond this number. Full-width
/// digits, as some keyboards of East Asia type them, become ordinary digits.
function keepDigits(control) {
  const { digits } = control.dataset;
  if (digits) control.value = control.value.normalize("NFKC").replace(/\D/g, "").slice(0, digits);
}

/// Shows the chosen day in words, in the language of the page.
function showDayInWords(field) {
  const output = one("[data-day-in-words]", field.element);
  if (!output) return;
  const day = new Date(`${field.value}T00:00:00Z`);
  const format = new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone: "UTC" });
  output.textContent = isNaN(day) ? "" : format.format(day);
}

/// Enter moves to the next control. On the last one it sends the step.
function continueOnEnter(event) {
  const isAnswer = event.target.matches("input, select") && !event.target.closest("dialog");
  if (event.key !== "Enter" || event.isComposing || !isAnswer) return;
  event.preventDefault();
  const controls = shownFields().flatMap((field) => field.controls);
  const next = controls[controls.indexOf(event.target) + 1];
  if (next) next.focus();
  else submitOrShowProblems();
}

/// The Enter key of a phone says what it does: it moves to the next control, or sends the step.
function nameEnterKeys() {
  const controls = shownFields().flatMap((field) => field.controls);
  for (const [index, control] of controls.entries()) {
    const name = index + 1 < controls.length ? "next" : "done";
    if (control.matches("input:not([type=checkbox], [type=file])") && control.enterKeyHint !== name) control.enterKeyHint = name;
  }
}

/// The keyboard of a phone covers half of the page; this scrolls the control with the focus into view.
function showFocusedControl() {
  const focused = document.activeElement;
  if (focused?.matches("input, textarea, select")) focused.scrollIntoView({ block: "nearest" });
}
