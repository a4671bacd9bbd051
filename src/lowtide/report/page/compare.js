// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Compares two plans. Buffers match if they hold a tensor of the same name; scratch matches if the same node uses it.
// Addresses do not count as changes: a new plan moves nearly every buffer, and that alone costs nothing.

const kChangeClasses = [
  {name: 'unchanged', color: 'change-same'},
  {name: 'at the peak only here', color: 'change-peak'},
  {name: 'shared differently', color: 'change-shared'},
  {name: 'different size', color: 'change-resized'},
  {name: 'only here', color: 'change-only'},
];
const [kSame, kPeakOnlyHere, kShared, kResized, kOnlyHere] = kChangeClasses.keys();

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

function isAtPeak(sheet, buffer) {
  const region = sheet.bufferRegion[buffer];
  return region !== kNone && sheet.bytesAt(buffer, regionFacts(sheet, region).peakStep) > 0;
}

// The names of the tensors of a buffer, sorted and joined.
function tensorsKey(sheet, buffer) {
  const names = Array.from(sheet.valuesOfBuffer.of(buffer), (value) => sheet.tensorNameOf(value));
  return JSON.stringify(names.sort());
}

function changeClass(sheet, buffer, other, counterpart) {
  if (counterpart === kNone) return kOnlyHere;
  if (isAtPeak(sheet, buffer) && !isAtPeak(other, counterpart)) return kPeakOnlyHere;
  if (tensorsKey(sheet, buffer) !== tensorsKey(other, counterpart)) return kShared;
  return sheet.bufferSize[buffer] === other.bufferSize[counterpart] ? kSame : kResized;
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

// The names of a sheet of the comparison and of the other one: "after" and "before", or "before" and "after".
function sidesOf(sheet) {
  return sheet === state.shown ? ['after', 'before'] : ['before', 'after'];
}

// The change of a buffer in words.
function changeWords(sheet, buffer) {
  const {other, counterparts, changes} = comparison().get(sheet);
  const [here, there] = sidesOf(sheet);
  const match = counterparts[buffer];
  if (match === kNone) return `Only in the plan ${here}: the other plan has no such tensor.`;
  const words = [];
  if (isAtPeak(sheet, buffer) !== isAtPeak(other, match))
    words.push(isAtPeak(other, match) ? 'at the peak' : 'not at the peak');
  if (changes[buffer] !== kSame && tensorsKey(sheet, buffer) !== tensorsKey(other, match))
    words.push(`in the buffer of ${other.bufferText(match)}`);
  if (sheet.bufferSize[buffer] !== other.bufferSize[match]) words.push(`size ${shortBytes(other.bufferSize[match])}`);
  const parts = (plan, id) => plan.blocksOf(id).map((block) => partText(plan, block));
  if (sheet.lifeText(buffer) !== other.lifeText(match)) words.push(other.lifeText(match));
  else if (parts(sheet, buffer).join() !== parts(other, match).join()) words.push('its bytes are live in other steps');
  const isMoved = sheet.bufferOffset[buffer] !== other.bufferOffset[match];
  if (isMoved)
    words.push(other.isPlaced(match) ? `address ${countText(other.bufferOffset[match])}` : 'not in an arena');
  if (words.length === 0) return `The same ${there}.`;
  return `${there === 'before' ? 'Before' : 'After'}: ${words.join(', ')}.`;
}
