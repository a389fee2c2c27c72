// An element with `data-tally` counts the characters of its field, and says when the server accepts the value.

/// In milliseconds. Screen readers hear the count only after such a pause, not at every key.
const pauseBeforeTally = 2000;
let tallyTimer;

const tallyOf = (field) => one("[data-tally]", field.element);

/// Counts as the server does: code points in Normalization Form C.
const lengthOf = (text) => [...text.normalize("NFC")].length;

const isLongEnough = (field) => lengthOf(field.value) >= tallyOf(field)?.dataset.tally;

function showCharacterCount(field) {
  const tally = tallyOf(field);
  if (!tally) return;
  const isGood = field.isAccepted && field.isChecked && !field.isEmpty;
  tally.textContent = isGood ? tally.dataset.good : countIn(tally, lengthOf(field.value));
  tally.classList.toggle("good", isGood);
}

/// Says how long the text is, and the length that it needs or may have.
function countIn(tally, length) {
  const { tally: min, most, count, over } = tally.dataset;
  const [text, limit] = length > most ? [over ?? count, most] : [count, min];
  return length ? text.replace("{length}", length).replace("{limit}", limit) : "";
}

/// Announces the tally after the person has stopped typing.
function announceTally(field) {
  const tally = tallyOf(field);
  clearTimeout(tallyTimer);
  if (!tally) return;
  tallyTimer = setTimeout(() => {
    if (tally.textContent && !field.isRefused) announce(tally.textContent);
  }, pauseBeforeTally);
}
