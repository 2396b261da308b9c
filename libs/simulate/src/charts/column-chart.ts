import type { ChartSeries } from './chart-series.js';
import { legend } from './legend.js';
import type { Scale } from './scale.js';
import { linearScale, tickText } from './scale.js';
import { element, pixels, rectangles, textAt, textWidth } from './svg.js';
import { picture } from './theme.js';

/** A row of columns with a title of its own. */
export interface ColumnPanel {
  /** The heading. */
  readonly title: string;
  /** What stands beside the title. */
  readonly note?: string | undefined;
  /** For each column the heights of its parts, from below, as many as there are series. */
  readonly columns: readonly (readonly number[])[];
  /** Columns before which a dashed line stands. */
  readonly marks?: readonly number[] | undefined;
}

/** A text below the columns. */
export interface ColumnLabel {
  /** The column at whose beginning it stands, from 0. */
  readonly column: number;
  /** What it says. */
  readonly text: string;
}

/** What {@link columnChart} draws. */
export interface ColumnChart {
  /** The heading. */
  readonly title: string;
  /** What the picture shows, for those who can't see it. */
  readonly description: string;
  /** What the parts of a column are. */
  readonly series: readonly ChartSeries[];
  /** From above; they share both axes. */
  readonly panels: readonly ColumnPanel[];
  /** Texts below the columns that begin there. */
  readonly labels: readonly ColumnLabel[];
  /** Of a panel's columns. @defaultValue 64 */
  readonly panelHeight?: number | undefined;
}

const WIDTH = 720;
const LEFT = 46;
const RIGHT = 14;
const INNER = WIDTH - LEFT - RIGHT;
const TOP = 34;
const PANEL_HEAD = 22;
const PANEL_GAP = 12;
const BOTTOM = 26;

/** Draws stacked columns over time, in panels that share both axes. Returns an SVG document. */
export function columnChart(chart: ColumnChart): string {
  const { panels, panelHeight = 64 } = chart;
  const count = Math.max(1, ...panels.map(({ columns }) => columns.length));
  const sums = panels.flatMap(({ columns }) => columns.map((parts) => sum(parts)));
  const scale = linearScale(Math.max(1, ...sums), panelHeight, 2);
  const pitch = PANEL_HEAD + panelHeight + PANEL_GAP;
  const height = TOP + panels.length * pitch + BOTTOM;
  const drawn = panels.flatMap((panel, index) =>
    drawPanel(panel, { chart, scale, count, top: TOP + index * pitch + PANEL_HEAD, height: panelHeight }),
  );
  const heading = textAt([14, 22], chart.title, { class: 'head' });
  const names = legend(chart.series, WIDTH - RIGHT, 22);
  return picture({ ...chart, width: WIDTH, height }, [
    heading,
    ...names,
    ...drawn,
    ...drawLabels(chart, count, height - BOTTOM + 8),
  ]);
}

interface Place {
  readonly chart: ColumnChart;
  readonly scale: Scale;
  readonly count: number;
  readonly top: number;
  readonly height: number;
}

function drawPanel(panel: ColumnPanel, { chart, scale, count, top, height }: Place): string[] {
  const base = top + height;
  const width = INNER / count;
  const gap = Math.min(1, width * 0.15);
  const title = textAt([LEFT, top - 8], panel.title);
  const note = textAt([WIDTH - RIGHT, top - 8], panel.note ?? '', { class: 'pale', anchor: 'end' });
  const grid = scale.ticks.flatMap((tick) => {
    const y = Math.round(base - scale.at(tick)) + 0.5;
    return [
      element('path', { class: 'grid', d: `M${LEFT} ${y}h${INNER}` }),
      textAt([LEFT - 6, y + 4], tickText(tick), { class: 'pale', anchor: 'end' }),
    ];
  });
  const marks = (panel.marks ?? []).map((column) =>
    element('path', { class: 'mark', d: `M${pixels(LEFT + column * width)} ${top}v${height}` }),
  );
  const parts = chart.series.map(({ color }, part) =>
    rectangles(
      panel.columns.map((heights, index) => {
        const below = scale.at(sum(heights.slice(0, part)));
        const own = scale.at(heights[part] ?? 0);
        return [LEFT + index * width + gap / 2, base - below - own, width - gap, own] as const;
      }),
      color,
    ),
  );
  return [title, panel.note === undefined ? '' : note, ...grid, ...marks, ...parts];
}

/** Those that have room beside the one before. */
function drawLabels({ labels }: ColumnChart, count: number, y: number): string[] {
  let free = -Infinity;
  return labels.flatMap(({ column, text }) => {
    const half = textWidth(text) / 2;
    const x = Math.min(Math.max(LEFT + (column / count) * INNER, half + 4), WIDTH - half - 4);
    if (x - half < free) return [];
    free = x + half + 10;
    return [textAt([x, y], text, { class: 'pale', anchor: 'middle' })];
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
