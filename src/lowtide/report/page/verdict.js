// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Whether the plan fits what it was asked for, and what it does to fit: the first figures of the head, and the first
// part of the panel.

const kMostReturnRows = 5;

// What is counted against the limit besides the arena: "inputs 4.7 MiB and states 12 KiB"; '' if nothing is.
function countedWords(sheet) {
  const {verdict} = sheet.facts;
  const kinds = verdict.counts_weights ? ['weights'] : ['inputs', 'states', 'outputs'];
  return memoryParts(sheet)
    .filter(({name, isCounted}) => isCounted && kinds.includes(name))
    .map(({name, bytes}) => `${name} ${shortBytes(bytes)}`)
    .join(' and ');
}

// "Budget 25 MiB, of which inputs 4.7 MiB"
function limitWords(sheet) {
  const {limit, is_budget: isBudget} = sheet.facts.verdict;
  const beside = countedWords(sheet);
  return `${isBudget ? 'Budget' : 'Capacity'} ${shortBytes(limit)}${beside === '' ? '' : `, of which ${beside}`}`;
}

// "Fits", "Does not fit", or "Unknown" if some memory is not counted.
function verdictWord({fits}) {
  return fits === null ? 'What is counted fits' : fits ? 'Fits' : 'Does not fit';
}

function verdictMetric(sheet) {
  const {verdict} = sheet.facts;
  if (verdict === undefined) return limitMetric(sheet);
  const {limit, counted, fits, shortfall, is_proven: isProven} = verdict;
  const detail =
    fits === false
      ? `${shortBytes(shortfall)} too large, ${isProven ? 'proven' : 'not proven'}`
      : `${shortBytes(limit - counted)} to spare`;
  return metric(limitWords(sheet), verdictWord(verdict), detail, {
    title: [`${bothBytes(counted)} of ${bothBytes(limit)} counted.`, ...verdict.words].join(' '),
    tone: fits === null ? 'first' : fits ? 'good first' : 'bad first',
  });
}

// "43 nodes run again", "12 tensors move", or both; '' if neither is so.
function workWords(sheet) {
  const {nodes} = rerunsOf(sheet);
  const {tensors} = movesOf(sheet);
  const reruns = nodes === 0 ? [] : [`${plural(nodes, 'node')} run${nodes === 1 ? 's' : ''} again`];
  const moves = tensors === 0 ? [] : [`${plural(tensors, 'tensor')} move${tensors === 1 ? 's' : ''}`];
  return [...reruns, ...moves].join(', ');
}

// +5.3 %
function moreText(time, base) {
  if (base === 0) return 'unknown';
  return time <= base ? '+0 %' : `+${percentText(time - base, base)}`;
}

const kTimeBounds = {run_once: 'each node once', search: 'by search', milestones: 'by milestones'};

// What it takes to keep the budget.
function workMetrics(sheet) {
  const words = workWords(sheet);
  const found = sheet.facts.recomputed;
  if (found === undefined) {
    return words === ''
      ? []
      : [metric('More work', words, `${plural(rerunsOf(sheet).runs, 'more run')}`, {tone: 'word'})];
  }
  const {base, picoseconds, bound, bound_kind: kind, stall} = found;
  const isFastest = picoseconds <= bound;
  const waits = stall > 0 ? ` It waits ${durationText(stall)} for the link.` : '';
  return [
    metric('Estimated time', moreText(picoseconds, base), words || 'another order, nothing runs again', {
      title:
        `${durationText(picoseconds)} instead of ${durationText(base)} with each node once and the fastest kernels.` +
        waits,
    }),
    metric(
      'Least time',
      isFastest ? 'this plan' : moreText(bound, base),
      isFastest ? 'proven' : `proven, ${kTimeBounds[kind] ?? kind}`,
      {
        title: `No plan on one stream that fits takes less than ${durationText(bound)} (${kind}).`,
        tone: isFastest ? 'good word' : null,
      },
    ),
  ];
}

// Bounds for plans that run each node once say nothing about a plan with more work.
function hasMoreWork(sheet) {
  return !sheet.isPacking && sheet.facts.bound_scope === 'all_plans' && sheet.facts.extra_work !== undefined;
}

function boundMetrics(sheet, now) {
  const {facts} = sheet;
  const name = facts.bound_name || 'unnamed bound';
  if (facts.recomputed !== undefined) return []; // the least time says more
  if (hasMoreWork(sheet)) {
    return [
      metric('Floor', shortBytes(now.bound), `no plan needs less: ${name}`, {
        title: `No plan needs less than ${bothBytes(now.bound)}, even if nodes run again (${name})`,
      }),
    ];
  }
  return [
    metric('Bound', shortBytes(now.bound), 'proven lower bound', {
      title: `${noPlanText(facts)} needs less than ${bothBytes(now.bound)} (${name})`,
    }),
    gapMetric(now, facts.uncounted, facts.verdict?.fits === false || sheet.facts.missed_budget !== undefined),
  ];
}

