// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// An index over blocks (rectangles of positions x bytes) for drawing and for finding what is under the pointer. Blocks
// are sorted by first step and divided into groups of 64. Each group, and each group of 64 groups, has a bounding box,
// so that up to 4,096 blocks out of sight are skipped at a time. Built in O(n).

const kGroupSize = 64;

class Blocks {
  constructor(sheet, sorted) {
    this.sheet = sheet;
    this.sorted = sorted;
    const {axis, blockOffset, blockSize} = sheet;
    // Positions on the axis, by block.
    this.left = sheet.blockBegin.map((step) => axis.at(step));
    this.right = sheet.blockEnd.map((step) => axis.at(step));
    this.boxes = [
      Blocks.boxLevel(sorted.length, (row) => {
        const block = sorted[row];
        return [this.left[block], this.right[block], blockOffset[block], blockOffset[block] + blockSize[block]];
      }),
    ];
    const inner = this.boxes[0];
    this.boxes.push(Blocks.boxLevel(inner.length / 4, (row) => inner.subarray(4 * row, 4 * row + 4)));
    this.examined = 0; // boxes and blocks looked at since the last reset: what a frame costs
  }

  // Boxes [x begin, x end, y begin, y end], one around each group of kGroupSize rows.
  static boxLevel(count, boxOf) {
    const boxes = new Float64Array(4 * Math.ceil(count / kGroupSize));
    for (let row = 0; row < count; ++row) {
      const box = boxOf(row);
      const at = 4 * Math.floor(row / kGroupSize);
      const first = row % kGroupSize === 0;
      boxes[at] = first ? box[0] : Math.min(boxes[at], box[0]);
      boxes[at + 1] = first ? box[1] : Math.max(boxes[at + 1], box[1]);
      boxes[at + 2] = first ? box[2] : Math.min(boxes[at + 2], box[2]);
      boxes[at + 3] = first ? box[3] : Math.max(boxes[at + 3], box[3]);
    }
    return boxes;
  }

  // Calls `found(block)` for every block that overlaps the positions [x0, x1) and the bytes [y0, y1], in the order of
  // first steps. A block without bytes is a line, which overlaps the range that contains it.
  visit(x0, x1, y0, y1, found) {
    const {blockOffset, blockSize} = this.sheet;
    const {left, right} = this;
    const [inner, outer] = this.boxes;
    const misses = (boxes, at) => boxes[at] >= x1 || boxes[at + 1] <= x0 || boxes[at + 2] > y1 || boxes[at + 3] < y0;
    for (let outerGroup = 0; 4 * outerGroup < outer.length; ++outerGroup) {
      ++this.examined;
      if (misses(outer, 4 * outerGroup)) continue;
      const groupsEnd = Math.min((outerGroup + 1) * kGroupSize, inner.length / 4);
      for (let group = outerGroup * kGroupSize; group < groupsEnd; ++group) {
        ++this.examined;
        if (misses(inner, 4 * group)) continue;
        const end = Math.min((group + 1) * kGroupSize, this.sorted.length);
        this.examined += end - group * kGroupSize;
        for (let row = group * kGroupSize; row < end; ++row) {
          const block = this.sorted[row];
          if (left[block] >= x1) break; // sorted: the rest of the group begins later
          if (right[block] <= x0 || blockOffset[block] > y1) continue;
          if (blockOffset[block] + blockSize[block] < y0) continue;
          found(block);
        }
      }
    }
  }

  // The same for a range of steps.
  visitSteps(begin, end, y0, y1, found) {
    const {axis} = this.sheet;
    this.visit(axis.at(begin), axis.at(end), y0, y1, found);
  }

  // The block at a point, or the nearest one within the reach (positions and bytes). Of equally near blocks it is the
  // smallest. kNone if there is none.
  at(x, y, reachX, reachY) {
    const {blockOffset, blockSize} = this.sheet;
    const {left, right} = this;
    let best = kNone;
    let bestDistance = Infinity;
    this.visit(x - reachX, x + reachX, y - reachY, y + reachY, (block) => {
      const dx = Math.max(left[block] - x, 0, x - right[block]) / reachX;
      const low = blockOffset[block];
      const dy = Math.max(low - y, 0, y - low - blockSize[block]) / reachY;
      const distance = Math.hypot(dx, dy);
      const isNearer = distance < bestDistance - 1e-9;
      if (isNearer || (distance <= bestDistance && blockSize[block] < blockSize[best])) {
        [best, bestDistance] = [block, distance];
      }
    });
    return best;
  }
}
