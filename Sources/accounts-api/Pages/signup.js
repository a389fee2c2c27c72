// Makes the pages pleasant; they work without. Every rule is the server's: what is typed is judged by /check, and what
// is sent by the step itself.
"use strict";

const one = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const form = document.getElementById("answers");
const next = form && one("button.main", form);
const language = document.documentElement.lang;

// MARK: The server's clock, by which everything ends.

const ahead = form?.dataset.now ? Date.parse(form.dataset.now) - Date.now() : 0;
const now = () => Date.now() + ahead;

/// Draws whenever the number of whole seconds left has changed: `left` tells the milliseconds, `draw` takes the seconds.
const countDown = (left, draw) => {
  const rest = left();
  draw(Math.max(0, Math.ceil(rest / 1000)));
  if (rest > 0) setTimeout(countDown, (rest % 1000) + 1, left, draw);
};

const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;

for (const element of all(".clock")) {
  const { until, whole, period, left: text, over } = element.dataset;
  const label = one("span", element);
  const ring = one(".rest", element);
  element.hidden = false;
  if (period) {
    const length = period * 1000;
    countDown(() => length - (now() % length), (seconds) => {
      label.textContent = text.replace("{left}", seconds);
      ring.setAttribute("stroke-dashoffset", 100 - (100 * seconds) / period);
    });
  } else {
    const end = Date.parse(until);
    countDown(() => end - now(), (seconds) => {
      label.textContent = seconds ? text.replace("{left}", clock(seconds)) : over;
      ring.setAttribute("stroke-dashoffset", 100 - Math.min(100, (100 * seconds) / whole));
    });
  }
}

for (const resend of all("[data-resend]")) {
  const button = one("button", resend);
  const text = button.textContent;
  const end = now() + resend.dataset.resend * 1000;
  countDown(() => end - now(), (seconds) => {
    button.disabled = seconds > 0;
    button.textContent = seconds ? resend.dataset.waiting.replace("{left}", seconds) : text;
  });
}

// MARK: Fields

const live = document.getElementById("live");
const notice = document.getElementById("notice");

const say = (text) => {
  notice.textContent = text;
  notice.hidden = !text;
};

/// One field of the page: its controls, what the server thinks of it, and its message.
class Field {
  constructor(element) {
    this.element = element;
    this.name = element.dataset.field;
    this.kind = element.dataset.kind;
    this.controls = all("[name]", element);
    this.control = this.controls[0];
    this.message = one(".refusal", element);
    this.isRequired = !!this.control?.required || "required" in element.dataset;
    this.isSecret = ["password", "confirmation", "code", "totp"].includes(this.kind);
    this.isRefused = !!this.message?.textContent;
    /// The value that the server accepted last.
    this.accepted = undefined;
  }

  get value() {
    if (this.kind === "consent") return this.control.checked;
    if (this.controls.length > 1 || this.element.matches("fieldset")) {
      return this.controls.filter((control) => control.checked).map((control) => control.value);
    }
    if (this.kind === "number" && /^-?\d+$/.test(this.control.value)) return Number(this.control.value);
    return this.control.value;
  }

  set value(value) {
    for (const control of this.controls) {
      if (control.type === "checkbox") control.checked = value === true || (Array.isArray(value) && value.includes(control.value));
      else control.value = value;
    }
  }

  /// What comes back with the page.
  get kept() {
    return this.value;
  }

  set kept(value) {
    this.value = value;
  }

  get isEmpty() {
    // Half a date, or no number: the browser keeps it to itself.
    if (this.control.validity?.badInput) return false;
    return this.value === "" || this.value === false || this.value.length === 0;
  }

  get isHidden() {
    return this.element.hidden;
  }

  /// True where nothing stands in the way of the next step.
  get isFine() {
    if (this.isRefused) return false;
    return this.isEmpty ? !this.isRequired : !this.control.validity?.badInput && this.accepted === JSON.stringify(this.value);
  }