// Whether the plan fits, and how that is known.
function verdictPart(sheet) {
  const {verdict, proven} = sheet.facts;
  if (verdict === undefined && proven === undefined) return null;
  const tone = verdict?.fits === false ? 'worse' : verdict?.fits ? 'better' : null;
  const heading =
    verdict === undefined
      ? null
      : [
          make('h2', {}, make('span', {class: tone}, verdictWord(verdict)), ` ${shortBytes(verdict.limit)}`),
          make('p', {class: 'muted'}, `${limitWords(sheet)}. ${bothBytes(verdict.counted)} are counted.`),
        ];
  const words = verdict?.words ?? proven;
  return make(
    'section',
    {class: 'verdict', 'aria-label': 'Verdict'},
    heading,
    words.map((text) => proofParagraph(sheet, text)),
  );
}

function returnRow(sheet, {value, left, step, isMoved}) {
  const buffer = sheet.valueBuffer[value];
  const line = make(
    'li',
    {class: 'peak-row'},
    make('div', {class: 'peak-bytes'}, shortBytes(sheet.valueSize(value))),
    make(
      'div',
      {},
      textButton(elide(sheet.shortTensorName(value, 48), 60), 'Select this buffer', () => select(sheet, buffer, true)),
      make(
        'div',
        {class: 'muted'},
        isMoved ? 'out at ' : 'dropped after ',
        stepButton(sheet, left),
        isMoved ? ', back at ' : ', again at ',
        stepButton(sheet, step),
      ),
    ),
  );
  return line;
}

// "3 tensors leave the arena and come back, 12 KiB out and 16 KiB in."
function movesSentence(sheet) {
  const {tensors, out, back} = movesOf(sheet);
  if (tensors === 0) return '';
  const [leave, come] = tensors === 1 ? ['leaves', 'comes'] : ['leave', 'come'];
  const bytes = `${shortBytes(out)} out and ${shortBytes(back)} in`;
  return `${plural(tensors, 'tensor')} ${leave} the arena and ${come} back, ${bytes}. `;
}

// What runs again and what moves, the largest first.
function workPart(sheet) {
  const returns = returnsOf(sheet);
  if (returns.length === 0) return null;
  const {nodes, runs} = rerunsOf(sheet);
  const rows = [...returns].sort((a, b) => sheet.valueSize(b.value) - sheet.valueSize(a.value) || a.value - b.value);
  const more = rows.length - kMostReturnRows;
  const reruns =
    nodes === 0
      ? ''
      : `${plural(nodes, 'node')} run${nodes === 1 ? 's' : ''} again, ${plural(runs, 'more run')} in all. `;
  return [
    make('h3', {}, nodes === 0 ? 'What moves' : 'What runs again'),
    make(
      'p',
      {class: 'why'},
      movesSentence(sheet),
      reruns,
      sheet.facts.recomputed === undefined ? '' : sheet.facts.recomputed.words,
    ),
    make(
      'ul',
      {class: 'peak-rows'},
      rows.slice(0, kMostReturnRows).map((one) => returnRow(sheet, one)),
    ),
    more > 0
      ? make(
          'p',
          {class: 'muted'},
          `and ${countText(more)} more: `,
          textButton('list all', 'All values that are in the arena again', () => update({tab: 'runs'})),
        )
      : null,
  ];
}

// Columns of the table of values that are in the arena again. A row is an index into returnsOf.
const returnColumns = {
  returned: {
    title: 'Tensor',
    isName: true,
    text: (sheet, row, most) => sheet.shortTensorName(returnsOf(sheet)[row].value, most),
  },
  returnKind: {title: 'How', text: (sheet, row) => (returnsOf(sheet)[row].isMoved ? 'comes back' : 'runs again')},
  returnSize: {
    title: 'Size',
    number: (sheet, row) => sheet.valueSize(returnsOf(sheet)[row].value),
    text: (sheet, row) => shortBytes(sheet.valueSize(returnsOf(sheet)[row].value)),
  },
  returnNode: {
    title: 'By',
    isName: true,
    text: (sheet, row, most) => stepCell(sheet, returnsOf(sheet)[row].step, most),
  },
  returnLeft: {
    title: 'Gone after step',
    number: (sheet, row) => returnsOf(sheet)[row].left,
    text: (sheet, row) => countText(returnsOf(sheet)[row].left),
  },
  returnStep: {
    title: 'Again at step',
    number: (sheet, row) => returnsOf(sheet)[row].step,
    text: (sheet, row) => countText(returnsOf(sheet)[row].step),
  },
  returnAway: {
    title: 'Steps between',
    number: (sheet, row) => returnsOf(sheet)[row].step - returnsOf(sheet)[row].left - 1,
    text: (sheet, row) => countText(returnsOf(sheet)[row].step - returnsOf(sheet)[row].left - 1),
  },
};

function returnContent(sheet) {
  return {
    keys: ['returned', 'returnKind', 'returnSize', 'returnNode', 'returnLeft', 'returnStep', 'returnAway'],
    list: returnsOf(sheet).map((_, row) => row),
    sortBy: 'returnSize',
    noun: 'value',
    makeRow: returnTableRow,
  };
}

function returnTableRow(sheet, row, keys) {
  const buffer = sheet.valueBuffer[returnsOf(sheet)[row].value];
  return make(
    'tr',
    {
      tabindex: '0',
      'aria-selected': String(state.selected?.sheet === sheet && state.selected.buffer === buffer),
      'data-buffer': buffer,
      onclick: () => select(sheet, buffer, true),
    },
    keys.map((key) => bodyCell(sheet, row, key)),
  );
}
