// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The tables under the picture: the buffers live at a step (at first the peak), all buffers, those outside of arenas,
// the operators (operators.js), and changes.

const kRowsAtOnce = 200;

const tableView = {sortBy: null, descending: true, rows: kRowsAtOnce, list: []};

const kCellLetters = 22; // of a name in a cell; the whole name is its title

// text(sheet, buffer, most letters of a name); number: the sort key of a column that is aligned to the right.
const columns = {
  buffer: {title: 'Buffer', isName: true, text: (sheet, buffer, most) => sheet.bufferText(buffer, most)},
  kind: {title: 'Kind', text: (sheet, buffer) => sheet.kindOf(buffer)},
  size: {
    title: 'Size',
    number: (sheet, buffer) => sheet.bufferSize[buffer],
    text: (sheet, buffer) => shortBytes(sheet.bufferSize[buffer]),
  },
  bytes: {
    title: 'Bytes',
    number: (sheet, buffer) => sheet.bufferSize[buffer],
    text: (sheet, buffer) => countText(sheet.bufferSize[buffer]),
  },
  seen: {
    title: 'Seen',
    hint: 'Bytes of the buffer that a run wrote, up to the last one; the plan reserves its size',
    number: (sheet, buffer) => sheet.bufferSeen[buffer],
    text: (sheet, buffer) => (sheet.bufferSeen[buffer] === kNone ? '-' : countText(sheet.bufferSeen[buffer])),
  },
  living: {
    title: 'Size',
    hint: 'Bytes of the buffer that are live at this step',
    number: bytesNow,
    text: livingText,
  },
  share: {
    title: 'Share',
    part: (sheet, buffer) => (tableView.whole > 0 ? bytesNow(sheet, buffer) / tableView.whole : 0),
    number: bytesNow,
    text: (sheet, buffer) => percentText(bytesNow(sheet, buffer), tableView.whole),
  },
  tensors: {title: 'Tensors', isName: true, text: tensorsText},
  producer: {title: 'Producer', isName: true, text: producerText},
  reader: {title: 'Last reader', isName: true, text: readerText},
  lives: {
    title: 'Live',
    hint: 'The first step, and the step after the last one: [2,6) are the steps 2, 3, 4 and 5',
    number: (sheet, buffer) => sheet.bufferBegin[buffer],
    text: (sheet, buffer) =>
      sheet.bufferEnd[buffer] > sheet.bufferBegin[buffer]
        ? sheet.intervalText(sheet.bufferBegin[buffer], sheet.bufferEnd[buffer])
        : '-',
  },
  life: {
    title: 'Live',
    hint: 'From the first time until just before the second one',
    number: (sheet, buffer) => sheet.lifeBegin[sheet.wholeOf[buffer]],
    text: (sheet, buffer) => sheet.lifeText(buffer).replace(new RegExp(`^${sheet.words.axis} `), ''),
  },
  alignment: {
    title: 'Alignment',
    number: (sheet, buffer) => sheet.alignment[sheet.wholeOf[buffer]],
    text: (sheet, buffer) => countText(sheet.alignment[sheet.wholeOf[buffer]]),
  },
  length: {
    title: 'Steps',
    number: (sheet, buffer) => sheet.lengthOf(buffer),
    text: (sheet, buffer) => countText(sheet.lengthOf(buffer)),
  },
  address: {
    title: 'Address',
    number: (sheet, buffer) => sheet.bufferOffset[buffer],
    text: (sheet, buffer) => (sheet.isPlaced(buffer) ? countText(sheet.bufferOffset[buffer]) : '-'),
  },
  change: {title: 'Change', text: (sheet, buffer) => changeNote(sheet, buffer)},
  ...operatorColumns,
  ...returnColumns,
};

function bytesNow(sheet, buffer) {
  return sheet.bytesAt(buffer, activeStep());
}

function livingText(sheet, buffer) {
  const living = bytesNow(sheet, buffer);
  const size = sheet.bufferSize[buffer];
  return living === size ? shortBytes(size) : `${shortBytes(living)} of ${shortBytes(size)}`;
}

function tensorsText(sheet, buffer, most) {
  const values = valuesInOrder(sheet, buffer);
  const names = values.slice(0, 4).map((value) => sheet.shortTensorName(value, most));
  const more = values.length - names.length;
  return names.length === 0 ? '-' : names.join(', ') + (more > 0 ? `, and ${more} more` : '');
}

// The operator and the name of a step in at most `most` letters.
function stepCell(sheet, step, most) {
  return sheet.stepName(step, Math.max(12, most - sheet.opOfStep(step).length - 1));
}

function producerText(sheet, buffer, most) {
  const scratch = sheet.scratchStep[buffer];
  if (scratch !== kNone) return stepCell(sheet, scratch, most);
  const first = firstWriter(sheet, buffer);
  return first === null ? '-' : stepCell(sheet, first.step, most);
}

function readerText(sheet, buffer, most) {
  if (sheet.kindOf(buffer) === 'output') return '(the caller)';
  const last = lastReader(sheet, buffer);
  return last === null ? '-' : stepCell(sheet, last.step, most);
}

