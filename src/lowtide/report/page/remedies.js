// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// What would lower the peak of a region, each with the peak that would remain. All of it follows from the plan: the
// order stays, and some bytes are live for a shorter time or not at all.

const kWorth = 0.01; // of the peak: a remedy that saves less is not listed
const kMostTried = 32; // kept buffers whose absence is tried one by one
const kMostAlone = 2; // kept buffers that are listed one by one

const kElementWise = new Set(
  (
    'Abs Add And BatchNormalization Cast Ceil Celu Clip Cos DequantizeLinear Div Dropout Elu Equal Erf Exp Floor ' +
    'Gelu Greater GreaterOrEqual HardSigmoid HardSwish Identity LeakyRelu Less LessOrEqual Log Max Mean Min Mish Mod ' +
    'Mul Neg Not Or PRelu Pow QuantizeLinear Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Softplus Softsign ' +
    'Sqrt Sub Sum Swish Tanh ThresholdedRelu Where Xor'
  ).split(' '),
);

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

  // Removes a share of the bytes of a buffer that are live within [begin, end).
  remove(buffer, begin = 0, end = Infinity, share = 1) {
    const {firstBlock, blockBegin, blockEnd, blockSize} = this.sheet;
    for (let block = firstBlock[buffer]; block < firstBlock[buffer + 1]; ++block)
      this.add(Math.max(begin, blockBegin[block]), Math.min(end, blockEnd[block]), -share * blockSize[block]);
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

// The steps that one operator could replace so that no buffer is needed between them: the element-wise steps that
// write and read its values. Only the last one writes another buffer. null if there is another use.
function fusableSteps(sheet, buffer) {
  const steps = new Set();
  if (sheet.kindOf(buffer) !== 'temporary') return null;
  for (const value of sheet.valuesOfBuffer.of(buffer)) {
    if (sheet.valueWritten[value] === kNone || sheet.isHandedOut[value] !== 0) return null;
    steps.add(sheet.valueWritten[value]);
    for (const reader of sheet.readersOf(value)) steps.add(reader);
  }
  const group = [...steps].sort((a, b) => a - b);
  const isIn = (value) => sheet.valueBuffer[value] === buffer;
  const fits = group.every(
    (step, at) =>
      (sheet.stepAlias[step] !== 0 || kElementWise.has(sheet.opOfStep(step))) &&
      (at === group.length - 1) !== Array.from(sheet.writesOfStep.of(step)).every(isIn),
  );
  return fits && group.length > 1 ? group : null;
}

// The buffers that these steps read, and that would be kept until the last of them if they became one. null if another
// step overwrites one of them before.
function keptForFused(sheet, buffer, group) {
  const last = group.at(-1);
  const kept = new Set();
  for (const step of group.slice(0, -1)) {
    for (const value of sheet.readsOf(step)) {
      const source = value === kNone ? kNone : sheet.valueBuffer[value];
      if (source === kNone || source === buffer || !sheet.isPlaced(source)) continue;
      const isLost = Array.from(sheet.valuesOfBuffer.of(source)).some(
        (other) => sheet.valueWritten[other] > step && sheet.valueWritten[other] < last,
      );
      if (isLost || sheet.blockCountOf(source) > 1) return null;
      kept.add(source);
    }
  }
  return kept;
}

// The peak if the steps of each chain became one operator.
function peakOfFused(sheet, region, chains) {
  const changed = new ChangedLoad(sheet, region);
  for (const {buffer, group, kept} of chains) {
    changed.remove(buffer);
    for (const source of kept) changed.add(sheet.bufferEnd[source], group.at(-1) + 1, sheet.bufferSize[source]);
  }
  return changed.peak().bytes;
}

// Buffers between element-wise steps: [{buffer, group, kept}].
function fusableChains(sheet, region) {
  const {largestLoad, placed} = regionFacts(sheet, region);
  const chains = [];
  for (const buffer of placed) {
    if (sheet.bufferSize[buffer] < largestLoad * kWorth) continue;
    const group = fusableSteps(sheet, buffer);
    const kept = group === null ? null : keptForFused(sheet, buffer, group);
    if (kept !== null) chains.push({buffer, group, kept});
  }
  return chains;
}

function fusionRemedies(sheet, region) {
  const {largestLoad, load} = regionFacts(sheet, region);
  const chains = fusableChains(sheet, region);
  const atPeak = chains.filter(({buffer}) =>
    load.subarray(sheet.bufferBegin[buffer], sheet.bufferEnd[buffer]).includes(largestLoad),
  );
  const peak = peakOfFused(sheet, region, atPeak);
  if (atPeak.length === 0 || peak > largestLoad * (1 - kWorth)) return [];
  const words = atPeak
    .slice(0, 2)
    .flatMap(({group}, at) => [
      at === 0 ? '' : '; ',
      ...group
        .filter((step) => sheet.stepAlias[step] === 0)
        .flatMap((step, place) => [place === 0 ? '' : ', ', {step}]),
    ]);
  const more = atPeak.length > 2 ? ` and ${countText(atPeak.length - 2)} more chains` : '';
  const one = {
    title: 'Fuse element-wise operators',
    words: ['One operator instead of ', ...words, `${more} needs no buffer between them.`],
    peak,
  };
  const all = peakOfFused(sheet, region, chains);
  if (all > one.peak - largestLoad * kWorth) return [one];
  return [one, {title: `Fuse all ${countText(chains.length)} chains of them`, words: [], peak: all}];
}

// Buffers that only hold 32-bit floating-point values, with fewer bytes.
function typeRemedies(sheet, region) {
  const {largestLoad, placed} = regionFacts(sheet, region);
  const isFloat = (value) => (sheet.types[sheet.tensorType[sheet.valueTensor[value]]] ?? '').startsWith('f32');
  const floats = Array.from(placed).filter((buffer) => {
    const values = sheet.valuesOfBuffer.of(buffer);
    return values.length > 0 && values.every((value) => sheet.valueTensor[value] !== kNone && isFloat(value));
  });
  const peakWithShare = (share) => {
    const changed = new ChangedLoad(sheet, region);
    for (const buffer of floats) changed.remove(buffer, 0, Infinity, share);
    return changed.peak().bytes;
  };
  const peak = peakWithShare(1 / 2);
  if (peak > largestLoad * (1 - kWorth)) return [];
  const bytes = shortBytes(peakWithShare(3 / 4));
  const words = `16-bit instead of 32-bit floating-point values. With 8-bit values: ${bytes}.`;
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
