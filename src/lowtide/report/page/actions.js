// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The actions of pointer, keys and buttons.

const view = new View();
const charts = []; // one, or two side by side

// The sheets to draw in a mode of the comparison.
function sheetsOfMode(mode) {
  if (state.against === null) return [state.shown];
  return {both: [state.against, state.shown], before: [state.against], after: [state.shown]}[mode];
}

// The most bytes to show above an axis: the arena, and a capacity or budget that is not far above it.
const kFarLimit = 1.6;

function topOf({arena, limit}) {
  return limit !== null && limit > arena && limit <= kFarLimit * arena ? limit : arena;
}

// The positions and bytes of all plans that may be shown, so that before and after have the same scale.
function setDomain() {
  const sheets = isRootComparison() ? [state.against, state.shown] : state.inSight;
  const top = Math.max(...sheets.map((sheet) => topOf(regionFacts(sheet, state.region))));
  view.setDomain(Math.max(...sheets.map(({axis}) => axis.width)), top, sheets[0].axis.unit);
}

function openSheet(sheet) {
  const isRoot = sheet === state.shown || sheet === state.against;
  const inSight = isRoot ? sheetsOfMode(state.mode) : [sheet];
  const isLost = state.selected && !inSight.includes(state.selected.sheet);
  const colourBy = state.colourBy === 'change' && !isRoot ? 'peak' : state.colourBy;
  update({
    inSight,
    region: arenaRegions(sheet)[0],
    step: null,
    onlyClass: null,
    colourBy,
    selected: isLost ? null : state.selected,
  });
  announce(`Plan of ${sheet.parent ? sheet.parent[2] : sheet.facts.graph}`);
}

function setMode(mode) {
  const inSight = sheetsOfMode(mode);
  const selected = state.selected && comparison() ? selectionIn(inSight, state.selected) : state.selected;
  update({mode, inSight, selected});
}

// The matching buffer in the visible plan.
function selectionIn(inSight, {sheet, buffer}) {
  if (inSight.includes(sheet)) return state.selected;
  const match = comparison().get(sheet)?.counterparts[buffer] ?? kNone;
  return match === kNone ? null : {sheet: inSight[0], buffer: match};
}

function setRegion(region) {
  update({region, step: null, selected: null});
}

function redraw(what = 'scene') {
  charts.forEach((chart) => chart.request(what));
  if (what === 'scene') writeLink();
}

// The point that zooming keeps in view, as {x, y}: the middle of what can be seen of the selected buffer, otherwise of
// the largest buffer at the chosen step, which at first is the peak.
function focusOf(chart) {
  const {sheet, facts} = chart;
  const isSelected = state.selected?.sheet === sheet && sheet.bufferRegion[state.selected.buffer] === state.region;
  const step = activeStep();
  const live = state.step === null ? facts.liveAtPeak : facts.liveAt(step);
  const buffer = isSelected ? state.selected.buffer : live[0];
  if (buffer === undefined) return null;
  const {axis} = sheet;
  const [from, to] = isSelected ? [sheet.bufferBegin[buffer], sheet.bufferEnd[buffer]] : sheet.spanAt(step);
  const block = sheet.blocksOf(buffer).find((one) => sheet.blockBegin[one] < to && sheet.blockEnd[one] > from);
  const low = sheet.blockOffset[block ?? sheet.firstBlock[buffer]];
  const high = low + sheet.blockSize[block ?? sheet.firstBlock[buffer]];
  const [left, right] = [
    axis.at(Math.max(from, sheet.blockBegin[block] ?? from)),
    axis.at(Math.min(to, sheet.blockEnd[block] ?? to)),
  ];
  return {x: middleInside(left, right, view.x0, view.x1), y: middleInside(low, high, view.y0, view.y1)};
}

// The middle of the part of [begin, end] that is in [low, high]; if there is none, the middle of all of it.
function middleInside(begin, end, low, high) {
  const [from, to] = [Math.max(begin, low), Math.min(end, high)];
  return from < to ? (from + to) / 2 : (begin + end) / 2;
}

// Zooms around the focus. A focus out of sight moves to the middle.
function zoomBy(factor, factorY = factor) {
  const focus = focusOf(charts.at(-1));
  const {x, y} = focus ?? {x: (view.x0 + view.x1) / 2, y: (view.y0 + view.y1) / 2};
  if (x < view.x0 || x > view.x1) view.pan(x - (view.x0 + view.x1) / 2, 0);
  if (y < view.y0 || y > view.y1) view.pan(0, y - (view.y0 + view.y1) / 2);
  view.zoom(factor, factorY, x, y);
  redraw();
}

