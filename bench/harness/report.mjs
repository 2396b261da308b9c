/** Of everything that a scenario measured: a row for each contestant, and what became of the goals. */
export function summarize(workload, scenario, titles, samples) {
  const medians = new Map();
  for (const [id, rounds] of samples) {
    medians.set(
      id,
      Object.fromEntries(workload.columns.map(({ key }) => [key, median(rounds.map((r) => r[key]))])),
    );
  }
  const [{ key: main }] = workload.columns;
  const figureOf = (id) => medians.get(id)?.[main];
  const ours = scenario.contestants.find((id) => id.startsWith('ratelease'));
  const rows = [...samples].map(([id, rounds]) => ({
    id,
    title: titles.get(id),
    figures: medians.get(id),
    lowest: Math.min(...rounds.map((round) => round[main])),
    highest: Math.max(...rounds.map((round) => round[main])),
    timesMinimum: ratio(figureOf(id), figureOf(scenario.minimumOf?.[id] ?? scenario.minimum)),
    timesOurs: ratio(figureOf(id), figureOf(ours)),
  }));
  const goals = scenario.goals.map((goal) =>
    checkGoal(goal, { medians, main, titles, columns: workload.columns }),
  );
  return { workload: workload.name, scenario: scenario.name, rows, goals };
}

function checkGoal(goal, { medians, main, titles, columns }) {
  const column = goal.column ?? main;
  const { title } = columns.find(({ key }) => key === column);
  const own = medians.get(goal.of)[column];
  if (goal.aheadOf !== undefined) {
    const ahead = goal.aheadOf.filter((id) => medians.get(id)[column] <= own);
    const names = ahead.map((id) => titles.get(id)).join(', ');
    return {
      text: `${titles.get(goal.of)} ahead of every peer`,
      isReached: ahead.length === 0,
      actual: names || '',
    };
  }
  const base = goal.above === undefined ? 0 : medians.get(goal.above)[column];
  const actual =
    goal.times === undefined ? own - base : (own - base) / (medians.get(goal.times)[column] - base);
  const what = goal.times === undefined ? ` ${title}` : ` × ${titles.get(goal.times)}`;
  const above = goal.above === undefined ? '' : ` above ${titles.get(goal.above)}`;
  return {
    text: `${titles.get(goal.of)} at most ${goal.atMost}${what}${above}`,
    isReached: actual <= goal.atMost,
    actual: round(actual, goal.times === undefined ? 1 : 2),
  };
}

/** The table of a scenario, in Markdown, so that it can go into the documentation as it is. */
export function describe(workload, { scenario, rows, goals }) {
  const [main, ...others] = workload.columns;
  const header = [
    '',
    main.title,
    'lowest–highest',
    '× minimum',
    '× ours',
    ...others.map(({ title }) => title),
  ];
  const cells = rows.map((row) => [
    row.title,
    round(row.figures[main.key], main.digits),
    `${round(row.lowest, main.digits)}–${round(row.highest, main.digits)}`,
    round(row.timesMinimum, 2),
    round(row.timesOurs, 2),
    ...others.map(({ key, digits }) => round(row.figures[key], digits)),
  ]);
  const reached = goals.map(({ text, isReached, actual }) => {
    const figure = actual === '' ? '' : ` (${actual})`;
    return `- ${isReached ? 'reached' : '**missed**'}: ${text}${figure}`;
  });
  const title = `### ${workload.title}: ${scenario}`;
  return ['', title, '', ...alignTable(header, cells), ...(reached.length > 0 ? ['', ...reached] : [])].join(
    '\n',
  );
}

function alignTable(header, cells) {
  const widths = header.map((title, at) => Math.max(3, title.length, ...cells.map((row) => row[at].length)));
  const line = (row) =>
    `| ${row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join(' | ')} |`;
  const rule = widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [line(header), line(rule), ...cells.map(line)];
}

function round(value, digits) {
  // What can't be said is undefined, NaN, or null where it came from another process.
  if (value == null || Number.isNaN(value)) return '';
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function ratio(value, of) {
  return value === undefined || of === undefined ? undefined : value / of;
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
