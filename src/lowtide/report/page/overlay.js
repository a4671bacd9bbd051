// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// What lies over the picture: the pointer's step, the buffer under it, the selected buffer with its values, the step
// that the table shows, what a search found.

const kMostMarks = 400; // of found buffers; where more are in sight, their colour is enough

function boxOf(chart, buffer) {
  const {
    sheet,
    layout: {map},
  } = chart;
  const x0 = chart.xOf(sheet.bufferBegin[buffer]);
  const x1 = chart.xOf(sheet.bufferEnd[buffer]);
  const y1 = chart.yOf(sheet.bufferOffset[buffer]);
  const y0 = chart.yOf(sheet.bufferOffset[buffer] + sheet.bufferSize[buffer]);
  const clampX = (x) => Math.min(Math.max(x, map.x - 3), map.x + map.w + 3);
  const clampY = (y) => Math.min(Math.max(y, map.y - 3), map.y + map.h + 3);
  return {x0: clampX(x0), x1: clampX(x1), y0: clampY(y0), y1: clampY(y1)};
}

function outline(context, {x0, x1, y0, y1}, color, width) {
  context.strokeStyle = color;
  context.lineWidth = width;
  context.strokeRect(x0 - width / 2, y0 - width / 2, Math.max(x1 - x0, 2) + width, Math.max(y1 - y0, 2) + width);
}

function drawOverlay(chart) {
  if (!chart.layout || !chart.paints) return;
  const {
    layout: {map, load, width, height},
    ratio,
    ink,
  } = chart;
  const context = chart.overlay.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.save();
  context.beginPath();
  context.rect(map.x, load.y, map.w, map.y + map.h - load.y);
  context.clip();
  drawStepLine(chart, context);
  context.beginPath();
  context.rect(map.x, map.y, map.w, map.h);
  context.clip();
  drawFound(chart, context);
  drawSelected(chart, context);
  if (chart.hover && chart.hover.buffer !== kNone) outline(context, boxOf(chart, chart.hover.buffer), ink.text, 1);
  if (chart.box) {
    const {x0, y0, x1, y1} = chart.box;
    context.fillStyle = `${ink.accent}22`;
    context.fillRect(x0, y0, x1 - x0, y1 - y0);
    context.setLineDash([4, 3]);
    outline(
      context,
      {x0: Math.min(x0, x1), x1: Math.max(x0, x1), y0: Math.min(y0, y1), y1: Math.max(y0, y1)},
      ink.accent,
      1,
    );
    context.setLineDash([]);
  }
  context.restore();
}

function drawStepLine(chart, context) {
  const {
    layout: {map, load},
    ink,
    sheet,
  } = chart;
  const bottom = map.y + map.h;
  if (state.step !== null) {
    context.fillStyle = `${ink.accent}3a`;
    const [begin, end] = sheet.spanAt(state.step).map((step) => chart.xOf(step));
    context.fillRect(begin, load.y, Math.max(1.5, end - begin), bottom - load.y);
  }
  if (chart.hover) drawLine(context, half(chart.hover.x), load.y, half(chart.hover.x), bottom, ink.axis, [2, 2]);
}

// Found buffers are lit in the map; those of a few pixels get a mark besides.
function drawFound(chart, context) {
  const found = state.found?.get(chart.sheet);
  if (!found) return;
  const {facts, view: seen} = chart;
  const list = [];
  facts.blocks.visit(seen.x0, seen.x1, seen.y0, seen.y1, (buffer) => {
    if (found[buffer] === 1) list.push(buffer);
  });
  if (list.length > kMostMarks) return;
  context.fillStyle = chart.ink.accent;
  for (const buffer of list) {
    const box = boxOf(chart, buffer);
    if (box.x1 - box.x0 >= 8 && box.y1 - box.y0 >= 8) {
      outline(context, box, chart.ink.accent, 1);
    } else {
      const x = (box.x0 + box.x1) / 2;
      context.beginPath();
      context.moveTo(x, box.y0 - 1);
      context.lineTo(x - 4, box.y0 - 8);
      context.lineTo(x + 4, box.y0 - 8);
      context.fill();
    }
  }
}

// The selected buffer, with all its pieces and, dashed, the gaps between them; inside it the values, each from its writing to its last reading; on its lower edge a tick for
// each step that reads it, on its upper edge for each that writes.
function drawSelected(chart, context) {
  const {sheet, ink, scaleX} = chart;
  if (!state.selected || state.selected.sheet !== sheet) return;
  const {buffer} = state.selected;
  if (sheet.bufferRegion[buffer] !== state.region) return;
  const box = boxOf(chart, buffer);
  const markWidth = Math.min(2, Math.max(0.5, scaleX / 4));
  const mark = (step, y, height) => {
    context.fillStyle = ink.text;
    context.fillRect(chart.xOf(step) + (scaleX - markWidth) / 2, y, markWidth, height);
  };
  const roomy = box.y1 - box.y0 >= 12;
  for (const value of Array.from(sheet.valuesOfBuffer.of(buffer)).slice(0, kMostMarks)) {
    const readers = sheet.readersOf(value);
    const written = sheet.valueWritten[value];
    if (roomy && sheet.valuesOfBuffer.of(buffer).length > 1) drawValue(chart, context, value, written, readers);
    if (written !== kNone) mark(written, box.y0, roomy ? 5 : 2);
    readers.slice(0, kMostMarks).forEach((step) => mark(step, box.y1 - (roomy ? 5 : 2), roomy ? 5 : 2));
  }
  const boxes = sheet.piecesOf(buffer).map((piece) => boxOf(chart, piece));
  for (let at = 1; at < boxes.length; ++at) drawGap(chart, context, boxes[at - 1].x1, boxes[at].x0, box);
  boxes.forEach((each) => outline(context, each, ink.map, 4));
  boxes.forEach((each) => outline(context, each, ink.accent, 2));
}

// Between two pieces the buffer keeps its address, not its bytes.
function drawGap({ink}, context, x0, x1, {y0, y1}) {
  if (x1 - x0 < 4) return;
  outline(context, {x0, x1, y0, y1}, ink.map, 3);
  context.setLineDash([5, 4]);
  outline(context, {x0, x1, y0, y1}, ink.accent, 1.5);
  context.setLineDash([]);
}

function drawValue(chart, context, value, written, readers) {
  const {sheet, ink} = chart;
  const buffer = sheet.valueBuffer[value];
  const begin = written === kNone ? sheet.bufferBegin[buffer] : written;
  const isOutput =
    sheet.valueTensor[value] !== kNone && sheet.roles[sheet.tensorRole[sheet.valueTensor[value]]] === 'output';
  const end = isOutput ? sheet.bufferEnd[buffer] : readers.length > 0 ? readers.at(-1) + 1 : begin + 1;
  const low = sheet.bufferOffset[buffer] + sheet.valueOffset[value];
  const x0 = chart.xOf(begin) + 2;
  const y0 = chart.yOf(low + sheet.valueSize(value)) + 2;
  const width = chart.xOf(end) - 3 - x0;
  const height = chart.yOf(low) - 3 - y0;
  if (width < 4 || height < 4) return;
  context.strokeStyle = ink.map;
  context.lineWidth = 1;
  context.setLineDash([3, 2]);
  context.strokeRect(x0, y0, width, height);
  context.setLineDash([]);
}
