// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Where steps are along the picture. A position is a number from 0 to `width`. There are three kinds of axes: steps of
// equal width, steps with idle ones folded, and the estimated time of several streams.

const kLeastFold = 3; // the fewest idle steps in a row that are folded into one position
const kLittle = 1e-3; // of the peak: a step that touches less is idle
const kWorthFolding = 0.05; // the least share of all steps that folding must save
const kTimeUnits = [
  [1e12, 's'],
  [1e9, 'ms'],
  [1e6, 'µs'],
  [1e3, 'ns'],
  [1, 'ps'],
];

// 1.25 ms
function durationText(picoseconds) {
  const [unit, name] = kTimeUnits.find(([size]) => picoseconds >= size) ?? [1, 'ps'];
  return `${Number((picoseconds / unit).toPrecision(3))} ${name}`;
}

// Steps of equal width. A packing also has this axis: its positions are times.
class StepAxis {
  constructor(width) {
    this.kind = 'steps';
    this.width = width;
    this.unit = 1; // the least distance that a view shows is a few units
    this.folds = [];
  }

  at(step) {
    return step;
  }

  stepAt(position) {
    return position;
  }

  // Ticks at round numbers in [from, to). `sheet.start` is the number at position 0.
  ticks(from, to, width, sheet) {
    const every = Math.max(1, roundStep(((to - from) / width) * 110));
    const ticks = [];
    for (let at = Math.ceil((from + sheet.start) / every) * every - sheet.start; at < to; at += every)
      ticks.push({position: at, text: sheet.tickText(at)});
    return ticks;
  }
}

// Steps at given positions: positions[i] is where step i begins, and the last entry is the width. Strictly ascending.
class UnevenAxis {
  constructor(kind, positions, folds = []) {
    this.kind = kind;
    this.positions = positions;
    this.width = positions.at(-1);
    this.unit = kind === 'time' ? this.width / Math.max(1, positions.length - 1) : 1;
    this.folds = folds; // [[first step, last step + 1], ...]
  }

  at(step) {
    const {positions} = this;
    const last = positions.length - 1;
    if (step <= 0) return step;
    if (step >= last) return this.width + (step - last) * this.unit;
    const whole = Math.floor(step);
    if (whole === step) return positions[step];
    return positions[whole] + (step - whole) * (positions[whole + 1] - positions[whole]);
  }

  stepAt(position) {
    const {positions} = this;
    const last = positions.length - 1;
    if (position <= 0) return position;
    if (position >= this.width) return last + (position - this.width) / this.unit;
    let [low, high] = [0, last];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (positions[middle] <= position) low = middle;
      else high = middle;
    }
    return low + (position - positions[low]) / (positions[low + 1] - positions[low]);
  }

  ticks(from, to, width, sheet) {
    if (this.kind === 'time') return this.timeTicks(from, to, width);
    const every = ((to - from) / width) * 90;
    const ticks = [];
    for (let at = Math.max(0, from); at < to; at += every) {
      const step = Math.min(Math.round(this.stepAt(at)), sheet.stepCount - 1);
      const position = this.at(step);
      if (position >= from && position < to && step !== ticks.at(-1)?.step)
        ticks.push({position, step, text: sheet.tickText(step)});
    }
    return ticks;
  }

  timeTicks(from, to, width) {
    const every = roundStep(((to - from) / width) * 110);
    const ticks = [];
    for (let at = Math.ceil(from / every) * every; at < to; at += every)
      ticks.push({position: at, text: at === 0 ? '0' : durationText(at)});
    return ticks;
  }
}

// For each step, 1 if it touches almost no bytes of the region, otherwise 0.
function idleSteps(sheet, region) {
  const {largestLoad} = regionFacts(sheet, region);
  const least = largestLoad * kLittle;
  const touched = new Float64Array(sheet.stepCount);
  const touch = (step, buffer) => {
    if (buffer !== kNone && sheet.bufferRegion[buffer] === region) touched[step] += sheet.bufferSize[buffer];
  };
  for (let value = 0; value < sheet.valueCount; ++value) {
    if (sheet.valueWritten[value] !== kNone) touch(sheet.valueWritten[value], sheet.valueBuffer[value]);
  }
  for (let step = 0; step < sheet.stepCount; ++step) {
    for (const value of sheet.readsOf(step)) if (value !== kNone) touch(step, sheet.valueBuffer[value]);
    touch(step, sheet.stepScratch[step]);
  }
  return touched.map((bytes) => (bytes <= least ? 1 : 0));
}

// The axis on which runs of idle steps take one position; null if that saves little.
function foldedAxis(sheet, region) {
  const idle = idleSteps(sheet, region);
  const positions = new Float64Array(sheet.stepCount + 1);
  const folds = [];
  let saved = 0;
  for (let step = 0; step < sheet.stepCount;) {
    let end = step;
    while (end < sheet.stepCount && idle[end] === 1) ++end;
    const isFold = end - step >= kLeastFold;
    if (isFold) {
      folds.push([step, end]);
      saved += end - step - 1;
    }
    const stop = Math.max(end, step + 1);
    const wide = isFold ? 1 / (end - step) : 1;
    for (let at = step; at < stop; ++at) positions[at + 1] = positions[at] + wide;
    step = stop;
  }
  return saved >= kWorthFolding * sheet.stepCount ? new UnevenAxis('folded', positions, folds) : null;
}

// The axes that a sheet offers, the best first.
function axesOf(sheet, region) {
  const offered = [new StepAxis(sheet.stepCount)];
  if (sheet.isPacking || isRootComparison()) return offered;
  const timing = timingOf(sheet);
  if (timing?.isInOrder) return [new UnevenAxis('time', timing.positions), ...offered];
  const folded = foldedAxis(sheet, region);
  return folded === null ? offered : [folded, ...offered];
}

// Gives every sheet in sight the chosen axis, or the best that it has.
function placeAxes() {
  for (const sheet of state.inSight) {
    const offered = axesOf(sheet, state.region);
    sheet.axisKinds = offered.map(({kind}) => kind);
    sheet.setAxis(offered.find(({kind}) => kind === state.axis) ?? offered[0]);
  }
}
