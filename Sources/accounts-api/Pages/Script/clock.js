// Countdowns. They follow the clock of the server if the page has a form with `data-now`, because the clock of the
// device may be wrong.

const serverIsAheadBy = form?.dataset.now ? Date.parse(form.dataset.now) - Date.now() : 0;
const serverNow = () => Date.now() + serverIsAheadBy;

/// Calls `show` with the seconds left, rounded up, now and each time their number changes. `timeLeft` returns
/// milliseconds.
function countDown(timeLeft, show) {
  const left = timeLeft();
  show(Math.max(0, Math.ceil(left / 1000)));
  if (left > 0) setTimeout(countDown, (left % 1000) + 1, timeLeft, show);
}

const minutesAndSeconds = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;

/// Counts down to a moment, or repeatedly to the end of each period.
function startClock(element) {
  element.hidden = false;
  if (element.dataset.period) repeatPeriod(element);
  else countDownToEnd(element);
}

function repeatPeriod(element) {
  const { period, left } = element.dataset;
  const length = period * 1000;
  countDown(
    () => length - (serverNow() % length),
    (seconds) => drawClock(element, left.replace("{left}", seconds), seconds / period),
  );
}

function countDownToEnd(element) {
  const { until, whole, left, over } = element.dataset;
  const end = Date.parse(until);
  countDown(
    () => end - serverNow(),
    (seconds) => {
      const text = seconds ? left.replace("{left}", minutesAndSeconds(seconds)) : over;
      drawClock(element, text, Math.min(1, seconds / whole));
      if (!seconds) endCode(over);
    },
  );
}

/// After the code has expired, its boxes take nothing, and the main button of the page asks for another code.
function endCode(text) {
  announce(text);
  const button = one("#resend button");
  if (!button || fields.length > 1) return;
  button.setAttribute("form", "resend");
  button.className = "main";
  nextButton.replaceWith(button);
  fields[0].control.disabled = true;
}

/// Shows the text of a countdown, and a circle whose line gets shorter.
///
/// - share: the part of the line that is drawn, from 0 to 1.
function drawClock(element, text, share) {
  one("span", element).textContent = text;
  one(".rest", element).setAttribute("stroke-dashoffset", 100 - 100 * share);
}

/// Keeps the button of a form disabled until the server accepts a request for another mail.
function waitToResend(resend) {
  // After too many guesses, or after the code has expired, the main button of the page sends this form, and stands
  // outside it.
  const button = one("button", resend) ?? one(`[form=${resend.id}]`);
  const text = button.textContent;
  const end = serverNow() + resend.dataset.resend * 1000;
  countDown(
    () => end - serverNow(),
    (seconds) => {
      button.disabled = seconds > 0;
      button.textContent = seconds ? resend.dataset.waiting.replace("{left}", seconds) : text;
    },
  );
}
