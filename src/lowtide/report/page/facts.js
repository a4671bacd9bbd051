// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Facts of a sheet in one region: its load at each step, the peak, and the buffers live at a step.

// Finds the largest number of any range in O(log n). Level k holds the largest of each 2^k numbers.
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

// The bytes of the weights in their region. Each of them begins at a multiple of the alignment. A page made without the
// model does not know which constants of bodies are new, so it counts only those of the sheet.
function weightsIn(sheet, {alignment}) {
  if (sheet.facts.weights !== undefined) return sheet.facts.weights;
  let bytes = 0;
  let mostPadding = 0;
  for (let buffer = 0; buffer < sheet.bufferCount; ++buffer) {
    if (sheet.isPlaced(buffer) || sheet.kindOf(buffer) !== 'constant') continue;
    const padding = (alignment - (sheet.bufferSize[buffer] % alignment)) % alignment;
    bytes += sheet.bufferSize[buffer] + padding;
    mostPadding = Math.max(mostPadding, padding);
  }
  return bytes - mostPadding;
}

// The regions that have buffers and that a worker can address. Others hold what has left the arena for a time.
function arenaRegions(sheet) {
  const list = sheet.usedRegions().filter((at) => !sheet.regions[at]?.outside);
  return list.length > 0 ? list : [0];
}

// Whether the bound of the plan is one for the load of this region.
function hasBoundIn(sheet, region) {
  const regions = arenaRegions(sheet);
  return regions.length === 1 && regions[0] === region;
}

// The most bytes that the arena of a region may have, the name of this limit, and how it is written beside its line:
// [bytes, name, text]. [null, '', ''] if there is none.
function limitOf(sheet, region) {
  const {verdict} = sheet.facts;
  if (verdict?.is_budget && arenaRegions(sheet).length === 1) {
    const beside = countedWords(sheet);
    const bytes = Math.max(0, verdict.limit - (verdict.counted - totals(sheet).arena));
    return [bytes, 'budget', `budget ${shortBytes(verdict.limit)}${beside === '' ? '' : `, less ${beside}`}`];
  }
  const [bytes, name] = plainLimitOf(sheet, region);
  return [bytes, name, bytes === null ? '' : `${name} ${shortBytes(bytes)}`];
}

function plainLimitOf(sheet, region) {
  const stated = sheet.regions[region];
  const capacity = stated?.capacity ?? null;
  if (capacity !== null && region === sheet.facts.constants)
    return [Math.max(0, capacity - weightsIn(sheet, stated)), 'capacity without weights'];
  if (capacity !== null) return [capacity, 'capacity'];
  const budget = arenaRegions(sheet).length === 1 ? (sheet.facts.missed_budget ?? null) : null;
  return budget === null ? [null, ''] : [budget, 'arena limit'];
}

// One region of a sheet. `placed` are its buffers, sorted by first step, then id; `blocks` are their blocks in the same
// order.
class RegionFacts {
  constructor(sheet, region) {
    this.sheet = sheet;
    this.region = region;
    this.placed = RegionFacts.inOrder(sheet.bufferBegin, (buffer) => sheet.bufferRegion[buffer] === region);
    this.sorted = RegionFacts.inOrder(
      sheet.blockBegin,
      (block) => sheet.bufferRegion[sheet.blockBuffer[block]] === region,
    );
    this.placeBlocks();
    this.load = this.loadCurve();
    this.maxima = new Maxima(this.load);
    this.largestLoad = this.load.reduce((most, load) => Math.max(most, load), 0);
    this.peakStep = sheet.peakStep(region, this.load.indexOf(this.largestLoad));
    [this.limit, this.limitName, this.limitText] = limitOf(sheet, region);
    const stated = sheet.regions[region]?.arena ?? 0;
    this.arena = this.placed.reduce(
      (top, buffer) => Math.max(top, sheet.bufferOffset[buffer] + sheet.bufferSize[buffer]),
      stated,
    );
  }