function changeNote(sheet, buffer) {
  const change = changesOf(sheet)[buffer];
  if (change === kOnlyHere) return sheet === state.shown ? 'new' : 'gone';
  return kChangeClasses[change].name;
}

// Columns, rows and first sort order of each tab.
function tabContent(sheet) {
  const placed = regionFacts(sheet, state.region).placed;
  if (sheet.isPacking) return packingTabContent(sheet, placed);
  switch (state.tab) {
    case 'all':
      return {
        keys: [
          ...['buffer', 'kind', 'size', 'bytes'],
          ...(sheet.bufferSeen === null ? [] : ['seen']),
          ...['tensors', 'producer', 'reader', 'lives', 'length', 'address'],
        ],
        list: Array.from(placed),
        sortBy: 'size',
      };
    case 'unplaced': {
      const list = [];
      for (let buffer = 0; buffer < sheet.bufferCount; ++buffer) if (!sheet.isPlaced(buffer)) list.push(buffer);
      return {keys: ['buffer', 'kind', 'size', 'bytes', 'tensors', 'reader', 'lives'], list, sortBy: 'size'};
    }
    case 'operators':
      return operatorContent(sheet);
    case 'runs':
      return returnContent(sheet);
    case 'changes': {
      const changes = changesOf(sheet);
      return {
        keys: ['buffer', 'change', 'size', 'tensors', 'producer', 'lives', 'address'],
        sortBy: 'size',
        list: Array.from(placed).filter((buffer) => changes[buffer] !== kSame),
      };
    }
    default: {
      const facts = regionFacts(sheet, state.region);
      tableView.whole = facts.loadAt(activeStep());
      return {
        keys: ['buffer', 'kind', 'living', 'share', 'producer', 'reader', 'lives', 'address'],
        list: facts.liveAt(activeStep()),
        sortBy: 'living',
      };
    }
  }
}

function sortRows(sheet, list, column, descending) {
  const sign = descending ? -1 : 1;
  const keyOf = column.number ?? column.text;
  const keyed = list.map((buffer) => ({buffer, key: keyOf(sheet, buffer, Infinity)}));
  keyed.sort((a, b) => (a.key < b.key ? -sign : a.key > b.key ? sign : a.buffer - b.buffer));
  return keyed.map(({buffer}) => buffer);
}

function headCell(key, sortBy) {
  const column = columns[key];
  const isSorted = key === sortBy;
  const order = isSorted ? (tableView.descending ? 'descending' : 'ascending') : 'none';
  const isNumber = column.number !== undefined;
  return make(
    'th',
    {scope: 'col', 'aria-sort': order, class: isNumber ? 'number' : null},
    make(
      'button',
      {
        type: 'button',
        title: column.hint ?? null,
        onclick: () => {
          tableView.descending = isSorted ? !tableView.descending : Boolean(column.number);
          tableView.sortBy = key;
          drawTable();
        },
      },
      key === 'length' ? activeSheet().words.length : column.title,
      make('span', {'aria-hidden': 'true'}, isSorted ? (tableView.descending ? ' ↓' : ' ↑') : ''),
    ),
  );
}

function bodyCell(sheet, buffer, key, colour) {
  const column = columns[key];
  const isNumber = column.number !== undefined;
  const title = column.isName ? elide(column.text(sheet, buffer, Infinity), 600) : null;
  const cell = make(
    'td',
    {class: isNumber ? 'number' : column.isName ? 'name' : null, title},
    column.text(sheet, buffer, kCellLetters),
  );
  if (key === 'buffer') {
    const swatch = make('span', {class: 'swatch', 'aria-hidden': 'true'});
    swatch.style.setProperty('--swatch', colour(buffer));
    cell.prepend(swatch);
  }
  if (column.part) {
    cell.classList.add('share');
    cell.style.setProperty('--share', String(column.part(sheet, buffer)));
  }
  return cell;
}

function bodyRow(sheet, buffer, keys, colour) {
  const isSelected = state.selected?.sheet === sheet && sheet.isSame(state.selected.buffer, buffer);
  return make(
    'tr',
    {
      tabindex: '0',
      'aria-selected': String(isSelected),
      'data-buffer': buffer,
      onclick: () => select(sheet, buffer, true),
    },
    keys.map((key) => bodyCell(sheet, buffer, key, colour)),
  );
}

function colourOf(sheet) {
  const chart = charts.find((each) => each.sheet === sheet);
  return (buffer) => {
    if (!chart) return 'transparent';
    return `var(--${chart.classes[Math.floor((chart.paints[buffer] % kDimmed) / kShades)].color})`;
  };
}

