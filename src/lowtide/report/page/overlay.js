// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The layer over the picture: the step and buffer under the pointer, the selected buffer with its values, the step of
// the table, and search results.

const kMostMarks = 400; // of found buffers; if more are in sight, their colour is enough

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
  if (chart.hover && chart.hover.buffer !== kNone) {
    outlineBuffer(chart, context, chart.hover.buffer, ink.text, 1);
    drawRelatives(chart, context, chart.hover.buffer, ink.text);
  }
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

// Found buffers are outlined; small ones get a mark.
function drawFound(chart, context) {
  const found = state.found?.get(chart.sheet);
  if (!found) return;
  const {facts, view: seen} = chart;
  const inSight = new Set();
  facts.blocks.visit(seen.x0, seen.x1, seen.y0, seen.y1, (block) => {
    const buffer = chart.sheet.blockBuffer[block];
    if (found[buffer] === 1) inSight.add(buffer);
  });
  if (inSight.size > kMostMarks) return;
  context.fillStyle = chart.ink.accent;
  for (const buffer of inSight) {
    const box = boxOf(chart, buffer);
    if (box.x1 - box.x0 >= 8 && box.y1 - box.y0 >= 8) {
      outlineBuffer(chart, context, buffer, chart.ink.accent, 1);
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

// The selected buffer with all its pieces. Dashed lines show what others may use meanwhile: the gaps between pieces, or
// the bytes around its parts. Each value is drawn from its write to its last read. Ticks on the lower edge mark the
// steps that read it, and a tick on the upper edge the step that writes it. If the buffer has parts, the ticks are on
// the edges of the value.
function drawSelected(chart, context) {
  const {sheet, ink} = chart;
  if (!state.selected || state.selected.sheet !== sheet) return;
  const {buffer} = state.selected;
  if (sheet.bufferRegion[buffer] !== state.region) return;
  drawRelatives(chart, context, buffer, ink.accent);
  const box = boxOf(chart, buffer);
  const mark = (step, y, height) => {
    const [begin, end] = [chart.xOf(step), chart.xOf(step + 1)];
    const width = Math.min(2, Math.max(0.5, (end - begin) / 4));
    context.fillStyle = ink.text;
    context.fillRect((begin + end - width) / 2, y, width, height);
  };
  const hasParts = sheet.blockCountOf(buffer) > 1;
  for (const value of Array.from(sheet.valuesOfBuffer.of(buffer)).slice(0, kMostMarks)) {
    const readers = sheet.readersOf(value);
    const written = sheet.valueWritten[value];
    const {y0, y1} = hasParts ? valueBox(chart, value, written, readers) : box;
    const tick = y1 - y0 >= 12 ? 5 : 2;
    if (tick === 5 && sheet.valuesOfBuffer.of(buffer).length > 1) drawValue(chart, context, value, written, readers);
    if (written !== kNone) mark(written, y0, tick);
    readers.slice(0, kMostMarks).forEach((step) => mark(step, y1 - tick, tick));
  }
  if (hasParts) {
    drawDashed(chart, context, box, 1);
    outlineBuffer(chart, context, buffer, ink.map, 4);
    outlineBuffer(chart, context, buffer, ink.accent, 2);
    return;
  }
  const boxes = sheet.piecesOf(buffer).map((piece) => boxOf(chart, piece));
  for (let at = 1; at < boxes.length; ++at) drawGap(chart, context, boxes[at - 1].x1, boxes[at].x0, box);
  boxes.forEach((each) => outline(context, each, ink.map, 4));
  boxes.forEach((each) => outline(context, each, ink.accent, 2));
}

// Between two pieces, the buffer keeps its address but not its bytes.
function drawGap(chart, context, x0, x1, {y0, y1}) {
  if (x1 - x0 >= 4) drawDashed(chart, context, {x0, x1, y0, y1}, 1.5);
}

function drawDashed({ink}, context, box, width) {
  outline(context, box, ink.map, 2 * width);
  context.setLineDash([5, 4]);
  outline(context, box, ink.accent, width);
  context.setLineDash([]);
}

// The box of a value, from its write to its last read.
function valueBox(chart, value, written, readers) {
  const {sheet} = chart;
  const buffer = sheet.valueBuffer[value];
  const begin = written === kNone ? sheet.bufferBegin[buffer] : written;
  const lastUse = readers.length > 0 ? readers.at(-1) : begin;
  const end = sheet.isHandedOut[value] !== 0 ? sheet.bufferEnd[buffer] : lastUse + 1;
  const low = sheet.bufferOffset[buffer] + sheet.valueOffset[value];
  return {
    x0: chart.xOf(begin),
    x1: chart.xOf(end),
    y0: chart.yOf(low + sheet.valueSize(value)),
    y1: chart.yOf(low),
  };
}

function drawValue(chart, context, value, written, readers) {
  const {x0, x1, y0, y1} = valueBox(chart, value, written, readers);
  const [width, height] = [x1 - x0 - 5, y1 - y0 - 5];
  if (width < 4 || height < 4) return;
  context.strokeStyle = chart.ink.map;
  context.lineWidth = 1;
  context.setLineDash([3, 2]);
  context.strokeRect(x0 + 2, y0 + 2, width, height);
  context.setLineDash([]);
}
