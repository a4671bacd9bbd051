// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The table of operators: what each step reads, writes and computes. Its columns are those of `lowtide inspect
// --operators`.

const preparedFigures = new WeakMap();

// Per step: bytes of its operands that are not constants, of its results, of constants and of scratch, and its
// multiply-accumulates (kNone: not known). Each tensor counts once per step, with its dense size.
function operatorFigures(sheet) {
  if (preparedFigures.has(sheet)) return preparedFigures.get(sheet);
  const make = () => new Float64Array(sheet.stepCount);
  const figures = {read: make(), written: make(), weights: make(), scratch: make(), macs: make()};
  const constant = sheet.roles.indexOf('constant');
  for (let step = 0; step < sheet.stepCount; ++step) {
    for (const value of new Set(sheet.readsOf(step))) {
      const isConstant = sheet.tensorRole[sheet.valueTensor[value]] === constant;
      figures[isConstant ? 'weights' : 'read'][step] += sheet.valueSize(value);
    }
    for (const value of sheet.writesOfStep.of(step)) figures.written[step] += sheet.valueSize(value);
    const scratch = sheet.stepScratch[step];
    if (scratch !== kNone) figures.scratch[step] = sheet.bufferSize[scratch];
    const node = sheet.isCopy(step) ? kNone : sheet.stepNode[step];
    figures.macs[step] = node === kNone ? 0 : (sheet.nodeMacs?.[node] ?? kNone);
  }
  figures.time = sheet.stepNanoseconds ?? make();
  figures.allTime = figures.time.reduce((sum, time) => sum + time, 0);
  figures.allMacs = figures.macs.reduce((sum, macs) => sum + Math.max(0, macs), 0);
  figures.unknownMacs = figures.macs.reduce((count, macs) => count + (macs === kNone ? 1 : 0), 0);
  preparedFigures.set(sheet, figures);
  return figures;
}

function macsText(macs) {
  return macs === kNone ? 'not known' : macs === 0 ? 'none' : countText(macs);
}

function bytesColumn(title, key, hint) {
  return {
    title,
    hint,
    number: (sheet, step) => operatorFigures(sheet)[key][step],
    text: (sheet, step) => shortBytes(operatorFigures(sheet)[key][step]),
  };
}

// A row is a step; tables.js draws these columns like its own.
const operatorColumns = {
  opStep: {title: 'Step', number: (sheet, step) => step, text: (sheet, step) => countText(step)},
  operator: {
    title: 'Operator',
    text: (sheet, step) => (sheet.isCopy(step) ? 'copy' : sheet.opOfStep(step) || 'node'),
  },
  node: {title: 'Name', isName: true, text: (sheet, step, most) => nodeText(sheet, step, most)},
  opRead: bytesColumn('Read', 'read', 'Bytes of operands that are not weights, at dense sizes'),
  opWritten: bytesColumn('Written', 'written', 'Bytes of results, at dense sizes'),
  opScratch: bytesColumn('Scratch', 'scratch', 'Bytes that the kernel needs while it runs, and the arenas of bodies'),
  opWeights: bytesColumn('Weights', 'weights', 'Bytes of weights and other constants'),
  opMacs: {
    title: 'MACs',
    hint: 'Multiply-accumulates of convolutions, matrix products and similar operators',
    number: (sheet, step) => operatorFigures(sheet).macs[step],
    text: (sheet, step) => macsText(operatorFigures(sheet).macs[step]),
  },
  opShare: {
    title: 'Share',
    hint: 'Of all multiply-accumulates',
    part: (sheet, step) => Math.max(0, operatorFigures(sheet).macs[step]) / Math.max(1, operatorFigures(sheet).allMacs),
    number: (sheet, step) => operatorFigures(sheet).macs[step],
    text: (sheet, step) => {
      const {macs, allMacs} = operatorFigures(sheet);
      return macs[step] > 0 ? percentText(macs[step], allMacs) : '';
    },
  },
};

Object.assign(operatorColumns, {
  opTime: {
    title: 'Time',
    hint: 'Mean time of the step in the runs that were measured',
    number: (sheet, step) => operatorFigures(sheet).time[step],
    text: (sheet, step) => durationText(1000 * operatorFigures(sheet).time[step]),
  },
  opTimeShare: {
    title: 'Of time',
    hint: 'Share of the time of all steps',
    part: (sheet, step) => operatorFigures(sheet).time[step] / Math.max(1, operatorFigures(sheet).allTime),
    number: (sheet, step) => operatorFigures(sheet).time[step],
    text: (sheet, step) => percentText(operatorFigures(sheet).time[step], operatorFigures(sheet).allTime),
  },
});

function nodeText(sheet, step, most) {
  const node = sheet.stepNode[step];
  if (sheet.isCopy(step) || node === kNone) return stepCell(sheet, step, most);
  return sheet.nodeName[node] === '' ? `(node ${node})` : sheet.shortened(sheet.nodeName, node, most);
}

function operatorContent(sheet) {
  const macs = sheet.nodeMacs === null ? [] : ['opMacs', 'opShare'];
  const isMeasured = sheet.stepNanoseconds !== null;
  const time = isMeasured ? ['opTime', 'opTimeShare'] : [];
  return {
    keys: ['opStep', 'operator', 'node', ...time, 'opRead', 'opWritten', 'opScratch', 'opWeights', ...macs],
    list: Array.from({length: sheet.stepCount}, (_, step) => step),
    sortBy: isMeasured ? 'opTime' : 'opStep',
    isAscending: !isMeasured,
    noun: 'step',
    makeRow: operatorRow,
  };
}

function operatorRow(sheet, step, keys) {
  return make(
    'tr',
    {
      tabindex: '0',
      'aria-selected': String(state.step !== null && step === activeStep()),
      'data-step': step,
      onclick: () => goToStep(step, 'operators'),
    },
    keys.map((key) => bodyCell(sheet, step, key)),
  );
}

// "4,089,184,256 MACs in 122 steps; 12.3 ms per run, the mean of 20 runs"
function operatorTotals(sheet) {
  if (sheet.stepNanoseconds === null) return macsTotals(sheet);
  const time = durationText(1000 * operatorFigures(sheet).allTime);
  return `${macsTotals(sheet)}; ${time} per run, the mean of ${plural(sheet.runs, 'run')}`;
}

function macsTotals(sheet) {
  if (sheet.nodeMacs === null) return plural(sheet.stepCount, 'step');
  const {allMacs, unknownMacs} = operatorFigures(sheet);
  const sum = allMacs === 0 && unknownMacs === 0 ? 'No' : `${unknownMacs > 0 ? 'At least ' : ''}${countText(allMacs)}`;
  const inside = sheet.bodies.size > 0 ? ', without those of bodies' : '';
  return `${sum} MACs in ${plural(sheet.stepCount, 'step')}${inside}`;
}
