// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Pointing, dragging, pinching and the wheel. On the map both directions move; on the load curve and the axes only one.

const kClickReach = 4; // pixels that a click may stray

function zoneAt(chart, x, y) {
  const {map, load, strip, lanes, bands} = chart.layout;
  if (y >= strip.y - 2) return 'strip';
  if (y > map.y + map.h) return 'steps';
  if (x < map.x) return y >= map.y ? 'bytes' : 'steps';
  if (y <= load.y + load.h + 4) return 'load';
  if (lanes.h > 0 && y < lanes.y + lanes.h) return 'lanes';
  return bands.h > 0 && y < bands.y + bands.h + kBandGap ? 'bands' : 'map';
}

function place(event, chart) {
  const bounds = chart.overlay.getBoundingClientRect();
  return {x: event.clientX - bounds.left, y: event.clientY - bounds.top};
}

// The directions in which a zoom that begins in a zone keeps its range.
function keptIn(zone) {
  return {keepsX: zone === 'bytes', keepsY: ['load', 'lanes', 'bands', 'steps', 'strip'].includes(zone)};
}

// With Alt, only the steps are zoomed, or with Shift and Alt only the addresses. Shift alone pans along the steps.
function onWheel(chart, event) {
  event.preventDefault();
  const {x, y} = place(event, chart);
  const zone = zoneAt(chart, x, y);
  const lines = event.deltaMode === 1 ? 20 : event.deltaMode === 2 ? 400 : 1;
  const sideways = (event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX) * lines;
  if (!event.altKey && Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY * lines)) {
    view.pan(sideways / chart.scaleX, 0);
  } else {
    // Browsers report the wheel as sideways while Shift is down.
    const turned = (event.altKey && event.deltaY === 0 ? event.deltaX : event.deltaY) * lines;
    const factor = Math.exp(Math.max(-1, Math.min(1, turned * (event.ctrlKey ? 0.01 : 0.0022))));
    const {keepsX, keepsY} = event.altKey ? {keepsX: event.shiftKey, keepsY: !event.shiftKey} : keptIn(zone);
    view.zoom(keepsX ? 1 : factor, keepsY ? 1 : factor, chart.positionAt(x), chart.bytesAt(y));
  }
  redraw();
}

function setHover(chart, event) {
  const {x, y} = place(event, chart);
  const {map} = chart.layout;
  const zone = zoneAt(chart, x, y);
  const isOver = ['map', 'load', 'lanes', 'bands'].includes(zone) && x >= map.x && x <= map.x + map.w;
  const block = isOver && zone === 'map' ? chart.blockAt(x, y) : kNone;
  const buffer = block === kNone ? kNone : chart.sheet.blockBuffer[block];
  chart.hover = isOver ? {x, y, step: Math.floor(chart.stepAt(x)), block, buffer} : null;
  chart.overlay.dataset.zone = chart.hover && chart.hover.buffer !== kNone ? 'buffer' : zone;
  drawTooltip(chart, event, zone);
  chart.request('overlay');
}

function tooltipLines(chart, zone) {
  const {
    sheet,
    facts,
    hover: {block, buffer, step},
  } = chart;
  if (buffer !== kNone) {
    const more = sheet.valuesOfBuffer.of(buffer).length - 1;
    return [
      elide(sheet.bufferText(buffer), 60) + (more > 0 ? ` and ${plural(more, 'more value')}` : ''),
      `${sheet.kindOf(buffer)}${sheet.sourceText(buffer)}, ${bothBytes(sheet.bufferSize[buffer])}`,
      `${sheet.lifeText(buffer)}, address ${countText(sheet.bufferOffset[buffer])}`,
      ...(sheet.blockCountOf(buffer) > 1 ? [`here ${partText(sheet, block)}`] : []),
    ];
  }
  if (zone === 'lanes') {
    const under = laneStepAt(chart, chart.hover.x, chart.hover.y);
    return under === null ? [] : laneTooltip(sheet, under);
  }
  if (zone === 'bands') return bandTooltip(sheet, bandUnder(chart, chart.hover.x, chart.hover.y));
  if (zone !== 'load' || step < 0 || step >= sheet.stepCount) return [];
  const load = `${sheet.words.load} ${bothBytes(facts.loadAt(step))}`;
  return [`${sheet.words.axis} ${sheet.timeText(step)}`, elide(sheet.stepText(step), 60), load].filter(Boolean);
}

function drawTooltip(chart, event, zone) {
  const tip = byId('tooltip');
  const lines = chart.hover ? tooltipLines(chart, zone) : [];
  tip.hidden = lines.length === 0;
  if (tip.hidden) return;
  fill(
    tip,
    lines.map((line, at) => make('div', {class: at === 0 ? 'strong' : null}, line)),
  );
  const left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8);
  const below = event.clientY + 18 + tip.offsetHeight < window.innerHeight;
  const top = below ? event.clientY + 18 : event.clientY - tip.offsetHeight - 10;
  tip.style.transform = `translate(${Math.max(4, left)}px, ${top}px)`;
}

