// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The shape of a buffer: one box, or a staircase of its parts, which are stacked from its first byte on. A box is
// {x0, x1, y0, y1} in pixels with y0 above y1; `block` is the block that it shows.

const kMostJoined = 32; // boxes joined to make space for a name
const kLargestUse = {width: 240, height: 30}; // more does not help a name

// The box around all bytes and steps of a buffer, or around one of its blocks. It is clipped slightly outside of the
// map.
function boxOf(chart, buffer) {
  const {bufferBegin, bufferEnd, bufferOffset, bufferSize} = chart.sheet;
  return boxAround(chart, bufferBegin[buffer], bufferEnd[buffer], bufferOffset[buffer], bufferSize[buffer]);
}

function boxesOf(chart, buffer) {
  const {sheet} = chart;
  return sheet.blocksOf(buffer).map((block) => ({
    block,
    ...boxAround(
      chart,
      sheet.blockBegin[block],
      sheet.blockEnd[block],
      sheet.blockOffset[block],
      sheet.blockSize[block],
    ),
  }));
}

function boxAround(chart, begin, end, low, size) {
  const {map} = chart.layout;
  const clampX = (x) => Math.min(Math.max(x, map.x - 3), map.x + map.w + 3);
  const clampY = (y) => Math.min(Math.max(y, map.y - 3), map.y + map.h + 3);
  return {
    x0: clampX(chart.xOf(begin)),
    x1: clampX(chart.xOf(end)),
    y0: clampY(chart.yOf(low + size)),
    y1: clampY(chart.yOf(low)),
  };
}

// Whether a box is stacked on the previous one and overlaps it in steps.
function standsOn(lower, upper) {
  return upper.block === lower.block + 1 && Math.min(lower.x1, upper.x1) > Math.max(lower.x0, upper.x0);
}

// Corners around the boxes of one buffer, which are in the order of its blocks. There is one list [[x, y], ...] per
// group of stacked boxes, up along the right sides and down along the left sides.
function outlinesOf(boxes) {
  const groups = [];
  boxes.forEach((box, at) => {
    if (at > 0 && standsOn(boxes[at - 1], box)) groups.at(-1).push(box);
    else groups.push([box]);
  });
  return groups.map((group) => {
    const up = group.flatMap(({x1, y0, y1}) => [
      [x1, y1],
      [x1, y0],
    ]);
    const down = group.flatMap(({x0, y0, y1}) => [
      [x0, y1],
      [x0, y0],
    ]);
    return [...up, ...down.reverse()];
  });
}

// `pen`: a canvas context, or a pen that records a path.
function traceOutlines(pen, outlines) {
  for (const corners of outlines) {
    corners.forEach(([x, y], at) => (at === 0 ? pen.moveTo(x, y) : pen.lineTo(x, y)));
    pen.closePath();
  }
}

// A line around the outside of a buffer.
function outlineBuffer(chart, context, buffer, color, width) {
  if (chart.sheet.blockCountOf(buffer) === 1) {
    outline(context, boxOf(chart, buffer), color, width);
    return;
  }
  const {map} = chart.layout;
  const outlines = outlinesOf(boxesOf(chart, buffer));
  context.save();
  context.beginPath();
  context.rect(map.x - 10, map.y - 10, map.w + 20, map.h + 20);
  traceOutlines(context, outlines);
  context.clip('evenodd');
  context.beginPath();
  traceOutlines(context, outlines);
  context.strokeStyle = color;
  context.lineWidth = 2 * width;
  context.stroke();
  context.restore();
}

function outline(context, {x0, x1, y0, y1}, color, width) {
  context.strokeStyle = color;
  context.lineWidth = width;
  context.strokeRect(x0 - width / 2, y0 - width / 2, Math.max(x1 - x0, 2) + width, Math.max(y1 - y0, 2) + width);
}

// The box in which a name fits best, within the boxes of one buffer. It may span several of them.
function boxForName(boxes) {
  let best = null;
  let bestUse = 0;
  for (let first = 0; first < boxes.length; ++first) {
    const box = {...boxes[first]};
    for (let last = first; last < Math.min(first + kMostJoined, boxes.length); ++last) {
      const {x0, x1, y0} = boxes[last];
      if (last > first && !standsOn(boxes[last - 1], boxes[last])) break;
      Object.assign(box, {x0: Math.max(box.x0, x0), x1: Math.min(box.x1, x1), y0});
      const [width, height] = [box.x1 - box.x0, box.y1 - box.y0];
      if (width <= 0) break;
      const use = Math.min(width, kLargestUse.width) * Math.min(height, kLargestUse.height) + 1e-6 * width * height;
      if (use > bestUse) [best, bestUse] = [{...box}, use];
    }
  }
  return best;
}

// The boxes in which names are written, one per buffer. Buffers of several blocks are searched for a large one.
function boxesForNames(sheet, boxes) {
  if (!sheet.hasParts) return boxes;
  const joined = new Map();
  for (const box of boxes) {
    if (sheet.blockCountOf(box.buffer) === 1) continue;
    if (!joined.has(box.buffer)) joined.set(box.buffer, []);
    joined.get(box.buffer).push(box);
  }
  const named = boxes.filter((box) => !joined.has(box.buffer));
  for (const list of joined.values()) {
    const box = boxForName(list.sort((a, b) => a.block - b.block));
    if (box !== null) named.push(box);
  }
  return named;
}
