// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The panel at the side: the selected buffer, or the plan if none is.

const kMostReaders = 12; // listed at once
const kMostValues = 40;
const kMostBodies = 6;
const kMostParts = 8;
const kMostNeighbours = 3;

// Sentences of why.js and sharing.js as elements.
function sentence(sheet, parts) {
  return parts.map((part) => {
    if (typeof part === 'string') return part;
    if (part.step !== undefined) return stepButton(sheet, part.step);
    return make('span', {class: 'name'}, elide(sheet.tensorNameOf(part.value), 64));
  });
}

function stepButton(sheet, step) {
  return textButton(`step ${countText(step)} · ${elide(sheet.stepText(step), 56)}`, 'Show this step', () =>
    goToStep(step),
  );
}

function row(label, ...content) {
  return [make('dt', {}, label), make('dd', {}, ...content)];
}

function roleText(sheet, value) {
  const tensor = sheet.valueTensor[value];
  return tensor === kNone ? '' : `${sheet.types[sheet.tensorType[tensor]]}, ${sheet.roles[sheet.tensorRole[tensor]]}`;
}

function readersList(sheet, value) {
  const steps = [...new Set(sheet.readersOf(value))];
  if (steps.length === 0) return [make('span', {class: 'muted'}, 'no step')];
  const items = steps.slice(0, kMostReaders).map((step) => make('div', {}, stepButton(sheet, step)));
  if (steps.length > kMostReaders)
    items.push(make('div', {class: 'muted'}, `and ${countText(steps.length - kMostReaders)} more`));
  return items;
}

function valueCard(sheet, value) {
  const offset = sheet.valueOffset[value];
  const written = sheet.valueWritten[value];
  return make(
    'li',
    {class: 'value-card'},
    make('div', {class: 'name'}, sheet.tensorNameOf(value)),
    make('div', {class: 'muted'}, `${roleText(sheet, value)}, ${bothBytes(sheet.valueSize(value))}`),
    make(
      'dl',
      {},
      row('Bytes', `${countText(offset)} to ${countText(offset + sheet.valueSize(value))} of the buffer`),
      row('How', sentence(sheet, sharingWords(sheet, value))),
      row(
        'Written by',
        written === kNone
          ? make('span', {class: 'muted'}, 'no step: it exists before the run')
          : stepButton(sheet, written),
      ),
      row('Read by', readersList(sheet, value)),
    ),
  );
}

function bodyButton(body, whose = '') {
  return make(
    'button',
    {type: 'button', class: 'open-body', onclick: () => openSheet(body)},
    `Open the plan of ${elide(body.parent[2] || 'the body', 40)}${whose}`,
    make('span', {class: 'muted'}, ` · ${shortBytes(totals(body).arena)}, ${plural(body.stepCount, 'step')}`),
  );
}

function bodyButtons(sheet, buffer) {
  const bodies = sheet.bodies.get(sheet.scratchStep[buffer]) ?? [];
  if (bodies.length === 0) return null;
  return make(
    'div',
    {class: 'bodies'},
    bodies.map((body) => bodyButton(body)),
  );
}

// The bodies of the plan with the largest arenas. The picture shows each as one box of scratch.
function bodyList(sheet) {
  const bodies = [...sheet.bodies.values()].flat();
  if (bodies.length === 0) return null;
  bodies.sort((a, b) => totals(b).arena - totals(a).arena || a.index - b.index);
  const more = bodies.length - kMostBodies;
  return [
    make('h3', {}, plural(bodies.length, 'plan') + ' inside'),
    make('p', {class: 'muted'}, 'Each is planned separately. Its arena is scratch of the step that runs it.'),
    make(
      'div',
      {class: 'bodies'},
      bodies.slice(0, kMostBodies).map((body) => bodyButton(body, ` of ${elide(sheet.stepText(body.parent[1]), 40)}`)),
    ),
    more > 0 ? make('p', {class: 'muted'}, `and ${countText(more)} more: select their scratch`) : null,
  ];
}

// Buttons for the first few buffers.
function neighbours(sheet, buffers) {
  const shown = buffers
    .slice(0, kMostNeighbours)
    .flatMap((other, at) => [
      at === 0 ? '' : ', ',
      textButton(elide(sheet.bufferText(other), 48), 'Select this buffer', () => select(sheet, other, true)),
    ]);
  const more = buffers.length - kMostNeighbours;
  return more > 0 ? [...shown, ` and ${countText(more)} more`] : shown;
}

