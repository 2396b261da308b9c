import type { ChartSeries } from './chart-series.js';
import { legend } from './legend.js';
import { linearScale, logScale, tickText } from './scale.js';
import { element, pixels, rectangles, textAt, textWidth } from './svg.js';
import type { ChartColor } from './theme.js';
import { picture } from './theme.js';

/** A bar and what stands beside it. */
export interface Bar {
  /** What stands before it. */
  readonly label: string;
  /** Its length on the axis, above 0. */
  readonly value: number;
  /** Its colour. */
  readonly color: ChartColor;
  /** What the bar's end says. */
  readonly text: string;
  /** The ends of a line over the bar's end: how far the figure varied. */
  readonly range?: readonly [lowest: number, highest: number] | undefined;
}

/** What {@link barChart} draws. */
export interface BarChart {
  /** The heading. */
  readonly title: string;
  /** What the picture shows, for those who can't see it. */
  readonly description: string;
  /** What the bars' lengths are. */
  readonly axis: string;
  /** From above. */
  readonly bars: readonly Bar[];
  /** What the colours mean. */
  readonly series: readonly ChartSeries[];
}

const WIDTH = 720;
const RIGHT = 70;
const TOP = 58;
const BAR = 14;
const PITCH = 21;
const BOTTOM = 40;
/** Beyond such a ratio of the longest to the shortest bar, lengths are logarithms: else only the longest is seen. */
const LONGEST_LINEAR_RATIO = 30;

/** Draws horizontal bars, one below the other. Returns an SVG document. */
export function barChart(chart: BarChart): string {
  const left = 20 + Math.max(...chart.bars.map(({ label }) => textWidth(label)));
  const inner = WIDTH - RIGHT - left;
  const values = chart.bars
    .flatMap(({ value, range }) => [value, ...(range ?? [])])
    .filter((value) => value > 0);
  const [smallest, largest] = [Math.min(...values), Math.max(...values)];
  const isLog = largest / smallest > LONGEST_LINEAR_RATIO;
  const scale = isLog ? logScale([smallest / 2, largest], inner) : linearScale(largest, inner, 5);
  const length = chart.bars.length * PITCH;
  const height = TOP + length + BOTTOM;
  const grid = scale.ticks.flatMap((tick) => {
    const x = pixels(left + scale.at(tick));
    return [
      element('path', { class: 'grid', d: `M${x} ${TOP - 6}v${length + 6}` }),
      textAt([x, TOP + length + 14], tickText(tick), { class: 'pale', anchor: 'middle' }),
    ];
  });
  const bars = chart.bars.flatMap((bar, index) => {
    const y = TOP + index * PITCH;
    const end = left + scale.at(bar.value);
    const textEnd = Math.max(end, left + scale.at(bar.range?.[1] ?? bar.value));
    return [
      textAt([left - 8, y + 11], bar.label, { anchor: 'end' }),
      rectangles([[left, y, end - left, BAR]], bar.color),
      bar.range === undefined
        ? ''
        : whisker(
            bar.range.map((value) => left + scale.at(value)),
            y + BAR / 2,
          ),
      textAt([textEnd + 6, y + 11], bar.text),
    ];
  });
  const axis = `${chart.axis}${isLog ? ' (each line is 10 times the one before)' : ''}`;
  return picture({ ...chart, width: WIDTH, height }, [
    textAt([14, 22], chart.title, { class: 'head' }),
    ...legend(chart.series, WIDTH - 14, 42),
    ...grid,
    ...bars,
    textAt([left, height - 10], axis, { class: 'pale' }),
  ]);
}

function whisker(ends: readonly number[], y: number): string {
  const [from, to] = ends as [number, number];
  if (to - from < 1) return '';
  return element('path', {
    class: 'range',
    d: `M${pixels(from)} ${y}H${pixels(to)}M${pixels(from)} ${y - 3}v6M${pixels(to)} ${y - 3}v6`,
  });
}
