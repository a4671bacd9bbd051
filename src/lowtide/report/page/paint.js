// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The colour of each buffer. A paint is a small number: class x 3 shades, and the same again dimmed. Shades follow the
// buffer id, so that neighbours of one class differ.

const kShades = 3;
const kSizeFractions = [2, 8, 32, 128, 1024]; // of the largest buffer: the limits between classes of sizes
const kDimmed = 128; // added to the paint of a buffer that is neither found nor singled out

// Each way to colour gives classes, [{name, color (a css name)}], and classOf[buffer], an index into them.
function kindClasses(sheet) {
  const classes = sheet.kinds.map((kind) => ({name: kind, color: sheet.colorOfKind(kind)}));
  return {classes, classOf: sheet.bufferKind};
}

// Operators by the byte-steps of their outputs, the heaviest first. All compared sheets count together, so that a
// colour means the same on both sides.
function heaviestOps(sheets) {
  const weight = new Map();
  for (const sheet of sheets) {
    for (let block = 0; block < sheet.blockCount; ++block) {
      const buffer = sheet.blockBuffer[block];
      if (!sheet.isPlaced(buffer) || sheet.bufferOp[buffer] === kNone) continue;
      const op = sheet.ops[sheet.bufferOp[buffer]];
      const area = sheet.blockSize[block] * (sheet.blockEnd[block] - sheet.blockBegin[block]);
      weight.set(op, (weight.get(op) ?? 0) + area);
    }
  }
  return [...weight].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([op]) => op);
}

function operatorClasses(sheet, ops) {
  const named = ops.slice(0, ops.length > kHueCount ? kHueCount - 1 : kHueCount);
  const classes = named.map((name, at) => ({name, color: `hue-${at}`}));
  classes.push({name: ops.length > named.length ? 'other operators' : 'no operator', color: 'hue-other'});
  const indexOfOp = sheet.ops.map((op) => (named.includes(op) ? named.indexOf(op) : named.length));
  const classOf = Uint8Array.from(sheet.bufferOp, (op) => (op === kNone ? named.length : indexOfOp[op]));
  return {classes, classOf};
}

// Sizes on a ramp: each class is a fraction of the largest buffer in sight.
function sizeClasses(sheet, largest) {
  const limits = kSizeFractions.map((fraction) => largest / fraction);
  const classes = limits.map((limit, at) => ({name: `over ${shortBytes(Math.floor(limit))}`, color: `size-${at}`}));
  classes.push({name: `up to ${shortBytes(Math.floor(limits.at(-1)))}`, color: `size-${limits.length}`});
  const classOf = Uint8Array.from(sheet.bufferSize, (size) => {
    const at = limits.findIndex((limit) => size > limit);
    return at < 0 ? limits.length : at;
  });
  return {classes, classOf};
}

function largestBuffer(sheets) {
  let largest = 1;
  for (const sheet of sheets) {
    sheet.bufferSize.forEach((size, buffer) => {
      if (sheet.isPlaced(buffer) && size > largest) largest = size;
    });
  }
  return largest;
}

// The stream that writes the value by which a buffer is named, or that uses the scratch.
function streamClasses(sheet) {
  const count = Math.min(sheet.streamCount, kHueCount);
  const classes = Array.from({length: count}, (_, at) => ({name: sheet.streamName(at), color: `hue-${at}`}));
  classes.push({name: 'other', color: 'hue-other'});
  const classOf = Uint8Array.from(sheet.bufferKind, (_, buffer) => {
    const value = sheet.mainValue[buffer];
    const step = value === kNone ? sheet.scratchStep[buffer] : sheet.valueWritten[value];
    return step === kNone ? count : Math.min(count, sheet.stepStream[step]);
  });
  return {classes, classOf};
}

// The ways to colour that say something about the sheets in sight, the best first.
function coloursOffered() {
  const sheets = state.inSight;
  if (state.shown.isPacking) return ['size', 'peak', ...(state.shown.hasFixed ? ['kind'] : [])];
  return [
    'peak',
    'operator',
    'size',
    'kind',
    ...(sheets.some((sheet) => sheet.streamCount > 1) ? ['stream'] : []),
    ...(sheets.some((sheet) => returnsOf(sheet).length > 0) ? ['runs'] : []),
    ...(isRootComparison() ? ['change'] : []),
  ];
}

function firstColour() {
  return coloursOffered()[0];
}

// Returns {classes, classOf} for a way to colour. `shared` is the same for all sheets in sight: {ops, largest}.
function paintSheet(sheet, colourBy, {ops, largest}) {
  switch (colourBy) {
    case 'operator':
      return operatorClasses(sheet, ops);
    case 'size':
      return sizeClasses(sheet, largest);
    case 'stream':
      return streamClasses(sheet);
    case 'runs':
      return returnClasses(sheet);
    case 'change':
      return {classes: kChangeClasses, classOf: changesOf(sheet)};
    case 'peak':
      return peakClasses(sheet, state.region);
    default:
      return kindClasses(sheet);
  }
}

// One byte per buffer. `lit(buffer)` tells whether a buffer is highlighted; null: all are.
function paintsOf(sheet, classOf, lit) {
  const paints = new Uint8Array(sheet.bufferCount);
  for (let buffer = 0; buffer < sheet.bufferCount; ++buffer) {
    const shade = buffer % kShades;
    paints[buffer] = classOf[buffer] * kShades + shade + (lit === null || lit(buffer) ? 0 : kDimmed);
  }
  return paints;
}

// Colours of all paints in the current theme: {css, text, rgb}, indexed by paint.
function mixPaints(classes) {
  const ground = channels(cssColor('map'));
  const onFill = cssColor('on-fill'); // one colour for all names, readable on every class
  const onFaded = cssColor('text');
  const lighter = [255, 255, 255];
  const darker = [0, 0, 0];
  const table = new Array(256);
  classes.forEach(({color}, at) => {
    const base = channels(cssColor(color));
    for (let shade = 0; shade < kShades; ++shade) {
      const rgb = shade === 0 ? base : mix(base, shade === 1 ? lighter : darker, shade === 1 ? 0.06 : 0.08);
      const faded = mix(ground, rgb, 0.22);
      for (const [paint, shown, text] of [
        [at * kShades + shade, rgb, onFill],
        [at * kShades + shade + kDimmed, faded, onFaded],
      ]) {
        table[paint] = {css: hexOf(shown), text, rgb: shown.map(Math.round)};
      }
    }
  });
  return table;
}
