// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Explains how the values of one buffer share its bytes: views, results in place, slices of a concat. A sentence is a
// list of parts: texts, {step} and {value}. The panel makes buttons of steps.

function rangesOverlap(sheet, a, b) {
  const beginA = sheet.valueOffset[a];
  const beginB = sheet.valueOffset[b];
  return beginA < beginB + sheet.valueSize(b) && beginB < beginA + sheet.valueSize(a);
}

function rangeContains(sheet, outer, inner) {
  const begin = sheet.valueOffset[outer];
  return (
    begin <= sheet.valueOffset[inner] &&
    sheet.valueOffset[inner] + sheet.valueSize(inner) <= begin + sheet.valueSize(outer)
  );
}

// The values that a step reads from the same bytes as it writes.
function partnersOf(sheet, value) {
  const step = sheet.valueWritten[value];
  if (step === kNone) return [];
  const buffer = sheet.valueBuffer[value];
  const partners = Array.from(sheet.readsOf(step)).filter(
    (read) => read !== kNone && sheet.valueBuffer[read] === buffer && rangesOverlap(sheet, read, value),
  );
  return [...new Set(partners)];
}

function aliasWords(sheet, value, partners) {
  const whole = partners.find((partner) => rangeContains(sheet, partner, value));
  if (whole !== undefined) {
    const skipped = sheet.valueOffset[value] - sheet.valueOffset[whole];
    const isAll = sheet.valueSize(whole) === sheet.valueSize(value);
    if (isAll) return ['view of ', {value: whole}, ': the same bytes with another shape; nothing is copied'];
    return ['slice of ', {value: whole}, `, from its byte ${countText(skipped)}; nothing is copied`];
  }
  if (partners.length === 0) return ['alias that shares no byte with the inputs of its step'];
  const parts = partners.flatMap((partner, at) => [at === 0 ? '' : ', ', {value: partner}]);
  return ['gathers ', ...parts, ', which were written in place; nothing is copied'];
}

// The value that a slice belongs to: gathered by a later alias step that reads it, such as a concat.
function gatheredBy(sheet, value) {
  for (const step of sheet.readersOf(value)) {
    if (sheet.stepAlias[step] === 0) continue;
    for (const whole of sheet.writesOfStep.of(step)) {
      const isInside = sheet.valueBuffer[whole] === sheet.valueBuffer[value] && rangeContains(sheet, whole, value);
      if (isInside && sheet.valueSize(whole) > sheet.valueSize(value)) return whole;
    }
  }
  return kNone;
}

// How a value gets into its bytes.
function sharingWords(sheet, value) {
  const step = sheet.valueWritten[value];
  if (step === kNone) return ['exists before the run'];
  const partners = partnersOf(sheet, value);
  if (sheet.stepAlias[step] !== 0) return aliasWords(sheet, value, partners);
  if (sheet.isCopy(step)) return ['copied from ', {value: sheet.readsOf(step)[0] ?? kNone}];
  const words =
    partners.length > 0
      ? [
          'in place over ',
          ...partners.flatMap((partner, at) => [at === 0 ? '' : ', ', {value: partner}]),
          partners.length === 1 ? ', which is not needed after this step' : ', which are not needed after this step',
        ]
      : [];
  const whole = gatheredBy(sheet, value);
  if (whole !== kNone) {
    const at = sheet.valueOffset[value] - sheet.valueOffset[whole];
    words.push(
      words.length > 0 ? '; ' : '',
      'slice of ',
      {value: whole},
      `: written directly to its byte ${countText(at)}`,
    );
  }
  return words.length > 0 ? words : ['written to bytes of its own'];
}

// The values of a buffer in the order in which they are written.
function valuesInOrder(sheet, buffer) {
  return Array.from(sheet.valuesOfBuffer.of(buffer)).sort(
    (a, b) => sheet.valueWritten[a] - sheet.valueWritten[b] || sheet.valueOffset[a] - sheet.valueOffset[b] || a - b,
  );
}

// What keeps a buffer from a lower address: `below`, the nearest buffers that are below some of its bytes and live with
// them, and `air`, the free bytes between. `below` is empty if the buffer is at the start of the arena or nothing is
// below it.
function restsOn(sheet, buffer) {
  const below = [];
  let air = sheet.bufferOffset[buffer];
  if (!sheet.isPlaced(buffer) || air <= 0) return {below, air: 0};
  const {blocks} = regionFacts(sheet, sheet.bufferRegion[buffer]);
  for (const block of sheet.piecesOf(buffer).flatMap((piece) => sheet.blocksOf(piece))) {
    const floor = sheet.blockOffset[block];
    blocks.visitSteps(sheet.blockBegin[block], sheet.blockEnd[block], 0, floor, (found) => {
      const other = sheet.blockBuffer[found];
      const between = floor - sheet.blockOffset[found] - sheet.blockSize[found];
      if (sheet.isSame(other, buffer) || between < 0 || between > air || sheet.blockSize[found] === 0) return;
      if (between < air) below.length = 0;
      air = between;
      if (!below.some((known) => sheet.isSame(known, other))) below.push(other);
    });
  }
  return {below, air};
}

// Buffers that use bytes of a buffer while these are not live, in the order of first steps.
function guestsOf(sheet, buffer) {
  if (sheet.blockCountOf(buffer) === 1) return [];
  const guests = new Set();
  const low = sheet.bufferOffset[buffer];
  const high = low + sheet.bufferSize[buffer];
  const {blocks} = regionFacts(sheet, sheet.bufferRegion[buffer]);
  blocks.visitSteps(sheet.bufferBegin[buffer], sheet.bufferEnd[buffer], low, high, (found) => {
    const begin = sheet.blockOffset[found];
    if (begin < high && begin + sheet.blockSize[found] > low) guests.add(sheet.blockBuffer[found]);
  });
  guests.delete(buffer);
  return [...guests];
}

// 64 KiB in steps [2,5)
function partText(sheet, block) {
  return `${shortBytes(sheet.blockSize[block])} in ${spanText(sheet.blockBegin[block], sheet.blockEnd[block])}`;
}
