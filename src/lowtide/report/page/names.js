// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Short forms of names that are paths, such as "/cells.3/ops.0/Relu_output_0". The end of a path says most, but it may
// be the same for many names. So a short form keeps at least what tells the name apart from the others of its kind.

// For each name, the length of the shortest tail of whole parts that no other name ends with.
function tellingLengths(names) {
  const lengths = new Int32Array(names.length);
  let open = Array.from(names.keys()).filter((at) => names[at].includes('/'));
  names.forEach((name, at) => (lengths[at] = name.length));
  const begins = Int32Array.from(names, (name) => name.length + 1); // of the tail, one part more in each round
  while (open.length > 0) {
    const seen = new Map();
    const tails = open.map((at) => {
      begins[at] = begins[at] < 2 ? 0 : names[at].lastIndexOf('/', begins[at] - 2) + 1;
      const tail = names[at].slice(begins[at]);
      lengths[at] = tail.length;
      seen.set(tail, (seen.get(tail) ?? 0) + 1);
      return tail;
    });
    open = open.filter((at, row) => begins[at] > 0 && seen.get(tails[row]) > 1);
  }
  return lengths;
}

// PyTorch names the result of a node after the node and adds this, which says nothing.
const kNoise = '_output_0';

// At most `most` letters: the longest tail that fits and tells the name apart. If none fits, the middle of the shortest
// such tail is left out, so that its first and its last part can still be seen. `telling` is the length of that tail.
function shortName(name, most, telling = 0) {
  if (name.length <= most) return name;
  const isNoisy = name.endsWith(kNoise) && name.length > kNoise.length;
  const bare = isNoisy ? name.slice(0, -kNoise.length) : name;
  const least = Math.max(1, telling - (name.length - bare.length));
  if (bare.length <= most) return bare;
  for (let at = bare.indexOf('/', 1); at >= 0; at = bare.indexOf('/', at + 1)) {
    const length = bare.length - at - 1;
    if (length < least) break;
    if (length <= most) return bare.slice(at + 1);
  }
  if (telling > 0) return elide(bare.slice(bare.length - least), most);
  return elideEnd(bare.split('/').filter(Boolean).at(-1) ?? bare, most);
}

function elideEnd(name, most) {
  return name.length <= most ? name : `${name.slice(0, Math.max(0, most - 1))}…`;
}

// Leaves out the middle.
function elide(name, most) {
  if (name.length <= most) return name;
  const head = Math.max(1, Math.ceil((most - 1) / 2));
  return `${name.slice(0, head)}…${name.slice(name.length - Math.max(0, most - 1 - head))}`;
}
