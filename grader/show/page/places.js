// Where each array is drawn: a product as in the handouts, N above P and M beside it, tiles in the corner.

const LARGEST = 20; // rows or columns that are shown whole
const SMALL = 600; // elements of an array that is shown whole, too, if it is no longer than a window
const WINDOW = 16; // of larger ones, shown in multiples of this
const MOST = 32; // rows or columns of a window
const TITLE = 20; // CSS pixels above an array: its name
const TICKS = 14; // above and beside it: its indices
const CELL = 58; // the largest cell
const GAP = 26;
const ENOUGH = 11; // a cell in which there is something to be seen

/** The part of an array that is shown: all of it, or the window in which something happens now. */
export function windowOf(array, touched, before) {
  const places = touched.map(array.placeOf);
  const isSmall = array.rows * array.cols <= SMALL;
  return {
    ...axis("row", array.rows, isSmall, places.map(([row]) => row), before),
    ...axis("col", array.cols, isSmall, places.map(([, col]) => col), before),
  };
}

function axis(name, length, isSmall, places, before) {
  const [from, count] = [`${name}0`, `${name}s`];
  if (length <= LARGEST || (isSmall && length <= MOST)) return { [from]: 0, [count]: length };
  if (!places.length && before) return { [from]: before[from], [count]: before[count] };
  const least = places.length ? Math.min(...places) : 0;
  const most = places.length ? Math.max(...places) : 0;
  let start = Math.floor(least / WINDOW) * WINDOW;
  let size = Math.min(Math.ceil((most + 1 - start) / WINDOW) * WINDOW, MOST, length);
  start = Math.min(start, Math.max(0, length - size));
  return { [from]: start, [count]: Math.min(size, length - start) };
}

/** Rectangles for the arrays within a width and a height: [{array, x, y, cell, window}], and the height used. */
export function place(arrays, windows, width, height) {
  const role = (name) => arrays.find((array) => array.space === "global" && array.role === name);
  const shared = arrays.filter((array) => array.space === "shared");
  const [m, n, p] = [role("M"), role("N"), role("P")];
  const rest = arrays.filter((array) => array.space === "global" && ![m, n, p].includes(array));
  const of = (array) => windows.get(array);
  const isProduct = m && n && p && of(m).cols + of(n).cols <= 80 && of(m).rows + of(n).rows <= 80;
  if (!isProduct) return inRows([...arrays], of, width, height);
  const restHeight = rest.length ? 70 : 0;
  const best = arranged({ m, n, p, shared }, of, width, height - restHeight);
  const found = best.places;
  let { bottom } = best;
  if (rest.length) {
    const more = inRows(rest, of, width, restHeight, bottom);
    found.push(...more.places);
    bottom = more.height;
  }
  return { places: found.map((one) => ({ ...one, window: of(one.array) })), height: bottom };
}

const ABOVE = TITLE + TICKS;
const SIDE = TICKS + GAP;

/** The product with its tiles in the free corner, or beside or below it where they are seen better there. */
function arranged(arrays, of, width, height) {
  const inCorner = withCorner(arrays, of, width, height);
  if (!arrays.shared.length || inCorner.least >= ENOUGH) return inCorner;
  let best = inCorner;
  for (let part = 0.15; part < 0.7; part += 0.05) {
    for (const isBeside of [true, false]) {
      const free = isBeside ? { width: width * part - SIDE, height } : { width, height: height * part };
      const corner = { x: TICKS + 8, y: ABOVE, width: free.width - TICKS - 8, height: free.height - ABOVE - 6 };
      const tiles = within(arrays.shared, of, corner, CELL);
      const [left, top] = isBeside ? [width * part, 0] : [0, tiles.bottom + 4];
      const product = producted(arrays, of, left, top, width - left, height - top);
      const least = Math.min(product.cell, tiles.cell);
      if (least > best.least) best = { places: [...product.places, ...tiles.places], bottom: Math.max(product.bottom, tiles.bottom), least };
    }
  }
  return best;
}

