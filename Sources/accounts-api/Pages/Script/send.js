// Sending the step.

let isSending = false;

/// Submits the form, or shows what is wrong with it and moves the focus there.
async function submitOrShowProblems() {
  if (!hasDraft) return form.requestSubmit();
  hush();
  showBusy(nextButton);
  for (const field of fields) if (field.isFine) showConfirmationField(field);
  for (const field of shownFields()) if (!field.isFine) await showProblem(field);
  hideBusy();
  updateNext();
  const wrong = shownFields().find((field) => !field.isFine);
  if (!wrong) return form.requestSubmit();
  if (fields.some((field) => field.isRefused)) markTitle();
  wrong.control.focus();
}

async function showProblem(field) {
  const refusal = field.isEmpty && (await check(field))[field.name];
  if (refusal) field.refuse(refusal);
  else await checkAndShow(field, "sent");
}

function submit(event) {
  if (!hasDraft) submitOnce(event);
  else if (!isReady()) {
    event.preventDefault();
    submitOrShowProblems();
  } else if (fields.some((field) => "nativeSubmit" in field.element.dataset)) submitOnce(event);
  else {
    event.preventDefault();
    sendStep();
  }
}

/// For forms that the browser sends: prevents a second submission.
function submitOnce(event) {
  if (event.target.dataset.sent) return event.preventDefault();
  event.target.dataset.sent = "yes";
  showBusy(event.submitter ?? one(".main", event.target));
}

/// The browser may show a page again after Back; its forms can then be sent again.
function allowSending({ persisted }) {
  // After a sign-out, Back must not show the account again.
  if (persisted && one("[data-page=account]")) location.reload();
  isSending = false;
  hideBusy();
  for (const element of all("form")) delete element.dataset.sent;
}

async function sendStep() {
  if (isSending) return;
  isSending = true;
  showNotice("");
  hush();
  showBusy(nextButton);
  const destination = await postStep();
  if (destination) return location.assign(destination);
  hideBusy();
  isSending = false;
}

/// Resolves to the URL of the next page, or to undefined if this page stays.
async function postStep() {
  const page = form.getAttribute("action");
  try {
    const answer = await fetch(page, {
      method: "POST",
      headers: { Accept: "application/json", "Accept-Language": language },
      body: stepBody(),
    });
    const body = await answer.json();
    if (answer.ok) {
      forgetAnswers();
      return body.next.href;
    }
    // The page of a code that takes no more guesses, or has expired, says how to go on.
    if (answer.status === 422) return isOver(body.errors) ? page : showErrors(body.errors);
    // The address has changed since this page was loaded, for example in another tab. The code was not checked.
    if (answer.status === 412) return `${page}?other-address`;
    // The server does not know the sign-up any more. The page of the step then says so.
    if (answer.status === 401) return page;
    if ([409, 410].includes(answer.status)) return page.replace(/^(\/[^/]*).*/, "$1");
    showNotice(body.message ?? body.title);
  } catch {
    showNotice(form.dataset.offline);
  }
  return undefined;
}

/// Without a new picture the form is sent as plain parameters, which the server reads with less work.
function stepBody() {
  const data = new FormData(form);
  if (pictures.some((picture) => picture.files)) return data;
  for (const picture of pictures) data.delete(picture.name);
  return new URLSearchParams(data);
}

const isOver = (errors) =>
  one("[data-resend]") &&
  errors.some(({ code, params }) => /^code_(exhausted|expired)$/.test(code) || params?.attempts_left === 0);

function showErrors(errors) {
  const messages = firstMessages(errors);
  const refused = fields.filter((field) => messages[field.name]);
  for (const field of refused) {
    if (field.isSecret) field.value = "";
    showCharacterCount(field);
    field.refuse(messages[field.name]);
  }
  markTitle();
  if (!refused.length) showNotice(form.dataset.marked);
  refused.find((field) => !field.isHidden)?.control.focus();
  updateNext();
}
