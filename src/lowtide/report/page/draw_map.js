// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The map: address over steps, with one rectangle per buffer, or one per part, joined to one shape. Buffers that are at
// least a few pixels wide and high are rectangles, with their names if these fit. All thinner ones go into one raster.
// The number of rectangles and names is limited, so the cost of a frame depends on the window, not on the plan. While
// panning, rectangles and raster of a somewhat larger area are kept and only moved.

const kCrispSide = 3; // pixels
const kMostCrisp = 4000; // rectangles per frame; above it, the threshold rises
const kMostLabels = 300;
const kPanMargin = 0.3; // of the view, kept ready on each side while panning
const kFont = '11px system-ui, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif';
const kLetterWidth = 6.2; // of kFont, on average; names are shortened with it

// Fills chart.visible with the blocks in an area, and chart.boxes with their boxes in pixels (left, right, top,
// bottom). chart.sides gets the shorter side of their buffer, because all parts of a buffer are drawn in the same way.
// Returns the number of blocks and the least side of a block that is drawn as a rectangle. At most kMostCrisp are.
function collectVisible(chart, {x0, x1, y0, y1, scaleX, scaleY}) {
  const {facts, visible, boxes, sides} = chart;
  const {axis, bufferBegin, bufferEnd, bufferSize, blockBuffer, blockOffset, blockSize} = chart.sheet;
  const {left, right} = facts.blocks;
  const bySide = new Uint32Array(256);
  let count = 0;
  facts.blocks.visit(x0, x1, y0, y1, (block) => {
    const buffer = blockBuffer[block];
    const bottom = (y1 - blockOffset[block]) * scaleY;
    visible[count] = block;
    boxes[4 * count] = (left[block] - x0) * scaleX;
    boxes[4 * count + 1] = (right[block] - x0) * scaleX;
    boxes[4 * count + 2] = bottom - blockSize[block] * scaleY;
    boxes[4 * count + 3] = bottom;
    const width = axis.at(bufferEnd[buffer]) - axis.at(bufferBegin[buffer]);
    const side = Math.min(width * scaleX, bufferSize[buffer] * scaleY);
    sides[count] = side;
    ++bySide[side < 255 ? Math.trunc(side) : 255];
    ++count;
  });
  // The last count is of all sides from 255 pixels on, so it has no smaller part to draw.
  if (bySide[255] > kMostCrisp) return {count, side: Infinity};
  let crisp = 0;
  let side = 256;
  while (side > kCrispSide && crisp + bySide[side - 1] <= kMostCrisp) crisp += bySide[--side];
  return {count, side};
}

// Rectangles and raster of an area in whole pixels: the view, and `margin` of its size on each side as far as there are
// buffers.
function makeLayer(chart, margin) {
  const {
    view,
    scaleX,
    scaleY,
    layout: {map},
    raster,
    visible,
    boxes,
    sides,
    sheet,
    paints,
    table,
  } = chart;
  const pixels = (size, available) => Math.max(0, Math.ceil(Math.min(size * margin, available)));
  const area = {
    x0: view.x0 - pixels(map.w, view.x0 * scaleX) / scaleX,
    x1: view.x1 + pixels(map.w, (view.steps - view.x1) * scaleX) / scaleX,
    y0: view.y0 - pixels(map.h, view.y0 * scaleY) / scaleY,
    y1: view.y1 + pixels(map.h, (view.top - view.y1) * scaleY) / scaleY,
    scaleX,
    scaleY,
  };
  const {count, side} = collectVisible(chart, area);
  raster.begin(Math.ceil((area.x1 - area.x0) * scaleX), Math.ceil((area.y1 - area.y0) * scaleY));
  const crisp = [];
  for (let at = 0; at < count; ++at) {
    const x0 = boxes[4 * at];
    const x1 = boxes[4 * at + 1];
    const y0 = boxes[4 * at + 2];
    const y1 = boxes[4 * at + 3];
    const block = visible[at];
    const buffer = sheet.blockBuffer[block];
    if (sides[at] >= side) crisp.push({block, buffer, x0, x1, y0, y1});
    else raster.add(x0, y0, x1, y1, paints[buffer]);
  }
  if (raster.cells > 0) raster.finish(table);
  return {...area, crisp, count, paints, table, blocks: chart.facts.blocks};
}

