// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Compares two plans. Buffers match if they hold a tensor of the same name; scratch matches if the same node uses it.

const kChangeClasses = [
  {name: 'unchanged', color: 'change-same'},
  {name: 'other address', color: 'change-moved'},
  {name: 'other steps', color: 'change-retimed'},
  {name: 'other size', color: 'change-resized'},
  {name: 'only here', color: 'change-only'},
];
const [kSame, kMoved, kRetimed, kResized, kOnlyHere] = kChangeClasses.keys();

function scratchKey(sheet, step) {
  const node = sheet.stepNode[step];
  const writes = sheet.writesOfStep.of(step);
  const tensor = writes.length > 0 ? sheet.tensorNameOf(writes[0]) : '';
  return JSON.stringify([node === kNone ? '' : sheet.nodeName[node], tensor]);
}

// The buffers of tensors and of scratch: Map(name or key -> buffer).
function buffersByName(sheet) {
  const tensors = new Map();
  const scratches = new Map();
  for (let value = 0; value < sheet.valueCount; ++value) {
    if (sheet.valueTensor[value] !== kNone && sheet.valueBuffer[value] !== kNone) {
      tensors.set(sheet.tensorNameOf(value), sheet.valueBuffer[value]);
    }
  }
  for (let buffer = 0; buffer < sheet.bufferCount; ++buffer) {
    if (sheet.scratchStep[buffer] !== kNone) scratches.set(scratchKey(sheet, sheet.scratchStep[buffer]), buffer);
  }
  return {tensors, scratches};
}

function counterpartsOf(sheet, other) {
  const {tensors, scratches} = buffersByName(other);
  const counterparts = new Int32Array(sheet.bufferCount).fill(kNone);
  for (let buffer = 0; buffer < sheet.bufferCount; ++buffer) {
    const value = sheet.mainValue[buffer];
    if (value !== kNone) counterparts[buffer] = tensors.get(sheet.tensorNameOf(value)) ?? kNone;
    else if (sheet.scratchStep[buffer] !== kNone) {
      counterparts[buffer] = scratches.get(scratchKey(sheet, sheet.scratchStep[buffer])) ?? kNone;
    }
  }
  return counterparts;
}

// Whether two buffers of one size are live in the same steps, part by part.
function liveAlike(sheet, buffer, other, counterpart) {
  const blocks = sheet.blocksOf(buffer);
  const others = other.blocksOf(counterpart);
  return (
    blocks.length === others.length &&
    blocks.every(
      (block, at) =>
        sheet.blockSize[block] === other.blockSize[others[at]] &&
        sheet.blockBegin[block] === other.blockBegin[others[at]] &&
        sheet.blockEnd[block] === other.blockEnd[others[at]],
    )
  );
}

function changeClass(sheet, buffer, other, counterpart) {
  if (counterpart === kNone) return kOnlyHere;
  if (sheet.bufferSize[buffer] !== other.bufferSize[counterpart]) return kResized;
  if (
    sheet.bufferRegion[buffer] !== other.bufferRegion[counterpart] ||
    sheet.bufferOffset[buffer] !== other.bufferOffset[counterpart]
  )
    return kMoved;
  return liveAlike(sheet, buffer, other, counterpart) ? kSame : kRetimed;
}

// For each of two sheets: Map(sheet -> {other, counterparts, changes}).
function compareSheets(before, after) {
  const comparison = new Map();
  for (const [sheet, other] of [
    [before, after],
    [after, before],
  ]) {
    const counterparts = counterpartsOf(sheet, other);
    const changes = new Uint8Array(sheet.bufferCount);
    for (let buffer = 0; buffer < sheet.bufferCount; ++buffer) {
      changes[buffer] = changeClass(sheet, buffer, other, counterparts[buffer]);
    }
    comparison.set(sheet, {other, counterparts, changes});
  }
  return comparison;
}

// The comparison of the two plans of this page; null if there is only one. Made on first use.
function comparison() {
  if (state.against === null) return null;
  comparison.made ??= compareSheets(state.against, state.shown);
  return comparison.made;
}

function changesOf(sheet) {
  return comparison()?.get(sheet)?.changes ?? null;
}

// Placed buffers of each change class.
function countChanges(sheet) {
  const counts = kChangeClasses.map(() => 0);
  changesOf(sheet).forEach((change, buffer) => {
    if (sheet.isPlaced(buffer)) ++counts[change];
  });
  return counts;
}

// The change of a buffer in words.
function changeWords(sheet, buffer) {
  const {other, counterparts, changes} = comparison().get(sheet);
  const here = sheet === state.shown ? 'after' : 'before';
  const there = sheet === state.shown ? 'before' : 'after';
  const match = counterparts[buffer];
  if (changes[buffer] === kOnlyHere) return `Only in the plan ${here}: the other plan has no such tensor.`;
  if (changes[buffer] === kSame) return `The same ${there}.`;
  const words = [];
  if (sheet.bufferSize[buffer] !== other.bufferSize[match]) words.push(`size ${shortBytes(other.bufferSize[match])}`);
  if (sheet.bufferOffset[buffer] !== other.bufferOffset[match]) {
    words.push(other.isPlaced(match) ? `address ${countText(other.bufferOffset[match])}` : 'not in an arena');
  }
  const sameSteps =
    sheet.bufferBegin[buffer] === other.bufferBegin[match] && sheet.bufferEnd[buffer] === other.bufferEnd[match];
  if (!sameSteps) words.push(other.lifeText(match));
  else if (sheet.bufferSize[buffer] === other.bufferSize[match] && !liveAlike(sheet, buffer, other, match))
    words.push(
      other.blockCountOf(match) > 1 ? 'its bytes are live in other steps' : 'all its bytes are live as long as it is',
    );
  return `${there === 'before' ? 'Before' : 'After'}: ${words.join(', ') || 'another region'}.`;
}
