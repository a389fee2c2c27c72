// The script of the pages. It only adds comfort: every page works without it, and the server decides every rule.
// The templates tell it with `data-` attributes what each field does (docs/pages.md), so it knows no kind of field by name.
"use strict";

const one = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

/// The form of the step; null on the other pages.
const form = document.getElementById("answers");
const nextButton = form && one("button.main", form);
const language = document.documentElement.lang;

/// Lets a screen reader say the text.
function announce(text) {
  document.getElementById("live").textContent = text;
}

/// Shows the text above the form, or hides the place where it stood.
function showNotice(text) {
  const notice = document.getElementById("notice");
  notice.textContent = text;
  notice.hidden = !text;
}

// Countdowns. They follow the server's clock, because the clock of the device may be wrong.

const serverIsAheadBy = form?.dataset.now ? Date.parse(form.dataset.now) - Date.now() : 0;
const serverNow = () => Date.now() + serverIsAheadBy;

/// Calls `show` with the whole seconds left, now and each time their number changes. `timeLeft` returns milliseconds.
function countDown(timeLeft, show) {
  const left = timeLeft();
  show(Math.max(0, Math.ceil(left / 1000)));
  if (left > 0) setTimeout(countDown, (left % 1000) + 1, timeLeft, show);
}

const minutesAndSeconds = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;

/// Counts down to a moment, or again and again to the end of a period.
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
    },
  );
}

/// - share: how much of the ring is drawn, from 0 to 1.
function drawClock(element, text, share) {
  one("span", element).textContent = text;
  one(".rest", element).setAttribute("stroke-dashoffset", 100 - 100 * share);
}