  refuse(text) {
    this.isRefused = true;
    this.mark(text);
    live.textContent = text;
  }

  clear() {
    this.isRefused = false;
    this.mark("");
  }

  mark(text) {
    this.message.textContent = text;
    for (const control of this.controls) {
      if (text) control.setAttribute("aria-invalid", "true");
      else control.removeAttribute("aria-invalid");
    }
  }
}

/// How far two fingers are from each other.
const apart = (one, other) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);

/// A picture that is chosen, dragged here or pasted, and cut to a square before it is sent.
class Picture extends Field {
  constructor(element) {
    super(element);
    this.isRequired &&= !("set" in element.dataset);
    this.preview = one(".preview", element);
    this.stored = this.preview.getAttribute("src");
    this.dialog = one("dialog", element);
    this.canvas = one("canvas", element);
    this.size = one("[type=range]", element);
    one(".picture .help", element).hidden = false;
    this.control.addEventListener("change", () => this.open(this.control.files[0]));
    for (const type of ["dragover", "drop"]) {
      element.addEventListener(type, (event) => {
        event.preventDefault();
        if (type === "drop") this.open(event.dataTransfer.files[0]);
      });
    }
    this.size.addEventListener("input", () => this.draw());
    this.canvas.addEventListener("wheel", (event) => this.grow(event, event.deltaY < 0 ? 0.1 : -0.1));
    // Fingers on the picture, by their numbers: one moves it, two make it larger or smaller.
    this.fingers = new Map();
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      const [other] = this.fingers.values();
      this.isDragged = !!other;
      if (other) this.pinch = { size: Number(this.size.value), distance: Math.max(apart(event, other), 1) };
      this.fingers.set(event.pointerId, event);
    });
    this.canvas.addEventListener("pointermove", (event) => this.drag(event));
    for (const type of ["pointerup", "pointercancel"]) {
      this.canvas.addEventListener(type, (event) => this.fingers.delete(event.pointerId));
    }
    this.canvas.addEventListener("click", (event) => {
      if (!this.isDragged) this.move(event.offsetX / this.canvas.clientWidth - 0.5, event.offsetY / this.canvas.clientHeight - 0.5);
    });
    this.dialog.addEventListener("keydown", (event) => this.press(event));
    this.remove = one("[data-drop]", element);
    this.remove.addEventListener("click", () => {
      this.drop();
      this.clear();
      keep();
      judgeNext();
      this.control.focus();
    });
    one("[form]", element)?.addEventListener("click", () => {
      this.drop();
      keep();
    });
    one("[data-use]", element).addEventListener("click", () => this.use());
    one("[data-leave]", element).addEventListener("click", () => this.dialog.close());
  }

  get value() {
    return this.control.files.length ? "a file" : "";
  }

  get kept() {
    return this.data ?? "";
  }

  set kept(data) {
    if (data) this.take(data);
  }

  get isFine() {
    return !this.isRefused && !this.isBusy && !(this.isRequired && this.isEmpty);
  }

  /// What the server refused is gone, so that only somebody who needs a picture has to choose another.
  refuse(text) {
    this.drop();
    this.tell(text);
    keep();
  }

  tell(text) {
    super.refuse(text);
    this.isRefused = this.isRequired && this.isEmpty;
  }

  set isBusy(isBusy) {
    this.element.setAttribute("aria-busy", isBusy);
    judgeNext();
  }

  get isBusy() {
    return this.element.getAttribute("aria-busy") === "true";
  }

  async open(file) {
    // What was chosen counts when it is cut, and until then what was there.
    this.control.files = this.files ?? new DataTransfer().files;
    if (!file || this.dialog.open) return;
    this.clear();
    const turn = (this.turn = {});
    this.isBusy = true;
    let picture;
    try {
      if (!this.control.accept.split(",").includes(file.type)) throw file.type;
      picture = await createImageBitmap(file);
    } catch {
      if (turn === this.turn) this.tell(this.element.dataset.unsupported);
    }
    // Another was chosen meanwhile.
    if (turn !== this.turn) return picture?.close();
    this.isBusy = false;
    if (!picture) return;
    this.picture?.close();
    this.picture = picture;
    this.size.value = 1;
    [this.x, this.y] = [picture.width / 2, picture.height / 2];
    this.draw();
    this.dialog.showModal();
  }

  /// The side of the part that is shown, in pixels of the picture.
  get side() {
    return Math.min(this.picture.width, this.picture.height) / this.size.value;
  }

  draw() {
    const { picture, canvas, side } = this;
    const within = (place, length) => Math.min(Math.max(place, side / 2), length - side / 2);
    [this.x, this.y] = [within(this.x, picture.width), within(this.y, picture.height)];
    const context = canvas.getContext("2d");
    context.fillStyle = "#fff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.imageSmoothingQuality = "high";
    context.drawImage(picture, this.x - side / 2, this.y - side / 2, side, side, 0, 0, canvas.width, canvas.height);
  }

  /// By shares of what is shown.
  move(right, down) {
    this.x += right * this.side;
    this.y += down * this.side;
    this.draw();
  }

  drag(event) {
    const before = this.fingers.get(event.pointerId);
    if (!before) return;
    const [other] = [...this.fingers.values()].filter((finger) => finger.pointerId !== event.pointerId);
    const [right, down] = [event.clientX - before.clientX, event.clientY - before.clientY];
    this.fingers.set(event.pointerId, event);
    if (!right && !down) return;
    this.isDragged = true;
    if (other) {
      // From where they began: the slider goes by steps, in which the little ones would be lost.
      this.size.value = (this.pinch.size * apart(event, other)) / this.pinch.distance;
      this.draw();
    } else this.move(-right / this.canvas.clientWidth, -down / this.canvas.clientHeight);
  }

  grow(event, step) {
    event.preventDefault();
    this.size.value = Number(this.size.value) + step;
    this.draw();
  }

  press(event) {
    const moves = { ArrowLeft: [-0.05, 0], ArrowRight: [0.05, 0], ArrowUp: [0, -0.05], ArrowDown: [0, 0.05] };
    if (event.key === "Enter" && !event.target.matches("button")) {
      event.preventDefault();
      this.use();
    } else if (event.target === this.canvas && moves[event.key]) {
      event.preventDefault();
      this.move(...moves[event.key]);
    } else if ("+-".includes(event.key)) this.grow(event, event.key === "+" ? 0.1 : -0.1);
  }

  use() {
    this.take(this.canvas.toDataURL("image/jpeg", 0.92));
    this.dialog.close();
    this.control.focus();
    keep();
    judgeNext();
  }

  take(data) {
    const bytes = Uint8Array.from(atob(data.split(",")[1]), (letter) => letter.charCodeAt(0));
    const transfer = new DataTransfer();
    transfer.items.add(new File([bytes], "photo.jpg", { type: "image/jpeg" }));
    this.data = data;
    this.files = this.control.files = transfer.files;
    this.preview.src = data;
    this.preview.hidden = this.remove.hidden = false;
    one("[form]", this.element)?.setAttribute("hidden", "");
  }

  /// Back to what the server has.
  drop() {
    this.data = this.files = undefined;
    this.control.files = new DataTransfer().files;
    this.remove.hidden = true;
    one("[form]", this.element)?.removeAttribute("hidden");
    this.preview.src = this.stored ?? "";
    this.preview.hidden = !this.stored;
  }
}

