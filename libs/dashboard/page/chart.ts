import { element, setText } from './elements.js';
import type { ColumnName, Span } from './history.js';
import { timeText } from './texts.js';

/** One of a chart's series. */
export interface SeriesKind {
  readonly column: ColumnName;
  readonly label: string;
  /** Names the colour: a custom property of the page. */
  readonly color: string;
  readonly look: 'bar' | 'step' | 'filledStep';
  readonly dash?: number[];
}

/** What a chart shows. */
export interface ChartKind {
  readonly title: string;
  readonly series: readonly SeriesKind[];
  /** Series stand on each other's shoulders, the last on top. */
  readonly isStacked: boolean;
  readonly text: (value: number) => string;
}

const HEIGHT = 128;
const TICKS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 1e7];
const TIME_TICKS = [10, 15, 30, 60, 120];

const color = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);

/** A chart of a policy, with its values in words: of the last second, or of that below the pointer or the keys. */
export class Chart {
  readonly figure: HTMLElement;
  readonly #kind: ChartKind;
  readonly #plot: HTMLElement;
  readonly #time = element('span');
  readonly #values: HTMLElement[];
  #chart: uPlot | undefined = undefined;
  #data: number[][] = [];
  /** The columns as they are, not stacked. */
  #columns: number[][] = [];
  #times: readonly number[] = [];
  #chosen: number | null = null;

  constructor(kind: ChartKind, policy: string) {
    this.#kind = kind;
    this.#values = kind.series.map(() => element('b'));
    // A slider is what a keyboard and a screen reader can move along the seconds.
    this.#plot = element('div', {
      class: 'plot',
      role: 'slider',
      tabindex: '0',
      'aria-label': `${policy}, ${kind.title}: choose a second`,
    });
    const keys = kind.series.map(({ label, color, look }, index) =>
      element(
        'span',
        { class: `key ${color} ${look === 'bar' ? '' : 'line'}` },
        `${label} `,
        this.#values[index]!,
      ),
    );
    const caption = element(
      'figcaption',
      {},
      element('span', { class: 'name' }, kind.title),
      ...keys,
      this.#time,
    );
    this.figure = element('figure', {}, caption, this.#plot);
    this.#plot.addEventListener('keydown', (event) => this.#onKey(event));
    this.#plot.addEventListener('blur', () => this.#choose(null));
    new ResizeObserver(() => this.#resize()).observe(this.#plot);
  }

  /** Shows a span. */
  show(span: Span): void {
    this.#times = span.times;
    this.#columns = this.#kind.series.map(({ column }) => span.column(column));
    const drawn = this.#kind.isStacked ? stacked(this.#columns) : this.#columns;
    this.#data = [[...span.times], ...drawn];
    if (this.#chart !== undefined) this.#chart.setData(this.#data as uPlot.AlignedData);
    else this.#resize();
    this.#say();
  }

  /** The colours have changed. */
  redraw(): void {
    this.#chart?.redraw(false);
  }

  #resize(): void {
    const width = this.#plot.clientWidth;
    if (width === 0 || this.#data.length === 0) return;
    if (this.#chart === undefined)
      this.#chart = new uPlot(this.#options(width), this.#data as uPlot.AlignedData, this.#plot);
    else this.#chart.setSize({ width, height: HEIGHT });
  }

  #onKey(event: KeyboardEvent): void {
    const last = this.#times.length - 1;
    const at = this.#chosen ?? last;
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last, Escape: null }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.#choose(next === null ? null : Math.min(last, Math.max(0, next)));
  }

  #choose(index: number | null): void {
    const chart = this.#chart;
    const left = index === null ? -10 : chart?.valToPos(this.#times[index]!, 'x');
    chart?.setCursor({ left: left ?? -10, top: index === null ? -10 : 10 }, false);
    this.#chosen = index;
    this.#say();
  }

  /** In words, for everybody. */
  #say(): void {
    const last = this.#times.length - 1;
    const at = this.#chosen ?? last;
    const values = this.#columns.map((column) => this.#kind.text(column[at] ?? 0));
    this.#values.forEach((target, index) => setText(target, values[index]!));
    const time = timeText(this.#times[at]!);
    setText(this.#time, this.#chosen === null ? '' : `at ${time}`);
    const words = this.#kind.series.map(({ label }, index) => `${label} ${values[index]}`);
    for (const [name, value] of [
      ['aria-valuemin', '0'],
      ['aria-valuemax', String(last)],
      ['aria-valuenow', String(at)],
      ['aria-valuetext', `${time}: ${words.join(', ')}`],
    ] as const) {
      this.#plot.setAttribute(name, value);
    }
  }

  #options(width: number): uPlot.Options {
    const axis = {
      stroke: () => color('muted'),
      grid: { stroke: () => color('grid'), width: 1 },
      ticks: { show: false },
      font: '11px system-ui, sans-serif',
    };
    return {
      width,
      height: HEIGHT,
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: { y: { range: (_chart, _min, max) => [0, Math.max(4, max * 1.08)] } },
      axes: [
        {
          ...axis,
          space: 70,
          size: 24,
          incrs: TIME_TICKS,
          values: (_chart, times) => times.map(timeText),
        },
        {
          ...axis,
          space: 28,
          size: 48,
          incrs: TICKS,
          values: (_chart, values) => values.map(this.#kind.text),
        },
      ],
      series: [{}, ...this.#kind.series.map(seriesOptions)],
      hooks: {
        setCursor: [
          ({ cursor: { idx, left } }) => {
            if (document.activeElement === this.#plot && this.#chosen !== null && (left ?? -1) < 0) return;
            this.#chosen = (left ?? -1) < 0 ? null : (idx ?? null);
            this.#say();
          },
        ],
      },
    };
  }
}

function seriesOptions({ label, color: name, look, dash }: SeriesKind): uPlot.Series {
  const stroke = (): string => color(name);
  if (look === 'bar') {
    const paths = uPlot.paths.bars!({ size: [0.85, 20, 1], align: 1 });
    return { label, stroke, fill: stroke, width: 0, paths, points: { show: false } };
  }
  return {
    label,
    stroke,
    width: 2,
    paths: uPlot.paths.stepped!({ align: 1 }),
    points: { show: false },
    ...(dash === undefined ? {} : { dash }),
    ...(look === 'filledStep' ? { fill: () => color(`${name}-fill`) } : {}),
  };
}

/** Each with those after it: drawn in order, the later ones cover what isn't theirs. */
function stacked(columns: readonly number[][]): number[][] {
  return columns.map((column, index) =>
    column.map((_, at) => columns.slice(index).reduce((sum, each) => sum + each[at]!, 0)),
  );
}
