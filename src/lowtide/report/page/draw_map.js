// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The map: address over step, a rectangle a buffer. What is at least a few pixels wide and high is drawn as a
// rectangle, with its name where there is room; everything thinner goes into one raster. The number of rectangles and
// names has a limit, so a frame's cost depends on the window, not on the plan.

const kCrispSide = 3;     // pixels
const kMostCrisp = 4000;  // rectangles a frame; beyond, the threshold rises
const kMostLabels = 300;
const kFont = '11px system-ui, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif';
const kLetterWidth = 6.2;  // of kFont, on average; names are cut by it

// Fills chart.visible with the buffers in sight and chart.boxes with their sides in pixels of the map: left, right,
// top, bottom. Returns how many there are and the least side of a rectangle: no more than kMostCrisp reach it.
function collectVisible(chart) {
  const {facts, view, scaleX, scaleY, visible, boxes, layout: {map}} = chart;
  const {bufferBegin, bufferEnd, bufferOffset, bufferSize} = chart.sheet;
  const bySide = new Uint32Array(256);
  let count = 0;
  facts.blocks.examined = 0;
  facts.blocks.visit(view.x0, view.x1, view.y0, view.y1, (buffer) => {
    const left = (bufferBegin[buffer] - view.x0) * scaleX;
    const right = (bufferEnd[buffer] - view.x0) * scaleX;
    const bottom = map.h - (bufferOffset[buffer] - view.y0) * scaleY;
    const top = bottom - bufferSize[buffer] * scaleY;
    visible[count] = buffer;
    boxes[4 * count] = left;
    boxes[4 * count + 1] = right;
    boxes[4 * count + 2] = top;
    boxes[4 * count + 3] = bottom;
    const side = Math.min(right - left, bottom - top);
    ++bySide[side < 255 ? Math.trunc(side) : 255];
    ++count;
  });
  let crisp = 0;
  let side = 256;
  while (side > kCrispSide && crisp + bySide[side - 1] <= kMostCrisp) crisp += bySide[--side];
  return {count, side};
}

function drawMap(chart, context) {
  const {layout: {map}, visible, boxes, paints, table, raster} = chart;
  const {count, side} = collectVisible(chart);
  raster.begin(Math.ceil(map.w), Math.ceil(map.h));
  const crisp = [];
  for (let at = 0; at < count; ++at) {
    const x0 = boxes[4 * at];
    const x1 = boxes[4 * at + 1];
    const y0 = boxes[4 * at + 2];
    const y1 = boxes[4 * at + 3];
    if (x1 - x0 >= side && y1 - y0 >= side) crisp.push({buffer: visible[at], x0, x1, y0, y1});
    else raster.add(x0, y0, x1, y1, paints[visible[at]]);
  }
  context.save();
  context.beginPath();
  context.rect(map.x, map.y, map.w, map.h);
  context.clip();
  if (raster.cells > 0) {
    context.imageSmoothingEnabled = false;
    context.drawImage(raster.finish(table), map.x, map.y, raster.width, raster.height);
  }
  drawRectangles(chart, context, crisp);
  const labels = drawNames(chart, context, crisp);
  context.restore();
  Object.assign(chart.frame, {examined: chart.facts.blocks.examined, inSight: count, rectangles: crisp.length,
                              names: labels, cells: raster.cells});
}

// Clipped to the map and set on whole device pixels, a hair apart.
function drawRectangles(chart, context, crisp) {
  const {layout: {map}, sheet, paints, table, ratio} = chart;
  const snap = (at) => Math.round(at * ratio) / ratio;
  const scratch = sheet.kinds.indexOf('scratch');
  let style = '';
  for (const box of crisp) {
    const gap = box.x1 - box.x0 >= 5 && box.y1 - box.y0 >= 5 ? 1 : 0.5;
    box.left = map.x + snap(Math.max(box.x0, -2));
    box.right = map.x + snap(Math.min(box.x1, map.w + 2)) - gap;
    box.top = map.y + snap(Math.max(box.y0, -2)) + gap;
    box.bottom = map.y + snap(Math.min(box.y1, map.h + 2));
    const {css} = table[paints[box.buffer]];
    if (css !== style) context.fillStyle = style = css;
    context.fillRect(box.left, box.top, box.right - box.left, box.bottom - box.top);
    if (sheet.bufferKind[box.buffer] !== scratch || box.right - box.left < 6) continue;
    context.fillStyle = style = chart.hatch;  // scratch is told by more than its colour
    context.fillRect(box.left, box.top, box.right - box.left, box.bottom - box.top);
  }
}

// Letters are wider in some names than in others: shortened until it fits.
function nameThatFits(context, name, letters, room) {
  let shown = shortName(name, letters);
  for (let most = shown.length - 1; most > 2 && context.measureText(shown).width > room; --most) shown = elide(shown, most);
  return shown;
}

function drawNames(chart, context, crisp) {
  const {sheet, paints, table} = chart;
  context.font = kFont;
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  let drawn = 0;
  for (const box of crisp) {
    const width = box.right - box.left;
    const height = box.bottom - box.top;
    if (width < 38 || height < 13) continue;
    if (++drawn > kMostLabels) break;
    const letters = Math.floor((width - 9) / kLetterWidth);
    const size = shortBytes(sheet.bufferSize[box.buffer]);
    const isTall = height >= 30 && size.length <= letters;
    const name = nameThatFits(context, sheet.bufferText(box.buffer), letters, width - 8);
    const isWide = !isTall && name.length + size.length + 2 <= letters;
    const middle = (box.top + box.bottom) / 2;
    context.fillStyle = table[paints[box.buffer]].text;
    context.fillText(isWide ? `${name}  ${size}` : name, box.left + 5, isTall ? middle - 7 : middle);
    if (isTall) context.fillText(size, box.left + 5, middle + 7);
  }
  return Math.min(drawn, kMostLabels);
}