const fieldOf = (element) => (element.dataset.kind === "image" ? new Picture(element) : new Field(element));
const fields = form ? all("[data-field]", form).map(fieldOf).filter((field) => field.control) : [];
const pictures = fields.filter((field) => field instanceof Picture);
const texts = fields.filter((field) => !pictures.includes(field));
const named = (name) => fields.find((field) => field.name === name);
const shown = () => fields.filter((field) => !field.isHidden);
const isReady = () => fields.every((field) => field.isFine);
/// Whoever presses it all the same, or comes by with the keyboard, hears what is missing.
const judgeNext = () => next?.setAttribute("aria-disabled", !isReady());

// MARK: Live checks

/// Asks the server what it thinks of some fields, and resolves to their refusals by name. Without an answer nobody is held up.
const check = async (...asked) => {
  const values = Object.fromEntries(asked.map((field) => [field.name, field.value]));
  const isAsItWas = (field) => JSON.stringify(field.value) === JSON.stringify(values[field.name]);
  const refusals = {};
  try {
    const answer = await fetch(`${form.getAttribute("action")}/check`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json", "Accept-Language": language },
      body: JSON.stringify(values),
    });
    if (answer.ok) {
      const { errors, written } = await answer.json();
      for (const error of errors) refusals[error.field] ??= error.message;
      for (const field of asked) if (isAsItWas(field)) field.written = written[field.name];
    }
  } catch {
    // The step itself will tell.
  }
  for (const field of asked) {
    if (!refusals[field.name] && isAsItWas(field)) field.accepted = JSON.stringify(values[field.name]);
  }
  return refusals;
};

