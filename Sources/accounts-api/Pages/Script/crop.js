const zoomStep = 0.1;
const cropMoves = { ArrowLeft: [-0.05, 0], ArrowRight: [0.05, 0], ArrowUp: [0, -0.05], ArrowDown: [0, 0.05] };

/// In milliseconds. Screen readers say the position of the square after such a pause, not at every move.
const pauseInMoving = 400;

const distance = (a, b) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);

/// The dialog in which a person moves and zooms a picture until the square shows the part to use.
class Crop {
  /// - use: called with the chosen part, as a data URL.
  constructor(dialog, use) {
    this.dialog = dialog;
    this.canvas = one("canvas", dialog);
    this.slider = one("[type=range]", dialog);
    /// The element that says where the middle of the square is; null in older templates.
    this.place = one("[data-place]", dialog);
    /// The newest event of each finger on the picture, by pointer id. One finger moves the picture, two zoom it.
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
    // At once, so that nothing moves when the pause is over.
    this.tellPlace();
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
    const clamp = (position, length) => Math.min(Math.max(position, side / 2), length - side / 2);
    [this.x, this.y] = [clamp(this.x, bitmap.width), clamp(this.y, bitmap.height)];
    const context = canvas.getContext("2d");
    context.fillStyle = "#fff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.imageSmoothingQuality = "high";
    context.drawImage(bitmap, this.x - side / 2, this.y - side / 2, side, side, 0, 0, canvas.width, canvas.height);
    clearTimeout(this.pause);
    this.pause = setTimeout(() => this.tellPlace(), pauseInMoving);
  }

  /// Says where the middle of the square is, in percent of the width and the height of the picture.
  tellPlace() {
    if (!this.place) return;
    const [right, down] = [this.x / this.bitmap.width, this.y / this.bitmap.height].map((part) => Math.round(100 * part));
    this.place.textContent = this.place.dataset.place.replace("{right}", right).replace("{down}", down);
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

  /// Computes the zoom from the state at the start of the pinch, not from the last change. The slider rounds to its
  /// steps, so the sum of many small changes would be wrong.
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
