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

// The steps and bytes of all plans that may be shown, so that before and after have the same scale.
function setDomain() {
  const sheets = isRootComparison() ? [state.against, state.shown] : state.inSight;
  const facts = sheets.map((sheet) => regionFacts(sheet, state.region));
  view.setDomain(Math.max(...sheets.map((sheet) => sheet.stepCount)), Math.max(...facts.map((each) => each.arena)));
}

function openSheet(sheet) {
  const isRoot = sheet === state.shown || sheet === state.against;
  const inSight = isRoot ? sheetsOfMode(state.mode) : [sheet];
  const isLost = state.selected && !inSight.includes(state.selected.sheet);
  const colourBy = state.colourBy === 'change' && !isRoot ? 'kind' : state.colourBy;
  update({
    inSight,
    region: sheet.usedRegions()[0],
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
}

function zoomBy(factor, factorY = factor) {
  view.zoom(factor, factorY, (view.x0 + view.x1) / 2, (view.y0 + view.y1) / 2);
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
  const [x0, x1] = [sheet.bufferBegin[buffer], sheet.bufferEnd[buffer]];
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

function goToStep(step) {
  const sheet = activeSheet();
  if (sheet.stepCount === 0) return;
  const inside = Math.min(Math.max(0, Math.round(step) || 0), sheet.stepCount - 1);
  if (inside < view.x0 || inside + 1 > view.x1) {
    view.pan(inside + 0.5 - (view.x0 + view.x1) / 2, 0);
    redraw();
  }
  update({step: inside, tab: 'step'});
  announce([`${sheet.words.axis} ${sheet.timeText(inside)}`, sheet.stepText(inside)].filter(Boolean).join(', '));
}

function goToStepBeside(direction) {
  goToStep(activeSheet().stepBeside(activeStep(), direction));
}

function goToPeak() {
  goToStep(peakStepOf(activeSheet()));
}
