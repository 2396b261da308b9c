import type { PolicySnapshot } from '../src/stream/snapshot.js';
import type { ChartKind } from './chart.js';
import { Chart } from './chart.js';
import { element, setText } from './elements.js';
import type { ColumnName, Span } from './history.js';
import { table } from './table.js';
import { countText, durationText, numberText, timeText } from './texts.js';

const TABLE_ROWS = 15;

const DECISIONS: ChartKind = {
  title: 'Requests per second',
  // Drawn in this order: refusals stand on what was granted.
  series: [
    { column: 'refused', label: 'refused', color: 'refused', look: 'bar' },
    { column: 'granted', label: 'granted', color: 'granted', look: 'bar' },
  ],
  isStacked: true,
  text: numberText,
};
const HELD: ChartKind = {
  title: 'At a time',
  series: [
    { column: 'inUse', label: 'in use', color: 'in-use', look: 'filledStep' },
    { column: 'waiting', label: 'waiting', color: 'waiting', look: 'step', dash: [6, 3] },
  ],
  isStacked: false,
  text: numberText,
};
const WAITS: ChartKind = {
  title: 'Time in the queue',
  series: [
    { column: 'max', label: 'longest', color: 'max', look: 'step', dash: [2, 3] },
    { column: 'p95', label: '95 %', color: 'p95', look: 'step', dash: [6, 3] },
    { column: 'p50', label: 'median', color: 'p50', look: 'step' },
  ],
  isStacked: false,
  text: durationText,
};

/** How the page shows policies. */
export interface View {
  readonly seconds: number;
  readonly asTables: boolean;
}

/** A policy on the page. */
export class PolicyCard {
  readonly card: HTMLElement;
  readonly #facts = element('span', { class: 'facts' });
  readonly #figures: readonly HTMLElement[];
  readonly #refused: HTMLElement;
  readonly #charts: readonly { readonly chart: Chart; readonly columns: readonly ColumnName[] }[];
  readonly #area: HTMLElement;
  readonly #rows = element('div', { class: 'scroll', tabindex: '0' });

  constructor({ policy, isShadow }: PolicySnapshot) {
    const figures = ['granted / s', 'refused / s', 'waiting', 'in use'].map((label) => {
      const value = element('dd', {}, '0');
      return { value, box: element('div', {}, element('dt', {}, label), value) };
    });
    this.#figures = figures.map(({ value }) => value);
    this.#refused = figures[1]!.box;
    this.#charts = [
      { chart: new Chart(DECISIONS, policy), columns: [] },
      { chart: new Chart(HELD, policy), columns: ['waiting', 'inUse'] },
      { chart: new Chart(WAITS, policy), columns: ['max'] },
    ];
    this.#area = element('div', { class: 'charts' }, ...this.#charts.map(({ chart }) => chart.figure));
    this.#rows.setAttribute('aria-label', `${policy}, second by second`);
    const badge = isShadow ? [element('span', { class: 'badge' }, 'shadow: refuses nobody')] : [];
    this.card = element(
      'article',
      { class: 'card', 'data-policy': policy },
      element('header', {}, element('h3', {}, policy), ...badge, this.#facts),
      element(
        'div',
        { class: 'body' },
        element('dl', { class: 'figures' }, ...figures.map(({ box }) => box)),
        this.#area,
        this.#rows,
      ),
    );
  }

  /** Shows how the policy stands, and a span of its past. */
  show(policy: PolicySnapshot, span: Span, { asTables }: View): void {
    const last = (name: ColumnName): number => span.column(name).at(-1) ?? 0;
    const figures = [last('granted'), last('refused'), policy.queued, policy.inUse];
    this.#figures.forEach((figure, index) => setText(figure, numberText(figures[index]!)));
    this.#refused.classList.toggle('alert', last('refused') > 0);
    setText(this.#facts, factsOf(policy));
    for (const { chart, columns } of this.#charts) {
      const isEmpty =
        columns.length > 0 && columns.every((name) => span.column(name).every((value) => value === 0));
      chart.figure.hidden = asTables || isEmpty;
      if (!chart.figure.hidden) chart.show(span);
    }
    this.#rows.hidden = !asTables;
    this.#area.hidden = asTables;
    if (asTables) this.#rows.replaceChildren(rowsOf(span));
  }

  /** The colours have changed. */
  redraw(): void {
    for (const { chart } of this.#charts) chart.redraw();
  }
}

function factsOf({ partitions, available, granted, refused }: PolicySnapshot): string {
  const facts = [`${numberText(granted)} granted, ${numberText(refused)} refused in all`];
  if (available !== null) facts.push(`${numberText(available)} available`);
  else if (partitions !== null) facts.push(countText(partitions, 'key'));
  return facts.join(' · ');
}

function rowsOf({ times, column }: Span): HTMLTableElement {
  const [granted, refused, waiting, inUse] = (['granted', 'refused', 'waiting', 'inUse'] as const).map(
    column,
  );
  const [p50, p95, max] = (['p50', 'p95', 'max'] as const).map(column);
  const seconds = times.map((time, at) => [
    timeText(time),
    ...[granted, refused, waiting, inUse].map((values) => numberText(values![at]!)),
    max![at] === 0 ? '' : [p50, p95, max].map((values) => durationText(values![at]!)).join(' / '),
  ]);
  return table(
    ['time', 'granted', 'refused', 'waiting', 'in use', 'waits: median / 95 % / longest'],
    seconds.slice(-TABLE_ROWS).reverse(),
    { numbers: [1, 2, 3, 4], mono: [] },
  );
}