// Whether a layer shows the current content at the current scale.
function hasScaleOf(chart, layer) {
  const isNear = (a, b) => Math.abs(a - b) <= 1e-9 * b;
  return (
    layer !== null &&
    layer.paints === chart.paints &&
    layer.table === chart.table &&
    layer.blocks === chart.facts.blocks &&
    isNear(layer.scaleX, chart.scaleX) &&
    isNear(layer.scaleY, chart.scaleY)
  );
}

function covers(layer, {x0, x1, y0, y1}) {
  const reachX = 1e-6 / layer.scaleX;
  const reachY = 1e-6 / layer.scaleY;
  return layer.x0 <= x0 + reachX && layer.x1 >= x1 - reachX && layer.y0 <= y0 + reachY && layer.y1 >= y1 - reachY;
}

function drawMap(chart, context) {
  const {
    layout: {map},
    view,
    raster,
    scaleX,
    scaleY,
  } = chart;
  chart.facts.blocks.examined = 0;
  const isSameScale = hasScaleOf(chart, chart.layer);
  const isKept = isSameScale && covers(chart.layer, view);
  if (!isKept) chart.layer = makeLayer(chart, isSameScale ? kPanMargin : 0);
  const left = (chart.layer.x0 - view.x0) * scaleX;
  const top = (view.y1 - chart.layer.y1) * scaleY;
  context.save();
  context.beginPath();
  context.rect(map.x, map.y, map.w, map.h);
  context.clip();
  if (raster.cells > 0) {
    context.imageSmoothingEnabled = false;
    context.drawImage(raster.canvas, map.x + left, map.y + top, raster.width, raster.height);
  }
  const crisp = chart.layer.crisp
    .map(({x0, x1, y0, y1, ...box}) => ({...box, x0: x0 + left, x1: x1 + left, y0: y0 + top, y1: y1 + top}))
    .filter(({x0, x1, y0, y1}) => x1 > 0 && x0 < map.w && y1 > 0 && y0 < map.h);
  drawRectangles(chart, context, crisp);
  if (chart.sheet.hasParts) drawSeams(chart, context, crisp);
  const names = drawNames(chart, context, crisp);
  context.restore();
  drawReturns(chart, context);
  Object.assign(chart.frame, {
    isKept,
    names,
    rectangles: crisp.length,
    examined: chart.facts.blocks.examined,
    buffers: isKept ? 0 : chart.layer.count,
    cells: isKept ? 0 : raster.cells,
  });
}

// Classes that are hatched, so that they differ by more than colour.
function isHatched(kind) {
  return kind === 'scratch' || kind === 'fixed' || kind === 'runs again';
}

// A box clipped to the map and aligned to device pixels, with a small gap to others. Between parts of one buffer, the
// gap is a whole pixel, which drawSeams fills.
function drawRectangles(chart, context, crisp) {
  const {
    layout: {map},
    sheet,
    paints,
    table,
    ratio,
  } = chart;
  const snap = (at) => Math.round(at * ratio) / ratio;
  const hatched = sheet.kinds.findIndex(isHatched);
  let style = '';
  for (const box of crisp) {
    const hair = box.x1 - box.x0 >= 5 && box.y1 - box.y0 >= 5 ? 1 : 0.5;
    const gap = sheet.blockCountOf(box.buffer) === 1 ? hair : Math.max(1, Math.round(hair * ratio)) / ratio;
    box.left = snap(map.x + Math.max(box.x0, -2));
    box.right = snap(map.x + Math.min(box.x1, map.w + 2)) - gap;
    box.top = snap(map.y + Math.max(box.y0, -2)) + gap;
    box.bottom = snap(map.y + Math.min(box.y1, map.h + 2));
    box.gap = gap;
    if (box.bottom <= box.top || box.right <= box.left) continue; // nothing to see at this scale
    const {css} = table[paints[box.buffer]];
    if (css !== style) context.fillStyle = style = css;
    context.fillRect(box.left, box.top, box.right - box.left, box.bottom - box.top);
    if (markMoves(chart, context, box)) style = '';
    const hatch = isAgain(sheet, box.buffer) ? chart.hatchAgain : chart.hatch;
    if ((hatch === chart.hatch && sheet.bufferKind[box.buffer] !== hatched) || box.right - box.left < 6) continue;
    context.fillStyle = style = hatch;
    context.fillRect(box.left, box.top, box.right - box.left, box.bottom - box.top);
  }
}

