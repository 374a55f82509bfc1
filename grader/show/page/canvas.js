// What all drawn panes share: a canvas as sharp as the screen, colours of the style sheet, text that fits.

const NAMES = [
  "paper", "page", "ink", "quiet", "line", "read", "read-soft", "write", "write-soft", "fault", "fault-soft",
  "wait", "wait-soft", "sum", "own", "faint",
];

/** The colours that hold now; read again when the scheme changes. */
export function colours() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(
    NAMES.map((name) => [name.replace(/-(.)/g, (_, c) => c.toUpperCase()), style.getPropertyValue(`--${name}`).trim()]),
  );
}

/** Sizes the canvas for its box and returns its context, in CSS pixels; null where nothing is seen. */
export function prepare(canvas, width, height) {
  if (width < 1 || height < 1) return null;
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';
const MONO = 'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';

export function font(size, { mono = false, bold = false, italic = false } = {}) {
  return `${italic ? "italic " : ""}${bold ? "600 " : ""}${size}px ${mono ? MONO : SANS}`;
}

/** A number in at most `room` characters: 7, -12.5, 0.333, 1e+9. */
export function short(value, room = 6) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (Number.isInteger(value) && String(value).length <= room) return String(value);
  for (let digits = 4; digits > 0; digits--) {
    const text = String(Number(value.toPrecision(digits)));
    if (text.length <= room) return text;
  }
  return value.toExponential(0);
}

export function box(context, x, y, width, height, radius) {
  context.beginPath();
  context.roundRect(x, y, width, height, Math.min(radius, width / 2, height / 2));
}

/** Slanted lines within a rectangle: told apart from a fill without colour. */
export function hatch(context, x, y, width, height, colour, gap = 5) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.beginPath();
  for (let start = x - height; start < x + width; start += gap) {
    context.moveTo(start, y + height);
    context.lineTo(start + height, y);
  }
  context.stroke();
  context.restore();
}