function withCorner({ m, n, p, shared }, of, width, height) {
  const { places, cell, bottom, right } = producted({ m, n, p }, of, 0, 0, width, height);
  // The tiles may begin further to the left than M, where the page is wide; they end where M ends.
  const corner = { x: TICKS + 8, y: ABOVE, width: right - TICKS - 8, height: of(n).rows * cell };
  const tiles = within(shared, of, corner, cell);
  const end = Math.max(0, ...tiles.places.map((one) => one.x + of(one.array).cols * one.cell));
  places.push(...tiles.places.map((one) => ({ ...one, x: one.x + right - end })));
  return { places, bottom, least: tiles.isTight ? 0 : Math.min(cell, tiles.cell) };
}

/** N above P and M beside it, within a rectangle. */
function producted({ m, n, p }, of, x, y, width, height) {
  const columns = of(m).cols + Math.max(of(n).cols, of(p).cols);
  const rows = of(n).rows + Math.max(of(m).rows, of(p).rows);
  const cell = clamp(Math.min((width - 2 * SIDE) / columns, (height - 2 * ABOVE - 6) / rows), 5, CELL);
  const wide = columns * cell + 2 * SIDE;
  const left = x + Math.max(0, (width - wide) / 2) + TICKS + 8;
  const [xP, yP] = [left + of(m).cols * cell + SIDE, y + ABOVE + of(n).rows * cell + ABOVE + 2];
  const places = [
    { array: n, x: xP, y: y + ABOVE, cell },
    { array: m, x: left, y: yP, cell },
    { array: p, x: xP, y: yP, cell },
  ];
  return { places, cell, bottom: yP + Math.max(of(m).rows, of(p).rows) * cell + 6, right: left + of(m).cols * cell };
}

/** Shared tiles in a rectangle, as the corner that a product leaves free: side by side or one above the other, as is larger. */
function within(arrays, of, corner, most) {
  if (!arrays.length) return { places: [], cell: most, bottom: corner.y, isTight: false };
  const count = arrays.length;
  let best = null;
  for (let across = 1; across <= count; across++) {
    const down = Math.ceil(count / across);
    const lines = Array.from({ length: down }, (_, i) => arrays.slice(i * across, (i + 1) * across));
    const columns = Math.max(...lines.map((line) => sum(line.map((a) => of(a).cols))));
    const rows = sum(lines.map((line) => Math.max(...line.map((a) => of(a).rows))));
    const free = corner.height - (down - 1) * (TITLE + TICKS);
    const cell = Math.min((corner.width - (across - 1) * (GAP + TICKS)) / columns, free / rows, most);
    if (!best || cell > best.cell) best = { cell, lines };
  }
  const cell = Math.max(best.cell, 3);
  const found = [];
  let y = corner.y;
  for (const line of best.lines) {
    let x = corner.x;
    for (const array of line) {
      found.push({ array, x, y, cell });
      x += of(array).cols * cell + GAP + TICKS;
    }
    y += Math.max(...line.map((a) => of(a).rows)) * cell + TITLE + TICKS;
  }
  return { places: found, cell, bottom: y - ABOVE, isTight: best.cell < cell };
}

/** Arrays from left to right and then downwards, for kernels that are no product. */
function inRows(arrays, of, width, height, top = 0) {
  const most = Math.max(1, ...arrays.map((a) => of(a).cols));
  const all = sum(arrays.map((a) => of(a).cols)) || 1;
  let cell = clamp(Math.min((width - arrays.length * (GAP + TICKS)) / Math.max(most, Math.min(all, 24)), 34), 5, CELL);
  let made = rowsWith(cell, arrays, of, width, top);
  while (made.bottom > top + height && cell > 5) {
    cell -= 1;
    made = rowsWith(cell, arrays, of, width, top);
  }
  return { places: made.places, height: Math.max(made.bottom, top + Math.min(height, 40)) };
}

function rowsWith(cell, arrays, of, width, top) {
  const found = [];
  let [x, y, tallest] = [TICKS + 8, top + TITLE + TICKS, 0];
  for (const array of arrays) {
    const wide = of(array).cols * cell;
    if (x > TICKS + 8 && x + wide > width) {
      [x, y, tallest] = [TICKS + 8, y + tallest + TITLE + TICKS + 8, 0];
    }
    found.push({ array, x, y, cell, window: of(array) });
    x += wide + GAP + TICKS;
    tallest = Math.max(tallest, of(array).rows * cell);
  }
  return { places: found, bottom: y + tallest + 8 };
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}
