// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// What would lower the peak of a region, each with the peak that would remain. All of it follows from the plan: the
// order stays, and some bytes are live for a shorter time or not at all. The sheet has the remedies that change the
// model (analysis/remedies.h).

const kWorth = 0.01; // of the peak: a remedy that saves less is not listed
const kMostTried = 32; // kept buffers whose absence is tried one by one
const kMostAlone = 2; // kept buffers that are listed one by one

// The load of a region if some bytes were live in fewer steps, or in more.
class ChangedLoad {
  constructor(sheet, region) {
    this.sheet = sheet;
    this.load = regionFacts(sheet, region).load;
    this.change = new Float64Array(this.load.length + 1);
  }

  // Adds bytes that are live in [begin, end).
  add(begin, end, bytes) {
    if (begin >= end) return;
    this.change[Math.max(0, begin)] += bytes;
    this.change[Math.min(this.load.length, end)] -= bytes;
  }

  // Removes the bytes of a buffer that are live within [begin, end).
  remove(buffer, begin, end) {
    const {firstBlock, blockBegin, blockEnd, blockSize} = this.sheet;
    for (let block = firstBlock[buffer]; block < firstBlock[buffer + 1]; ++block)
      this.add(Math.max(begin, blockBegin[block]), Math.min(end, blockEnd[block]), -blockSize[block]);
    return this;
  }

  // The largest load, and the first step that has it.
  peak() {
    let [bytes, step, by] = [0, 0, 0];
    for (let at = 0; at < this.load.length; ++at) {
      by += this.change[at];
      if (this.load[at] + by > bytes) [bytes, step] = [this.load[at] + by, at];
    }
    return {bytes, step};
  }
}

// The steps around the peak in which no kernel touches a kept buffer: [begin, end).
function idleAround(sheet, buffer, step) {
  let [begin, end] = [sheet.bufferBegin[buffer], sheet.bufferEnd[buffer]];
  for (const touch of touchesOf(sheet, buffer)) {
    if (sheet.stepAlias[touch] !== 0) continue;
    if (touch < step) begin = touch + 1;
    else if (touch > step) {
      end = touch;
      break;
    }
  }
  return [begin, end];
}

// Kept buffers that could be recomputed or swapped out: one by one, and all of them together.
function keptRemedies(sheet, region) {
  const {peakStep, largestLoad} = regionFacts(sheet, region);
  const kept = peakBuffers(sheet, region).filter(
    ({use, next, buffer}) => use === 'keeps' && (next !== null || sheet.kindOf(buffer) === 'output'),
  );
  const gaps = kept.map(({buffer}) => idleAround(sheet, buffer, peakStep));
  const alone = kept
    .slice(0, kMostTried)
    .map((one, at) => ({...one, peak: new ChangedLoad(sheet, region).remove(one.buffer, ...gaps[at]).peak().bytes}))
    .filter(({peak}) => peak <= largestLoad * (1 - kWorth))
    .sort((a, b) => a.peak - b.peak || a.buffer - b.buffer)
    .slice(0, kMostAlone)
    .map(({buffer, next, bytes, peak}) => ({
      title: next === null ? 'Hand an output over earlier' : 'Recompute or swap',
      words: [
        {buffer},
        ` (${shortBytes(bytes)}) is only kept here${next === null ? ' for the caller.' : ', for '}`,
        ...(next === null ? [] : [{step: next}, '.']),
      ],
      peak,
    }));
  const without = new ChangedLoad(sheet, region);
  kept.forEach(({buffer}, at) => without.remove(buffer, ...gaps[at]));
  const all = without.peak();
  if (kept.length < 2 || all.bytes > largestLoad * (1 - kWorth)) return alone;
  const bytes = kept.reduce((sum, one) => sum + one.bytes, 0);
  const words = `${plural(kept.length, 'buffer')} (${shortBytes(bytes)}) are only kept here. Without all of them, `;
  return [
    ...alone,
    {title: 'Recompute or swap all', words: [words, {step: all.step}, ' would be the highest.'], peak: all.bytes},
  ];
}

// One operator instead of several element-wise ones. `fusion` is FusionRemedy (analysis/remedies.h).
function fusionRemedies(sheet, region) {
  const {fusion} = sheet.regions[region];
  if (fusion === undefined) return [];
  const words = fusion.chains.flatMap((steps, at) => [
    at === 0 ? '' : '; ',
    ...steps.flatMap((step, place) => [place === 0 ? '' : ', ', {step}]),
  ]);
  const others = fusion.count - fusion.chains.length;
  const more = others > 0 ? ` and ${countText(others)} more chains` : '';
  const one = {
    title: 'Fuse element-wise operators',
    words: ['One operator instead of ', ...words, `${more} needs no buffer between them.`],
    peak: fusion.peak,
  };
  if (fusion.all === fusion.count) return [one];
  return [one, {title: `Fuse all ${countText(fusion.all)} chains of them`, words: [], peak: fusion.peak_of_all}];
}

// Buffers that only hold 32-bit floating-point values, with fewer bytes.
function typeRemedies(sheet, region) {
  const {peak_16_bits: peak, peak_8_bits: least} = sheet.regions[region];
  if (peak === undefined) return [];
  const words = `16-bit instead of 32-bit floating-point values. With 8-bit values: ${shortBytes(least)}.`;
  return [{title: 'Use a smaller type', words: [words], peak}];
}

// Operators that run in parts need only a part of what they read and write.
function patchRemedies(sheet, region) {
  const {largestLoad, load} = regionFacts(sheet, region);
  const ranges = peakRanges(sheet, region);
  let [next, at] = [0, kNone];
  load.forEach((bytes, step) => {
    if (bytes < largestLoad && bytes > next) [next, at] = [bytes, step];
  });
  if (at === kNone || next > largestLoad * (1 - kWorth)) return [];
  const words = [`If the operators at ${rangesText(ranges)} run in patches, `, {step: at}, ' is the next highest.'];
  return [{title: 'Split the operators at the peak', words, peak: next, isBest: true}];
}

function layoutRemedies(sheet, region) {
  const {arena, largestLoad} = regionFacts(sheet, region);
  if (arena <= largestLoad) return [];
  const words = `${shortBytes(arena - largestLoad)} of the arena are lost between buffers.`;
  return [{title: 'Find better offsets', words: [words], arena: largestLoad, isBest: true}];
}

// Made once per region.
function remediesOf(sheet, region) {
  const facts = regionFacts(sheet, region);
  facts.remedies ??= [fusionRemedies, keptRemedies, typeRemedies, patchRemedies, layoutRemedies].flatMap((find) =>
    find(sheet, region),
  );
  return facts.remedies;
}

// The most bytes that one step touches: nothing that only shortens lifetimes gets below it.
function largestTouched(sheet, region) {
  let most = {bytes: 0, step: 0};
  for (let step = 0; step < sheet.stepCount; ++step) {
    let bytes = 0;
    for (const buffer of usesOf(sheet, step).keys())
      if (sheet.bufferRegion[buffer] === region) bytes += sheet.bytesAt(buffer, step);
    if (bytes > most.bytes) most = {bytes, step};
  }
  return most;
}
