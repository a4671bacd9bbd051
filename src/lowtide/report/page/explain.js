// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The panel before anything is selected: what holds the peak, why no order needs less, and what would lower it.

const kMostPeakRows = 6;
const kMostCopies = 6;
const kMostRanges = 3; // of steps with the peak
const kPeakUses = {
  reads: 'read',
  writes: 'written',
  rewrites: 'read and overwritten',
  scratch: 'scratch of the step',
};

// Why a buffer is live at the peak although the step does not touch it.
function keptWords(sheet, buffer, next) {
  if (next !== null) return ['kept for ', stepButton(sheet, next)];
  const isHandedOut = sheet.valuesOfBuffer.of(buffer).some((value) => sheet.isHandedOut[value] !== 0);
  if (isHandedOut) return ['kept for the caller'];
  return [sheet.streamCount > 1 ? 'in use by a step that runs at the same time' : 'holds nothing at this step'];
}

// Why the search for a plan within the budget left the buffer in the arena: ["; its node ..."], or nothing.
function whyItStays(sheet, buffer, step) {
  const tensors = new Set(sheet.valuesOfBuffer.of(buffer).map((value) => sheet.valueTensor[value]));
  const found = sheet.kept.find(([at, tensor]) => at === step && tensors.has(tensor));
  return found === undefined ? [] : [`; ${found[2]}`];
}

function peakRow({buffer, bytes, use, next}, sheet, whole, step = null) {
  const words =
    use === 'keeps' ? [...keptWords(sheet, buffer, next), ...whyItStays(sheet, buffer, step)] : [kPeakUses[use] ?? ''];
  const line = make(
    'li',
    {class: 'peak-row'},
    make('div', {class: 'peak-bytes'}, shortBytes(bytes)),
    make(
      'div',
      {},
      textButton(elide(sheet.bufferText(buffer, 60), 60), 'Select this buffer', () => select(sheet, buffer, true)),
      make('div', {class: 'muted'}, words),
    ),
  );
  line.style.setProperty('--share', String(whole > 0 ? bytes / whole : 0));
  return line;
}

// "steps 14 to 16", "step 3, steps 8 to 9 and 2 other ranges of steps", with buttons.
function rangeLinks(ranges) {
  const shown = ranges
    .slice(0, kMostRanges)
    .flatMap((range, at) => [
      at === 0 ? '' : ', ',
      textButton(rangesText([range]), 'Show the first of these steps', () => goToStep(range[0])),
    ]);
  const more = ranges.length - kMostRanges;
  return more > 0 ? [...shown, ` and ${plural(more, 'other range')} of steps`] : shown;
}

function peakPart(sheet) {
  const {largestLoad, peakStep} = regionFacts(sheet, state.region);
  const live = peakBuffers(sheet, state.region);
  const more = live.slice(kMostPeakRows);
  const rest = more.reduce((sum, {bytes}) => sum + bytes, 0);
  return [
    make(
      'p',
      {},
      make('strong', {}, bothBytes(largestLoad)),
      ' are live at the same time at ',
      rangeLinks(peakRanges(sheet, state.region)),
      ` of ${countText(sheet.stepCount)} (the first is step 0).`,
    ),
    make('p', {class: 'why'}, 'This is the situation at ', stepButton(sheet, peakStep), ':'),
    make(
      'ul',
      {class: 'peak-rows'},
      live.slice(0, kMostPeakRows).map((one) => peakRow(one, sheet, largestLoad, peakStep)),
      more.length === 0
        ? null
        : make(
            'li',
            {class: 'peak-row'},
            make('div', {class: 'peak-bytes'}, shortBytes(rest)),
            make('div', {class: 'muted'}, `${plural(more.length, 'more buffer')}, listed in the table`),
          ),
    ),
  ];
}

// A paragraph of `lowtide explain`, in which "step 14" becomes a button.
function proofParagraph(sheet, text) {
  const parts = text.split(/(step \d{1,3}(?:,\d{3})*(?!\d))/).map((part) => {
    const number = /^step \d[\d,]*$/.test(part) ? Number(part.slice(5).replaceAll(',', '')) : NaN;
    if (!(number < sheet.stepCount)) return part;
    return textButton(part, 'Show this step', () => goToStep(number));
  });
  return make('p', {class: 'why'}, parts);
}

function proofPart(sheet) {
  const now = totals(sheet);
  const {facts} = sheet;
  if (facts.execution === 'dataflow') {
    const words =
      'Steps run in any order that the graph permits. So buffers that are not live together here may be live ' +
      `together in another run. The arena of ${bothBytes(now.arena)} has space for every run.`;
    return [make('h3', {}, `Why the arena has ${shortBytes(now.arena)}`), make('p', {class: 'why'}, words)];
  }
  const isProven = now.load <= now.bound && facts.uncounted.length === 0;
  const heading = make('h3', {}, isProven ? 'Why no order needs less' : 'What is known about other orders');
  if (sheet.proof !== null) return [heading, sheet.proof.map((text) => proofParagraph(sheet, text))];
  if (now.bound === 0) return [];
  const words = isProven
    ? `The plan states that ${noPlanText(facts).toLowerCase()} needs less than ${bothBytes(now.bound)}.`
    : `This order needs ${bothBytes(now.load)}. The plan states that every order needs at least ` +
      `${bothBytes(now.bound)}. Whether another order needs less than this one is not known.`;
  return [
    heading,
    make('p', {class: 'why'}, words),
    make(
      'p',
      {class: 'muted'},
      state.isVerified
        ? 'lowtide explain MODEL explains the plan on one stream.'
        : 'A plan file does not hold the proof. lowtide explain MODEL prints it.',
    ),
  ];
}

