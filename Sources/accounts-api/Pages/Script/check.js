// Live checks: the server checks values before the step is sent.

/// Lets the server check the values of some fields. Resolves to the first message about each refused field, by name. If
/// the check fails, for example without a connection, all fields are accepted with `isChecked` false: the server checks
/// them again when the step is sent.
async function check(...fieldsToCheck) {
  const values = Object.fromEntries(fieldsToCheck.map((field) => [field.name, field.value]));
  const { errors, written, isAnswered } = await fetchCheck(values);
  const refusals = firstMessages(errors);
  for (const field of fieldsToCheck) {
    // The person may have changed the value meanwhile.
    if (field.json !== JSON.stringify(values[field.name])) continue;
    field.isChecked = isAnswered;
    if (refusals[field.name]) continue;
    field.accept();
    field.canonical = written[field.name];
  }
  return refusals;
}

async function fetchCheck(values) {
  try {
    const answer = await fetch(`${form.getAttribute("action")}/check`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json", "Accept-Language": language },
      body: JSON.stringify(values),
    });
    if (answer.ok) return { ...(await answer.json()), isAnswered: true };
  } catch {
    // There is no connection, or the answer is not JSON.
  }
  return { errors: [], written: {}, isAnswered: false };
}

/// The first message about each field, by its name.
function firstMessages(errors) {
  const messages = {};
  for (const { field, message } of errors) messages[field] ??= message;
  return messages;
}

/// Checks one field and shows the result.
///
/// - moment: a "pause" in typing, "left" after the person has left the field, or "sent" when the step is to be sent.
async function checkAndShow(field, moment) {
  if (field.isEmpty || !field.liveCheck) return updateNext();
  if (field.isAccepted) {
    showAcceptance(field, moment);
    showCharacterCount(field);
    return updateNext();
  }
  const checkedJSON = field.json;
  const refusal = (await check(...fields.filter((other) => other.name === field.confirms), field))[field.name];
  // The value has changed meanwhile, so another check follows.
  if (field.json !== checkedJSON) return;
  if (refusal) showRefusal(field, refusal, moment);
  else showAcceptance(field, moment);
  showCharacterCount(field);
  updateNext();
}

/// Shows why the server refuses the value. A field whose value must be typed again is emptied only when the step is
/// sent, so a person who taps beside the field, for example to close the keyboard, loses nothing.
function showRefusal(field, refusal, moment) {
  // During a pause a secret is probably not complete, except if it has the required length.
  if (moment === "pause" && field.isSecret && !isLongEnough(field)) return;
  field.refuse(refusal);
  if (moment === "sent" && field.isRetyped) emptyForRetyping(field);
}

/// When the person has left the field or sends the step, also writes the value in its canonical form.
function showAcceptance(field, moment) {
  if (moment !== "pause" && field.canonical) {
    field.value = field.canonical;
    field.accept();
  }
  showConfirmationField(field);
}

/// Checks the values that the page begins with, except secrets, so that a wrong answer is marked immediately.
async function checkFilledFields() {
  const filled = fields.filter((field) => field.liveCheck && !field.isSecret && !field.isEmpty && !field.isRefused);
  if (!filled.length) return;
  const refusals = await check(...filled);
  for (const field of filled) if (refusals[field.name]) field.refuse(refusals[field.name]);
  updateNext();
}