/// Keeps the button of a form disabled until the server will send another mail.
function waitToResend(resend) {
  const button = one("button", resend);
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

// Operators may have copied templates from a version that had no `data-answer`. Such a field gets the attributes that its
// contents imply.

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

/// Reads the answer from the controls of a field, by its `data-answer`.
const answerReaders = {
  string: ({ control }) => control.value,
  integer: ({ control }) => (/^-?\d+$/.test(control.value) ? Number(control.value) : control.value),
  boolean: ({ control }) => control.checked,
  array: ({ controls }) => controls.filter((control) => control.checked).map((control) => control.value),
  // The file itself travels with the form.
  file: ({ control }) => (control.files.length ? "a file" : ""),
};

/// One field of the step: its controls, its message, and what the server said about its value.
class Field {
  constructor(element) {
    const { dataset } = element;
    this.element = element;
    this.name = dataset.field;
    this.controls = all("[name]", element);
    this.control = this.controls[0];
    this.message = one(".refusal", element);
    this.read = answerReaders[dataset.answer] ?? answerReaders.string;
    /// When the server checks the value: "after-pause" in typing, "at-once", or never (undefined).
    this.liveCheck = dataset.liveCheck;
    this.isSecret = "secret" in dataset;
    this.isRetyped = "retype" in dataset;
    /// The name of the field whose value this one repeats.
    this.confirms = dataset.confirms;
    this.isRequired = (!!this.control?.required || "required" in dataset) && !("set" in dataset);
    this.isRefused = !!this.message?.textContent;
    /// The value that the server accepted last, as JSON.
    this.accepted = undefined;
    /// The accepted value as people write it, where that differs.
    this.written = undefined;
  }

  get value() {
    return this.read(this);
  }

  set value(value) {
    for (const control of this.controls) {
      if (control.type !== "checkbox") control.value = value;
      else control.checked = value === true || (Array.isArray(value) && value.includes(control.value));
    }
  }

  get json() {
    return JSON.stringify(this.value);
  }

  /// What the browser keeps until the step is sent, and gives back when the page is loaded again.
  get kept() {
    return this.value;
  }

  set kept(value) {
    this.value = value;
  }

  /// True for a half-typed day or an impossible number: the browser then reports an empty value.
  get isUnreadable() {
    return !!this.control.validity?.badInput;
  }

  get isEmpty() {
    return !this.isUnreadable && (this.value === "" || this.value === false || this.value.length === 0);
  }

  get isHidden() {
    return this.element.hidden;
  }

  get isAccepted() {
    return this.accepted === this.json;
  }

  /// True when this field does not keep the person from the next step.
  get isFine() {
    if (this.isRefused || this.isUnreadable) return false;
    if (this.isEmpty) return !this.isRequired;
    return !this.liveCheck || this.isAccepted;
  }

  accept() {
    this.accepted = this.json;
  }

  refuse(text) {
    this.isRefused = true;
    this.mark(text);
    announce(text);
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

const zoomStep = 0.1;
const cropMoves = { ArrowLeft: [-0.05, 0], ArrowRight: [0.05, 0], ArrowUp: [0, -0.05], ArrowDown: [0, 0.05] };

const distance = (a, b) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);

/// The dialog in which a person moves and zooms a picture until the square shows the part to use.
class Crop {
  /// - use: is called with the part that was chosen, as a data URL.
  constructor(dialog, use) {
    this.dialog = dialog;
    this.canvas = one("canvas", dialog);
    this.slider = one("[type=range]", dialog);
    /// The fingers on the picture, by pointer id. One finger moves the picture, two zoom it.
    this.fingers = new Map();
    this.use = () => {
      dialog.close();
      use(this.canvas.toDataURL("image/jpeg", 0.92));
    };
    this.listen();
  }

  get isOpen() {
    return this.dialog.open;
  }

  open(bitmap) {
    this.bitmap?.close();
    this.bitmap = bitmap;
    this.slider.value = 1;
    [this.x, this.y] = [bitmap.width / 2, bitmap.height / 2];
    this.draw();
    this.dialog.showModal();
  }

  listen() {
    const { canvas, dialog } = this;
    this.slider.addEventListener("input", () => this.draw());
    canvas.addEventListener("wheel", (event) => this.zoom(event, event.deltaY < 0 ? zoomStep : -zoomStep));
    canvas.addEventListener("pointerdown", (event) => this.touch(event));
    canvas.addEventListener("pointermove", (event) => this.drag(event));
    for (const type of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(type, (event) => this.fingers.delete(event.pointerId));
    }
    canvas.addEventListener("click", (event) => this.centre(event));
    dialog.addEventListener("keydown", (event) => this.press(event));
    one("[data-use]", dialog).addEventListener("click", this.use);
    one("[data-leave]", dialog).addEventListener("click", () => dialog.close());
  }

  /// The side of the chosen square, in pixels of the picture.
  get side() {
    return Math.min(this.bitmap.width, this.bitmap.height) / this.slider.value;
  }

  draw() {
    const { bitmap, canvas, side } = this;
    const within = (place, length) => Math.min(Math.max(place, side / 2), length - side / 2);
    [this.x, this.y] = [within(this.x, bitmap.width), within(this.y, bitmap.height)];
    const context = canvas.getContext("2d");
    context.fillStyle = "#fff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.imageSmoothingQuality = "high";
    context.drawImage(bitmap, this.x - side / 2, this.y - side / 2, side, side, 0, 0, canvas.width, canvas.height);
  }

  /// Moves the square by fractions of its side.
  move(right, down) {
    this.x += right * this.side;
    this.y += down * this.side;
    this.draw();
  }

  centre(event) {
    if (this.isDragged) return;
    this.move(event.offsetX / this.canvas.clientWidth - 0.5, event.offsetY / this.canvas.clientHeight - 0.5);
  }

  zoom(event, step) {
    event.preventDefault();
    this.slider.value = Number(this.slider.value) + step;
    this.draw();
  }

  touch(event) {
    this.canvas.setPointerCapture(event.pointerId);
    const [other] = this.fingers.values();
    this.isDragged = !!other;
    if (other) this.pinchStart = { zoom: Number(this.slider.value), distance: Math.max(distance(event, other), 1) };
    this.fingers.set(event.pointerId, event);
  }

  drag(event) {
    const before = this.fingers.get(event.pointerId);
    if (!before) return;
    this.fingers.set(event.pointerId, event);
    const [right, down] = [event.clientX - before.clientX, event.clientY - before.clientY];
    if (!right && !down) return;
    this.isDragged = true;
    const other = [...this.fingers.values()].find((finger) => finger.pointerId !== event.pointerId);
    if (other) this.pinch(distance(event, other));
    else this.move(-right / this.canvas.clientWidth, -down / this.canvas.clientHeight);
  }

  /// Measures from where the pinch began: the slider rounds to its steps, so many small changes would be lost.
  pinch(length) {
    this.slider.value = (this.pinchStart.zoom * length) / this.pinchStart.distance;
    this.draw();
  }

  press(event) {
    const move = event.target === this.canvas && cropMoves[event.key];
    if (event.key === "Enter" && !event.target.matches("button")) {
      event.preventDefault();
      this.use();
    } else if (move) {
      event.preventDefault();
      this.move(...move);
    } else if ("+-".includes(event.key)) this.zoom(event, event.key === "+" ? zoomStep : -zoomStep);
  }
}

const noFiles = () => new DataTransfer().files;

/// A field with `data-cut`: a picture that is chosen, dropped or pasted, and cut to a square before it is sent.
class PictureField extends Field {
  constructor(element) {
    super(element);
    this.preview = one(".preview", element);
    this.storedSource = this.preview.getAttribute("src");
    this.crop = new Crop(one("dialog", element), (data) => this.use(data));
    this.discardButton = one("[data-drop]", element);
    /// Sends the form that erases the picture which the server holds.
    this.eraseButton = one("[form]", element);
    one(".picture .help", element).hidden = false;
    this.listen();
  }

  listen() {
    this.control.addEventListener("change", () => this.open(this.control.files[0]));
    this.element.addEventListener("dragover", (event) => event.preventDefault());
    this.element.addEventListener("drop", (event) => {
      event.preventDefault();
      this.open(event.dataTransfer.files[0]);
    });
    this.discardButton.addEventListener("click", () => {
      this.discard();
      this.clear();
      this.changed();
    });
    this.eraseButton?.addEventListener("click", () => {
      this.discard();
      keepAnswers();
    });
  }

  /// A data URL, because a page cannot give a file back to its control after it was loaded again.
  get kept() {
    return this.data ?? "";
  }

  set kept(data) {
    if (data) this.take(data);
  }

  get isFine() {
    return !this.isBusy && super.isFine;
  }

  /// The server refused the file, so it is discarded. Only a required picture then keeps the person from going on.
  refuse(text) {
    this.discard();
    this.explain(text);
    keepAnswers();
  }

  explain(text) {
    super.refuse(text);
    this.isRefused = this.isRequired && this.isEmpty;
  }

  get isBusy() {
    return this.element.getAttribute("aria-busy") === "true";
  }

  set isBusy(isBusy) {
    this.element.setAttribute("aria-busy", isBusy);
    updateNext();
  }

  /// Shows the picture of the file in the dialog.
  async open(file) {
    // The browser has replaced the file in the control. The new one counts only when it is cut.
    this.control.files = this.files ?? noFiles();
    if (!file || this.crop.isOpen) return;
    this.clear();
    const attempt = (this.lastAttempt = {});
    this.isBusy = true;
    const bitmap = await this.decode(file);
    // The person has chosen another file meanwhile.
    if (attempt !== this.lastAttempt) {
      bitmap?.close();
      return;
    }
    if (!bitmap) this.explain(this.element.dataset.unsupported);
    this.isBusy = false;
    if (bitmap) this.crop.open(bitmap);
  }

  /// Resolves to nothing if the file is not a picture that the server takes.
  async decode(file) {
    if (!this.control.accept.split(",").includes(file.type)) return undefined;
    return createImageBitmap(file).catch(() => undefined);
  }

  use(data) {
    this.take(data);
    this.changed();
  }

  changed() {
    this.control.focus();
    keepAnswers();
    updateNext();
  }

  /// Puts the picture into the control and shows it.
  take(data) {
    const bytes = Uint8Array.from(atob(data.split(",")[1]), (letter) => letter.charCodeAt(0));
    const transfer = new DataTransfer();
    transfer.items.add(new File([bytes], "photo.jpg", { type: "image/jpeg" }));
    this.data = data;
    this.files = this.control.files = transfer.files;
    this.show(data, true);
  }

  /// Goes back to the picture that the server holds, if it holds one.
  discard() {
    this.data = this.files = undefined;
    this.control.files = noFiles();
    this.show(this.storedSource, false);
  }

  show(source, isNew) {
    this.preview.src = source ?? "";
    this.preview.hidden = !source;
    this.discardButton.hidden = !isNew;
    if (this.eraseButton) this.eraseButton.hidden = isNew;
  }
}

/// Opens a pasted picture in the picture field that has the focus, or else in the first.
function pastePicture(event) {
  const { files, types } = event.clipboardData;
  const isTyping = event.target.matches?.("textarea, input:not([type=file], [type=range])");
  // Spreadsheets, for example, put a picture of the copied text beside the text.
  if (!files.length || (isTyping && types.includes("text/plain"))) return;
  event.preventDefault();
  const focused = pictures.find((picture) => picture.element.contains(document.activeElement));
  (focused ?? pictures[0]).open(files[0]);
}

/// Without this, a file dropped beside the field would replace the page.
function ignoreDroppedFile(event) {
  if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
}

function listenForPictures() {
  document.addEventListener("paste", pastePicture);
  for (const type of ["dragover", "drop"]) document.addEventListener(type, ignoreDroppedFile);
}

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

/// The button keeps working: pressing it, or hearing it from a screen reader, tells what is missing.
function updateNext() {
  nextButton?.setAttribute("aria-disabled", !isReady());
}

// Live checks: the server checks values while the person is still typing.

/// Asks the server about some fields and resolves to their refusals by name. Without an answer nothing is refused, because
/// the server checks the values again when the step is sent.
async function check(...asked) {
  const values = Object.fromEntries(asked.map((field) => [field.name, field.value]));
  const { errors, written } = await askServer(values);
  const refusals = firstMessages(errors);
  for (const field of asked) {
    // The person may have changed the value meanwhile.
    if (field.json !== JSON.stringify(values[field.name])) continue;
    field.written = written[field.name];
    if (!refusals[field.name]) field.accept();
  }
  return refusals;
}

async function askServer(values) {
  try {
    const answer = await fetch(`${form.getAttribute("action")}/check`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json", "Accept-Language": language },
      body: JSON.stringify(values),
    });
    if (answer.ok) return await answer.json();
  } catch {
    // There is no connection.
  }
  return { errors: [], written: {} };
}

/// The first message about each field, by its name.
function firstMessages(errors) {
  const messages = {};
  for (const { field, message } of errors) messages[field] ??= message;
  return messages;
}

/// - hasLeft: false after a pause in typing, when a secret is probably not complete.
async function checkAndShow(field, hasLeft) {
  if (field.isEmpty || !field.liveCheck) return updateNext();
  if (field.isAccepted) {
    showConfirmation(field);
    if (!hasLeft || !field.written) return updateNext();
  }
  const asked = field.json;
  const refusal = (await check(...fields.filter((other) => other.name === field.confirms), field))[field.name];
  // The person has typed on, so another check follows.
  if (field.json !== asked) return;
  if (refusal) showRefusal(field, refusal, hasLeft);
  else showAcceptance(field, hasLeft);
  updateNext();
}

function showRefusal(field, refusal, hasLeft) {
  if (hasLeft || !field.isSecret) field.refuse(refusal);
  if (hasLeft && field.isRetyped) emptyForRetyping(field);
}

function showAcceptance(field, hasLeft) {
  if (hasLeft && field.written) {
    field.value = field.written;
    field.accept();
  }
  showConfirmation(field);
}

/// Checks what the browser has given back, so that a wrong answer is marked at once.
async function checkFilledFields() {
  const filled = fields.filter((field) => field.liveCheck && !field.isSecret && !field.isEmpty && !field.isRefused);
  if (!filled.length) return;
  const refusals = await check(...filled);
  for (const field of filled) if (refusals[field.name]) field.refuse(refusals[field.name]);
  updateNext();
}

// Secrets that are typed twice, and the buttons that show what was typed.

const confirmationOf = (field) => fields.find((other) => other.confirms === field.name);

/// The confirmation appears when the server has accepted the value to confirm.
function showConfirmation(field) {
  const confirmation = confirmationOf(field);
  if (confirmation) confirmation.element.hidden = false;
}

/// Whoever returns to the value has to confirm it again.
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

// The tab keeps what was typed and not sent, and gives it back when the page is loaded again. It never keeps secrets.

const storagePrefix = "signup:";
const storageKey = form && `${storagePrefix}${form.dataset.draft}:${form.dataset.step}`;

function keepAnswers() {
  const kept = fields.filter((field) => !field.isSecret).map((field) => [field.name, field.kept]);
  try {
    if (kept.length) sessionStorage.setItem(storageKey, JSON.stringify(Object.fromEntries(kept)));
  } catch {
    // The storage is full. The answers are still on the page.
  }
}

function restoreAnswers() {
  const kept = JSON.parse(sessionStorage.getItem(storageKey) ?? "{}");
  for (const field of fields) {
    if (!field.isSecret && !field.isRefused && field.name in kept) field.kept = kept[field.name];
  }
}

function forgetAnswers() {
  sessionStorage.removeItem(storageKey);
}

/// Forgets the answers to every sign-up but the one with this prefix.
function forgetSignups(exceptPrefix) {
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith(storagePrefix) && !(exceptPrefix && key.startsWith(exceptPrefix))) sessionStorage.removeItem(key);
  }
}

