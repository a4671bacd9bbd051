// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The head, panel and tables of a packing's page, built from the components of a plan's page.

const kMostGaps = 12; // listed

// Returns the proof of the bound: [short form, sentence].
function boundReason(sheet) {
  const {bound_searched: isSearched, decisions, witness} = sheet.facts;
  if (isSearched) {
    const words = `a search of ${plural(decisions, 'decision')} ruled out all offsets below it`;
    return ['by search', words];
  }
  if (witness === null && sheet.facts.bound > 0)
    return ['lower bound', 'the largest buffer or the fixed buffers need that much'];
  if (witness === null) return ['lower bound', 'there is nothing to place'];
  const step = sheet.stepOfColumn(witness);
  const time = sheet.timeText(step);
  const isLoad = regionFacts(sheet, 0).loadAt(step) === sheet.facts.bound;
  const padding = isLoad ? '' : ', with alignment padding and fixed buffers';
  return [`load at time ${time}`, `the buffers live at time ${time} need that much${padding}`];
}

function packingMetrics(sheet) {
  const now = totals(sheet);
  const {facts} = sheet;
  const {capacity} = sheet.regions[0];
  const waste = now.arena - now.load;
  const [reason, sentence] = boundReason(sheet);
  return [
    ...facts.figures.map(({label, value, detail}) => metric(label, value, detail)),
    metric('Height', shortBytes(now.arena), capacity === null ? exactBytes(now.arena) : `of ${shortBytes(capacity)}`, {
      title: `Bytes to reserve, up to the highest end of a buffer: ${bothBytes(now.arena)}`,
      tone: 'main',
    }),
    metric('Peak', shortBytes(now.load), `${waste > 0 ? shortBytes(waste) : 'nothing'} lost to fragmentation`, {
      title: `Largest number of live bytes at any time: ${bothBytes(now.load)}`,
    }),
    metric('Bound', shortBytes(now.bound), reason, {
      title: `No choice of offsets needs less than ${bothBytes(now.bound)}: ${sentence}`,
    }),
    gapMetric(now),
    metric('No reuse', shortBytes(facts.sum), `height ${percentText(now.arena, facts.sum)} of it`, {
      title: `Sum of all sizes: ${bothBytes(facts.sum)}`,
    }),
    metric('Buffers', countText(sheet.wholeCount), plural(sheet.columnCount, 'time'), {
      title: 'Times at which a buffer begins or ends',
      tone: 'extra',
    }),
    state.isVerified
      ? metric('Check', 'verified', facts.bound_searched ? 'offsets' : 'offsets and bound', {
          title: 'The offsets and the load bound were checked independently of the search',
          tone: 'good word',
        })
      : metric('Check', 'not verified', 'offsets as given', {tone: 'word'}),
  ];
}

function timeButton(sheet, time) {
  const {axis} = sheet.words;
  return textButton(`${axis} ${sheet.timeText(time)}`, `Show this ${axis}`, () => goToStep(time));
}

function lifeRows(sheet, buffer) {
  const whole = sheet.wholeOf[buffer];
  const gaps = sheet.gapsOf(buffer);
  const shown = gaps.slice(0, kMostGaps).map(([begin, end]) => make('div', {}, sheet.intervalText(begin, end)));
  if (gaps.length > kMostGaps)
    shown.push(make('div', {class: 'muted'}, `and ${countText(gaps.length - kMostGaps)} more`));
  return [
    ...row(
      'Live',
      `${sheet.spanText(sheet.lifeBegin[whole], sheet.lifeEnd[whole])} `,
      make('span', {class: 'muted'}, `(${countText(sheet.lengthOf(buffer))} long)`),
    ),
    ...(gaps.length > 0 ? row('Free in', shown) : []),
  ];
}

function packedPeakRow(sheet, buffer) {
  const {peakStep, largestLoad} = regionFacts(sheet, 0);
  const lives = sheet
    .piecesOf(buffer)
    .some((piece) => sheet.bufferBegin[piece] <= peakStep && peakStep < sheet.bufferEnd[piece]);
  return row('In the peak', lives ? percentText(sheet.bufferSize[buffer], largestLoad) : 'no');
}