function hideHover(chart) {
  chart.hover = null;
  byId('tooltip').hidden = true;
  chart.request('overlay');
}

function click(chart, at) {
  const {x, y} = at;
  const zone = zoneAt(chart, x, y);
  if (zone === 'load' || zone === 'bands' || zone === 'steps') {
    update({active: chart.sheet});
    goToStep(Math.floor(chart.stepAt(x)));
    return;
  }
  if (zone === 'lanes') {
    const step = laneStepAt(chart, at.x, at.y);
    if (step !== null) goToStep(step);
    return;
  }
  if (zone !== 'map') return;
  const buffer = chart.bufferAt(x, y);
  if (buffer === kNone) select(null);
  else select(chart.sheet, buffer);
}

// Centres the view on a position of the strip.
function moveOnStrip(chart, x) {
  const {strip} = chart.layout;
  const position = ((x - strip.x) / strip.w) * view.steps;
  view.pan(position - (view.x0 + view.x1) / 2, 0);
  redraw();
}

function drag(chart, pointer, at) {
  const [dx, dy] = [at.x - pointer.x, at.y - pointer.y];
  if (pointer.mode === 'strip') moveOnStrip(chart, at.x);
  else if (pointer.mode === 'box') {
    chart.box = {x0: pointer.startX, y0: pointer.startY, x1: at.x, y1: at.y};
    chart.request('overlay');
  } else {
    view.pan(
      pointer.mode === 'bytes' ? 0 : -dx / chart.scaleX,
      pointer.mode === 'map' || pointer.mode === 'bytes' ? dy / chart.scaleY : 0,
    );
    redraw();
  }
  Object.assign(pointer, at);
}

function pinch(chart, [first, second], moved, at) {
  const other = moved === first ? second : first;
  const spread = (a, b) => Math.max(24, Math.hypot(a.x - b.x, a.y - b.y));
  const factor = spread(moved, other) / spread(at, other);
  const centre = {x: (at.x + other.x) / 2, y: (at.y + other.y) / 2};
  const before = {x: (moved.x + other.x) / 2, y: (moved.y + other.y) / 2};
  // Where the first finger went down decides, as the place of the pointer does for the wheel.
  const {keepsX, keepsY} = keptIn(first.mode);
  view.pan(
    keepsX ? 0 : -(centre.x - before.x) / chart.scaleX,
    keepsY ? 0 : (centre.y - before.y) / chart.scaleY,
  );
  view.zoom(keepsX ? 1 : factor, keepsY ? 1 : factor, chart.positionAt(centre.x), chart.bytesAt(centre.y));
  Object.assign(moved, at);
  redraw();
}

function finishBox(chart) {
  const {x0, y0, x1, y1} = chart.box;
  chart.box = null;
  if (Math.abs(x1 - x0) < kClickReach || Math.abs(y1 - y0) < kClickReach) return;
  view.setBox(
    chart.positionAt(Math.min(x0, x1)),
    chart.positionAt(Math.max(x0, x1)),
    chart.bytesAt(Math.max(y0, y1)),
    chart.bytesAt(Math.min(y0, y1)),
  );
  redraw();
}

function startPointer(chart) {
  const canvas = chart.overlay;
  const down = new Map(); // pointer id -> where it is, where it started and what it drags
  canvas.addEventListener('wheel', (event) => onWheel(chart, event), {passive: false});
  canvas.addEventListener('dblclick', () => fitView());
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    const at = place(event, chart);
    const zone = zoneAt(chart, at.x, at.y);
    const mode = zone === 'map' && event.shiftKey ? 'box' : zone;
    down.set(event.pointerId, {...at, startX: at.x, startY: at.y, mode, hasMoved: false});
    canvas.setPointerCapture(event.pointerId);
    if (mode === 'strip') moveOnStrip(chart, at.x);
  });
  canvas.addEventListener('pointermove', (event) => {
    const pointer = down.get(event.pointerId);
    if (!pointer) {
      setHover(chart, event);
      return;
    }
    const at = place(event, chart);
    if (Math.hypot(at.x - pointer.startX, at.y - pointer.startY) > kClickReach) pointer.hasMoved = true;
    if (down.size === 2) pinch(chart, [...down.values()], pointer, at);
    else if (pointer.hasMoved) drag(chart, pointer, at);
  });
  canvas.addEventListener('pointerup', (event) => {
    const pointer = down.get(event.pointerId);
    down.delete(event.pointerId);
    if (!pointer) return;
    if (chart.box) finishBox(chart);
    else if (!pointer.hasMoved && down.size === 0 && pointer.mode !== 'strip') click(chart, place(event, chart));
  });
  canvas.addEventListener('pointercancel', (event) => {
    down.delete(event.pointerId);
    chart.box = null;
  });
  canvas.addEventListener('pointerleave', () => hideHover(chart));
}