function remedyItem(sheet, {title, words, peak, arena, isBest}) {
  const {largestLoad, arena: whole, limit} = regionFacts(sheet, state.region);
  const [name, to, from] = arena === undefined ? ['peak', peak, largestLoad] : ['arena', arena, whole];
  const fits = limit !== null && whole > limit && to <= limit;
  const figure = `${isBest ? 'at best ' : ''}${shortBytes(to)}`;
  return make(
    'li',
    {class: 'remedy'},
    make(
      'div',
      {class: 'remedy-head'},
      make('strong', {}, title),
      make('span', {class: 'better', title: `${name}: ${exactBytes(to)}`}, figure),
      make('span', {class: 'muted'}, `−${percentText(from - to, from)}${fits ? ', may fit' : ''}`),
    ),
    words.length === 0 ? null : make('p', {class: 'why'}, sentence(sheet, words)),
  );
}

function remediesPart(sheet) {
  const remedies = remediesOf(sheet, state.region);
  const {largestLoad} = regionFacts(sheet, state.region);
  const touched = largestTouched(sheet, state.region);
  const isFloor = touched.bytes >= largestLoad;
  const floor = isFloor
    ? ['Recomputing and swapping do not help: ', {step: touched.step}, ' itself reads or writes every live byte.']
    : [
        `Recomputing and swapping cannot get below ${shortBytes(touched.bytes)}, which `,
        {step: touched.step},
        ' reads or writes.',
      ];
  return [
    make('h3', {}, 'What would lower the peak'),
    make(
      'ul',
      {class: 'remedies'},
      remedies.map((remedy) => remedyItem(sheet, remedy)),
    ),
    remedies.length === 0
      ? make('p', {class: 'why'}, 'No single change of this order lowers the peak by 1 % or more.')
      : null,
    make('p', {class: 'why'}, sentence(sheet, floor)),
    sheet.notInPlace.map((text) => proofParagraph(sheet, text)),
    make(
      'p',
      {class: 'muted'},
      'Each figure is what this order needs after that change alone. With a budget, lowtide plan runs nodes again, ' +
        'and with a link it also moves tensors out of the arena.',
    ),
  ];
}

// Inputs, weights and states with their bytes.
function outsidePart(sheet) {
  const [, ...parts] = memoryParts(sheet);
  if (parts.length === 0) return [];
  return [
    make('h3', {}, 'Outside of the arena'),
    make(
      'dl',
      {class: 'facts'},
      parts.flatMap(({name, bytes, place}) => row(name, bothBytes(bytes) + place)),
    ),
    make('p', {class: 'muted'}, `With the arena, the memory in all is ${shortBytes(memoryInAll(sheet))}.`),
  ];
}

// What runs instead of the model as written, and which steps only move bytes.
function loweringPart(sheet) {
  return [
    sheet.loweringText ? [make('h3', {}, 'What runs'), make('p', {class: 'why'}, sheet.loweringText)] : null,
    copiesPart(sheet),
  ];
}

function copiesPart(sheet) {
  if (sheet.copies.length === 0) return null;
  const sum = sheet.copies.reduce((bytes, [, one]) => bytes + one, 0);
  const more = sheet.copies.length - kMostCopies;
  return [
    make('h3', {}, 'Steps that only move bytes'),
    make('p', {class: 'why'}, `${plural(sheet.copies.length, 'step')}, ${shortBytes(sum)} in each run:`),
    make(
      'ul',
      {class: 'copies'},
      sheet.copies
        .slice(0, kMostCopies)
        .map(([step, bytes, reason]) =>
          make(
            'li',
            {},
            `${shortBytes(bytes)} `,
            stepButton(sheet, step),
            make('span', {class: 'muted'}, `: ${reason}`),
          ),
        ),
    ),
    more > 0 ? make('p', {class: 'muted'}, `and ${countText(more)} smaller ones`) : null,
  ];
}

// Why the page opens with a body.
function openedNote(sheet) {
  const {load} = totals(state.shown);
  return make(
    'p',
    {class: 'muted'},
    `This body makes up ${percentText(totals(sheet).arena, load)} of the peak of the model, so the page opens here. `,
    textButton('Show the whole model', 'Back to the model', () => openSheet(state.shown)),
  );
}

function explainPanel(sheet) {
  const {largestLoad} = regionFacts(sheet, state.region);
  const inside = sheet.parent ? ` inside ${elide(sheet.parent[2] || 'the body', 40)}` : '';
  const hasPeak = largestLoad > 0 && sheet.stepCount > 0;
  const title = `Why ${shortBytes(largestLoad)}${inside}`;
  const head = isRootComparison()
    ? [make('h2', {}, 'What changed'), comparisonPart(), make('h3', {}, `${title} ${sidesOf(sheet)[0]}`)]
    : make('h2', {}, title);
  return [
    verdictPart(sheet),
    head,
    sheet.parent && sheet === state.opened ? openedNote(sheet) : null,
    hasPeak ? peakPart(sheet) : make('p', {class: 'muted'}, 'No buffer is live in this region.'),
    workPart(sheet),
    hasPeak && hasBoundIn(sheet, state.region) ? proofPart(sheet) : null,
    hasPeak ? remediesPart(sheet) : null,
    sheet.quantized ? [make('h3', {}, 'Quantized model'), make('p', {class: 'why'}, sheet.quantized)] : null,
    loweringPart(sheet),
    bodyList(sheet),
    outsidePart(sheet),
    planDetails(sheet),
  ];
}
