// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The bytes outside of the arena: inputs, weights and states belong to the caller or to the model. They are drawn as
// one bar beside the map, on a scale of its own.

const kOutsideKinds = [
  ['input', 'inputs'],
  ['constant', 'weights'],
  ['state', 'states'],
];

// " of 2 MiB in flash"; '' if the plan does not state where the weights are.
function placeOfWeights(sheet) {
  const region = sheet.regions[sheet.facts.constants];
  if (region === undefined) return '';
  return `${region.capacity === null ? '' : ` of ${shortBytes(region.capacity)}`} in ${region.name}`;
}

// [{name, bytes, color, place}], the arena first. Made once per sheet.
function memoryParts(sheet) {
  if (sheet.memory) return sheet.memory;
  const bytes = new Map();
  for (let buffer = 0; buffer < sheet.bufferCount; ++buffer) {
    if (sheet.isPlaced(buffer)) continue;
    const kind = sheet.kindOf(buffer);
    bytes.set(kind, (bytes.get(kind) ?? 0) + sheet.bufferSize[buffer]);
  }
  // ONNX has no states of its own, so these stand for memory in which the caller takes the outputs.
  const isOutput = (kind) => kind === 'state' && sheet.facts.lowering?.includes('outputs_at_caller');
  sheet.memory = [
    {name: sheet.words.top, bytes: totals(sheet).arena, color: 'arena', place: '', isCounted: false},
    ...sheet.regions
      .filter(({outside, arena}) => outside && arena > 0)
      .map(({name, arena}) => ({
        name: `moved to ${name}`,
        short: `to ${name}`,
        region: name,
        bytes: arena,
        color: 'kind-state',
        place: '',
        isCounted: false,
      })),
    ...kOutsideKinds
      .filter(([kind]) => bytes.get(kind) > 0)
      .map(([kind, name]) => ({
        name: isOutput(kind) ? 'outputs' : name,
        bytes: bytes.get(kind),
        color: `kind-${kind}`,
        place: kind === 'constant' ? placeOfWeights(sheet) : '',
        isCounted: true,
      })),
  ];
  return sheet.memory;
}

function memoryInAll(sheet) {
  return memoryParts(sheet).reduce((sum, {bytes}) => sum + bytes, 0);
}

// Whether there is a bar: something is outside of the arena, and the picture has space beside the map.
function hasOutside(sheet, width) {
  return width >= 900 && !sheet.isPacking && !isRootComparison() && memoryParts(sheet).length > 1;
}

const kTextDistance = 28; // between the middles of two texts
const kLeaderWidth = 12; // from the bar to its texts
const kOutsideLetters = 11; // of a name

// The parts of the bar from bottom to top: [{x, y, w, h, color, lines, textY}]. A text may be beside another part if
// its own is thin, so a line leads to it.
function outsideBoxes({sheet, layout: {outside}}) {
  const all = memoryInAll(sheet);
  let y = outside.y + outside.h;
  let lowest = y + kTextDistance / 2;
  const boxes = memoryParts(sheet).map(({name, short = name, bytes, color}) => {
    const h = (bytes / all) * outside.h;
    y -= h;
    lowest = Math.min(y + h / 2, lowest - kTextDistance);
    const lines = [elideEnd(short, kOutsideLetters), shortBytes(bytes)];
    return {x: outside.x, y, w: outside.bar, h: Math.max(h, 2), color, lines, textY: lowest};
  });
  let highest = outside.y + kTextDistance / 2;
  for (const box of [...boxes].reverse()) {
    box.textY = Math.max(box.textY, highest);
    highest = box.textY + kTextDistance;
  }
  return boxes;
}

// From the middle of a part to its text, which has a stroke in the colour of the part beside it.
function leaderLines(x, y, textY) {
  return [
    [x, y, x + kLeaderWidth, textY],
    [x + kLeaderWidth, textY - 11, x + kLeaderWidth, textY + 11],
  ];
}

function drawOutside(chart, context) {
  const {outside} = chart.layout;
  if (outside === null) return;
  context.font = kFont;
  const {ink, sheet} = chart;
  drawText(context, `in all ${shortBytes(memoryInAll(sheet))}`, outside.x, outside.y - 10, ink.text);
  for (const {x, y, w, h, color, lines, textY} of outsideBoxes(chart)) {
    context.fillStyle = ink[color];
    context.fillRect(x, y, w, Math.max(1, h - 1));
    leaderLines(x + w, y + h / 2, textY).forEach((ends) => drawLine(context, ...ends, ink[color]));
    lines.forEach((line, at) =>
      drawText(context, line, x + w + kLeaderWidth + 3, textY + 13 * at - 6, at === 0 ? ink.muted : ink.text),
    );
  }
}

function svgOutside(chart) {
  const {outside} = chart.layout;
  if (outside === null) return [];
  const {ink, sheet} = chart;
  return [
    svgText(outside.x, outside.y - 6, `in all ${shortBytes(memoryInAll(sheet))}`, ink.text),
    ...outsideBoxes(chart).flatMap(({x, y, w, h, color, lines, textY}) => [
      svgRect({x, y, w, h: Math.max(1, h - 1)}, ink[color]),
      ...leaderLines(x + w, y + h / 2, textY).map((ends) => svgLine(...ends, ink[color])),
      ...lines.map((line, at) =>
        svgText(x + w + kLeaderWidth + 3, textY + 13 * at - 2, line, at === 0 ? ink.muted : ink.text),
      ),
    ]),
  ];
}
