// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// What differs between two plans of one model, in words: the peak, results in place, and the order.

const kMostDifferences = 4; // named per list

// The buffers at the peak of one plan whose tensors are not at the peak of the other, the largest first.
function onlyAtPeak(sheet) {
  const {other, counterparts} = comparison().get(sheet);
  return peakBuffers(sheet, state.region).filter(
    ({buffer}) => counterparts[buffer] === kNone || !isAtPeak(other, counterparts[buffer]),
  );
}

// The values that are written over an operand, by the name of their tensor: Map(name -> value).
function inPlaceValues(sheet) {
  const found = new Map();
  for (let value = 0; value < sheet.valueCount; ++value) {
    const step = sheet.valueWritten[value];
    if (step === kNone || sheet.stepAlias[step] !== 0 || sheet.isCopy(step)) continue;
    if (partnersOf(sheet, value).length > 0) found.set(sheet.tensorNameOf(value), value);
  }
  return found;
}

// The values that only this plan writes in place, the largest first.
function inPlaceOnlyHere(sheet) {
  const there = inPlaceValues(comparison().get(sheet).other);
  return [...inPlaceValues(sheet)]
    .filter(([name]) => !there.has(name))
    .map(([, value]) => value)
    .sort((a, b) => sheet.valueSize(b) - sheet.valueSize(a) || a - b);
}

function nodeKey(sheet, step) {
  const node = sheet.stepNode[step];
  if (node === kNone) return `copy ${sheet.copyText(step, Infinity)}`;
  return sheet.nodeName[node] === '' ? `#${node}` : sheet.nodeName[node];
}

// The fewest steps that must move to turn one order into the other: those outside of a longest common subsequence.
// Each node counts at its first step. O(n log n), because no node is twice in the lists.
function movedSteps(before, after) {
  const places = new Map();
  for (let step = before.stepCount - 1; step >= 0; --step) places.set(nodeKey(before, step), step);
  const seen = new Set();
  const steps = [];
  for (let step = 0; step < after.stepCount; ++step) {
    const key = nodeKey(after, step);
    if (!places.has(key) || seen.has(key)) continue;
    seen.add(key);
    steps.push({step, place: places.get(key)});
  }
  const tails = []; // tails[k]: of all ascending runs of k + 1 places, the end of the one that ends lowest
  const previous = new Array(steps.length).fill(kNone);
  steps.forEach(({place}, at) => {
    let [low, high] = [0, tails.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (steps[tails[middle]].place < place) low = middle + 1;
      else high = middle;
    }
    if (low > 0) previous[at] = tails[low - 1];
    tails[low] = at;
  });
  const stays = new Set();
  for (let at = tails.at(-1) ?? kNone; at !== kNone; at = previous[at]) stays.add(at);
  return steps.filter((_, at) => !stays.has(at));
}

// Made on first use.
function differences() {
  const {against: before, shown: after} = state;
  differences.made ??= {
    moved: movedSteps(before, after),
    inPlaceAfter: inPlaceOnlyHere(after),
    inPlaceBefore: inPlaceOnlyHere(before),
  };
  return differences.made;
}

function bufferLinks(sheet, list) {
  const shown = list
    .slice(0, kMostDifferences)
    .flatMap(({buffer, bytes}, at) => [
      at === 0 ? '' : ', ',
      textButton(elide(sheet.bufferText(buffer, 40), 40), 'Select this buffer', () => select(sheet, buffer, true)),
      ` ${shortBytes(bytes)}`,
    ]);
  const more = list.length - kMostDifferences;
  return more > 0 ? [...shown, ` and ${countText(more)} more`] : shown;
}

function peakDifference(label, sheet) {
  const list = onlyAtPeak(sheet);
  if (list.length === 0) return [];
  const bytes = list.reduce((sum, one) => sum + one.bytes, 0);
  return row(label, `${plural(list.length, 'buffer')}, ${shortBytes(bytes)}: `, bufferLinks(sheet, list));
}

function inPlaceDifference(label, sheet, values) {
  if (values.length === 0) return [];
  const list = values.map((value) => ({buffer: sheet.valueBuffer[value], bytes: sheet.valueSize(value)}));
  return row(label, `${plural(values.length, 'result')}: `, bufferLinks(sheet, list));
}

function orderDifference(sheet, moved) {
  if (moved.length === 0) return row('Order', 'the same');
  const shown = moved
    .slice(0, kMostDifferences)
    .map(({step, place}) =>
      make('div', {}, stepButton(sheet, step), make('span', {class: 'muted'}, `, before at ${countText(place)}`)),
    );
  const more = moved.length - kMostDifferences;
  if (more > 0) shown.push(make('div', {class: 'muted'}, `and ${countText(more)} more`));
  return row('Order', `${plural(moved.length, 'step')} moved`, shown);
}

// The differences in the panel.
function comparisonPart() {
  const {against: before, shown: after} = state;
  const {moved, inPlaceAfter, inPlaceBefore} = differences();
  const rows = [
    ...peakDifference('Left the peak', before),
    ...peakDifference('Joined the peak', after),
    ...inPlaceDifference('Now in place', after, inPlaceAfter),
    ...inPlaceDifference('No longer in place', before, inPlaceBefore),
    ...orderDifference(after, moved),
  ];
  return make('dl', {class: 'facts'}, rows);
}

// "x=[1,3,960,960] before, x=[1,3,640,640] after"; null if both plans have the same sizes.
function otherSizesText() {
  const dims = [state.against, state.shown].map(({facts}) => facts.dims.join(', ') || 'the sizes of the file');
  return dims[0] === dims[1] ? null : `${dims[0]} before, ${dims[1]} after`;
}

// The bar above the picture: before and after, one figure per entry.
function drawComparison() {
  const host = byId('comparison');
  host.hidden = !isRootComparison();
  if (host.hidden) return;
  const [before, after] = [totals(state.against), totals(state.shown)];
  const figure = (label, from, to) =>
    make(
      'div',
      {class: 'difference'},
      make('span', {class: 'label'}, label),
      make('span', {}, `${shortBytes(from)} → ${shortBytes(to)} `),
      make(
        'span',
        {class: to < from ? 'better' : to > from ? 'worse' : 'muted'},
        to === from ? '±0' : `${changeBytes(to - from)} (${to > from ? '+' : ''}${percentText(to - from, from)})`,
      ),
    );
  const note = (label, text) =>
    make('div', {class: 'difference'}, make('span', {class: 'label'}, label), make('span', {}, text));
  const {moved, inPlaceAfter} = differences();
  const sizes = otherSizesText();
  fill(
    host,
    make('strong', {}, 'Before → after'),
    figure('arena', before.arena, after.arena),
    figure('peak', before.load, after.load),
    note('left the peak', plural(onlyAtPeak(state.against).length, 'buffer')),
    note('now in place', plural(inPlaceAfter.length, 'result')),
    note('moved in the order', plural(moved.length, 'step')),
    sizes === null ? null : make('strong', {class: 'worse'}, `Other sizes: ${sizes}`),
  );
}