function restsOnText(sheet, buffer) {
  if (sheet.bufferOffset[buffer] === 0) return ['the start of the arena'];
  const {below, air} = restsOn(sheet, buffer);
  if (below.length === 0) return ['free bytes'];
  const shown = neighbours(sheet, below);
  if (air > 0) shown.push(`, ${exactBytes(air)} above ${below.length > 1 ? 'them' : 'it'}`);
  return shown;
}

function partLine(sheet, block) {
  const low = sheet.blockOffset[block];
  const title = `Address ${countText(low)} to ${countText(low + sheet.blockSize[block])}`;
  return make('div', {title}, partText(sheet, block));
}

// When the bytes of a buffer are live, from its first byte on, and which buffers use them otherwise.
function partRows(sheet, buffer) {
  const blocks = sheet.blocksOf(buffer);
  if (blocks.length === 1) return [];
  const more = blocks.length - kMostParts;
  const guests = guestsOf(sheet, buffer);
  return [
    ...row(
      plural(blocks.length, 'part'),
      blocks.slice(0, kMostParts).map((block) => partLine(sheet, block)),
      more > 0 ? make('div', {class: 'muted'}, `and ${countText(more)} more`) : null,
    ),
    ...row('Also used by', guests.length === 0 ? make('span', {class: 'muted'}, 'no step') : neighbours(sheet, guests)),
  ];
}

function placeRows(sheet, buffer) {
  if (!sheet.isPlaced(buffer)) return row('Address', 'not in an arena');
  const low = sheet.bufferOffset[buffer];
  const high = low + sheet.bufferSize[buffer];
  const region = sheet.bufferRegion[buffer];
  return [
    ...row(
      'Address',
      `${countText(low)} to ${countText(high)} `,
      make('span', {class: 'muted'}, `0x${low.toString(16)} to 0x${high.toString(16)}`),
    ),
    ...(sheet.regions.length > 1 ? row('Region', sheet.regions[region].name) : []),
    ...row('Rests on', restsOnText(sheet, buffer)),
  ];
}

function peakRow(sheet, buffer) {
  if (!sheet.isPlaced(buffer)) return [];
  const {peakStep, largestLoad} = regionFacts(sheet, sheet.bufferRegion[buffer]);
  const bytes = sheet.bytesAt(buffer, peakStep);
  const lives = sheet.bufferBegin[buffer] <= peakStep && peakStep < sheet.bufferEnd[buffer] && bytes > 0;
  const some = bytes < sheet.bufferSize[buffer] ? `, with ${shortBytes(bytes)}` : '';
  return row('In the peak', lives ? percentText(bytes, largestLoad) + some : 'no');
}

function bufferPanel(sheet, buffer) {
  const values = valuesInOrder(sheet, buffer);
  const op = sheet.bufferOp[buffer] === kNone ? '' : sheet.ops[sheet.bufferOp[buffer]];
  const swatch = make('span', {class: 'swatch', 'aria-hidden': 'true'});
  swatch.style.setProperty('--swatch', `var(--kind-${sheet.kindOf(buffer)})`);
  const whose = state.against === null || !isRootComparison() ? '' : sheet === state.shown ? ', after' : ', before';
  return [
    make(
      'div',
      {class: 'panel-head'},
      make('h2', {}, sheet.bufferText(buffer)),
      tool('×', 'Close (Esc)', () => select(null)),
    ),
    make(
      'p',
      {class: 'tagline'},
      swatch,
      `${sheet.kindOf(buffer)}${op === '' ? '' : `, from ${op}`}, buffer ${buffer}${whose}`,
    ),
    bodyButtons(sheet, buffer),
    make(
      'dl',
      {class: 'facts'},
      row('Size', bothBytes(sheet.bufferSize[buffer])),
      row(
        'Live',
        `${spanText(sheet.bufferBegin[buffer], sheet.bufferEnd[buffer])} `,
        make('span', {class: 'muted'}, `(${plural(sheet.bufferEnd[buffer] - sheet.bufferBegin[buffer], 'step')})`),
      ),
      partRows(sheet, buffer),
      placeRows(sheet, buffer),
      peakRow(sheet, buffer),
    ),
    isRootComparison() ? make('p', {class: 'change-words'}, changeWords(sheet, buffer)) : null,
    make('h3', {}, 'Why it lives so long'),
    whyItLives(sheet, buffer).map((parts) => make('p', {class: 'why'}, sentence(sheet, parts))),
    values.length > 0
      ? make('h3', {}, values.length > 1 ? `${countText(values.length)} values share its bytes` : 'Its value')
      : null,
    make(
      'ul',
      {class: 'values'},
      values.slice(0, kMostValues).map((value) => valueCard(sheet, value)),
    ),
    values.length > kMostValues
      ? make('p', {class: 'muted'}, `and ${countText(values.length - kMostValues)} more`)
      : null,
  ];
}

