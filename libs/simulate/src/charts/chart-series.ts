import type { ChartColor } from './theme.js';

/** What a colour means. */
export interface ChartSeries {
  /** The text of the legend. */
  readonly name: string;
  /** The colour of its parts. */
  readonly color: ChartColor;
}
