// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// An index over rectangles (steps x bytes) for drawing and for finding what is under the pointer. Buffers sorted by
// first step stand in blocks of 64; each block and each block of 64 blocks knows the box around it, so that what is
// out of sight is passed over 4,096 at a time. Built in O(n).

const kBlockSize = 64;

class Blocks {
  constructor(sheet, sorted) {
    this.sheet = sheet;
    this.sorted = sorted;
    const {bufferBegin, bufferEnd, bufferOffset, bufferSize} = sheet;
    this.boxes = [
      Blocks.boxLevel(sorted.length, (row) => {
        const buffer = sorted[row];
        return [
          bufferBegin[buffer],
          bufferEnd[buffer],
          bufferOffset[buffer],
          bufferOffset[buffer] + bufferSize[buffer],
        ];
      }),
    ];
    const inner = this.boxes[0];
    this.boxes.push(Blocks.boxLevel(inner.length / 4, (row) => inner.subarray(4 * row, 4 * row + 4)));
    this.examined = 0; // boxes and buffers looked at since the last reset: what a frame costs
  }

  // Boxes [x begin, x end, y begin, y end] around each kBlockSize of `count` rows.
  static boxLevel(count, boxOf) {
    const boxes = new Float64Array(4 * Math.ceil(count / kBlockSize));
    for (let row = 0; row < count; ++row) {
      const box = boxOf(row);
      const at = 4 * Math.floor(row / kBlockSize);
      const first = row % kBlockSize === 0;
      boxes[at] = first ? box[0] : Math.min(boxes[at], box[0]);
      boxes[at + 1] = first ? box[1] : Math.max(boxes[at + 1], box[1]);
      boxes[at + 2] = first ? box[2] : Math.min(boxes[at + 2], box[2]);
      boxes[at + 3] = first ? box[3] : Math.max(boxes[at + 3], box[3]);
    }
    return boxes;
  }

  // Calls `found(buffer)` for every buffer that meets [x0, x1) x [y0, y1], in the order of first steps. A buffer of
  // no bytes is a line and meets the range that contains it.
  visit(x0, x1, y0, y1, found) {
    const {bufferBegin, bufferEnd, bufferOffset, bufferSize} = this.sheet;
    const [inner, outer] = this.boxes;
    const misses = (boxes, at) => boxes[at] >= x1 || boxes[at + 1] <= x0 || boxes[at + 2] > y1 || boxes[at + 3] < y0;
    for (let group = 0; 4 * group < outer.length; ++group) {
      ++this.examined;
      if (misses(outer, 4 * group)) continue;
      const blocksEnd = Math.min((group + 1) * kBlockSize, inner.length / 4);
      for (let block = group * kBlockSize; block < blocksEnd; ++block) {
        ++this.examined;
        if (misses(inner, 4 * block)) continue;
        const end = Math.min((block + 1) * kBlockSize, this.sorted.length);
        this.examined += end - block * kBlockSize;
        for (let row = block * kBlockSize; row < end; ++row) {
          const buffer = this.sorted[row];
          if (bufferBegin[buffer] >= x1) break; // sorted: the rest of the block begins later
          if (bufferEnd[buffer] <= x0 || bufferOffset[buffer] > y1) continue;
          if (bufferOffset[buffer] + bufferSize[buffer] < y0) continue;
          found(buffer);
        }
      }
    }
  }

  // The buffer at a point, or the nearest within the reach (in steps and bytes); the smaller one where several are
  // equally near. kNone if there is none.
  at(x, y, reachX, reachY) {
    const {bufferBegin, bufferEnd, bufferOffset, bufferSize} = this.sheet;
    let best = kNone;
    let bestDistance = Infinity;
    this.visit(x - reachX, x + reachX, y - reachY, y + reachY, (buffer) => {
      const dx = Math.max(bufferBegin[buffer] - x, 0, x - bufferEnd[buffer]) / reachX;
      const low = bufferOffset[buffer];
      const dy = Math.max(low - y, 0, y - low - bufferSize[buffer]) / reachY;
      const distance = Math.hypot(dx, dy);
      const isNearer = distance < bestDistance - 1e-9;
      if (isNearer || (distance <= bestDistance && bufferSize[buffer] < bufferSize[best])) {
        [best, bestDistance] = [buffer, distance];
      }
    });
    return best;
  }
}