// What happens while a person types, leaves a field, or presses Enter.

/// In milliseconds. A word is usually complete after such a pause.
const pauseInTyping = 500;

function listenToTyping(field) {
  let pause;
  field.element.addEventListener("input", () => {
    keepDigits(field.control);
    field.clear();
    hideConfirmation(field);
    keepAnswers();
    updateNext();
    showDayInWords(field);
    clearTimeout(pause);
    pause = setTimeout(checkAndShow, field.liveCheck === "at-once" ? 0 : pauseInTyping, field, false);
  });
  field.element.addEventListener("focusout", (event) => {
    // A button of the field, or another window, has the focus: the person has not left the field.
    if (field.element.contains(event.relatedTarget) || !document.hasFocus()) return;
    clearTimeout(pause);
    checkAndShow(field, true);
  });
  field.control.addEventListener("focus", () => hideConfirmation(field));
}

/// Removes all but digits, and those beyond the number that `data-digits` allows.
function keepDigits(control) {
  const { digits } = control.dataset;
  if (digits) control.value = control.value.replace(/\D/g, "").slice(0, digits);
}

/// Writes the chosen day out in the language of the page.
function showDayInWords(field) {
  const output = one("[data-day-in-words]", field.element);
  if (!output) return;
  const day = new Date(`${field.value}T00:00:00Z`);
  const format = new Intl.DateTimeFormat(language, { dateStyle: "full", timeZone: "UTC" });
  output.textContent = isNaN(day) ? "" : format.format(day);
}

