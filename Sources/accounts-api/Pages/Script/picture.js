const noFiles = () => new DataTransfer().files;

/// A field with `data-cut`: a picture that is chosen, dropped or pasted, and cropped to a square before it is sent.
class PictureField extends Field {
  constructor(element) {
    super(element);
    this.preview = one(".preview", element);
    this.storedSource = this.preview.getAttribute("src");
    this.crop = new Crop(one("dialog", element), (data) => this.use(data));
    this.discardButton = one("[data-drop]", element);
    /// The button that erases the stored picture on the server.
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

  /// A data URL, because the script cannot restore the file of a control after the page is loaded again.
  get kept() {
    return this.data ?? "";
  }

  set kept(data) {
    if (data) this.take(data);
  }

  get isFine() {
    return !this.isBusy && super.isFine;
  }

  /// Discards the refused file. If the picture is required, the person must choose another one to continue.
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
    // The browser may have put the new file into the control. The control keeps the earlier file until the new one is
    // cropped.
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

  /// Resolves to undefined if the file is not a picture of a supported type.
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

  /// Removes the chosen picture, and shows the stored picture again if there is one.
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

/// Ignores a file that is dropped beside the field. Otherwise the browser would open the file in place of the page.
function ignoreDroppedFile(event) {
  if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
}

function listenForPictures() {
  document.addEventListener("paste", pastePicture);
  for (const type of ["dragover", "drop"]) document.addEventListener(type, ignoreDroppedFile);
}
