// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Facts of a sheet in one region: its load at each step, the step of the largest load, who lives when.

// The largest of any range in O(log n): level k holds the largest of each 2^k numbers.
class Maxima {
  constructor(numbers) {
    this.levels = [numbers];
    while (this.levels.at(-1).length > 1) {
      const below = this.levels.at(-1);
      const level = new Float64Array(Math.ceil(below.length / 2));
      for (let at = 0; at < level.length; ++at) {
        level[at] = Math.max(below[2 * at], 2 * at + 1 < below.length ? below[2 * at + 1] : 0);
      }
      this.levels.push(level);
    }
  }

  // Over [begin, end); 0 for an empty range.
  of(begin, end) {
    let most = 0;
    let level = 0;
    while (begin < end) {
      const numbers = this.levels[level];
      if (begin & 1) most = Math.max(most, numbers[begin++]);
      if (end & 1) most = Math.max(most, numbers[--end]);
      begin >>= 1;
      end >>= 1;
      ++level;
    }
    return most;
  }
}

// Everything drawn from one region of a sheet. `placed` is sorted by first step, then id.
class RegionFacts {
  constructor(sheet, region) {
    this.sheet = sheet;
    this.region = region;
    const placed = [];
    for (let buffer = 0; buffer < sheet.bufferCount; ++buffer) {
      if (sheet.bufferRegion[buffer] === region) placed.push(buffer);
    }
    placed.sort((a, b) => sheet.bufferBegin[a] - sheet.bufferBegin[b] || a - b);
    this.placed = Int32Array.from(placed);
    this.blocks = new Blocks(sheet, this.placed);
    this.load = this.loadCurve();
    this.maxima = new Maxima(this.load);
    this.largestLoad = this.load.reduce((most, load) => Math.max(most, load), 0);
    this.peakStep = sheet.stepOfColumn(Math.max(0, this.load.indexOf(this.largestLoad)));
    const stated = sheet.regions[region]?.arena ?? 0;
    this.arena = this.placed.reduce(
      (top, buffer) => Math.max(top, sheet.bufferOffset[buffer] + sheet.bufferSize[buffer]),
      stated,
    );
  }

  // Bytes of the buffers that live in each column, without alignment.
  loadCurve() {
    const {sheet} = this;
    const change = new Float64Array(sheet.columnCount + 1);
    for (const buffer of this.placed) {
      change[sheet.columnOf(sheet.bufferBegin[buffer])] += sheet.bufferSize[buffer];
      change[sheet.columnOf(sheet.bufferEnd[buffer])] -= sheet.bufferSize[buffer];
    }
    const load = new Float64Array(sheet.columnCount);
    let live = 0;
    for (let column = 0; column < load.length; ++column) load[column] = live += change[column];
    return load;
  }

  loadAt(step) {
    return this.load[this.sheet.columnOf(step)] ?? 0;
  }

  // Buffers that live at a step, the largest first.
  liveAt(step) {
    const {sheet} = this;
    const live = [];
    const [begin, end] = sheet.spanAt(step);
    this.blocks.visit(begin, end, -Infinity, Infinity, (buffer) => live.push(buffer));
    return live.sort((a, b) => sheet.bufferSize[b] - sheet.bufferSize[a] || a - b);
  }
}

function regionFacts(sheet, region) {
  if (!sheet.prepared.has(region)) sheet.prepared.set(region, new RegionFacts(sheet, region));
  return sheet.prepared.get(region);
}

// The step whose reading ends a buffer's life, and which of its values it reads; null if nobody reads it.
function lastReader(sheet, buffer) {
  let last = null;
  for (const value of sheet.valuesOfBuffer.of(buffer)) {
    for (const step of sheet.readersOf(value)) {
      if (last === null || step > last.step) last = {step, value};
    }
  }
  return last;
}

// The first step that writes a buffer, and which of its values; null if it is there before the run.
function firstWriter(sheet, buffer) {
  let first = null;
  for (const value of sheet.valuesOfBuffer.of(buffer)) {
    const step = sheet.valueWritten[value];
    if (step !== kNone && (first === null || step < first.step)) first = {step, value};
  }
  return first;
}

// Sums that the header and the comparison state. `arena` is over all regions, as the plan states it.
function totals(sheet) {
  const arena = sheet.regions.reduce((sum, region) => sum + region.arena, 0);
  const {bound, load_as_given: loadAsGiven} = sheet.facts;
  const load = sheet.isPacking ? regionFacts(sheet, 0).largestLoad : sheet.facts.load;
  const placed = sheet.bufferRegion.reduce((count, region) => count + (region === kNone ? 0 : 1), 0);
  const gap = bound > 0 ? (arena - bound) / bound : arena === bound ? 0 : null;
  return {arena, bound, load, loadAsGiven, placed, gap};
}
