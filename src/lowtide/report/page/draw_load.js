// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The axes, the load curve above the map and the strip below it.

// Positions of round step numbers in sight. `start` is the number at position 0.
function stepTicks(view, width, start) {
  const every = Math.max(1, roundStep(((view.x1 - view.x0) / width) * 110));
  const ticks = [];
  const first = Math.ceil((view.x0 + start) / every) * every - start;
  for (let step = first; step < view.x1; step += every) ticks.push(step);
  return ticks;
}

// `least`: the smallest distance between two ticks, in pixels.
function byteTicks(low, high, height, least = 38) {
  const every = roundBytes(((high - low) / height) * least);
  const ticks = [];
  for (let at = Math.ceil(low / every) * every; at <= high; at += every) ticks.push(at);
  return ticks;
}

function drawLine(context, x0, y0, x1, y1, color, dash = []) {
  context.strokeStyle = color;
  context.lineWidth = 1;
  context.setLineDash(dash);
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
  context.setLineDash([]);
}

// `halo`: a colour around the letters, so that text is readable on drawings.
function drawText(context, text, x, y, color, align = 'left', halo = null) {
  context.textAlign = align;
  context.textBaseline = 'middle';
  if (halo !== null) {
    context.strokeStyle = halo;
    context.lineWidth = 3.5;
    context.lineJoin = 'round';
    context.strokeText(text, x, y);
  }
  context.fillStyle = color;
  context.fillText(text, x, y);
}

function half(at) {
  return Math.round(at) + 0.5;
}

function drawAxes(chart, context) {
  const {
    layout: {map, load, left, axisY},
    view,
    facts,
    ink,
    sheet,
    layout,
  } = chart;
  context.font = kFont;
  for (const at of byteTicks(view.y0, view.y1, map.h)) {
    const y = chart.yOf(at);
    drawLine(context, map.x, half(y), map.x + map.w, half(y), ink.grid);
    drawText(context, shortBytes(at), left - 8, y, ink.muted, 'right');
  }
  let textEnd = left - 14;
  for (const step of stepTicks(view, map.w, sheet.start)) {
    const x = chart.xOf(step);
    drawLine(context, half(x), load.y, half(x), map.y + map.h, ink.grid);
    drawLine(context, half(x), map.y + map.h, half(x), map.y + map.h + 4, ink.muted);
    const text = sheet.tickText(step);
    const width = context.measureText(text).width;
    const middle = Math.min(x, layout.width - width / 2 - 2);
    if (middle - width / 2 < textEnd + 6) continue;
    textEnd = middle + width / 2;
    drawText(context, text, middle, axisY, ink.muted, 'center');
  }
  drawText(context, sheet.words.axis, left - 8, axisY, ink.muted, 'right');
  drawLine(context, map.x, half(map.y + map.h), map.x + map.w, half(map.y + map.h), ink.axis);
  if (facts.arena > view.y0 && facts.arena <= view.y1 && facts.arena > 0) {
    const y = chart.yOf(facts.arena);
    drawLine(context, map.x, half(y), map.x + map.w, half(y), ink.arena, [6, 3]);
  }
}

function drawArenaLabel(chart, context) {
  const {
    layout: {map},
    view,
    facts,
    ink,
  } = chart;
  const y = chart.yOf(facts.arena);
  if (facts.arena <= 0 || facts.arena <= view.y0 || facts.arena > view.y1 || y - map.y < 12) return;
  context.font = kFont;
  const text = `${chart.sheet.words.top} ${shortBytes(facts.arena)}`;
  drawText(context, text, map.x + map.w - 4, y - 8, ink.arena, 'right', ink.map);
}

// The largest load of the steps under each pixel column, as a path along the top.
function traceLoad(chart, context, area, x0, x1, yOf) {
  const {facts, sheet} = chart;
  const perPixel = (x1 - x0) / area.w;
  context.moveTo(area.x, yOf(0));
  for (let column = 0; column < area.w; ++column) {
    const from = x0 + column * perPixel;
    const y = yOf(facts.maxima.of(...sheet.columnsUnder(from, from + perPixel)));
    context.lineTo(area.x + column, y);
    context.lineTo(area.x + Math.min(column + 1, area.w), y);
  }
  context.lineTo(area.x + area.w, yOf(0));
}