/// Enter moves to the next control. On the last one it sends the step.
function goOnByEnter(event) {
  const isAnswer = event.target.matches("input, select") && !event.target.closest("dialog");
  if (event.key !== "Enter" || event.isComposing || !isAnswer) return;
  event.preventDefault();
  const controls = shownFields().flatMap((field) => field.controls);
  const following = controls[controls.indexOf(event.target) + 1];
  if (following) following.focus();
  else submitOrShowProblems();
}

/// The keyboard of a phone covers half of the page; this keeps the control with the focus in sight.
function showFocusedControl() {
  const focused = document.activeElement;
  if (focused?.matches("input, textarea, select")) focused.scrollIntoView({ block: "nearest" });
}

// Sending the step.

let isSending = false;

/// Submits the form, or shows what is wrong with it and moves the focus there.
async function submitOrShowProblems() {
  for (const field of fields) if (field.isFine) showConfirmation(field);
  for (const field of shownFields()) if (!field.isFine) await showProblem(field);
  updateNext();
  const wrong = shownFields().find((field) => !field.isFine);
  if (wrong) wrong.control.focus();
  else form.requestSubmit();
}

async function showProblem(field) {
  const refusal = field.isEmpty && (await check(field))[field.name];
  if (refusal) field.refuse(refusal);
  else await checkAndShow(field, true);
}

