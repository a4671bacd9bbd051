// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The panel at the side: the selected buffer. If none is selected, explain.js fills it.

const kMostReaders = 12; // listed at once
const kMostValues = 40;
const kMostBodies = 6;
const kMostParts = 8;
const kMostNeighbours = 3;
const kMostOrigins = 12;

// Sentences of why.js and sharing.js as elements.
function sentence(sheet, parts) {
  return parts.map((part) => {
    if (typeof part === 'string') return part;
    if (part.step !== undefined) return stepButton(sheet, part.step);
    if (part.buffer !== undefined)
      return textButton(elide(sheet.bufferText(part.buffer), 56), 'Select this buffer', () =>
        select(sheet, part.buffer, true),
      );
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
    ...row(
      'Also used by',
      guests.length === 0 ? make('span', {class: 'muted'}, 'no other buffer') : neighbours(sheet, guests),
    ),
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
    ...row('Placed above', restsOnText(sheet, buffer)),
  ];
}

function peakShareRow(sheet, buffer) {
  if (!sheet.isPlaced(buffer)) return [];
  const {peakStep, largestLoad} = regionFacts(sheet, sheet.bufferRegion[buffer]);
  const bytes = sheet.bytesAt(buffer, peakStep);
  const lives = sheet.bufferBegin[buffer] <= peakStep && peakStep < sheet.bufferEnd[buffer] && bytes > 0;
  const some = bytes < sheet.bufferSize[buffer] ? `, with ${shortBytes(bytes)}` : '';
  return row('In the peak', lives ? percentText(bytes, largestLoad) + some : 'no');
}

// The names in the model of the tensor in a buffer and of the node that writes it, to search for in a graph viewer.
function modelNames(sheet, buffer) {
  const value = sheet.mainValue[buffer];
  const first = firstWriter(sheet, buffer);
  const step = value === kNone ? sheet.scratchStep[buffer] : (first?.step ?? kNone);
  const node = step === kNone ? kNone : sheet.stepNode[step];
  const tensor = value === kNone ? kNone : sheet.valueTensor[value];
  const names = [
    ['Tensor', tensor === kNone ? '' : sheet.tensorName[tensor]],
    ['Node', node === kNone ? '' : sheet.nodeName[node]],
  ].filter(([, name]) => name !== '');
  if (names.length === 0) return null;
  return make(
    'dl',
    {class: 'facts'},
    names.flatMap(([label, name]) =>
      row(
        label,
        make('span', {class: 'digest'}, name),
        ' ',
        copyButton(name, `Copy the name: Netron finds it with Ctrl+F`),
      ),
    ),
    insteadRow(sheet, node),
  );
}

// The nodes of the model that a node runs instead of.
function insteadRow(sheet, node) {
  const names = sheet.insteadOf.get(node);
  if (names === undefined) return [];
  const more = names.length - kMostOrigins;
  return row(
    'Instead of',
    make('span', {class: 'digest'}, names.slice(0, kMostOrigins).join(', ')),
    more > 0 ? make('span', {class: 'muted'}, ` and ${countText(more)} more`) : null,
  );
}

function bufferPanel(sheet, buffer) {
  const values = valuesInOrder(sheet, buffer);
  const op = sheet.bufferOp[buffer] === kNone ? '' : sheet.ops[sheet.bufferOp[buffer]];
  const swatch = make('span', {class: 'swatch', 'aria-hidden': 'true'});
  swatch.style.setProperty('--swatch', colourOf(sheet)(buffer));
  const whose = isRootComparison() ? `, ${sidesOf(sheet)[0]}` : '';
  return [
    make(
      'div',
      {class: 'panel-head'},
      make('h2', {}, sheet.bufferText(buffer)),
      tool('×', 'Clear selection (Esc)', () => select(null)),
    ),
    make(
      'p',
      {class: 'tagline'},
      swatch,
      `${sheet.kindOf(buffer)}${op === '' ? '' : `, from ${op}`}, buffer ${buffer}${whose}`,
    ),
    bodyButtons(sheet, buffer),
    modelNames(sheet, buffer),
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
      peakShareRow(sheet, buffer),
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

function drawPanel() {
  const panel = byId('panel');
  const sheet = activeSheet();
  const [ofBuffer, ofAll] = sheet.isPacking ? [packedBufferPanel, packingPanel] : [bufferPanel, explainPanel];
  fill(panel, state.selected ? ofBuffer(state.selected.sheet, state.selected.buffer) : ofAll(sheet));
  panel.scrollTop = 0;
}
