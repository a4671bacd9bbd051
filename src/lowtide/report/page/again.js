// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Values that are in the arena more than once: nodes that run again, and tensors that leave the arena and come back.

const kReturnClasses = [
  {name: 'again later', color: 'change-peak'},
  {name: 'runs again', color: 'change-only'},
  {name: 'comes back', color: 'change-shared'},
  {name: 'once', color: 'change-same'},
];
const [kAgainLater, kRunsAgain, kCameBack, kOnce] = kReturnClasses.keys();

// What a copy from outside of the arena began with: the value in the arena, and the step that copied it out. null if
// the value is not such a copy.
function leftBefore(sheet, value) {
  const step = sheet.valueWritten[value];
  const [outside = kNone] = sheet.readsOf(step);
  if (!sheet.isCopy(step) || outside === kNone) return null;
  if (!sheet.isOutside(outside) || sheet.isOutside(value)) return null;
  const out = sheet.valueWritten[outside];
  const [from = kNone] = out === kNone ? [] : sheet.readsOf(out);
  return from === kNone || !sheet.isCopy(out) ? null : {from, left: out};
}

// The values that are in the arena again, in the order of values: [{from, value, left, step, isMoved}]. `from` is the
// value of the same tensor before, which is in the arena up to the step `left`. `step` makes it again. Made once.
function returnsOf(sheet) {
  if (sheet.isPacking) return [];
  if (sheet.returns) return sheet.returns;
  const latest = new Int32Array(sheet.tensorName.length).fill(kNone); // that a kernel wrote
  sheet.returns = [];
  for (let value = 0; value < sheet.valueCount; ++value) {
    const step = sheet.valueWritten[value];
    const tensor = sheet.valueTensor[value];
    if (tensor === kNone || step === kNone) continue;
    const moved = leftBefore(sheet, value);
    if (moved !== null) sheet.returns.push({...moved, value, step, isMoved: true});
    if (sheet.isCopy(step) || sheet.stepAlias[step] !== 0) continue;
    const from = latest[tensor];
    latest[tensor] = value;
    if (from === kNone || sheet.valueWritten[from] >= step) continue;
    const lastRead = sheet.lastReadOf(from);
    const left = lastRead === kNone ? sheet.valueWritten[from] : lastRead;
    sheet.returns.push({from, value, left, step, isMoved: false});
  }
  sheet.returnOfBuffer = new Map();
  sheet.leaving = new Set(
    sheet.returns.filter(({isMoved}) => isMoved).map(({from}) => sheet.valueBuffer[from]), // over a link
  );
  for (const one of sheet.returns) {
    const buffer = sheet.valueBuffer[one.value];
    if (!sheet.returnOfBuffer.has(buffer) || sheet.mainValue[buffer] === one.value)
      sheet.returnOfBuffer.set(buffer, one);
  }
  return sheet.returns;
}

// The return of a buffer: that of the value by which it is named, otherwise of another value in it. null if none of its
// values returns.
function returnOf(sheet, buffer) {
  return returnsOf(sheet).length === 0 ? null : (sheet.returnOfBuffer.get(buffer) ?? null);
}

function isAgain(sheet, buffer) {
  return returnOf(sheet, buffer)?.isMoved === false;
}

// The number of nodes that run several times, and of their runs after the first. Steps that run nothing do not count.
function rerunsOf(sheet) {
  if (sheet.reruns) return sheet.reruns;
  const runs = new Map();
  for (let step = 0; step < sheet.stepCount; ++step) {
    const node = sheet.stepNode[step];
    if (node === kNone || sheet.stepAlias[step] !== 0 || sheet.isCopy(step)) continue;
    runs.set(node, (runs.get(node) ?? 0) + 1);
  }
  const more = [...runs.values()].filter((count) => count > 1);
  sheet.reruns = {nodes: more.length, runs: more.reduce((sum, count) => sum + count - 1, 0)};
  return sheet.reruns;
}

// The tensors that leave the arena and come back, and their bytes in each direction.
function movesOf(sheet) {
  const moved = returnsOf(sheet).filter(({isMoved}) => isMoved);
  const once = new Map(moved.map((one) => [`${one.from}`, one])); // one copy out may have several back
  const bytesOf = (list) => list.reduce((sum, {value}) => sum + sheet.valueSize(value), 0);
  return {
    tensors: new Set(moved.map(({value}) => sheet.valueTensor[value])).size,
    out: bytesOf([...once.values()]),
    back: bytesOf(moved),
  };
}

// Other buffers that hold a value of one of its tensors in the same region, and the returns that connect all of them.
function relativesOf(sheet, buffer) {
  const tensors = new Set(Array.from(sheet.valuesOfBuffer.of(buffer), (value) => sheet.valueTensor[value]));
  const links = returnsOf(sheet).filter(({value}) => tensors.has(sheet.valueTensor[value]));
  const buffers = new Set(links.flatMap(({from, value}) => [sheet.valueBuffer[from], sheet.valueBuffer[value]]));
  buffers.delete(buffer);
  return {buffers: [...buffers], links};
}

// The class of each buffer among kReturnClasses.
function returnClasses(sheet) {
  const classOf = new Uint8Array(sheet.bufferCount).fill(kOnce);
  for (const {from} of returnsOf(sheet)) classOf[sheet.valueBuffer[from]] = kAgainLater;
  for (const [buffer, {isMoved}] of sheet.returnOfBuffer) classOf[buffer] = isMoved ? kCameBack : kRunsAgain;
  return {classes: kReturnClasses, classOf};
}

// The most arrows drawn at once, among other colours and among those of runs. If there are more, only those of the
// buffer under the pointer or the selected one are drawn.
const kEdge = 3; // pixels: the mark at the side where a value leaves or comes back

