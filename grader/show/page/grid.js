// How the elements of an array lie when it is drawn: rows and columns, stages of a tile as panels with a gap.

const MOST_PANELS = 4;

/** {rows, cols, at(row, col) -> element or -1, placeOf(element) -> [row, col], rowName(row), colName(col), panels}. */
export function gridOf(shape, size) {
  if (shape.length === 3 && shape[0] > 1 && shape[0] <= MOST_PANELS) return panels(shape);
  const cols = shape.length > 1 ? shape[shape.length - 1] : Math.min(size, 16);
  const at = (row, col) => (row * cols + col < size ? row * cols + col : -1);
  const placeOf = (cell) => [Math.floor(cell / cols), cell % cols];
  return { rows: Math.ceil(size / cols), cols, at, placeOf, rowName: (row) => row, colName: (col) => col, panels: [] };
}

/** Panels side by side where they are tall, one above the other where they are wide. */
function panels([count, rows, cols]) {
  const isAcross = rows > cols;
  const step = (isAcross ? cols : rows) + 1;
  const inside = (place) => (place % step === step - 1 ? "" : place % step);
  const at = (row, col) => {
    const [r, c] = isAcross ? [row, inside(col)] : [inside(row), col];
    return r === "" || c === "" ? -1 : (Math.floor((isAcross ? col : row) / step) * rows + r) * cols + c;
  };
  const placeOf = (cell) => {
    const [panel, r, c] = [Math.floor(cell / (rows * cols)), Math.floor(cell / cols) % rows, cell % cols];
    return isAcross ? [r, panel * step + c] : [panel * step + r, c];
  };
  return {
    rows: isAcross ? rows : count * step - 1,
    cols: isAcross ? count * step - 1 : cols,
    at,
    placeOf,
    rowName: isAcross ? (row) => row : inside,
    colName: isAcross ? inside : (col) => col,
    panels: Array.from({ length: count }, (_, panel) => (isAcross ? { row: 0, col: panel * step, rows, cols } : { row: panel * step, col: 0, rows, cols })),
  };
}
