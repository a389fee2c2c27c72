// What happens while a person types, leaves a field, or presses Enter.

/// In milliseconds. A word is usually complete after such a pause.
const pauseInTyping = 500;

function listenToTyping(field) {
  let pause;
  field.element.addEventListener("input", () => {
    keepDigits(field.control);
    field.clear();
    hideConfirmation(field);
    keepAnswers();
    updateNext();
    showDayInWords(field);
    clearTimeout(pause);
    pause = setTimeout(checkAndShow, field.liveCheck === "at-once" ? 0 : pauseInTyping, field, false);
  });
  field.element.addEventListener("focusout", (event) => {
    // A button of the field, or another window, has the focus: the person has not left the field.
    if (field.element.contains(event.relatedTarget) || !document.hasFocus()) return;
    clearTimeout(pause);
    checkAndShow(field, true);
  });
  field.control.addEventListener("focus", () => hideConfirmation(field));
}

/// Removes all but digits, and those beyond the number that `data-digits` allows.
function keepDigits(control) {
  const { digits } = control.dataset;
  if (digits) control.value = control.value.replace(/\D/g, "").slice(0, digits);
}

/// Writes the chosen day out in the language of the page.
function showDayInWords(field) {
  const output = one("[data-day-in-words]", field.element);
  if (!output) return;
  const day = new Date(`${field.value}T00:00:00Z`);
  const format = new Intl.DateTimeFormat(language, { dateStyle: "full", timeZone: "UTC" });
  output.textContent = isNaN(day) ? "" : format.format(day);
}

/// Enter moves to the next control. On the last one it sends the step.
function goOnByEnter(event) {
  const isAnswer = event.target.matches("input, select") && !event.target.closest("dialog");
  if (event.key !== "Enter" || event.isComposing || !isAnswer) return;
  event.preventDefault();
  const controls = shownFields().flatMap((field) => field.controls);
  const following = controls[controls.indexOf(event.target) + 1];
  if (following) following.focus();
  else submitOrShowProblems();
}

/// The keyboard of a phone covers half of the page; this keeps the control with the focus in sight.
function showFocusedControl() {
  const focused = document.activeElement;
  if (focused?.matches("input, textarea, select")) focused.scrollIntoView({ block: "nearest" });
}
