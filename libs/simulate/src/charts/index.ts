export type { Bar, BarChart } from './bar-chart.js';
export { barChart } from './bar-chart.js';
export type { ChartSeries } from './chart-series.js';
export type { ColumnChart, ColumnLabel, ColumnPanel } from './column-chart.js';
export { columnChart } from './column-chart.js';
export type { ChartLine, LineChart } from './line-chart.js';
export { lineChart } from './line-chart.js';
export type { ChartColor } from './theme.js';
