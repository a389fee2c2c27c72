// Operators may have copied templates from a version that had no `data-answer`. A field of such a template gets the
// attributes that its contents imply.

function completeOlderField(element) {
  const { dataset } = element;
  if (dataset.answer) return;
  const has = (selector) => !!one(selector, element);
  const isPicture = has("canvas");
  if (isPicture) dataset.answer = "file";
  else if (element.matches("fieldset")) dataset.answer = "array";
  else if (has("[type=checkbox]")) dataset.answer = "boolean";
  else dataset.answer = has("[type=number]") ? "integer" : "string";

  if (isPicture) dataset.cut = "";
  else dataset.liveCheck = has("select, [type=checkbox]") ? "at-once" : "after-pause";
  if (has(".eye, .boxes")) dataset.secret = "";
  if (has(".eye")) dataset.retype = "";
  if (has("[data-period]")) dataset.nativeSubmit = "";
  for (const eye of all(".eye", element)) eye.dataset.reveal = "";
  for (const output of all("output", element)) output.dataset.dayInWords = "";
}