function submit(event) {
  if (!isReady()) {
    event.preventDefault();
    submitOrShowProblems();
  } else if (fields.some((field) => "nativeSubmit" in field.element.dataset)) submitOnce(event);
  else {
    event.preventDefault();
    sendStep();
  }
}

/// For forms that the browser sends: a second press does nothing.
function submitOnce(event) {
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = "yes";
}

/// A page that the browser shows again, after going back, can be sent again.
function allowSending() {
  isSending = false;
  for (const sent of all("form")) delete sent.dataset.sent;
}

async function sendStep() {
  if (isSending) return;
  isSending = true;
  showNotice("");
  const destination = await postStep();
  if (destination) location.assign(destination);
  else isSending = false;
}

/// Resolves to the address of the next page, or to nothing if the person stays on this one.
async function postStep() {
  try {
    const answer = await fetch(form.getAttribute("action"), {
      method: "POST",
      headers: { Accept: "application/json", "Accept-Language": language },
      body: stepBody(),
    });
    const body = await answer.json();
    if (answer.ok) {
      forgetAnswers();
      return body.next.href;
    }
    if (answer.status === 422) return showErrors(body.errors);
    if ([401, 409, 410].includes(answer.status)) return "/signup";
    showNotice(body.title);
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

function showErrors(errors) {
  const messages = firstMessages(errors);
  const refused = fields.filter((field) => messages[field.name]);
  for (const field of refused) {
    if (field.isSecret) field.value = "";
    field.refuse(messages[field.name]);
  }
  if (!refused.length) showNotice(form.dataset.marked);
  refused.find((field) => !field.isHidden)?.control.focus();
  updateNext();
}

// The page that shows the recovery codes once: it copies, downloads and prints them.

function startRecoveryCodes(tools) {
  const text = all("#codes code").map((code) => `${code.textContent}\n`).join("");
  tools.hidden = false;
  one("[data-copy]", tools).addEventListener("click", async (event) => {
    const button = event.currentTarget;
    await navigator.clipboard.writeText(text);
    button.textContent = tools.dataset.copied;
    announce(tools.dataset.copied);
  });
  one("[data-download]", tools).addEventListener("click", () => download(text, `${tools.dataset.name}.txt`));
  one("[data-print]", tools).addEventListener("click", () => print());
}

function download(text, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// Prepares what the page has.

const backKey = "signup-back";

/// True when the person came by Back, of the page or of the browser.
function cameBack() {
  const isByLink = sessionStorage.getItem(backKey);
  sessionStorage.removeItem(backKey);
  return isByLink || performance.getEntriesByType("navigation")[0]?.type === "back_forward";
}

/// Moves the focus to the first field that needs the person.
function focusFirstField() {
  const first =
    fields.find((field) => field.isRefused) ??
    fields.find((field) => field.isRequired && field.isEmpty) ??
    fields.find((field) => field.isEmpty);
  if (!first?.isHidden) first?.control.focus();
}

function startStep() {
  // Another sign-up in this tab may have been somebody else's.
  forgetSignups(`${storagePrefix}${form.dataset.draft}:`);
  restoreAnswers();
  for (const field of fields) {
    if (field.confirms && !field.isRefused) field.element.hidden = true;
    showDayInWords(field);
    if (!pictures.includes(field)) listenToTyping(field);
  }
  if (pictures.length) listenForPictures();
  all("[data-reveal]", form).forEach(startReveal);
  form.addEventListener("keydown", goOnByEnter);
  form.addEventListener("submit", submit);
  if (!cameBack()) focusFirstField();
  checkFilledFields();
  updateNext();
}

function startCancel() {
  const dialog = document.getElementById("cancel");
  one("[data-cancel]")?.addEventListener("click", (event) => {
    event.preventDefault();
    dialog.showModal();
  });
  one("[data-close]")?.addEventListener("click", () => dialog.close());
}

all("[data-until], [data-period]").forEach(startClock);
all("[data-resend]").forEach(waitToResend);
all("[data-codes]").forEach(startRecoveryCodes);
one("[data-back]")?.addEventListener("click", () => sessionStorage.setItem(backKey, "yes"));
startCancel();
if (form) startStep();
else if (one("[data-page=start], [data-page=done]")) forgetSignups();
for (const other of all("form")) if (other !== form) other.addEventListener("submit", submitOnce);
addEventListener("pageshow", allowSending);
window.visualViewport?.addEventListener("resize", showFocusedControl);
