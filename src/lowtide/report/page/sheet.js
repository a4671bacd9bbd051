// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// One plan as the page uses it: the columns of the embedded JSON as typed arrays, and the writers and readers of
// values. Ids are indexes. Numbers of bytes are doubles, exact up to 8 PiB.

const kNoParts = {buffer: [], size: [], begin: [], end: []};

const kPlanWords = {
  axis: 'step',
  top: 'arena',
  load: 'live bytes',
  length: 'Steps',
  tensor: 'tensor',
  node: 'node',
  operator: 'operator',
  search: 'Search tensors, nodes, operators',
  notFound: 'No tensor, node or operator matches.',
  empty: 'This plan has no steps.',
  unplaced: 'This plan has no buffer in this region.',
};

class Sheet {
  constructor(columns, index, names) {
    this.index = index;
    this.kinds = names.kinds;
    this.roles = names.roles;
    this.parent = columns.parent;
    this.facts = columns.facts;
    this.regions = columns.regions;
    this.ops = columns.ops;
    this.types = columns.types;
    this.proof = columns.proof ?? null; // paragraphs on why no order needs less; null if the page was not given them
    this.notInPlace = columns.not_in_place ?? []; // and on why results at the peak are not written in place
    this.quantized = columns.quantized ?? null; // a paragraph on a quantized model
    this.loweringText = columns.lowered ?? null; // a paragraph on what runs instead of the model as written
    this.insteadOf = new Map(columns.rewrites ?? []); // node -> names of the nodes of the model
    this.runs = columns.runs ?? null; // of the measurement; null: there is none
    this.copies = columns.copies ?? []; // [step, bytes, reason], the largest first
    this.kept = columns.kept ?? []; // [step, tensor, reason]: why the tensor stays in the arena at the step
    this.start = 0; // number of the first step
    this.readColumns(columns);
    this.makeBlocks(columns.part);
    this.link();
    this.findOperators();
    this.bodies = new Map(); // step -> sheets of the bodies that it runs
    this.prepared = new Map(); // facts of a region, made on first use
    this.axis = new StepAxis(this.stepCount);
    this.axisKinds = [this.axis.kind]; // that placeAxes offers
  }

  readColumns({node, tensor, step, value, buffer, streams = [], outputs = []}) {
    this.nodeName = node.name;
    this.nodeOp = Int32Array.from(node.op);
    this.nodeMacs = node.macs ? Float64Array.from(node.macs) : null; // kNone: not known; null for the whole plan
    this.tensorName = tensor.name;
    this.tensorType = Int32Array.from(tensor.type);
    this.tensorRole = Uint8Array.from(tensor.role);
    this.tensorSize = Float64Array.from(tensor.size);
    this.stepCount = step.node.length;
    this.stepNode = Int32Array.from(step.node);
    this.stepAlias = Uint8Array.from(step.alias);
    this.stepStream = step.stream ?? null; // null for one stream
    this.streams = streams; // null for a worker, the names of two regions for a link
    this.streamCount = Math.max(1, streams.length);
    this.stepNanoseconds = step.nanoseconds ? Float64Array.from(step.nanoseconds) : null; // null: not measured
    this.stepPicoseconds = step.picoseconds ? Float64Array.from(step.picoseconds) : null; // null: not known
    this.after = Int32Array.from(step.after ?? []);
    this.afterBegin = Groups.beginOf(step.after_count ?? []);
    // The region that a copy moves to, or -2 within one; kNone for other steps. null if no step copies.
    this.stepCopy = step.copy ?? null;
    this.stepScratch = Int32Array.from(step.scratch);
    this.read = Int32Array.from(step.read);
    this.readBegin = Groups.beginOf(step.read_count);
    this.valueCount = value.tensor.length;
    this.valueTensor = Int32Array.from(value.tensor);
    this.valueWritten = Int32Array.from(value.written);
    this.valueBuffer = Int32Array.from(value.buffer);
    this.valueOffset = Float64Array.from(value.offset);
    this.valueOrdinal = this.countOrdinals();
    this.isHandedOut = new Uint8Array(this.valueCount);
    for (const output of outputs) if (output !== kNone) this.isHandedOut[output] = 1;
    this.bufferCount = buffer.kind.length;
    this.bufferKind = Uint8Array.from(buffer.kind);
    this.bufferSize = Float64Array.from(buffer.size);
    this.bufferBegin = Int32Array.from(buffer.begin);
    this.bufferEnd = Int32Array.from(buffer.end);
    this.bufferRegion = Int32Array.from(buffer.region);
    this.bufferOffset = Float64Array.from(buffer.offset);
    this.mainValue = Int32Array.from(buffer.name);
    this.bufferSeen = buffer.seen ? Float64Array.from(buffer.seen) : null; // bytes that a run wrote; null: not known
  }

