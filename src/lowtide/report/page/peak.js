// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The peak of a region: the steps that reach it, what its step does with each buffer, and its labels in the picture.

const kPeakClasses = [
  {name: 'used at the peak', color: 'peak-used'},
  {name: 'kept at the peak', color: 'peak-kept'},
  {name: 'not at the peak', color: 'peak-not'},
];
const [kUsedAtPeak, kKeptAtPeak, kNotAtPeak] = kPeakClasses.keys();

const kMostPeakLabels = 4;
const kWorthALabel = 0.1; // of the peak
const kLabelDistance = 12;
const kPeakLabelHeight = 16;

// Runs of steps with the largest load: [[first, last + 1], ...].
function peakRanges(sheet, region) {
  const {load, largestLoad} = regionFacts(sheet, region);
  const ranges = [];
  for (let step = 0; step < load.length; ++step) {
    if (load[step] !== largestLoad) continue;
    if (ranges.at(-1)?.[1] === step) ++ranges.at(-1)[1];
    else ranges.push([step, step + 1]);
  }
  return ranges;
}

// "steps 14 to 16", "step 3 and 2 other ranges of steps"
function rangesText(ranges) {
  const [begin, end] = ranges[0];
  const first = end - begin === 1 ? `step ${countText(begin)}` : `steps ${countText(begin)} to ${countText(end - 1)}`;
  return ranges.length === 1 ? first : `${first} and ${plural(ranges.length - 1, 'other range')} of steps`;
}

// What a step does with the buffers that it touches: Map(buffer -> 'reads', 'writes', 'rewrites' or 'scratch').
function usesOf(sheet, step) {
  const uses = new Map();
  for (const value of sheet.readsOf(step)) if (value !== kNone) uses.set(sheet.valueBuffer[value], 'reads');
  for (const value of sheet.writesOfStep.of(step)) {
    const buffer = sheet.valueBuffer[value];
    uses.set(buffer, uses.get(buffer) === 'reads' ? 'rewrites' : (uses.get(buffer) ?? 'writes'));
  }
  if (sheet.stepScratch[step] !== kNone) uses.set(sheet.stepScratch[step], 'scratch');
  return uses;
}

// The class of each buffer at the peak of the region.
function peakClasses(sheet, region) {
  const classOf = new Uint8Array(sheet.bufferCount).fill(kNotAtPeak);
  const facts = regionFacts(sheet, region);
  if (facts.largestLoad > 0) {
    const uses = sheet.isPacking ? new Map() : usesOf(sheet, facts.peakStep);
    for (const buffer of facts.liveAtPeak)
      classOf[buffer] = sheet.isPacking || uses.has(buffer) ? kUsedAtPeak : kKeptAtPeak;
  }
  const classes = sheet.isPacking
    ? [{...kPeakClasses[0], name: 'live at the peak'}, ...kPeakClasses.slice(1)]
    : kPeakClasses;
  return {classes, classOf};
}

// The buffers at the peak, the largest first: [{buffer, bytes, use, next}]. `use` is 'keeps' if the step does not touch
// the buffer. `next` is the first later step that reads it; null if none does.
function peakBuffers(sheet, region) {
  const facts = regionFacts(sheet, region);
  const {peakStep} = facts;
  const uses = usesOf(sheet, peakStep);
  return facts.liveAtPeak.map((buffer) => {
    let next = null;
    for (const value of sheet.valuesOfBuffer.of(buffer)) {
      const reader = sheet.readersOf(value).find((step) => step > peakStep && sheet.stepAlias[step] === 0);
      if (reader !== undefined && (next === null || reader < next)) next = reader;
    }
    return {buffer, bytes: sheet.bytesAt(buffer, peakStep), use: uses.get(buffer) ?? 'keeps', next};
  });
}

// "2 x 28.1 MiB", "28.1 MiB", "10.3 MiB + 512 KiB", "12 buffers with 3.2 MiB"
function sizesText(sizes) {
  const isOne = sizes.every((size) => size === sizes[0]);
  if (sizes.length > 1 && isOne) return `${sizes.length} x ${shortBytes(sizes[0])}`;
  if (sizes.length <= 2) return sizes.map(shortBytes).join(' + ');
  return `${plural(sizes.length, 'buffer')} with ${shortBytes(sizes.reduce((sum, size) => sum + size, 0))}`;
}

