import * as fc from 'fast-check';
import { barChart } from './bar-chart.js';
import { columnChart } from './column-chart.js';
import { lineChart } from './line-chart.js';
import { linearScale, logScale, tickText } from './scale.js';

/** Elements are closed in the order in which they were opened, and no text looks like markup. */
function isWellFormed(svg: string): boolean {
  const open: string[] = [];
  for (const [, closing, name, empty] of svg.matchAll(
    /<(\/?)([a-z]+)(?:\s[a-zA-Z:-]+="[^"<]*")*\s*(\/?)>/g,
  )) {
    if (empty === '/') continue;
    if (closing !== '/') open.push(name!);
    else if (open.pop() !== name) return false;
  }
  return open.length === 0 && (svg.match(/</g) ?? []).length === (svg.match(/>/g) ?? []).length;
}

const about = { title: 'A < B & "C"', description: '<script>' };

describe('charts', () => {
  const column = columnChart({
    ...about,
    series: [
      { name: 'granted', color: 'main' },
      { name: 'refused', color: 'third' },
    ],
    panels: [
      {
        title: 'one',
        columns: [
          [1, 0],
          [2, 2],
          [0, 0],
        ],
        marks: [1],
      },
    ],
    labels: [{ column: 0, text: '0 s' }],
  });
  const bar = barChart({
    ...about,
    axis: 'ns',
    series: [],
    bars: [
      { label: 'ours', value: 10, color: 'main', text: '10', range: [5, 20] },
      { label: 'a peer', value: 20, color: 'second', text: '20' },
    ],
  });
  const line = lineChart({
    ...about,
    xAxis: 'keys',
    yAxis: 'ns',
    lines: [
      {
        name: 'ours',
        color: 'main',
        points: [
          [1, 100],
          [1_000_000, 300],
        ],
      },
    ],
  });

  it.each([
    ['columns', column],
    ['bars', bar],
    ['lines', line],
  ])('of %s are documents that say what they show', (_kind, svg) => {
    expect(isWellFormed(svg)).toBe(true);
    expect(svg).toContain('<title>A &lt; B &amp; &quot;C&quot;</title>');
    expect(svg).toContain('<desc>&lt;script&gt;</desc>');
    expect(svg).toContain('prefers-color-scheme:dark');
  });

  it('draw lengths by their values', () => {
    const lengths = [...bar.matchAll(/class="(?:main|second)" d="M[\d.]+ [\d.]+h([\d.]+)/g)].map(
      ([, length]) => Number(length),
    );
    expect(lengths).toHaveLength(2);
    expect(lengths[1]! / lengths[0]!).toBeCloseTo(2, 1);
  });

  it('draw no column where there is nothing', () => {
    expect(column.match(/class="main" d="([^"]*)"/)![1]!.match(/M/g)).toHaveLength(2);
    expect(column.match(/class="third" d="([^"]*)"/)![1]!.match(/M/g)).toHaveLength(1);
  });
});

describe('scales', () => {
  it('have everything on them', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-6, max: 1e12, noNaN: true }), (largest) => {
        const scale = linearScale(largest, 100);
        expect(scale.at(largest)).toBeLessThanOrEqual(100.001);
        expect(scale.at(largest)).toBeGreaterThan(40);
        expect(scale.ticks.length).toBeLessThan(8);
      }),
    );
  });

  it('of logarithms have powers of ten at equal distances', () => {
    const { at, ticks } = logScale([1, 1_000], 90);
    expect(ticks).toEqual([1, 10, 100, 1_000]);
    expect(ticks.map(at)).toEqual([0, 30, 60, 90].map((place) => expect.closeTo(place, 6)));
    expect(at(0)).toBe(0);
  });

  it.each([
    [0, '0'],
    [999, '999'],
    [1_500, '1.5k'],
    [2_000_000, '2M'],
  ])('write %d as %s', (value, text) => {
    expect(tickText(value)).toBe(text);
  });
});