function drawTable() {
  const sheet = activeSheet();
  const {keys, list, sortBy: firstSort, isAscending = false, noun = 'buffer', makeRow = bodyRow} = tabContent(sheet);
  if (!keys.includes(tableView.sortBy)) Object.assign(tableView, {sortBy: firstSort, descending: !isAscending});
  const {sortBy} = tableView;
  const sorted = sortRows(sheet, list, columns[sortBy], tableView.descending);
  tableView.list = sorted;
  const shown = sorted.slice(0, tableView.rows);
  const more = sorted.length - shown.length;
  const colour = colourOf(sheet);
  fill(
    byId('table'),
    make(
      'table',
      {'aria-label': plural(sorted.length, noun)},
      make(
        'thead',
        {},
        make(
          'tr',
          {},
          keys.map((key) => headCell(key, sortBy)),
        ),
      ),
      make(
        'tbody',
        {onkeydown: moveInTable},
        shown.map((row) => makeRow(sheet, row, keys, colour)),
      ),
    ),
    sorted.length === 0 ? make('p', {class: 'nothing'}, `No ${noun}s.`) : null,
    more > 0
      ? make(
          'button',
          {
            type: 'button',
            class: 'more',
            onclick: () => {
              tableView.rows += 5 * kRowsAtOnce;
              drawTable();
            },
          },
          `Show ${countText(Math.min(more, 5 * kRowsAtOnce))} more of ${countText(sorted.length)}`,
        )
      : null,
  );
}

const kFewestRows = 4;
const kMostRows = 12;

// Gives the tables the height of the rows that a tab has when it is opened, within limits, and the picture the rest. At
// another step the height stays, so that the picture does not jump.
function sizeDock() {
  const rows =
    state.tab === 'step' ? regionFacts(activeSheet(), state.region).liveAtPeak.length : tableView.list.length;
  byId('dock').style.setProperty('--dock-rows', String(Math.min(kMostRows, Math.max(kFewestRows, rows))));
}

function moveInTable(event) {
  const line = event.target.closest('tr');
  const shift = {ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling'}[event.key];
  if (shift) line[shift]?.focus();
  else if (event.key === 'Enter' || event.key === ' ') line.click();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

// Marks the selected row without building the table again.
function markRow() {
  const sheet = activeSheet();
  for (const line of byId('table').querySelectorAll('tbody tr[data-buffer]')) {
    const isSelected =
      state.selected?.sheet === sheet && sheet.isSame(Number(line.dataset.buffer), state.selected.buffer);
    line.setAttribute('aria-selected', String(isSelected));
    if (isSelected && !line.contains(document.activeElement)) line.scrollIntoView({block: 'nearest'});
  }
}

function stepControls(sheet) {
  const step = activeStep();
  const load = regionFacts(sheet, state.region).loadAt(step);
  const field = make('input', {
    type: 'number',
    min: String(sheet.start),
    max: String(sheet.start + Math.max(0, sheet.stepCount - 1)),
    value: String(sheet.start + step),
    'aria-label': sheet.isPacking ? 'Time' : 'Step',
    onchange: (event) => goToStep(Number(event.target.value) - sheet.start),
  });
  return make(
    'div',
    {class: 'step-controls'},
    tool('‹', `Previous ${sheet.isPacking ? 'time' : 'step'} ([)`, () => goToStepBeside(-1)),
    field,
    tool('›', `Next ${sheet.isPacking ? 'time' : 'step'} (])`, () => goToStepBeside(1)),
    make(
      'span',
      {class: 'step-text'},
      sheet.stepCount > 0 ? elide(sheet.stepText(step), 40) : '',
      make('span', {class: 'muted'}, `  ${shortBytes(load)} live`),
    ),
  );
}

// "After: " or "Before: " in a comparison.
function sideOf(sheet) {
  if (!isRootComparison()) return '';
  return sheet === state.shown ? 'After: ' : 'Before: ';
}

function drawTabs() {
  const sheet = activeSheet();
  const unplaced = sheet.bufferCount - totals(sheet).placed;
  const isPeak = sheet.columnOf(activeStep()) === sheet.columnOf(peakStepOf(sheet));
  const {axis} = sheet.words;
  const tabs = [
    ['step', `${sideOf(sheet)}${isPeak ? `In the peak, ${axis}` : `At ${axis}`} ${sheet.timeText(activeStep())}`],
    ['all', 'All buffers'],
    ...(sheet.isPacking ? [] : [['operators', 'Operators']]),
    ...(sheet.isPacking ? [] : [['unplaced', `Not in an arena (${countText(unplaced)})`]]),
    ...(returnsOf(sheet).length > 0 ? [['runs', `Again (${countText(returnsOf(sheet).length)})`]] : []),
    ...(isRootComparison() ? [['changes', 'Changes']] : []),
  ];
  if (!tabs.some(([key]) => key === state.tab)) state.tab = 'step';
  fill(
    byId('tabs'),
    make(
      'div',
      {role: 'tablist', 'aria-label': 'Tables'},
      tabs.map(([key, text]) =>
        make(
          'button',
          {
            type: 'button',
            role: 'tab',
            'aria-selected': String(key === state.tab),
            'aria-controls': 'table',
            onclick: () => update({tab: key}),
          },
          text,
        ),
      ),
    ),
    state.tab === 'step' ? stepControls(sheet) : null,
    state.tab === 'operators' ? make('span', {class: 'muted'}, operatorTotals(sheet)) : null,
  );
}
