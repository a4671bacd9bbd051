// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The colour of each buffer. A paint is a small number: class x 3 shades, and the same again dimmed. Shades follow the
// buffer id, so that neighbours of one class differ.

const kShades = 3;
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
  classes.push({name: ops.length > named.length ? sheet.words.otherOperators : 'no operator', color: 'hue-other'});
  const indexOfOp = sheet.ops.map((op) => (named.includes(op) ? named.indexOf(op) : named.length));
  const classOf = Uint8Array.from(sheet.bufferOp, (op) => (op === kNone ? named.length : indexOfOp[op]));
  return {classes, classOf};
}

// Returns {classes, classOf} for a way to colour. `changes` has the class of each buffer in a comparison, or is null.
function paintSheet(sheet, colourBy, ops, changes) {
  if (colourBy === 'operator') return operatorClasses(sheet, ops);
  if (colourBy === 'change' && changes) return {classes: kChangeClasses, classOf: changes};
  return kindClasses(sheet);
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
  const lighter = [255, 255, 255];
  const darker = [0, 0, 0];
  const table = new Array(256);
  classes.forEach(({color}, at) => {
    const base = channels(cssColor(color));
    for (let shade = 0; shade < kShades; ++shade) {
      const rgb = shade === 0 ? base : mix(base, shade === 1 ? lighter : darker, shade === 1 ? 0.06 : 0.08);
      const faded = mix(ground, rgb, 0.22);
      for (const [paint, shown] of [
        [at * kShades + shade, rgb],
        [at * kShades + shade + kDimmed, faded],
      ]) {
        const text = contrast(shown, lighter) >= contrast(shown, darker) ? '#ffffff' : '#000000';
        table[paint] = {css: hexOf(shown), text, rgb: shown.map(Math.round)};
      }
    }
  });
  return table;
}