/// - isLeft: false after a pause in typing, when a password is not yet what it will be.
const judge = async (field, isLeft) => {
  if (field.isEmpty || pictures.includes(field)) return judgeNext();
  const value = JSON.stringify(field.value);
  if (field.accepted === value) {
    if (field.kind === "password") confirmationOf(field)?.element.removeAttribute("hidden");
    if (!isLeft || !field.written) return judgeNext();
  }
  const partner = field.kind === "confirmation" ? [named(field.element.dataset.confirms)].filter(Boolean) : [];
  const refusal = (await check(...partner, field))[field.name];
  // It was typed on meanwhile, and will be judged again.
  if (JSON.stringify(field.value) !== value) return;
  if (refusal && (isLeft || !field.isSecret)) field.refuse(refusal);
  if (isLeft && !refusal && field.written) {
    field.value = field.written;
    field.accepted = JSON.stringify(field.value);
  }
  if (field.kind === "password") {
    if (refusal && isLeft) empty(field);
    else if (!refusal) confirmationOf(field)?.element.removeAttribute("hidden");
  }
  if (field.kind === "confirmation" && refusal && isLeft) empty(field);
  judgeNext();
};

// MARK: Passwords

const confirmationOf = (field) => fields.find((other) => other.element.dataset.confirms === field.name);

/// What was refused is typed anew, unless the person has gone somewhere else than to another field.
const empty = (field) => {
  field.value = "";
  field.accepted = undefined;
  hideConfirmation(field);
  const goes = document.activeElement;
  if (goes === document.body || goes === next || fields.some((other) => other.element.contains(goes))) field.control.focus();
};

const hideConfirmation = (field) => {
  const confirmation = confirmationOf(field);
  if (!confirmation) return;
  confirmation.value = "";
  confirmation.accepted = undefined;
  confirmation.clear();
  confirmation.element.hidden = true;
  judgeNext();
};

for (const eye of all(".eye")) {
  const input = eye.previousElementSibling;
  const show = eye.getAttribute("aria-label");
  const set = (isShown) => {
    input.type = isShown ? "text" : "password";
    eye.setAttribute("aria-pressed", isShown);
    eye.setAttribute("aria-label", isShown ? eye.dataset.hide : show);
  };
  eye.hidden = false;
  // So that the field keeps the focus.
  eye.addEventListener("pointerdown", (event) => event.preventDefault());
  eye.addEventListener("click", () => {
    const isShown = input.type === "password";
    input.focus();
    set(isShown);
  });
  input.addEventListener("blur", () => set(false));
}

// MARK: Typing

const stored = form && `signup:${form.dataset.draft}:${form.dataset.step}`;