// Marks the sides of a box: the left one if its value came back, the right one if it leaves.
function markMoves(chart, context, {buffer, left, right, top, bottom}) {
  const {sheet, ink} = chart;
  const comesBack = returnOf(sheet, buffer)?.isMoved === true;
  const leaves = sheet.leaving?.has(buffer);
  if ((!comesBack && !leaves) || right - left < 2 * kEdge) return false;
  context.fillStyle = ink.moved;
  if (comesBack) context.fillRect(left, top, kEdge, bottom - top);
  if (leaves) context.fillRect(right - kEdge, top, kEdge, bottom - top);
  return true;
}

const kMostReturns = {others: 8, runs: 400};
const kHeadLength = 7;

// Where the arrow of a return begins and ends in the picture: {x0, y0, x1, y1}. null if it is not in this region, or
// wholly out of sight.
function arrowOf(chart, {from, value, left, step}) {
  const {
    sheet,
    layout: {map},
  } = chart;
  const ends = [from, value].map((one) => sheet.valueBuffer[one]);
  if (ends.some((buffer) => sheet.bufferRegion[buffer] !== state.region)) return null;
  // The middle of a value in the picture.
  const middle = (one) =>
    chart.yOf(sheet.bufferOffset[sheet.valueBuffer[one]] + sheet.valueOffset[one] + sheet.valueSize(one) / 2);
  const arrow = {x0: chart.xOf(left + 1), y0: middle(from), x1: chart.xOf(step), y1: middle(value)};
  const isBeside = arrow.x1 < map.x || arrow.x0 > map.x + map.w;
  const isAbove = Math.max(arrow.y0, arrow.y1) < map.y || Math.min(arrow.y0, arrow.y1) > map.y + map.h;
  return isBeside || isAbove ? null : arrow;
}

// The curve of an arrow, level at both ends: the control points of a Bézier curve.
function bendOf({x0, x1, y0, y1}) {
  const reach = Math.max(10, Math.min(80, (x1 - x0) / 2));
  return [x0 + reach, y0, x1 - reach, y1];
}

function drawArrow(context, arrow, color, {width = 1, dash = [], halo = null} = {}) {
  const {x0, y0, x1, y1} = arrow;
  const path = () => {
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(...bendOf(arrow), x1 - kHeadLength, y1);
  };
  const passes =
    halo === null
      ? [[color, width]]
      : [
          [halo, width + 3],
          [color, width],
        ];
  context.setLineDash(dash);
  for (const [style, wide] of passes) {
    context.strokeStyle = style;
    context.lineWidth = wide;
    path();
    context.stroke();
  }
  context.setLineDash([]);
  context.fillStyle = color;
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - kHeadLength, y1 - kHeadLength / 2);
  context.lineTo(x1 - kHeadLength, y1 + kHeadLength / 2);
  context.fill();
}

function returnColor({ink}, {isMoved}) {
  return isMoved ? ink.moved : ink.again;
}

// Thin arrows from each value to the next one of the same tensor, if there are not too many in sight.
function arrowsInSight(chart) {
  const arrows = [];
  const most = state.colourBy === 'runs' ? kMostReturns.runs : kMostReturns.others;
  for (const one of returnsOf(chart.sheet)) {
    const arrow = arrowOf(chart, one);
    if (arrow === null) continue;
    if (arrows.length === most) return [];
    arrows.push({...arrow, color: returnColor(chart, one), isMoved: one.isMoved});
  }
  return arrows;
}

function drawReturns(chart, context) {
  const {map} = chart.layout;
  if (chart.sheet.isPacking || returnsOf(chart.sheet).length === 0) return;
  context.save();
  context.beginPath();
  context.rect(map.x, map.y, map.w, map.h);
  context.clip();
  for (const {color, isMoved, ...arrow} of arrowsInSight(chart))
    drawArrow(context, arrow, color, {dash: isMoved ? [4, 3] : [], halo: `${chart.ink.map}a0`});
  context.restore();
}

// All runs of the buffer that is selected or under the pointer, with their arrows.
function drawRelatives(chart, context, buffer, color) {
  const {buffers, links} = relativesOf(chart.sheet, buffer);
  for (const other of buffers) {
    if (chart.sheet.bufferRegion[other] !== state.region) continue;
    outlineBuffer(chart, context, other, chart.ink.map, 3);
    outlineBuffer(chart, context, other, color, 1.5);
  }
  for (const one of links) {
    const arrow = arrowOf(chart, one);
    if (arrow !== null)
      drawArrow(context, arrow, returnColor(chart, one), {
        width: 2,
        dash: one.isMoved ? [6, 3] : [],
        halo: chart.ink.map,
      });
  }
}

function svgReturns(chart) {
  if (chart.sheet.isPacking) return [];
  return arrowsInSight(chart).map(({color, isMoved, ...arrow}) => {
    const {x0, y0, x1, y1} = arrow;
    const [a, b, c, d] = bendOf(arrow).map(fixed);
    const [tip, y] = [fixed(x1), fixed(y1)];
    const back = fixed(x1 - kHeadLength);
    const side = kHeadLength / 2;
    return (
      `<path d="M${fixed(x0)} ${fixed(y0)}C${a} ${b} ${c} ${d} ${back} ${y}" fill="none" stroke="${color}"` +
      `${isMoved ? ' stroke-dasharray="4 3"' : ''}/>` +
      `<path d="M${tip} ${y}L${back} ${fixed(y1 - side)}L${back} ${fixed(y1 + side)}z" fill="${color}"/>`
    );
  });
}
