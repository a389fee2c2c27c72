/// Reads the answer from the controls of a field, by its `data-answer`.
const answerReaders = {
  string: ({ control }) => control.value,
  integer: ({ control }) => (/^-?\d+$/.test(control.value) ? Number(control.value) : control.value),
  boolean: ({ control }) => control.checked,
  array: ({ controls }) => controls.filter((control) => control.checked).map((control) => control.value),
  // The file itself is sent with the form.
  file: ({ control }) => (control.files.length ? "a file" : ""),
};

/// One field of the step: its controls, its message, and the result of the last check of its value.
class Field {
  constructor(element) {
    const { dataset } = element;
    this.element = element;
    this.name = dataset.field;
    this.controls = all("[name]:not(button)", element);
    this.control = this.controls[0];
    this.message = one(".refusal", element);
    this.read = answerReaders[dataset.answer] ?? answerReaders.string;
    /// When the server checks the value: "after-pause" in typing, "at-once", or never (undefined).
    this.liveCheck = hasDraft ? dataset.liveCheck : undefined;
    this.isSecret = "secret" in dataset;
    this.isRetyped = "retype" in dataset;
    /// The name of the field whose value this field repeats; undefined if it repeats none. Also undefined without a
    /// draft, because then no live check decides when to show this field, so it is always shown.
    this.confirms = hasDraft ? dataset.confirms : undefined;
    this.isRequired = (!!this.control?.required || "required" in dataset) && !("set" in dataset);
    this.isRefused = !!this.message?.textContent;
    /// The most recently accepted value, as JSON; undefined if there is none.
    this.accepted = undefined;
    /// False if the value is accepted only because the check failed, for example without a connection.
    this.isChecked = false;
    /// The accepted value in the usual form of its kind, for example of phone numbers; undefined if the person typed it
    /// in this form.
    this.canonical = undefined;
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

  get label() {
    return one("label, legend", this.element)?.textContent.trim() ?? "";
  }

  get json() {
    return JSON.stringify(this.value);
  }

  /// The value that the tab keeps until the step is sent, and restores when the page is loaded again.
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

  /// True if the person can continue with the field as it is.
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
    // The person may be at another field when a screen reader says the text. Some texts name their field themselves.
    announce(text.includes(this.label) ? text : `${this.label}: ${text}`);
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