  // Sets the axis of the picture, and places the blocks on it.
  setAxis(axis) {
    this.axis = axis;
    for (const facts of this.prepared.values()) facts.placeBlocks();
  }

  // Steps of other streams that must end before this one begins.
  waitsOf(step) {
    if (this.after.length === 0) return [];
    return Array.from(this.after.subarray(this.afterBegin[step], this.afterBegin[step + 1]));
  }

  // Which value of its tensor each value is, counted from 1.
  countOrdinals() {
    const counts = new Int32Array(this.tensorName.length);
    return this.valueTensor.map((tensor) => (tensor === kNone ? 1 : ++counts[tensor]));
  }

  // A block is a rectangle of bytes and steps that no other block overlaps: a buffer, or one of its parts. The blocks
  // of a buffer follow one another, from its first byte on: firstBlock[buffer] ... firstBlock[buffer + 1] - 1.
  makeBlocks(part = kNoParts) {
    const partCount = new Int32Array(this.bufferCount);
    for (const buffer of part.buffer) ++partCount[buffer];
    this.firstBlock = new Int32Array(this.bufferCount + 1);
    partCount.forEach((count, at) => (this.firstBlock[at + 1] = this.firstBlock[at] + Math.max(1, count)));
    this.blockCount = this.firstBlock[this.bufferCount];
    this.hasParts = this.blockCount > this.bufferCount;
    this.blockBuffer = new Int32Array(this.blockCount);
    for (const side of ['Begin', 'End', 'Offset', 'Size']) this[`block${side}`] = new Float64Array(this.blockCount);
    let row = 0;
    for (let buffer = 0; buffer < this.bufferCount; ++buffer) {
      const first = this.firstBlock[buffer];
      this.setBlock(first, buffer, this.bufferBegin[buffer], this.bufferEnd[buffer], this.bufferSize[buffer]);
      for (let at = first; at < first + partCount[buffer]; ++at, ++row)
        this.setBlock(at, buffer, part.begin[row], part.end[row], part.size[row]);
    }
  }

  setBlock(block, buffer, begin, end, size) {
    const isFirst = block === this.firstBlock[buffer];
    this.blockBuffer[block] = buffer;
    this.blockBegin[block] = begin;
    this.blockEnd[block] = end;
    this.blockSize[block] = size;
    this.blockOffset[block] = isFirst
      ? this.bufferOffset[buffer]
      : this.blockOffset[block - 1] + this.blockSize[block - 1];
  }

  link() {
    this.valuesOfBuffer = new Groups(this.bufferCount, this.valueCount, (value) => this.valueBuffer[value]);
    this.writesOfStep = new Groups(this.stepCount, this.valueCount, (value) => this.valueWritten[value]);
    const stepOfRead = new Int32Array(this.read.length);
    for (let step = 0; step < this.stepCount; ++step)
      stepOfRead.fill(step, this.readBegin[step], this.readBegin[step + 1]);
    this.readsOfValue = new Groups(this.valueCount, this.read.length, (at) => this.read[at]);
    this.stepOfRead = stepOfRead;
    this.scratchStep = new Int32Array(this.bufferCount).fill(kNone);
    for (let step = 0; step < this.stepCount; ++step) {
      if (this.stepScratch[step] !== kNone) this.scratchStep[this.stepScratch[step]] = step;
    }
  }