function regionRows(sheet) {
  return sheet.regions.flatMap((region, at) => {
    const {largestLoad} = regionFacts(sheet, at);
    const capacity = region.capacity === null ? '' : ` of ${shortBytes(region.capacity)}`;
    return row(
      region.name || `region ${at}`,
      `arena ${shortBytes(region.arena)}${capacity}, peak ${shortBytes(largestLoad)}`,
      make('span', {class: 'muted'}, `, alignment ${exactBytes(region.alignment)}`),
    );
  });
}

function planPanel(sheet) {
  const {facts} = sheet;
  const now = totals(sheet);
  const kinds = new Map();
  for (let buffer = 0; buffer < sheet.bufferCount; ++buffer) {
    const kind = sheet.kindOf(buffer);
    const entry = kinds.get(kind) ?? {count: 0, bytes: 0};
    kinds.set(kind, {count: entry.count + 1, bytes: entry.bytes + sheet.bufferSize[buffer]});
  }
  return [
    make('div', {class: 'panel-head'}, make('h2', {}, facts.graph || 'Plan')),
    make(
      'p',
      {class: 'muted'},
      'Select a buffer to see what it holds and why it lives so long, or a step on the load curve to see the live ' +
        'buffers.',
      make('span', {class: 'for-keys'}, ' Press ? for all keys.'),
    ),
    bodyList(sheet),
    make('h3', {}, 'The plan'),
    make(
      'dl',
      {class: 'facts'},
      row('Arena', bothBytes(now.arena)),
      row('Peak', bothBytes(now.load)),
      row('Bound', `${bothBytes(now.bound)} `, make('span', {class: 'muted'}, facts.bound_name)),
      row('Gap', now.gap === null ? '-' : percentText(now.arena - now.bound, now.bound)),
      row('Peak as given', bothBytes(now.loadAsGiven)),
      row(
        'Order',
        `${facts.schedule || '-'} `,
        make('span', {class: 'muted'}, facts.schedule_optimal ? '(proven optimal)' : ''),
      ),
      row(
        'Offsets',
        `${facts.allocate || '-'} `,
        make('span', {class: 'muted'}, facts.allocate_optimal ? '(proven optimal)' : ''),
      ),
    ),
    make('h3', {}, sheet.regions.length > 1 ? 'Regions' : 'Region'),
    make('dl', {class: 'facts'}, regionRows(sheet)),
    make('h3', {}, 'Buffers'),
    make(
      'dl',
      {class: 'facts'},
      [...kinds].flatMap(([kind, {count, bytes}]) => row(kind, `${countText(count)}, ${bothBytes(bytes)} in all`)),
    ),
    make('h3', {}, 'Where it comes from'),
    make(
      'dl',
      {class: 'facts'},
      row('Graph', `${facts.graph || '-'}, ${plural(facts.nodes, 'node')}, ${plural(facts.tensors, 'tensor')}`),
      row('Sizes', facts.dims.join(', ') || 'fixed'),
      row('Target', facts.target || '-'),
      row('Model', make('span', {class: 'digest'}, facts.model_sha256 || 'no file')),
      row('Tool', facts.tool || '-'),
      row(
        'Check',
        state.isVerified ? 'verified against the model, step by step' : 'not verified here: run lowtide verify',
      ),
    ),
  ];
}

function drawPanel() {
  const panel = byId('panel');
  const sheet = activeSheet();
  const [ofBuffer, ofAll] = sheet.isPacking ? [packedBufferPanel, packingPanel] : [bufferPanel, planPanel];
  fill(panel, state.selected ? ofBuffer(state.selected.sheet, state.selected.buffer) : ofAll(sheet));
  panel.scrollTop = 0;
}
