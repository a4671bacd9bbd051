// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Details of a plan that most readers do not need: regions, kinds of buffers, strategies, and where the plan is from.

function regionRows(sheet) {
  return sheet.regions.flatMap((region, at) => {
    const {largestLoad} = regionFacts(sheet, at);
    const capacity = region.capacity === null ? '' : ` of ${shortBytes(region.capacity)}`;
    const weights = at === sheet.facts.constants ? ', holds the weights' : '';
    return row(
      region.name || `region ${at}`,
      `arena ${shortBytes(region.arena)}${capacity}, peak ${shortBytes(largestLoad)}${weights}`,
      make('span', {class: 'muted'}, `, alignment ${exactBytes(region.alignment)}`),
    );
  });
}

// "1 buffer, 10.5 MiB total"
function countedBytes(count, bytes) {
  return `${plural(count, 'buffer')}, ${shortBytes(bytes)} total`;
}

function kindTotals(sheet) {
  const kinds = new Map();
  for (let buffer = 0; buffer < sheet.bufferCount; ++buffer) {
    if (!sheet.isMain(buffer)) continue;
    const kind = sheet.kindOf(buffer);
    const {count, bytes} = kinds.get(kind) ?? {count: 0, bytes: 0};
    kinds.set(kind, {count: count + 1, bytes: bytes + sheet.bufferSize[buffer]});
  }
  return [...kinds].flatMap(([kind, {count, bytes}]) => row(kind, countedBytes(count, bytes)));
}

// How busy each stream is, by the estimated times.
function streamRows(sheet) {
  if (timingOf(sheet) === null) return [];
  const streams = Array.from({length: sheet.streamCount}, (_, stream) => stream);
  return [
    make('h3', {}, 'Streams'),
    make(
      'dl',
      {class: 'facts'},
      row('Estimated time', durationText(timingOf(sheet).total)),
      row('Waits', countText(sheet.after.length)),
      streams.flatMap((stream) =>
        row(sheet.streamName(stream), `${percentText(busyShare(sheet, stream), 1)} of the time busy`),
      ),
    ),
  ];
}

function planDetails(sheet) {
  const {facts} = sheet;
  const found = (name, isOptimal) => [
    name || '-',
    make('span', {class: 'muted'}, isOptimal ? ' (proven optimal)' : ''),
  ];
  return [
    ...streamRows(sheet),
    make(
      'details',
      {class: 'details'},
      make('summary', {}, 'Details of the plan'),
      make('h3', {}, sheet.regions.length > 1 ? 'Regions' : 'Region'),
      make('dl', {class: 'facts'}, regionRows(sheet)),
      make('h3', {}, 'Buffers'),
      make('dl', {class: 'facts'}, kindTotals(sheet)),
      make('h3', {}, 'How it was found'),
      make(
        'dl',
        {class: 'facts'},
        row('Order', found(facts.schedule, facts.schedule_optimal)),
        row('Offsets', found(facts.allocate, facts.allocate_optimal)),
        row('Bound', bothBytes(totals(sheet).bound), make('span', {class: 'muted'}, ` ${facts.bound_name}`)),
        row('Peak as given', bothBytes(facts.load_as_given)),
      ),
      make('h3', {}, 'Where it comes from'),
      make(
        'dl',
        {class: 'facts'},
        row('File', facts.model || '-'),
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
    ),
  ];
}
