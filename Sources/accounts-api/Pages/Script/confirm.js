// Secrets that are typed twice, and the buttons that show what was typed.

const confirmationOf = (field) => fields.find((other) => other.confirms === field.name);

/// The confirmation appears when the server has accepted the value to confirm.
function showConfirmation(field) {
  const confirmation = confirmationOf(field);
  if (confirmation) confirmation.element.hidden = false;
}

/// A person who returns to the value has to confirm it again.
function hideConfirmation(field) {
  const confirmation = confirmationOf(field);
  if (!confirmation) return;
  confirmation.value = "";
  confirmation.accepted = undefined;
  confirmation.clear();
  confirmation.element.hidden = true;
  updateNext();
}

/// Empties a refused field and takes the focus back to it, unless the person has left the fields.
function emptyForRetyping(field) {
  field.value = "";
  field.accepted = undefined;
  hideConfirmation(field);
  const focused = document.activeElement;
  const isNearby = focused === document.body || focused === nextButton;
  if (isNearby || fields.some((other) => other.element.contains(focused))) field.control.focus();
}

/// Lets the button show and hide what is typed into the control before it.
function startReveal(button) {
  const input = button.previousElementSibling;
  const hiddenType = input.type;
  const labelToShow = button.getAttribute("aria-label");
  const reveal = (isShown) => {
    if (isShown) input.removeAttribute("type");
    else input.type = hiddenType;
    button.setAttribute("aria-pressed", isShown);
    button.setAttribute("aria-label", isShown ? button.dataset.hide : labelToShow);
  };
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