  // The index of blocks by their places on the axis of the sheet.
  placeBlocks() {
    this.blocks = new Blocks(this.sheet, this.sorted);
  }

  // The rows for which isIn holds, sorted by begins[row], then by row.
  static inOrder(begins, isIn) {
    const rows = [];
    for (let row = 0; row < begins.length; ++row) if (isIn(row)) rows.push(row);
    return Int32Array.from(rows.sort((a, b) => begins[a] - begins[b] || a - b));
  }

  // Live bytes in each column, without alignment.
  loadCurve() {
    const {sheet} = this;
    const change = new Float64Array(sheet.columnCount + 1);
    for (const block of this.sorted) {
      change[sheet.columnOf(sheet.blockBegin[block])] += sheet.blockSize[block];
      change[sheet.columnOf(sheet.blockEnd[block])] -= sheet.blockSize[block];
    }
    const load = new Float64Array(sheet.columnCount);
    let live = 0;
    for (let column = 0; column < load.length; ++column) load[column] = live += change[column];
    return load;
  }

  loadAt(step) {
    return this.load[this.sheet.columnOf(step)] ?? 0;
  }

  // Buffers with live bytes at a step, those with the most first.
  liveAt(step) {
    const {sheet} = this;
    const bytes = new Map();
    const [begin, end] = sheet.spanAt(step);
    this.blocks.visitSteps(begin, end, -Infinity, Infinity, (block) => {
      const buffer = sheet.blockBuffer[block];
      bytes.set(buffer, (bytes.get(buffer) ?? 0) + sheet.blockSize[block]);
    });
    return [...bytes.keys()].sort((a, b) => bytes.get(b) - bytes.get(a) || a - b);
  }

  // The same at the peak. Computed once.
  get liveAtPeak() {
    this.atPeak ??= this.liveAt(this.peakStep);
    return this.atPeak;
  }
}

function regionFacts(sheet, region) {
  if (!sheet.prepared.has(region)) sheet.prepared.set(region, new RegionFacts(sheet, region));
  return sheet.prepared.get(region);
}

// The last step that reads a buffer, and the value that it reads; null if no step does.
function lastReader(sheet, buffer) {
  let last = null;
  for (const value of sheet.valuesOfBuffer.of(buffer)) {
    for (const step of sheet.readersOf(value)) {
      if (last === null || step > last.step) last = {step, value};
    }
  }
  return last;
}

// The first step that writes a buffer, and the value that it writes; null if no step writes it.
function firstWriter(sheet, buffer) {
  let first = null;
  for (const value of sheet.valuesOfBuffer.of(buffer)) {
    const step = sheet.valueWritten[value];
    if (step !== kNone && (first === null || step < first.step)) first = {step, value};
  }
  return first;
}

// The figures of the header and the comparison. `arena` is over all regions that a worker can address, as the plan
// states it.
function totals(sheet) {
  const arena = sheet.regions.reduce((sum, region) => sum + (region.outside ? 0 : region.arena), 0);
  const {bound, load_as_given: loadAsGiven} = sheet.facts;
  const load = sheet.isPacking ? regionFacts(sheet, 0).largestLoad : sheet.facts.load;
  const placed = sheet.bufferRegion.reduce((count, region) => count + (region === kNone ? 0 : 1), 0);
  // The peaks of several regions are at different steps, so only the peak of all of them together has this bound.
  const used = arenaRegions(sheet);
  const hasOneRegion = used.length < 2;
  const reached = hasOneRegion ? arena : load;
  const gap = bound > 0 ? (reached - bound) / bound : reached === bound ? 0 : null;
  const wasteIn = ({arena: all, largestLoad}) => all - largestLoad;
  const waste = hasOneRegion
    ? arena - load
    : used.reduce((sum, region) => sum + wasteIn(regionFacts(sheet, region)), 0);
  return {arena, bound, load, loadAsGiven, placed, gap, reached, hasOneRegion, waste, isPacking: sheet.isPacking};
}