  // The operator that produces the value by which a buffer is named; for scratch, the operator that uses it.
  findOperators() {
    this.bufferOp = new Int32Array(this.bufferCount).fill(kNone);
    for (let buffer = 0; buffer < this.bufferCount; ++buffer) {
      const value = this.mainValue[buffer];
      const step = value !== kNone ? this.valueWritten[value] : this.scratchStep[buffer];
      if (step !== kNone && this.stepNode[step] !== kNone) this.bufferOp[buffer] = this.nodeOp[this.stepNode[step]];
    }
  }

  readsOf(step) {
    return this.read.subarray(this.readBegin[step], this.readBegin[step + 1]);
  }

  // kNone if no step reads it.
  lastReadOf(value) {
    const reads = this.readsOfValue.of(value);
    return reads.length === 0 ? kNone : this.stepOfRead[reads[reads.length - 1]];
  }

  // Steps that read a value, ascending; a step that reads it twice appears twice.
  readersOf(value) {
    return Array.from(this.readsOfValue.of(value), (at) => this.stepOfRead[at]);
  }

  blocksOf(buffer) {
    const first = this.firstBlock[buffer];
    return Array.from({length: this.firstBlock[buffer + 1] - first}, (_, at) => first + at);
  }

  // 1 if all bytes live as long as the buffer.
  blockCountOf(buffer) {
    return this.firstBlock[buffer + 1] - this.firstBlock[buffer];
  }

  // Bytes that are live in all of [begin, end).
  bytesThrough(buffer, begin, end) {
    let bytes = 0;
    for (let block = this.firstBlock[buffer]; block < this.firstBlock[buffer + 1]; ++block) {
      if (this.blockBegin[block] <= begin && this.blockEnd[block] >= end) bytes += this.blockSize[block];
    }
    return bytes;
  }

  bytesAt(buffer, step) {
    return this.bytesThrough(buffer, ...this.spanAt(step));
  }

  kindOf(buffer) {
    return this.kinds[this.bufferKind[buffer]];
  }

  // Whether a value is in a region that no worker can address.
  isOutside(value) {
    return Boolean(this.regions[this.bufferRegion[this.valueBuffer[value]]]?.outside);
  }

  isPlaced(buffer) {
    return this.bufferRegion[buffer] !== kNone;
  }

  // "x", or "x #2" for the second value of a tensor.
  tensorNameOf(value) {
    const tensor = value === kNone ? kNone : this.valueTensor[value];
    if (tensor === kNone) return '(unnamed)';
    const ordinal = this.valueOrdinal[value];
    return ordinal === 1 ? this.tensorName[tensor] : `${this.tensorName[tensor]} #${ordinal}`;
  }

  shortTensorName(value, most) {
    const name = this.tensorNameOf(value);
    const tensor = this.valueTensor[value];
    if (name.length <= most || tensor === kNone) return shortName(name, most);
    const ordinal = name.length - this.tensorName[tensor].length; // " #2"
    return this.shortened(this.tensorName, tensor, most - ordinal) + name.slice(name.length - ordinal);
  }

  // A name of one of the two lists, shortened so that it differs from the others. What differs is found on first use.
  shortened(names, at, most) {
    if (names[at].length <= most) return names[at];
    this.telling ??= new Map();
    if (!this.telling.has(names)) this.telling.set(names, tellingLengths(names));
    return shortName(names[at], most, this.telling.get(names)[at]);
  }

  valueSize(value) {
    const tensor = this.valueTensor[value];
    return tensor === kNone ? 0 : this.tensorSize[tensor];
  }

  opOfStep(step) {
    const node = step === kNone ? kNone : this.stepNode[step];
    if (step !== kNone && this.isCopy(step)) return 'copy';
    return node === kNone ? '' : this.ops[this.nodeOp[node]];
  }

  isCopy(step) {
    return this.stepCopy !== null && this.stepCopy[step] !== kNone;
  }