function packedBufferPanel(sheet, buffer) {
  const swatch = make('span', {class: 'swatch', 'aria-hidden': 'true'});
  swatch.style.setProperty('--swatch', colourOf(sheet)(buffer));
  const isFixed = sheet.kindOf(buffer) === 'fixed';
  const gaps = sheet.gapsOf(buffer).length;
  return [
    make(
      'div',
      {class: 'panel-head'},
      make('h2', {}, sheet.bufferText(buffer)),
      tool('×', 'Clear selection (Esc)', () => select(null)),
    ),
    make('p', {class: 'tagline'}, swatch, `${sheet.kindOf(buffer)}, buffer ${sheet.wholeOf[buffer]} of the file`),
    make(
      'dl',
      {class: 'facts'},
      row('Size', bothBytes(sheet.bufferSize[buffer])),
      lifeRows(sheet, buffer),
      placeRows(sheet, buffer),
      row('Alignment', exactBytes(sheet.alignment[sheet.wholeOf[buffer]])),
      packedPeakRow(sheet, buffer),
    ),
    isFixed ? make('p', {class: 'why'}, 'The problem fixes its address.') : null,
    gaps > 0
      ? make('p', {class: 'why'}, 'Its content need not survive its gaps, so other buffers may use its bytes then.')
      : null,
  ];
}

function timeRows(sheet) {
  const {peakStep, largestLoad} = regionFacts(sheet, 0);
  if (sheet.columnCount === 0) return [];
  const {bound_searched: isSearched, witness} = sheet.facts;
  const isElsewhere = !isSearched && witness !== null && sheet.stepOfColumn(witness) !== peakStep;
  return [
    ...row('From, to', sheet.intervalText(0, sheet.stepCount)),
    ...row('Peak', `${shortBytes(largestLoad)} at `, timeButton(sheet, peakStep)),
    ...(isElsewhere ? row('Bound', 'shown at ', timeButton(sheet, sheet.stepOfColumn(witness))) : []),
    ...(sheet.epoch === 0n ? [] : row('Axis', `counts from ${countText(sheet.epoch)}`)),
    ...(sheet.timeNames === null ? [] : row('Axis', 'not to scale: one unit from each time to the next')),
  ];
}

// The largest buffers at the peak, and why no offsets need less.
function packingPanel(sheet) {
  const {facts, regions} = sheet;
  const now = totals(sheet);
  const live = sheet.columnCount === 0 ? [] : regionFacts(sheet, 0).liveAtPeak;
  const rows = live.slice(0, kMostPeakRows).map((buffer) => ({buffer, bytes: sheet.bufferSize[buffer], use: null}));
  return [
    make('div', {class: 'panel-head'}, make('h2', {}, `Why ${shortBytes(now.arena)}`)),
    make(
      'p',
      {class: 'why'},
      now.gap !== null && now.gap <= 0 ? 'No offsets need less: ' : `At least ${shortBytes(now.bound)} are needed: `,
      `${boundReason(sheet)[1]}.`,
    ),
    live.length === 0
      ? null
      : make(
          'p',
          {class: 'why'},
          `${plural(live.length, 'buffer')} are live at the peak, at `,
          timeButton(sheet, regionFacts(sheet, 0).peakStep),
          ':',
        ),
    make(
      'ul',
      {class: 'peak-rows'},
      rows.map((one) => peakRow(one, sheet, now.load)),
    ),
    make('h3', {}, 'Time'),
    make('dl', {class: 'facts'}, timeRows(sheet)),
    make(
      'details',
      {class: 'details'},
      make('summary', {}, 'Details of the packing'),
      make(
        'dl',
        {class: 'facts'},
        kindTotals(sheet),
        regions[0].capacity === null ? [] : row('Capacity', bothBytes(regions[0].capacity)),
        row(
          'Offsets',
          `${facts.strategy || '-'} `,
          make('span', {class: 'muted'}, facts.optimal ? '(proven optimal)' : '(best found)'),
        ),
        row('File', facts.graph || '-'),
        row('Tool', facts.tool || '-'),
        row(
          'Check',
          !state.isVerified ? 'not verified' : `offsets${facts.bound_searched ? '' : ' and bound'} verified`,
        ),
      ),
    ),
  ];
}

function packingTabContent(sheet, placed) {
  const isShown = {kind: sheet.hasFixed, alignment: sheet.hasAlignment};
  const keysWith = (share) =>
    ['buffer', 'kind', 'size', share, 'life', 'length', 'alignment', 'address'].filter((key) => isShown[key] ?? true);
  if (state.tab === 'all') {
    return {keys: keysWith('bytes'), list: Array.from(placed).filter((piece) => sheet.isMain(piece)), sortBy: 'size'};
  }
  const facts = regionFacts(sheet, 0);
  tableView.whole = facts.loadAt(activeStep());
  return {
    keys: keysWith('share'),
    list: facts.liveAt(activeStep()),
    sortBy: 'size',
  };
}
