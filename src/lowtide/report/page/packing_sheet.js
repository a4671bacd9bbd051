// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// A packing as the page uses it: a sheet without a program. A buffer of the sheet is a piece here, which is what
// remains of a buffer between its gaps. The pieces of one buffer follow one another. Steps are times, counted from the
// first; load changes only at the bounds between columns.

const kPackingWords = {
  axis: 'time',
  top: 'height',
  load: 'live bytes',
  length: 'Length',
  tensor: 'buffer',
  node: 'node',
  operator: 'size',
  search: 'Search buffers and sizes',
  notFound: 'No buffer or size matches.',
  empty: 'There are no buffers.',
  unplaced: 'There are no buffers.',
};

class PackingSheet extends Sheet {
  constructor(columns, index, names) {
    super(columns, index, names);
    this.stepCount = this.bounds.at(-1) ?? 0;
    this.axis = new StepAxis(this.stepCount);
  }

  readColumns({time, whole, piece, bands}) {
    this.epoch = BigInt(time.epoch);
    this.start = time.start;
    this.bounds = Float64Array.from(time.bounds);
    this.timeNames = time.names;
    this.bands = readBands(bands);
    this.readWholes(whole);
    const count = piece.begin.length;
    const each = (value) => new Array(count).fill(value);
    const ofWhole = (column) => Array.from(this.wholeOf, (at) => column[at]);
    this.types = [''];
    this.ops = [];
    super.readColumns({
      node: {name: [], op: []},
      tensor: {
        name: whole.name,
        type: new Array(this.wholeCount).fill(0),
        role: new Array(this.wholeCount).fill(0),
        size: whole.size,
      },
      step: {node: [], alias: [], scratch: [], read_count: [], read: []},
      value: {tensor: this.wholeOf, written: each(kNone), buffer: this.wholeOf.map((at, row) => row), offset: each(0)},
      buffer: {
        kind: ofWhole(whole.fixed),
        size: ofWhole(whole.size),
        begin: each(0),
        end: each(0),
        region: each(0),
        offset: ofWhole(whole.offset),
        name: this.wholeOf.map((at, row) => row),
      },
    });
    this.bufferBegin = Float64Array.from(piece.begin, (at) => this.bounds[at]);
    this.bufferEnd = Float64Array.from(piece.end, (at) => this.bounds[at]);
  }

  readWholes(whole) {
    this.wholeCount = whole.name.length;
    this.alignment = whole.alignment;
    this.lifeBegin = whole.begin.map((at) => this.bounds[at]);
    this.lifeEnd = whole.end.map((at) => this.bounds[at]);
    this.firstPiece = new Int32Array(this.wholeCount + 1);
    whole.pieces.forEach((count, at) => (this.firstPiece[at + 1] = this.firstPiece[at] + count));
    this.wholeOf = new Int32Array(this.firstPiece[this.wholeCount]);
    for (let at = 0; at < this.wholeCount; ++at) this.wholeOf.fill(at, this.firstPiece[at], this.firstPiece[at + 1]);
  }

  // Pieces of one buffer have one name.
  countOrdinals() {
    return new Int32Array(this.valueCount).fill(1);
  }

  // A search for a size finds the buffers of that size, like a search for an operator in a plan.
  findOperators() {
    const indexOf = new Map();
    this.bufferOp = Int32Array.from(this.bufferSize, (size) => {
      const text = shortBytes(size);
      if (!indexOf.has(text)) indexOf.set(text, indexOf.size);
      return indexOf.get(text);
    });
    this.ops = [...indexOf.keys()];
  }

  // The first of the times with the largest load.
  peakStep(region, column) {
    return this.stepOfColumn(Math.max(0, column));
  }

  get isPacking() {
    return true;
  }

  get words() {
    return kPackingWords;
  }

  get columnCount() {
    return Math.max(0, this.bounds.length - 1);
  }

  // The column that holds a time; columnCount from the last bound on.
  columnOf(time) {
    let low = 0;
    let high = this.bounds.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.bounds[middle] <= time) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  // A column that begins at `to` belongs to the next pixel.
  columnsUnder(from, to) {
    const begin = this.columnOf(from);
    return [begin, Math.min(Math.max(begin + 1, this.columnOf(to)), this.columnCount)];
  }

  stepOfColumn(column) {
    return this.bounds[column] ?? 0;
  }

  spanAt(time) {
    const column = Math.min(this.columnOf(time), Math.max(0, this.columnCount - 1));
    return [this.bounds[column] ?? 0, this.bounds[column + 1] ?? 1];
  }

  stepBeside(time, direction) {
    return this.stepOfColumn(Math.max(0, Math.min(this.columnOf(time) + direction, this.columnCount - 1)));
  }

  timeText(time) {
    if (this.timeNames !== null) return countText(BigInt(this.timeNames[this.columnOf(time)] ?? 0));
    return this.epoch === 0n ? countText(this.start + time) : countText(this.epoch + BigInt(Math.round(time)));
  }

  tickText(time) {
    const shown = this.timeNames === null ? this.start + time : Number(this.timeNames[this.columnOf(time)] ?? 0);
    const text = Math.abs(shown) < 1e12 ? countText(shown) : shown.toExponential(2).replace('e+', 'e');
    return this.epoch === 0n ? text : `+${text}`;
  }

  // The phase at a time.
  stepText(time) {
    return bandText(this, bandAt(this, time));
  }

  intervalText(begin, end) {
    return `[${this.timeText(begin)}, ${this.timeText(end)})`;
  }

  spanText(begin, end) {
    return end <= begin ? `no ${this.words.axis}` : `${this.words.axis} ${this.intervalText(begin, end)}`;
  }

  lifeText(buffer) {
    const whole = this.wholeOf[buffer];
    const gaps = this.gapsOf(buffer).length;
    const life = this.spanText(this.lifeBegin[whole], this.lifeEnd[whole]);
    return gaps === 0 ? life : `${life} with ${plural(gaps, 'gap')}`;
  }

  // Times within the life at which the bytes are free for other buffers: [[begin, end], ...].
  gapsOf(buffer) {
    const whole = this.wholeOf[buffer];
    const gaps = [];
    let from = this.lifeBegin[whole];
    for (const piece of this.piecesOf(buffer)) {
      if (this.bufferBegin[piece] > from) gaps.push([from, this.bufferBegin[piece]]);
      from = this.bufferEnd[piece];
    }
    if (from < this.lifeEnd[whole]) gaps.push([from, this.lifeEnd[whole]]);
    return gaps;
  }

  piecesOf(buffer) {
    const whole = this.wholeOf[buffer];
    const first = this.firstPiece[whole];
    return Array.from({length: this.firstPiece[whole + 1] - first}, (_, at) => first + at);
  }

  isMain(buffer) {
    return this.firstPiece[this.wholeOf[buffer]] === buffer;
  }

  isSame(a, b) {
    return this.wholeOf[a] === this.wholeOf[b];
  }

  lengthOf(buffer) {
    const whole = this.wholeOf[buffer];
    return this.lifeEnd[whole] - this.lifeBegin[whole];
  }

  // Table columns in which buffers differ.
  get hasFixed() {
    return this.bufferKind.includes(1);
  }

  get hasAlignment() {
    return this.alignment.some((alignment) => alignment !== 1);
  }

  colorOfKind(kind) {
    return kind === 'fixed' ? 'kind-scratch' : 'kind-temporary';
  }

  sourceText() {
    return '';
  }
}
