// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Search by the names of tensors, nodes and operators. Results are highlighted in the picture and listed.

const kMostResults = 60; // listed; all are highlighted
const kTypingPause = 90; // milliseconds before a search runs

const finder = {results: [], total: 0, at: -1, timer: 0};

// Lower-case names of a sheet, made once.
function loweredNames(sheet) {
  sheet.lowered ??= {
    tensor: sheet.tensorName.map((name) => name.toLowerCase()),
    node: sheet.nodeName.map((name) => name.toLowerCase()),
    operator: sheet.ops.map((name) => name.toLowerCase()),
  };
  return sheet.lowered;
}

// Values by tensor, steps by node and buffers by operator; made once.
function whereNamed(sheet) {
  if (sheet.named) return sheet.named;
  const valuesOfTensor = new Groups(sheet.tensorName.length, sheet.valueCount, (value) => sheet.valueTensor[value]);
  const stepsOfNode = new Groups(sheet.nodeName.length, sheet.stepNode.length, (step) => sheet.stepNode[step]);
  const buffersOfOp = new Groups(sheet.ops.length, sheet.bufferCount, (buffer) => sheet.bufferOp[buffer]);
  sheet.named = {valuesOfTensor, stepsOfNode, buffersOfOp};
  return sheet.named;
}

function buffersOfStep(sheet, step) {
  const buffers = Array.from(sheet.writesOfStep.of(step), (value) => sheet.valueBuffer[value]);
  if (sheet.stepScratch[step] !== kNone) buffers.push(sheet.stepScratch[step]);
  return buffers.filter((buffer) => buffer !== kNone);
}

// The buffers and the step of a result: {buffers, step}.
function placesOf({sheet, kind, id}) {
  const {valuesOfTensor, stepsOfNode, buffersOfOp} = whereNamed(sheet);
  if (kind === 'tensor') {
    const values = Array.from(valuesOfTensor.of(id));
    return {buffers: values.map((value) => sheet.valueBuffer[value]).filter((buffer) => buffer !== kNone), step: null};
  }
  if (kind === 'node') {
    const steps = Array.from(stepsOfNode.of(id));
    return {buffers: steps.flatMap((step) => buffersOfStep(sheet, step)), step: steps[0] ?? null};
  }
  return {buffers: Array.from(buffersOfOp.of(id)), step: null};
}

function matches(sheet, query) {
  const lowered = loweredNames(sheet);
  const names = {operator: sheet.ops, node: sheet.nodeName, tensor: sheet.tensorName};
  return ['operator', 'node', 'tensor'].flatMap((kind) => {
    const list = [];
    lowered[kind].forEach((name, id) => {
      if (name.includes(query)) list.push({sheet, kind, id, name: names[kind][id]});
    });
    return list;
  });
}

// The best first: the name itself, names that begin with the query, all others; shorter before longer.
function rank({name}, query) {
  const lowered = name.toLowerCase();
  return lowered === query ? 0 : lowered.startsWith(query) ? 1 : 2;
}

function search(text) {
  const query = text.trim().toLowerCase();
  finder.at = -1;
  if (query === '') {
    [finder.results, finder.total] = [[], 0];
    update({query: '', found: null});
    drawResults();
    return;
  }
  const all = state.inSight.flatMap((sheet) => matches(sheet, query));
  const ranked = all
    .map((result) => ({...result, rank: rank(result, query)}))
    .sort((a, b) => a.rank - b.rank || a.name.length - b.name.length || a.id - b.id);
  const found = new Map(state.inSight.map((sheet) => [sheet, new Uint8Array(sheet.bufferCount)]));
  for (const result of all) placesOf(result).buffers.forEach((buffer) => (found.get(result.sheet)[buffer] = 1));
  [finder.results, finder.total] = [ranked.slice(0, kMostResults), all.length];
  update({query, found});
  drawResults();
}

function goToResult(at) {
  if (finder.results.length === 0) return;
  finder.at = (at + finder.results.length) % finder.results.length;
  const result = finder.results[finder.at];
  const {buffers, step} = placesOf(result);
  if (step !== null) goToStep(step);
  if (buffers.length > 0) select(result.sheet, buffers[0], true);
  drawResults();
}

function drawResults() {
  const host = byId('results');
  const isOpen = state.query !== '' && document.activeElement === byId('search');
  host.hidden = !isOpen;
  byId('search').setAttribute('aria-expanded', String(isOpen));
  const items = finder.results.map(({kind, name, sheet}, at) =>
    make(
      'li',
      {
        role: 'option',
        id: `result-${at}`,
        'aria-selected': String(at === finder.at),
        onmousedown: (event) => {
          event.preventDefault();
          goToResult(at);
        },
      },
      make('span', {class: 'result-name', title: name}, elide(name || '(no name)', 70)),
      make(
        'span',
        {class: 'muted'},
        state.inSight.length > 1 ? `${kind}, ${sheet === state.shown ? 'after' : 'before'}` : sheet.words[kind],
      ),
    ),
  );
  if (finder.total > items.length)
    items.push(
      make('li', {class: 'muted'}, `${countText(finder.total - items.length)} more, all highlighted in the picture`),
    );
  if (finder.total === 0 && state.query !== '') items.push(make('li', {class: 'muted'}, state.shown.words.notFound));
  fill(host, items);
  if (finder.at >= 0) {
    byId('search').setAttribute('aria-activedescendant', `result-${finder.at}`);
    host.children[finder.at]?.scrollIntoView({block: 'nearest'});
  } else {
    byId('search').removeAttribute('aria-activedescendant');
  }
}

function clearSearch() {
  byId('search').value = '';
  search('');
}

function startSearch() {
  const field = byId('search');
  field.placeholder = state.shown.words.search;
  const hideTooltip = () => charts.forEach(hideHover);
  field.addEventListener('focus', hideTooltip);
  field.addEventListener('input', () => {
    hideTooltip();
    clearTimeout(finder.timer);
    finder.timer = setTimeout(() => search(field.value), kTypingPause);
  });
  field.addEventListener('focus', drawResults);
  field.addEventListener('blur', drawResults);
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') {
      if (field.value.trim().toLowerCase() !== state.query) {
        clearTimeout(finder.timer);
        search(field.value);
      }
      goToResult(finder.at + (event.shiftKey ? -1 : 1));
    } else if (event.key === 'ArrowDown') goToResult(finder.at + 1);
    else if (event.key === 'ArrowUp') goToResult(finder.at - 1);
    else if (event.key === 'Escape') {
      clearSearch();
      charts.at(-1).overlay.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
}