/// What is typed and not sent yet comes back with the page, but never what is secret.
const keep = () => {
  const values = fields.filter((field) => !field.isSecret).map((field) => [field.name, field.kept]);
  try {
    if (values.length) sessionStorage.setItem(stored, JSON.stringify(Object.fromEntries(values)));
  } catch {
    // There is no more room: it is still on the page.
  }
};

const restore = () => {
  const values = JSON.parse(sessionStorage.getItem(stored) ?? "{}");
  for (const field of fields) {
    if (!field.isSecret && !field.isRefused && field.name in values) field.kept = values[field.name];
  }
};

for (const field of texts) {
  let pause;
  field.element.addEventListener("input", () => {
    const { digits } = field.control.dataset;
    if (digits) field.control.value = field.control.value.replace(/\D/g, "").slice(0, digits);
    field.clear();
    if (field.kind === "password") hideConfirmation(field);
    keep();
    judgeNext();
    clearTimeout(pause);
    // A choice is made at once; who types is let come to the end of a word.
    pause = setTimeout(judge, field.control.matches("[type=checkbox], select") ? 0 : 500, field, false);
    if (field.kind === "date") tellDate(field);
  });
  field.element.addEventListener("focusout", (event) => {
    // To its own eye, or to another window.
    if (field.element.contains(event.relatedTarget) || !document.hasFocus()) return;
    clearTimeout(pause);
    judge(field, true);
  });
  if (field.kind === "password") field.control.addEventListener("focus", () => hideConfirmation(field));
}

/// The picture that somebody is at, or else the first.
const nearest = () => pictures.find((picture) => picture.element.contains(document.activeElement)) ?? pictures[0];

if (pictures.length) {
  document.addEventListener("paste", (event) => {
    const { files, types } = event.clipboardData;
    const isTyping = event.target.matches?.("textarea, input:not([type=file], [type=range])");
    // Some programs put a picture of a text beside it.
    if (!files.length || (isTyping && types.includes("text/plain"))) return;
    event.preventDefault();
    nearest().open(files[0]);
  });
  // A file that misses the field does not take the place of the page.
  for (const type of ["dragover", "drop"]) {
    document.addEventListener(type, (event) => {
      if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
    });
  }
}

/// The chosen day in words of the person's language.
const tellDate = (field) => {
  const day = new Date(`${field.value}T00:00:00Z`);
  one("output", field.element).textContent = isNaN(day)
    ? "" : new Intl.DateTimeFormat(language, { dateStyle: "full", timeZone: "UTC" }).format(day);
};

form?.addEventListener("keydown", (event) => {
  const isText = event.target.matches("input, select") && !event.target.closest("dialog");
  if (event.key !== "Enter" || event.isComposing || !isText) return;
  event.preventDefault();
  const controls = shown().flatMap((field) => field.controls);
  const following = controls[controls.indexOf(event.target) + 1];
  if (following) following.focus();
  else goOn();
});

/// Enter on the last field, or Next: sends the page, or shows what is still wrong with it.
const goOn = async () => {
  for (const field of fields) {
    if (field.kind === "password" && field.isFine) confirmationOf(field)?.element.removeAttribute("hidden");
  }
  for (const field of shown()) {
    if (field.isFine) continue;
    const refusal = field.isEmpty && (await check(field))[field.name];
    if (refusal) field.refuse(refusal);
    else await judge(field, true);
  }
  const wrong = shown().find((field) => !field.isFine);
  judgeNext();
  if (wrong) wrong.control.focus();
  else form.requestSubmit();
};

// MARK: Sending

let isSending = false;

const send = async () => {
  if (isSending) return;
  isSending = true;
  say("");
  const goTo = await answered();
  if (goTo) location.assign(goTo);
  else isSending = false;
};

/// Resolves to where the person goes on; to nothing where they stay.
const answered = async () => {
  try {
    const answer = await fetch(form.getAttribute("action"), {
      method: "POST",
      headers: { Accept: "application/json", "Accept-Language": language },
      body: sent(),
    });
    const body = await answer.json();
    if (answer.ok) {
      sessionStorage.removeItem(stored);
      return body.next.href;
    }
    if (answer.status === 422) return refuse(body.errors);
    if ([401, 409, 410].includes(answer.status)) return "/signup";
    say(body.title);
  } catch {
    say(form.dataset.offline);
  }
};

