// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The keys and the help that lists them, from one table.

const kPanShare = 0.12; // of the visible range, per key press

function panBy(shareX, shareY) {
  view.pan((view.x1 - view.x0) * shareX, (view.y1 - view.y0) * shareY);
  redraw();
}

// [keys, their names, what they do, action]. Keys are KeyboardEvent.key.
const kKeys = [
  [['ArrowLeft'], '←', 'Pan to earlier steps', () => panBy(-kPanShare, 0)],
  [['ArrowRight'], '→', 'Pan to later steps', () => panBy(kPanShare, 0)],
  [['ArrowUp'], '↑', 'Pan to higher addresses', () => panBy(0, kPanShare)],
  [['ArrowDown'], '↓', 'Pan to lower addresses', () => panBy(0, -kPanShare)],
  [['+', '='], '+', 'Zoom in on steps; addresses keep their range', () => zoomBy(1 / 1.35, 1)],
  [['-', '_'], '-', 'Zoom out on steps', () => zoomBy(1.35, 1)],
  [['>'], '>', 'Zoom in on steps and addresses', () => zoomBy(1 / 1.35)],
  [['<'], '<', 'Zoom out on steps and addresses', () => zoomBy(1.35)],
  [['0', 'f'], '0 or F', 'Show all steps and addresses', fitView],
  [['.'], '.', 'Next buffer', () => selectNext(1)],
  [[','], ',', 'Previous buffer', () => selectNext(-1)],
  [
    ['Enter'],
    'Enter',
    'Select the buffer under the pointer, or the largest at the step; in a table, the row',
    selectHere,
  ],
  [['['], '[', 'Previous step', () => goToStepBeside(-1)],
  [[']'], ']', 'Next step', () => goToStepBeside(1)],
  [['p'], 'P', 'Zoom to the peak', goToPeak],
  [['/'], '/', 'Search; Enter goes to the next result, Shift+Enter to the previous one', () => byId('search').focus()],
  [['c'], 'C', 'Next way to colour', nextColour],
  [['b'], 'B', 'Switch between before and after', switchSides],
  [['t'], 'T', 'Light or dark', () => chooseTheme()],
  [['Backspace'], 'Backspace', 'Back from a body to the graph around it', leaveBody],
  [['Escape'], 'Esc', 'Clear the search, the legend, the selection or the step', letGo],
  [['?'], '?', 'This help', () => byId('help').showModal()],
];

const kPointerHelp = [
  ['Wheel, pinch', 'Zoom; on the load curve only steps, on the addresses only bytes'],
  ['Alt + wheel', 'Zoom only on steps; addresses keep their range'],
  ['Shift + Alt + wheel', 'Zoom only on addresses'],
  ['Drag', 'Pan; on the strip below, move along the program'],
  ['Shift + drag', 'Zoom into a box'],
  ['Shift + wheel', 'Pan along the steps'],
  ['Double click', 'Show everything'],
  ['Click', 'Select a buffer; on the load curve, a step'],
];

// For touch screens.
const kTouchHelp = [
  ['Pinch', 'Zoom; on the load curve only steps, on the addresses only bytes'],
  ['Drag', 'Pan; on the strip below, move along the program'],
  ['Double tap', 'Show everything'],
  ['Tap', 'Select a buffer; on the load curve, a step'],
];

function switchSides() {
  if (isRootComparison()) setMode(state.mode === 'before' ? 'after' : 'before');
}

function selectHere() {
  const chart = charts.find((each) => each.hover && each.hover.buffer !== kNone);
  if (chart) {
    select(chart.sheet, chart.hover.buffer);
    return;
  }
  const sheet = activeSheet();
  const [largest] = regionFacts(sheet, state.region).liveAt(activeStep());
  if (largest !== undefined) select(sheet, largest, true);
}

function nextColour() {
  const ways = coloursOffered();
  update({colourBy: ways[(ways.indexOf(state.colourBy) + 1) % ways.length], onlyClass: null});
}

function leaveBody() {
  const {parent} = state.inSight.at(-1);
  if (parent) openSheet(state.sheets[parent[0]]);
}

function letGo() {
  if (state.query !== '') clearSearch();
  else if (state.onlyClass !== null) update({onlyClass: null});
  else if (state.selected !== null) select(null);
  else if (state.step !== null) update({step: null});
}

const kPlanKeys = ['b', 'Backspace']; // without effect in a packing

// A packing has times instead of steps.
function helpWords(words) {
  if (!state.shown.isPacking) return words;
  return words
    .replace(/\b([Ss])tep(s?)\b/g, (_, letter, ending) => `${letter === 'S' ? 'Time' : 'time'}${ending}`)
    .replace('along the program', 'through time');
}

function drawHelp() {
  const line = (keys, words) =>
    make('tr', {}, make('th', {scope: 'row'}, make('kbd', {}, keys)), make('td', {}, helpWords(words)));
  fill(
    byId('help-keys'),
    kKeys
      .filter(([keys]) => !state.shown.isPacking || !kPlanKeys.includes(keys[0]))
      .map(([, keys, words]) => line(keys, words)),
  );
  fill(
    byId('help-pointer'),
    kPointerHelp.map(([keys, words]) => line(keys, words)),
  );
  fill(
    byId('help-touch'),
    kTouchHelp.map(([keys, words]) => line(keys, words)),
  );
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId('help').open) return;
  const {target} = event;
  const isTyping = target instanceof HTMLInputElement;
  if (isTyping && event.key !== 'Escape') return;
  if (event.key === 'Enter' && (target instanceof HTMLButtonElement || target instanceof HTMLAnchorElement)) return;
  const isScrolling = event.key.startsWith('Arrow') && target instanceof Element && target.closest('#panel, #table');
  if (isScrolling) return;
  const found = kKeys.find(([keys]) => keys.includes(event.key) || keys.includes(event.key.toLowerCase()));
  if (!found) return;
  event.preventDefault();
  if (isTyping) target.blur();
  found[3]();
}

function startKeys() {
  drawHelp();
  document.addEventListener('keydown', onKey);
  byId('help-close').addEventListener('click', () => byId('help').close());
}
