import { boundedInteger, evaluate } from '../engines/chromium/page/evaluate.ts';
import type { Session } from '../engines/chromium/page/session.ts';

/** Minimum number of rows of a table that is split, and number of rows of each part. */
const HUGE = 2000;
const PART = 120;
/** Maximum number of table rows in a tagged PDF. The structure of more rows needs too much memory. */
const MAX_TAGGED = 8000;

/**
 * Splits a huge table. For each page that a table is on, Chromium keeps a record of all its rows, which takes
 * gigabytes for 20,000 rows. So the rows move to small tables in the table's only remaining cell, and its header and
 * footer still repeat. Everything keeps its position and appearance: column widths, distances, and styles that depend
 * on adjacent elements.
 */
const SPLIT = `(huge, size, isTagged) => {
  const important = (element, styles) => {
    for (const [name, value] of Object.entries(styles)) element.style.setProperty(name, value, 'important');
  };
  const LOOK = ['background-color', 'background-image', 'color', 'font-weight', 'font-size', 'text-align', 'vertical-align',
    'padding-top', 'padding-bottom', 'padding-left', 'padding-right', 'border-top', 'border-bottom', 'border-left', 'border-right'];
  const FAST = ['background-color', 'color', 'font-weight'];
  const lookOf = (element, names) => {
    const style = getComputedStyle(element);
    return names.map((name) => style.getPropertyValue(name));
  };
  const compare = (changes, element, names, look) => {
    lookOf(element, names).forEach((value, index) => {
      if (value !== look[index]) changes.push([element, names[index], look[index]]);
    });
  };

  /** Splits a group into parts of consecutive rows, without splitting a cell. */
  const partsOf = (group) => {
    const parts = [[]];
    let crossed = 0;
    for (const row of group.rows) {
      if (parts.at(-1).length >= size && crossed <= 0) parts.push([]);
      parts.at(-1).push(row);
      crossed -= 1;
      for (const cell of row.cells) {
        if (cell.rowSpan !== 1) crossed = Math.max(crossed, cell.rowSpan === 0 ? Infinity : cell.rowSpan - 1);
      }
    }
    return parts;
  };

  const split = (table) => {
    const style = getComputedStyle(table);
    if (style.display !== 'table' || style.writingMode !== 'horizontal-tb') return;
    const groups = [...table.tBodies].filter(({ rows }) => rows.length > 0);
    if (groups.some((group) => getComputedStyle(group).display !== 'table-row-group')) return;
    const width = table.getBoundingClientRect().width;
    // The paper is not exactly as wide as the window.
    const isAuto = table.computedStyleMap().get('width').toString() === 'auto';
    const fills = width >= table.parentElement.clientWidth - parseFloat(getComputedStyle(table.parentElement).paddingLeft) - parseFloat(getComputedStyle(table.parentElement).paddingRight) - 1;
    const collapses = style.borderCollapse === 'collapse';
    const count = Math.max(...[...table.rows].slice(0, 1000).map((row) => [...row.cells].reduce((sum, { colSpan }) => sum + colSpan, 0)));
    const model = [...table.rows].find((row) => row.cells.length === count && [...row.cells].every(({ colSpan }) => colSpan === 1));
    if (!model) return;
    const widths = [...model.cells].map((cell) => cell.getBoundingClientRect().width);

    // Read everything before anything moves.
    const parts = groups.map(partsOf);
    const rows = parts.flat(2);
    const looks = rows.map((row) => [lookOf(row, FAST), row.cells[0] ? lookOf(row.cells[0], FAST) : []]);
    const edges = parts.flat().flatMap((part) => [part[0], part.at(-1)]);
    const edgeLooks = new Map(edges.map((row) => [row, [...row.cells].map((cell) => lookOf(cell, LOOK))]));
    const places = new Map(edges.map((row) => [row, row.getBoundingClientRect()]));
    const left = model.cells[0].getBoundingClientRect().left;
    const top = table.getBoundingClientRect().top;
    const resets = groups.map((group) => getComputedStyle(group).counterReset);
    const names = new Map(groups.map((group) => [group, lookOf(group, ['background-color', 'color'])]));

    const columns = document.createElement('colgroup');
    const sum = widths.reduce((all, width) => all + width, 0);
    for (const columnWidth of widths) {
      const column = document.createElement('col');
      important(column, { width: 100 * columnWidth / sum + '%' });
      columns.append(column);
    }
    // Only the cell is a real table cell, because it has to span all columns. Rules for rows must not match its
    // content.
    const shell = document.createElement('docmill-group');
    const row = document.createElement('docmill-row');
    const cell = document.createElement('td');
    cell.colSpan = count;
    row.append(cell);
    shell.append(row);
    for (const [box, display] of [[shell, 'table-row-group'], [row, 'table-row'], [cell, 'table-cell']]) {
      important(box, { all: 'unset' });
      important(box, { display, 'vertical-align': 'top' });
      box.toggleAttribute('docmill', true);
      if (isTagged) box.setAttribute('role', 'none');
    }

    const inner = [];
    groups.forEach((group, index) => {
      const box = document.createElement('div');
      important(box, { all: 'unset' });
      important(box, { display: 'block', 'counter-reset': resets[index] });
      for (const part of parts[index]) {
        const small = table.cloneNode(false);
        const body = group.cloneNode(false);
        important(small, {
          margin: '0', display: 'table', 'table-layout': 'fixed', width: '100%', 'min-width': '0', 'max-width': 'none', height: 'auto',
          'counter-reset': 'none', 'border-top-style': 'none', 'border-bottom-style': 'none', 'box-shadow': 'none',
          background: 'none', 'border-radius': '0', 'break-before': 'auto', 'break-after': 'auto', 'break-inside': 'auto',
          ...(collapses ? {} : { 'border-left-style': 'none', 'border-right-style': 'none' }),
        });
        important(body, { 'counter-reset': 'none' });
        if (isTagged) small.setAttribute('role', 'none');
        if (isTagged) body.setAttribute('role', 'rowgroup');
        body.append(...part);
        small.append(columns.cloneNode(true), body);
        box.append(small);
        inner.push({ small, part, body, group });
      }
      cell.append(box);
    });
    for (const group of groups) group.remove();
    for (const column of table.querySelectorAll(':scope > colgroup, :scope > col')) column.remove();
    table.prepend(...table.querySelectorAll(':scope > caption'), columns);
    const head = table.tHead;
    head ? head.after(shell) : columns.after(shell);
    important(table, { 'table-layout': 'fixed', 'min-width': '0', ...(isAuto ? { width: fills ? '100%' : width + 'px' } : {}) });

    // Everything is read before anything is written, so that styles are not recomputed for each row.
    const changes = [];
    rows.forEach((row, index) => {
      compare(changes, row, FAST, looks[index][0]);
      if (row.cells[0]) compare(changes, row.cells[0], FAST, looks[index][1]);
    });
    for (const { body, group } of inner) compare(changes, body, ['background-color', 'color'], names.get(group));
    for (const [row, look] of edgeLooks) [...row.cells].forEach((each, index) => compare(changes, each, LOOK, look[index]));
    for (const [element, name, value] of changes) element.style.setProperty(name, value, 'important');

    // Each part starts at the same position as before.
    const shift = left - inner[0].part[0].cells[0].getBoundingClientRect().left;
    const edge = collapses ? 0 : parseFloat(style.borderLeftWidth) + parseFloat(style.borderRightWidth);
    const more = width - edge - cell.getBoundingClientRect().width;
    let before;
    const margins = inner.map(({ part }) => {
      const begin = part[0].getBoundingClientRect();
      const was = places.get(part[0]);
      const margin = before === undefined
        ? was.top - top - (begin.top - table.getBoundingClientRect().top)
        : was.top - places.get(before).bottom - (begin.top - before.getBoundingClientRect().bottom);
      before = part.at(-1);
      return margin;
    });
    for (const { part } of isTagged ? inner : []) {
      for (const row of part) {
        row.setAttribute('role', 'row');
        for (const each of row.cells) {
          if (!each.hasAttribute('role')) each.setAttribute('role', each.localName === 'th' ? 'rowheader' : 'cell');
        }
      }
    }
    inner.forEach(({ small }, index) => important(small, { 'margin-top': margins[index] + 'px', 'margin-left': shift + 'px', width: 'calc(100% + ' + more + 'px)' }));
  };

  const sheet = new CSSStyleSheet();
  sheet.replaceSync('[docmill]::before, [docmill]::after { content: none !important; counter-increment: none !important }');
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  for (const table of document.querySelectorAll('table')) {
    if (table.rows.length > huge && !table.parentElement.closest('table')) split(table);
  }
}`;

const COUNT = "() => document.getElementsByTagName('tr').length";

/**
 * Splits huge tables, so that they can be printed within the memory of a function. Returns whether the memory is also
 * sufficient for the structure of a tagged PDF.
 */
export async function splitHugeTables(session: Session): Promise<boolean> {
  const rows = boundedInteger(await evaluate(session, COUNT), { min: 0, max: 10_000_000 });
  const canBeTagged = rows <= MAX_TAGGED;
  if (rows > HUGE) await evaluate(session, SPLIT, HUGE, PART, canBeTagged);
  return canBeTagged;
}
