import type { Scale } from './scale.js';
import { logScale, linearScale, tickText } from './scale.js';
import { element, pixels, textAt, textWidth } from './svg.js';
import type { ChartColor } from './theme.js';
import { picture } from './theme.js';

/** A line through points. */
export interface ChartLine {
  /** What stands at its end. */
  readonly name: string;
  /** Its colour. */
  readonly color: ChartColor;
  /** From left to right, both above 0. */
  readonly points: readonly (readonly [x: number, y: number])[];
}

/** What {@link lineChart} draws. */
export interface LineChart {
  /** The heading. */
  readonly title: string;
  /** What the picture shows, for those who can't see it. */
  readonly description: string;
  /** What the horizontal axis is; it is logarithmic. */
  readonly xAxis: string;
  /** What the vertical axis is; it is logarithmic where the values differ much. */
  readonly yAxis: string;
  /** What is drawn. */
  readonly lines: readonly ChartLine[];
}

const WIDTH = 720;
const HEIGHT = 340;
const LEFT = 56;
const TOP = 52;
const BOTTOM = 48;
const INNER_HEIGHT = HEIGHT - TOP - BOTTOM;
const LONGEST_LINEAR_RATIO = 30;
const NAME_PITCH = 14;
const SAMPLE = 22;
/** Lines of one colour are told apart by these. */
const DASHES = [undefined, '7 3', '2 3', '10 3 2 3'];

/** Draws how things grow: lines over a logarithmic axis, each named at its end. Returns an SVG document. */
export function lineChart(chart: LineChart): string {
  const right = 24 + SAMPLE + Math.max(...chart.lines.map(({ name }) => textWidth(name)));
  const width = WIDTH - LEFT - right;
  const points = chart.lines.flatMap((line) => line.points);
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  const x = logScale([Math.min(...xs), Math.max(...xs)], width);
  const [lowest, highest] = [Math.min(...ys), Math.max(...ys)];
  const y =
    highest / lowest > LONGEST_LINEAR_RATIO
      ? logScale([lowest, highest], INNER_HEIGHT)
      : linearScale(highest, INNER_HEIGHT);
  return picture({ ...chart, width: WIDTH, height: HEIGHT }, [
    textAt([14, 22], chart.title, { class: 'head' }),
    textAt([14, 40], chart.yAxis, { class: 'pale' }),
    ...drawGrid({ x, y, width }),
    ...chart.lines.map((line) => drawLine(line, dashOf(line, chart.lines), [x, y])),
    ...drawNames(chart.lines, y, LEFT + width + 8),
    textAt([LEFT + width / 2, HEIGHT - 10], chart.xAxis, { class: 'pale', anchor: 'middle' }),
  ]);
}

function drawGrid({ x, y, width }: { x: Scale; y: Scale; width: number }): string[] {
  const base = TOP + INNER_HEIGHT;
  const rows = y.ticks.flatMap((tick) => [
    element('path', { class: 'grid', d: `M${LEFT} ${pixels(base - y.at(tick))}h${pixels(width)}` }),
    textAt([LEFT - 6, base - y.at(tick) + 4], tickText(tick), { class: 'pale', anchor: 'end' }),
  ]);
  const columns = x.ticks.map((tick) =>
    textAt([LEFT + x.at(tick), base + 16], tickText(tick), { class: 'pale', anchor: 'middle' }),
  );
  return [...rows, ...columns];
}

function dashOf(line: ChartLine, lines: readonly ChartLine[]): string | undefined {
  const alike = lines.filter(({ color }) => color === line.color);
  return DASHES[alike.indexOf(line) % DASHES.length];
}

function drawLine(
  { color, points }: ChartLine,
  dash: string | undefined,
  [x, y]: readonly [Scale, Scale],
): string {
  const base = TOP + INNER_HEIGHT;
  const d = points
    .map(
      ([px, py], index) => `${index === 0 ? 'M' : 'L'}${pixels(LEFT + x.at(px))} ${pixels(base - y.at(py))}`,
    )
    .join('');
  return element('path', { class: `${color}-line`, d, 'stroke-dasharray': dash });
}

/** Each at the end of its line, with a piece of it, moved apart where they would cover each other. */
function drawNames(lines: readonly ChartLine[], y: Scale, left: number): string[] {
  const base = TOP + INNER_HEIGHT;
  const wanted = lines.map((line) => ({ line, y: base - y.at(line.points.at(-1)?.[1] ?? 0) + 4 }));
  wanted.sort((one, other) => one.y - other.y);
  let free = TOP - 8;
  return wanted.flatMap(({ line, y: wantedY }) => {
    const at = Math.max(wantedY, free);
    free = at + NAME_PITCH;
    const look = { class: `${line.color}-line`, 'stroke-dasharray': dashOf(line, lines) };
    const sample = element('path', { ...look, d: `M${pixels(left)} ${pixels(at - 4)}h${SAMPLE - 4}` });
    return [sample, textAt([left + SAMPLE, at], line.name)];
  });
}
