// Shows, and tells screen readers, that the page waits for an answer of the server.

/// In milliseconds. A shorter wait is not announced.
const longWait = 1000;
let longWaitTimer;
let waitLine;

function showBusy(button) {
  hideBusy();
  button?.setAttribute("aria-busy", "true");
  if (!live.dataset.wait) return;
  longWaitTimer = setTimeout(() => {
    waitLine = announce(live.dataset.wait);
  }, longWait);
}

function hideBusy() {
  clearTimeout(longWaitTimer);
  waitLine?.remove();
  for (const button of all("button[aria-busy]")) button.removeAttribute("aria-busy");
}