function drawLoad(chart, context) {
  const {
    layout: {load, left},
    view,
    facts,
    ink,
    sheet,
    loadTop,
  } = chart;
  const yOf = (bytes) => load.y + load.h - (bytes / loadTop) * load.h;
  context.save();
  context.font = kFont;
  for (const at of byteTicks(0, loadTop, load.h, 24).filter((tick) => tick > 0 && yOf(tick) < load.y + load.h - 14)) {
    drawLine(context, load.x, half(yOf(at)), load.x + load.w, half(yOf(at)), ink.grid);
    drawText(context, shortBytes(at), left - 8, yOf(at), ink.muted, 'right');
  }
  drawText(context, 'load', left - 8, load.y + load.h - 5, ink.muted, 'right');
  context.beginPath();
  context.rect(load.x, load.y - 14, load.w, load.h + 15);
  context.clip();
  context.beginPath();
  traceLoad(chart, context, load, view.x0, view.x1, yOf);
  context.fillStyle = ink.loadFill;
  context.fill();
  context.strokeStyle = ink.load;
  context.lineWidth = 1.5;
  context.stroke();
  drawLine(context, load.x, half(load.y + load.h), load.x + load.w, half(load.y + load.h), ink.axis);
  if (facts.arena > 0) drawLimit(chart, context, facts.arena, sheet.words.top, yOf, ink.arena, [6, 3], -8);
  const hasBound = sheet.usedRegions().length === 1 && sheet.facts.bound > 0;
  if (hasBound) drawLimit(chart, context, sheet.facts.bound, 'bound', yOf, ink.bound, [2, 3], 9);
  context.restore();
  drawPeak(chart, context, yOf);
}

function drawLimit(chart, context, bytes, name, yOf, color, dash, side) {
  const {
    layout: {load},
  } = chart;
  const y = half(yOf(bytes));
  drawLine(context, load.x, y, load.x + load.w, y, color, dash);
  drawText(context, `${name} ${shortBytes(bytes)}`, load.x + load.w - 4, y + side, color, 'right', chart.ink.panel);
}

// The step of the peak: a band through both pictures, and its number.
function drawPeak(chart, context, yOf) {
  const {
    layout: {load, map},
    facts,
    ink,
    view,
    sheet,
  } = chart;
  const [begin, end] = sheet.spanAt(facts.peakStep);
  if (facts.largestLoad <= 0 || end <= view.x0 || begin >= view.x1) return;
  const x = chart.xOf(begin);
  const width = Math.max(chart.xOf(end) - x, 1);
  context.save();
  context.beginPath();
  context.rect(map.x, 0, map.w, map.y + map.h);
  context.clip();
  context.fillStyle = ink.peakFill;
  context.fillRect(x, load.y, width, load.h);
  drawLine(context, half(x), load.y, half(x), map.y + map.h, ink.peak, [1, 2]);
  if (width > 4) drawLine(context, half(x + width), load.y, half(x + width), map.y + map.h, ink.peak, [1, 2]);
  const tip = {x: x + width / 2, y: yOf(facts.largestLoad)};
  context.fillStyle = ink.peak;
  context.beginPath();
  context.arc(tip.x, tip.y, 3.5, 0, 2 * Math.PI);
  context.fill();
  const text = `peak ${shortBytes(facts.largestLoad)} at ${sheet.words.axis} ${sheet.timeText(facts.peakStep)}`;
  context.font = kFont;
  const textWidth = context.measureText(text).width + 8;
  // The names of arena and bound are at the right edge. There, the text goes to the left of the point, or below those
  // names if there is no space.
  const meetsNames = tip.x + 8 + textWidth > map.x + map.w - 110;
  const isLeft = meetsNames && tip.x - 8 - textWidth >= map.x;
  const textX = isLeft ? tip.x - 8 : Math.max(map.x + 4, Math.min(tip.x + 8, map.x + map.w - textWidth));
  const textY = tip.y + (meetsNames && !isLeft ? 26 : 10);
  drawText(context, text, textX, textY, ink.peak, isLeft ? 'right' : 'left', ink.panel);
  context.restore();
}

// The whole program in a strip, with the visible range marked.
function drawStrip(chart, context) {
  const {
    layout: {strip},
    view,
    ink,
    facts,
  } = chart;
  context.fillStyle = ink.stripFill;
  context.fillRect(strip.x, strip.y, strip.w, strip.h);
  context.beginPath();
  const top = Math.max(facts.largestLoad, 1) * 1.1;
  traceLoad(chart, context, strip, 0, view.steps, (bytes) => strip.y + strip.h - (bytes / top) * strip.h);
  context.fillStyle = ink.stripLoad;
  context.fill();
  const x0 = strip.x + (view.x0 / view.steps) * strip.w;
  const x1 = Math.max(strip.x + (view.x1 / view.steps) * strip.w, x0 + 3);
  context.fillStyle = ink.stripShade;
  context.fillRect(strip.x, strip.y, x0 - strip.x, strip.h);
  context.fillRect(x1, strip.y, strip.x + strip.w - x1, strip.h);
  context.strokeStyle = ink.load;
  context.lineWidth = 1;
  context.strokeRect(half(x0), half(strip.y), Math.max(1, Math.round(x1 - x0) - 1), strip.h - 1);
}