// Fills the gaps between adjacent parts of one buffer.
function drawSeams({sheet, paints, table}, context, crisp) {
  const boxOfBlock = new Map();
  for (const box of crisp) if (sheet.blockCountOf(box.buffer) > 1) boxOfBlock.set(box.block, box);
  for (const [block, upper] of boxOfBlock) {
    const lower = boxOfBlock.get(block - 1);
    if (lower?.buffer !== upper.buffer) continue;
    const left = Math.max(lower.left, upper.left);
    const right = Math.min(lower.right, upper.right);
    if (right <= left) continue;
    const bottom = Math.min(lower.top, lower.bottom);
    context.fillStyle = table[paints[upper.buffer]].css;
    context.fillRect(left, upper.bottom, right - left, bottom - upper.bottom);
  }
}

const kLeastName = 12; // letters: a name that must be shorter says less than the size

// The name of a buffer, shortened until it fits. If too little of it fits, the size; if that does not fit either, ''.
function nameThatFits(context, sheet, buffer, letters, width) {
  const fits = (text) => context.measureText(text).width <= width;
  const name = sheet.bufferText(buffer);
  for (let most = Math.min(letters, name.length); most >= Math.min(name.length, kLeastName); --most) {
    const shown = sheet.bufferText(buffer, most);
    if (fits(shown)) return shown;
  }
  const size = shortBytes(sheet.bufferSize[buffer]);
  return fits(size) ? size : '';
}

// The part of a box that drawRectangles drew.
function seenBox({block, buffer, left, right, top, bottom}) {
  return {block, buffer, x0: left, x1: right, y0: top, y1: bottom};
}

function drawNames(chart, context, crisp) {
  const {sheet, paints, table} = chart;
  context.font = kFont;
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  let drawn = 0;
  chart.named = [];
  for (const box of boxesForNames(sheet, crisp.map(seenBox))) {
    const width = box.x1 - box.x0;
    const height = box.y1 - box.y0;
    if (width < 38 || height < 13) continue;
    if (++drawn > kMostLabels) break;
    const letters = Math.floor((width - 9) / kLetterWidth);
    const size = shortBytes(sheet.bufferSize[box.buffer]);
    const name = nameThatFits(context, sheet, box.buffer, letters, width - 8);
    const isTall = height >= 30 && size.length <= letters && name !== size;
    const isWide = !isTall && name !== size && name.length + size.length + 2 <= letters;
    const middle = (box.y0 + box.y1) / 2;
    const {css, text} = table[paints[box.buffer]];
    const halo = isAgain(sheet, box.buffer) ? css : null; // over hatching
    const line = isWide ? `${name}  ${size}` : name;
    const reach = Math.max(context.measureText(line).width, isTall ? context.measureText(size).width : 0);
    drawText(context, line, box.x0 + 5, isTall ? middle - 7 : middle, text, 'left', halo);
    if (isTall) drawText(context, size, box.x0 + 5, middle + 7, text, 'left', halo);
    chart.named.push({x0: box.x0, x1: box.x0 + 10 + reach, y0: middle - 16, y1: middle + 16});
  }
  return Math.min(drawn, kMostLabels);
}
