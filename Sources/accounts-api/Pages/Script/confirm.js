// Secrets that are typed twice, and the buttons that show what was typed.

const confirmationOf = (field) => fields.find((other) => other.confirms === field.name);

/// Shows the field that repeats the value of this field, if there is one.
function showConfirmationField(field) {
  const confirmation = confirmationOf(field);
  if (!confirmation) return;
  confirmation.element.hidden = false;
  nameEnterKeys();
}

/// Empties and hides the field that repeats the value: a person who returns to the value has to confirm it again.
function hideConfirmation(field) {
  const confirmation = confirmationOf(field);
  if (!confirmation) return;
  confirmation.value = "";
  confirmation.accepted = undefined;
  confirmation.clear();
  confirmation.element.hidden = true;
  nameEnterKeys();
  updateNext();
}

function emptyForRetyping(field) {
  field.value = "";
  field.accepted = undefined;
  hideConfirmation(field);
}

/// Lets the button show and hide what is typed into the control before it.
function startReveal(button) {
  const input = button.previousElementSibling;
  const hiddenType = input.type;
  const labelToShow = button.getAttribute("aria-label");
  const reveal = (isShown) => {
    if (isShown) input.removeAttribute("type");
    else input.type = hiddenType;
    button.setAttribute("aria-label", isShown ? button.dataset.hide : labelToShow);
  };
  // Older templates have this attribute. It is redundant, because the label says whether the text is shown.
  button.removeAttribute("aria-pressed");
  button.hidden = false;
  // Otherwise the press would take the focus from the control.
  button.addEventListener("pointerdown", (event) => event.preventDefault());
  button.addEventListener("click", () => {
    const isShown = input.type !== hiddenType;
    input.focus();
    reveal(!isShown);
  });
  input.addEventListener("blur", () => reveal(false));
}
