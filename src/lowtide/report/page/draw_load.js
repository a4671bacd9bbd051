// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The axes, the load curve above the map, the strip below it, and the lines of limits.

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
  for (const {position, text} of sheet.axis.ticks(view.x0, view.x1, map.w, sheet)) {
    const x = map.x + (position - view.x0) * chart.scaleX;
    drawLine(context, half(x), load.y, half(x), map.y + map.h, ink.grid);
    drawLine(context, half(x), map.y + map.h, half(x), map.y + map.h + 4, ink.muted);
    const width = context.measureText(text).width;
    const middle = Math.min(x, layout.width - width / 2 - 2);
    if (middle - width / 2 < textEnd + 6) continue;
    textEnd = middle + width / 2;
    drawText(context, text, middle, axisY, ink.muted, 'center');
  }
  drawText(context, sheet.axis.kind === 'time' ? 'time' : sheet.words.axis, left - 8, axisY, ink.muted, 'right');
  drawLine(context, map.x, half(map.y + map.h), map.x + map.w, half(map.y + map.h), ink.axis);
}

const kBreakDistance = 9; // pixels between two marks; nearer ones are drawn as one

// The middles of the break marks in sight, in pixels.
function breaksOf(chart) {
  const {
    sheet: {axis},
    view,
    layout: {map},
  } = chart;
  const places = [];
  for (const [begin, end] of axis.folds) {
    const at = (axis.at(begin) + axis.at(end)) / 2;
    const x = map.x + (at - view.x0) * chart.scaleX;
    if (at >= view.x0 && at <= view.x1 && !(x - places.at(-1) < kBreakDistance)) places.push(x);
  }
  return places;
}

// Break marks on the axis, two slanted lines each, where idle steps are folded into one position.
function drawFolds(chart, context) {
  const {
    layout: {map},
    ink,
  } = chart;
  const y = map.y + map.h;
  for (const x of breaksOf(chart)) {
    context.fillStyle = ink.panel;
    context.fillRect(x - 2, y - 1, 4, 3);
    for (const side of [-2.5, 1.5]) drawLine(context, x + side - 1.5, y + 4, x + side + 2.5, y - 4, ink.text);
  }
}

// The lines over the map: the end of the arena, and the capacity or the budget, with its text on the left:
// [{bytes, text, color, dash, isLeft}].
function limitLines({sheet, facts, ink}) {
  const {arena, limit, limitText} = facts;
  const lines = [];
  if (arena > 0)
    lines.push({bytes: arena, text: `${sheet.words.top} ${shortBytes(arena)}`, color: ink.arena, dash: [6, 3]});
  if (limit !== null) lines.push({bytes: limit, text: limitText, color: ink.limit, dash: [], isLeft: true});
  return lines;
}

function drawLimits(chart, context) {
  const {
    layout: {map},
    view,
    ink,
  } = chart;
  context.font = kFont;
  for (const {bytes, text, color, dash, isLeft} of limitLines(chart)) {
    if (bytes <= view.y0 || bytes > view.y1) continue;
    const y = chart.yOf(bytes);
    drawLine(context, map.x, half(y), map.x + map.w, half(y), color, dash);
    const [x, align] = isLeft ? [map.x + 4, 'left'] : [map.x + map.w - 4, 'right'];
    drawText(context, text, x, y - map.y < 12 ? y + 9 : y - 8, color, align, ink.map);
  }
}

// The largest load of the steps under each pixel column, as a path along the top.
function traceLoad(chart, context, area, x0, x1, yOf) {
  const {
    facts,
    sheet,
    sheet: {axis},
  } = chart;
  const perPixel = (x1 - x0) / area.w;
  context.moveTo(area.x, yOf(0));
  for (let column = 0; column < area.w; ++column) {
    const from = x0 + column * perPixel;
    const columns = sheet.columnsUnder(axis.stepAt(from), axis.stepAt(from + perPixel));
    const y = yOf(facts.maxima.of(...columns));
    context.lineTo(area.x + column, y);
    context.lineTo(area.x + Math.min(column + 1, area.w), y);
  }
  context.lineTo(area.x + area.w, yOf(0));
}