  // "copy x to dram"; "copy x" within a region.
  copyText(step, most) {
    const reads = this.readsOf(step);
    const tensor = reads.length > 0 && reads[0] !== kNone ? this.valueTensor[reads[0]] : kNone;
    const region = this.regions[this.stepCopy[step]]?.name;
    const what = tensor === kNone ? '(unnamed)' : this.shortened(this.tensorName, tensor, most);
    return `copy ${what}${region === undefined ? '' : ` to ${region}`}`;
  }

  // "stream 1", "link from sram to dram"
  streamName(stream) {
    const ends = this.streams[stream] ?? null;
    return ends === null ? `stream ${stream}` : `link from ${ends[0]} to ${ends[1]}`;
  }

  streamText(step) {
    return this.stepStream === null ? '' : `, ${this.streamName(this.stepStream[step])}`;
  }

  // "Conv conv1"; a node without a name is shown by its operator and number. `most` limits the letters of the name.
  stepName(step, most = Infinity) {
    const node = this.stepNode[step];
    if (this.isCopy(step)) return this.copyText(step, most);
    if (node === kNone) return 'an unknown node';
    const name = this.nodeName[node] === '' ? `(node ${node})` : this.shortened(this.nodeName, node, most);
    return `${this.ops[this.nodeOp[node]] || 'node'} ${name}`;
  }

  // With the stream, if there are several.
  stepText(step, most = Infinity) {
    return `${this.stepName(step, most)}${this.streamText(step)}`;
  }

  bufferText(buffer, most = Infinity) {
    const value = this.mainValue[buffer];
    if (value !== kNone) return this.shortTensorName(value, most);
    const step = this.scratchStep[buffer];
    return step === kNone ? `${this.kindOf(buffer)} ${buffer}` : `scratch of ${this.stepText(step, most)}`;
  }

  // The step that the page opens at.
  peakStep(region) {
    return Math.max(0, this.regions[region]?.peak ?? 0);
  }

  // Regions that hold a buffer, or the first region if none does. Computed once.
  usedRegions() {
    if (!this.used) {
      const holding = new Set(this.bufferRegion);
      const list = this.regions.map((region, at) => at).filter((at) => holding.has(at));
      this.used = list.length > 0 ? list : [0];
    }
    return this.used;
  }

  // PackingSheet overrides what follows. The load is counted per column, which here is a step.
  get isPacking() {
    return false;
  }

  get words() {
    return kPlanWords;
  }

  get columnCount() {
    return this.stepCount;
  }

  columnOf(step) {
    return step;
  }

  stepOfColumn(column) {
    return column;
  }

  // The columns that a pixel from `from` to `to` shows, half-open.
  columnsUnder(from, to) {
    const begin = Math.min(Math.floor(from), this.stepCount);
    const end = Math.min(Math.max(begin + 1, Math.ceil(to)), this.stepCount);
    return [begin, to - from < 1 ? Math.min(begin + 1, end) : end];
  }

  // From the step to the next one at which anything can change.
  spanAt(step) {
    return [step, step + 1];
  }

  stepBeside(step, direction) {
    return step + direction;
  }

  timeText(step) {
    return countText(step);
  }

  tickText(step) {
    return countText(step);
  }

  intervalText(begin, end) {
    return intervalText(begin, end);
  }

  lifeText(buffer) {
    const parts = this.blockCountOf(buffer);
    const span = spanText(this.bufferBegin[buffer], this.bufferEnd[buffer]);
    return parts === 1 ? span : `${span} in ${plural(parts, 'part')}`;
  }

  // A buffer is one piece.
  piecesOf(buffer) {
    return [buffer];
  }

  isMain() {
    return true;
  }

  isSame(a, b) {
    return a === b;
  }

  lengthOf(buffer) {
    return this.bufferEnd[buffer] - this.bufferBegin[buffer];
  }

  colorOfKind(kind) {
    return `kind-${kind}`;
  }

  // The operator that produces a buffer, to follow its kind.
  sourceText(buffer) {
    return this.bufferOp[buffer] === kNone ? '' : ` from ${this.ops[this.bufferOp[buffer]]}`;
  }

  // The sheets from the root to this one.
  path(sheets) {
    const path = [this];
    while (path[0].parent) path.unshift(sheets[path[0].parent[0]]);
    return path;
  }
}
