/// The fields of the step that can be answered; empty on the other pages.
const fields = form ? findFields() : [];
const pictures = fields.filter((field) => field instanceof PictureField);

function findFields() {
  const elements = all("[data-field]", form);
  elements.forEach(completeOlderField);
  const found = elements.map((element) => ("cut" in element.dataset ? new PictureField(element) : new Field(element)));
  // A field that is already confirmed shows a text and has no control.
  return found.filter((field) => field.control);
}

const shownFields = () => fields.filter((field) => !field.isHidden);
const isReady = () => fields.every((field) => field.isFine);

/// Screen readers report the button as disabled, but it works: pressing it shows what is missing.
function updateNext() {
  nextButton?.setAttribute("aria-disabled", !isReady());
}