function drawLoad(chart, context) {
  const {
    layout: {load, left},
    view,
    ink,
    sheet,
    loadTop,
  } = chart;
  const yOf = (bytes) => load.y + load.h - (bytes / loadTop) * load.h;
  context.save();
  context.font = kFont;
  for (const at of byteTicks(0, loadTop, load.h, 24)) {
    drawLine(context, load.x, half(yOf(at)), load.x + load.w, half(yOf(at)), ink.grid);
    drawText(context, at === 0 ? '0' : shortBytes(at), left - 8, yOf(at), ink.muted, 'right');
  }
  if (chart.layout.width >= kWide) drawText(context, sheet.words.load, 4, load.y - 12, ink.muted);
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
  for (const line of loadLimits(chart)) drawLimit(chart, context, line, yOf);
  context.restore();
  drawPeak(chart, context, yOf);
}

// The lines over the load: the bound, and the capacity or the budget.
function loadLimits(chart) {
  const {sheet, ink} = chart;
  const lines = limitLines(chart).slice(1);
  const {bound} = sheet.facts;
  if (hasBoundIn(sheet, state.region) && bound > 0)
    lines.push({
      bytes: bound,
      text: `${hasMoreWork(sheet) ? 'floor' : 'bound'} ${shortBytes(bound)}`,
      color: ink.bound,
      dash: [2, 3],
    });
  return lines.filter(({bytes}) => bytes <= chart.loadTop);
}

function drawLimit(chart, context, {bytes, text, color, dash, isLeft}, yOf) {
  const {
    layout: {load},
  } = chart;
  const y = half(yOf(bytes));
  drawLine(context, load.x, y, load.x + load.w, y, color, dash);
  const [x, align] = isLeft ? [load.x + 4, 'left'] : [load.x + load.w - 4, 'right'];
  drawText(context, text, x, y + 9, color, align, chart.ink.panel);
}

// The words over the load: the peak, its step, and what this step does.
function peakWords(chart) {
  const {facts, sheet} = chart;
  const head = `peak ${shortBytes(facts.largestLoad)} at ${sheet.words.axis} ${sheet.timeText(facts.peakStep)}`;
  return [head, sheet.isPacking ? '' : peakSentence(sheet, state.region)];
}

// The step of the peak: a band through both pictures, and the words over it.
function drawPeak(chart, context, yOf) {
  const {
    layout: {load, map, left},
    facts,
    ink,
    view,
    sheet,
  } = chart;
  if (facts.largestLoad <= 0) return;
  const [begin, end] = sheet.spanAt(facts.peakStep).map((step) => chart.xOf(step));
  const isInSight = end > map.x && begin < map.x + map.w;
  const width = Math.max(end - begin, 1);
  const tip = {x: begin + width / 2, y: yOf(facts.largestLoad)};
  context.save();
  if (isInSight) {
    context.beginPath();
    context.rect(map.x - 4, 0, map.w + 8, map.y + map.h);
    context.clip();
    context.fillStyle = ink.peakFill;
    context.fillRect(begin, load.y, width, load.h);
    drawLine(context, half(begin), load.y - 4, half(begin), map.y + map.h, ink.peak, [1, 2]);
    if (width > 4) drawLine(context, half(end), load.y, half(end), map.y + map.h, ink.peak, [1, 2]);
    context.fillStyle = ink.peak;
    context.beginPath();
    context.arc(tip.x, tip.y, 3.5, 0, 2 * Math.PI);
    context.fill();
  }
  context.restore();
  context.font = kFont;
  drawPeakWords(chart, context, isInSight ? tip.x : view.x0 > sheet.axis.at(facts.peakStep) ? left : map.x + map.w);
}

// One line, or two in a narrow picture, as near to the peak as there is space.
function drawPeakWords(chart, context, x) {
  const {
    layout: {load, map, width: pictureWidth},
    ink,
  } = chart;
  const [head, sentenceText] = peakWords(chart);
  const isNarrow = pictureWidth < kWide;
  const lines = sentenceText === '' ? [head] : isNarrow ? [head, sentenceText] : [`${head}: ${sentenceText}`];
  const letters = Math.floor((map.x + map.w - (isNarrow ? 4 : map.x)) / kLetterWidth);
  lines.forEach((text, at) => {
    const line = elideEnd(text, letters);
    const width = context.measureText(line).width;
    const textX = Math.max(isNarrow ? 4 : map.x, Math.min(x + 6, map.x + map.w - width));
    drawText(context, line, textX, load.y - 12 - 14 * (lines.length - 1 - at), ink.peak, 'left', ink.panel);
  });
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