function fitView() {
  view.fit();
  redraw();
}

// Brings a buffer into sight, and zooms in only as far as needed to see it.
function showBuffer(sheet, buffer) {
  if (sheet.bufferRegion[buffer] !== state.region) {
    if (!sheet.isPlaced(buffer)) return;
    update({region: sheet.bufferRegion[buffer], step: null});
  }
  const [x0, x1] = [sheet.axis.at(sheet.bufferBegin[buffer]), sheet.axis.at(sheet.bufferEnd[buffer])];
  const y0 = sheet.bufferOffset[buffer];
  const y1 = y0 + sheet.bufferSize[buffer];
  const chart = charts.find((each) => each.sheet === sheet);
  const isInside = x0 >= view.x0 && x1 <= view.x1 && y0 >= view.y0 && y1 <= view.y1;
  const isSmall = (x1 - x0) * chart.scaleX < 6 || (y1 - y0) * chart.scaleY < 6;
  if (isInside && !isSmall) return;
  view.showBox(x0, x1, y0, y1);
  redraw();
}

// select(null) clears the selection. `show` brings the buffer into sight.
function select(sheet, buffer = kNone, show = false) {
  if (sheet === null) {
    update({selected: null});
    return;
  }
  if (state.selected?.sheet !== sheet || state.selected.buffer !== buffer)
    update({active: sheet, selected: {sheet, buffer}});
  if (show) showBuffer(sheet, buffer);
  announce(
    `${sheet.bufferText(buffer)}, ${sheet.kindOf(buffer)}, ${exactBytes(sheet.bufferSize[buffer])}, ` +
      sheet.lifeText(buffer),
  );
}

// Selects the next buffer of the region in the order of first steps, or with -1 the previous one.
function selectNext(direction) {
  const sheet = activeSheet();
  const {placed} = regionFacts(sheet, state.region);
  if (placed.length === 0) return;
  const at = state.selected ? placed.indexOf(state.selected.buffer) : direction > 0 ? -1 : 0;
  select(sheet, placed[(at + direction + placed.length) % placed.length], true);
}

// Shows a step in the picture, and a table that belongs to it.
function goToStep(step, tab = 'step') {
  const sheet = activeSheet();
  if (sheet.stepCount === 0) return;
  const inside = Math.min(Math.max(0, Math.round(step) || 0), sheet.stepCount - 1);
  const [begin, end] = [sheet.axis.at(inside), sheet.axis.at(inside + 1)];
  if (begin < view.x0 || end > view.x1) view.pan((begin + end - view.x0 - view.x1) / 2, 0);
  redraw();
  update({step: inside, tab});
  announce([`${sheet.words.axis} ${sheet.timeText(inside)}`, sheet.stepText(inside)].filter(Boolean).join(', '));
}

function goToStepBeside(direction) {
  goToStep(activeSheet().stepBeside(activeStep(), direction));
}

// Zooms to the peak: its step with some steps beside it, and all addresses that are live there.
function goToPeak() {
  const sheet = activeSheet();
  const facts = regionFacts(sheet, state.region);
  if (facts.liveAtPeak.length > 0) {
    const [begin, end] = sheet.spanAt(facts.peakStep).map((step) => sheet.axis.at(step));
    const blocks = facts.liveAtPeak.flatMap((buffer) => sheet.blocksOf(buffer));
    const low = Math.min(...blocks.map((block) => sheet.blockOffset[block]));
    const high = Math.max(...blocks.map((block) => sheet.blockOffset[block] + sheet.blockSize[block]));
    view.showPeak(begin, end, low, high);
  }
  goToStep(facts.peakStep);
}

const kDominating = 0.5; // of the peak

// Follows bodies whose arena is at least half of the peak, and returns the innermost sheet.
function dominatingBody(sheet) {
  let inner = sheet;
  for (;;) {
    const {largestLoad, peakStep} = regionFacts(inner, arenaRegions(inner)[0]);
    const bodies = [...(inner.bodies.get(peakStep) ?? [])];
    bodies.sort((a, b) => totals(b).arena - totals(a).arena || a.index - b.index);
    if (bodies.length === 0 || totals(bodies[0]).arena < kDominating * largestLoad) return inner;
    [inner] = bodies;
  }
}
