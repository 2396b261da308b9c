import { element, textAt, textWidth } from './svg.js';
import type { ChartSeries } from './chart-series.js';

const BOX = 10;
const GAP = 18;

/** A name for each colour, in a row that ends at the right. */
export function legend(entries: readonly ChartSeries[], right: number, y: number): string[] {
  const parts: string[] = [];
  let x = right;
  for (const { name, color } of [...entries].reverse()) {
    x -= textWidth(name);
    parts.push(textAt([x, y], name, { class: 'pale' }));
    x -= BOX + 5;
    parts.push(element('rect', { class: color, x, y: y - BOX + 1, width: BOX, height: BOX, rx: 2 }));
    x -= GAP;
  }
  return parts.reverse();
}