/// A form with a file, or one of texts alone, which is read with less ado.
const sent = () => {
  const data = new FormData(form);
  if (pictures.some((picture) => picture.files)) return data;
  for (const picture of pictures) data.delete(picture.name);
  return new URLSearchParams(data);
};

const refuse = (errors) => {
  const first = {};
  for (const error of errors) first[error.field] ??= error.message;
  const refused = fields.filter((field) => first[field.name]);
  for (const field of refused) {
    if (field.isSecret) field.value = "";
    field.refuse(first[field.name]);
  }
  if (!refused.length) say(form.dataset.marked);
  refused.find((field) => !field.isHidden)?.control.focus();
  judgeNext();
};

form?.addEventListener("submit", (event) => {
  if (!isReady()) {
    event.preventDefault();
    return goOn();
  }
  // Recovery codes come as a page of their own, once.
  if (fields.some((field) => field.kind === "totp")) return once(event);
  event.preventDefault();
  send();
});

// What makes something is pressed once.
const once = (event) => {
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = "yes";
};
for (const other of all("form")) if (other !== form) other.addEventListener("submit", once);
addEventListener("pageshow", () => {
  isSending = false;
  for (const other of all("form")) delete other.dataset.sent;
});

// The keyboard of a phone takes half of the page: what is typed into stays in sight.
window.visualViewport?.addEventListener("resize", () => {
  if (document.activeElement?.matches("input, textarea, select")) document.activeElement.scrollIntoView({ block: "nearest" });
});

// MARK: Coming and going

one("[data-cancel]")?.addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("cancel").showModal();
});
one("[data-close]")?.addEventListener("click", () => document.getElementById("cancel").close());
one("[data-back]")?.addEventListener("click", () => sessionStorage.setItem("signup-back", "yes"));

const isBack = () => {
  const isByLink = sessionStorage.getItem("signup-back");
  sessionStorage.removeItem("signup-back");
  return isByLink || performance.getEntriesByType("navigation")[0]?.type === "back_forward";
};

if (form) {
  // What another sign-up left in this browser is nobody's business.
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith("signup:") && !key.startsWith(`signup:${form.dataset.draft}:`)) sessionStorage.removeItem(key);
  }
  restore();
  for (const field of fields) {
    if (field.kind === "confirmation" && !field.isRefused) field.element.hidden = true;
    if (field.kind === "date") tellDate(field);
  }
  const wanting = fields.find((field) => field.isRefused) ?? fields.find((field) => field.isRequired && field.isEmpty)
    ?? fields.find((field) => field.isEmpty);
  if (!isBack() && !wanting?.isHidden) wanting?.control.focus();
  const filled = texts.filter((field) => !field.isSecret && !field.isEmpty && !field.isRefused);
  if (filled.length) {
    check(...filled).then((refusals) => {
      for (const field of filled) if (refusals[field.name]) field.refuse(refusals[field.name]);
      judgeNext();
    });
  }
  judgeNext();
} else {
  // Nothing is left to go back to.
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith("signup:") && one("[data-page=start], [data-page=done]")) sessionStorage.removeItem(key);
  }
}

// MARK: Recovery codes

const tools = one("[data-codes]");
if (tools) {
  const codes = () => all("#codes code").map((code) => code.textContent).join("\n") + "\n";
  tools.hidden = false;
  const copy = one("[data-copy]", tools);
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(codes());
    copy.textContent = live.textContent = tools.dataset.copied;
  });
  one("[data-download]", tools).addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([codes()], { type: "text/plain" }));
    link.download = `${tools.dataset.name}.txt`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  });
  one("[data-print]", tools).addEventListener("click", () => print());
}