// "Mul p2o.Mul.8 reads 2 x 28.1 MiB, writes 1 MiB". Made once.
function peakSentence(sheet, region) {
  const facts = regionFacts(sheet, region);
  const {peakStep, largestLoad} = facts;
  if (largestLoad === 0 || sheet.stepCount === 0) return '';
  if (facts.sentence !== undefined) return facts.sentence;
  const live = peakBuffers(sheet, region);
  const clause = (verb, wanted) => {
    const sizes = live
      .filter(({use, bytes}) => wanted.includes(use) && bytes >= largestLoad / 100)
      .map(({bytes}) => bytes);
    return sizes.length === 0 ? null : `${verb} ${sizesText(sizes)}`;
  };
  const clauses = [
    clause('reads', ['reads', 'rewrites']),
    clause('writes', ['writes']),
    clause('has scratch of', ['scratch']),
  ].filter((words) => words !== null);
  const kept = clause('keeps', ['keeps'])?.replace('keeps ', '');
  const text = `${sheet.stepText(peakStep, 40)} ${clauses.join(', ') || 'runs'}`;
  facts.sentence = kept === undefined ? text : `${text}; ${kept} kept for later`;
  return facts.sentence;
}

const kLabelPlaces = [0.5, 0.35, 0.65, 0.2, 0.8, 0.08, 0.92]; // of the height of the buffer

// What a label beside a box may say, and where: the whole text before the size alone, and each of them at the right
// side before the left one. `edge` is the side of the box to which a short line leads.
function labelsBeside(chart, buffer, box) {
  const {sheet, facts} = chart;
  const {map} = chart.layout;
  const size = shortBytes(sheet.bytesAt(buffer, facts.peakStep));
  const sides = [
    {isLeft: false, edge: box.x1, space: map.x + map.w - box.x1 - kLabelDistance},
    {isLeft: true, edge: box.x0, space: box.x0 - map.x - kLabelDistance},
  ];
  const widest = Math.max(...sides.map(({space}) => space));
  const letters = Math.floor((widest - 8) / kLetterWidth) - size.length - 2;
  const hasName = letters >= Math.min(kLeastName, sheet.bufferText(buffer).length);
  const texts = hasName ? [`${sheet.bufferText(buffer, Math.min(30, letters))}  ${size}`, size] : [size];
  const [top, bottom] = [Math.max(box.y0, map.y), Math.min(box.y1, map.y + map.h)];
  return texts.flatMap((text) => {
    const w = Math.ceil(chart.widthOf(text)) + 10;
    const fitting = sides.filter(({space}) => space >= w);
    return fitting.flatMap(({isLeft, edge}) =>
      kLabelPlaces.map((share) => {
        const x = isLeft ? edge - kLabelDistance - w : edge + kLabelDistance;
        const y = top + (bottom - top) * share;
        const place = {x0: x, x1: x + w, y0: y - kPeakLabelHeight / 2, y1: y + kPeakLabelHeight / 2};
        return {x, y, w, edge, isLeft, text, place};
      }),
    );
  });
}

// Labels beside the buffers of the peak that are too narrow for their names: [{x, y, w, edge, isLeft, text, place}].
// They overlap neither each other nor names in the map. A buffer without such a place has none.
function peakLabels(chart) {
  const {
    sheet,
    facts,
    layout: {map},
  } = chart;
  if (facts.largestLoad <= 0 || sheet.isPacking) return [];
  const overlaps = (a, b) => a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;
  const live = facts.liveAtPeak
    .slice(0, kMostPeakLabels)
    .filter((buffer) => sheet.bytesAt(buffer, facts.peakStep) >= kWorthALabel * facts.largestLoad)
    .map((buffer) => ({buffer, box: boxOf(chart, buffer)}))
    .filter(({box}) => box.x1 > map.x && box.x0 < map.x + map.w && box.y1 > map.y && box.y0 < map.y + map.h)
    .filter(({box}) => box.x1 - box.x0 < 60 && box.y1 - box.y0 >= 4);
  const labels = [];
  for (const {buffer, box} of live) {
    const taken = [...chart.named, ...labels.map(({place}) => place)];
    const isFree = ({place}) => !taken.some((other) => overlaps(place, other));
    const label = labelsBeside(chart, buffer, box).find(isFree);
    if (label !== undefined) labels.push(label);
  }
  return labels;
}

function drawPeakLabels(chart, context) {
  const {ink} = chart;
  context.font = kFont;
  for (const {x, y, w, edge, isLeft, text} of peakLabels(chart)) {
    drawLine(context, edge, half(y), isLeft ? x + w : x, half(y), ink.peak);
    context.fillStyle = ink.panel;
    context.fillRect(x, y - kPeakLabelHeight / 2, w, kPeakLabelHeight);
    context.strokeStyle = ink.peak;
    context.strokeRect(half(x), half(y - kPeakLabelHeight / 2), Math.round(w), kPeakLabelHeight);
    drawText(context, text, x + 5, y + 1, ink.text);
  }
}
