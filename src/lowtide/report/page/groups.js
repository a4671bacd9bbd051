// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

const kNone = -1; // stands for "none" in every column of ids

// Rows grouped by a key: the rows of key k are items[begin[k]] ... items[begin[k + 1] - 1], in ascending order.
class Groups {
  constructor(keyCount, rowCount, keyOf) {
    this.begin = new Int32Array(keyCount + 1);
    for (let row = 0; row < rowCount; ++row) {
      const key = keyOf(row);
      if (key !== kNone) ++this.begin[key + 1];
    }
    for (let key = 0; key < keyCount; ++key) this.begin[key + 1] += this.begin[key];
    this.items = new Int32Array(this.begin[keyCount]);
    const next = this.begin.slice();
    for (let row = 0; row < rowCount; ++row) {
      const key = keyOf(row);
      if (key !== kNone) this.items[next[key]++] = row;
    }
  }

  // Where each of several lists begins, from their lengths.
  static beginOf(counts) {
    const begin = new Int32Array(counts.length + 1);
    counts.forEach((count, at) => (begin[at + 1] = begin[at] + count));
    return begin;
  }

  of(key) {
    return key === kNone ? this.items.subarray(0, 0) : this.items.subarray(this.begin[key], this.begin[key + 1]);
  }
}
