import { metrics } from '@opentelemetry/api';
import type { DataPoint, Histogram, MetricData } from '@opentelemetry/sdk-metrics';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';

/** A real SDK that keeps what it exports. */
export class CollectedMetrics {
  readonly #exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  readonly #provider = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter: this.#exporter, exportIntervalMillis: 2 ** 30 })],
  });

  constructor() {
    metrics.disable();
    metrics.setGlobalMeterProvider(this.#provider);
  }

  /** Every data point as a line: name, labels, value (of a histogram the number of values and their sum). */
  async lines(): Promise<string[]> {
    this.#exporter.reset();
    await this.#provider.forceFlush();
    const all = this.#exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
    return all.flatMap((scope) => scope.metrics.flatMap(linesOf)).sort();
  }

  async end(): Promise<void> {
    metrics.disable();
    await this.#provider.shutdown();
  }
}

function linesOf({ descriptor, dataPoints }: MetricData): string[] {
  return (dataPoints as DataPoint<number | Histogram>[]).map(({ attributes, value }) => {
    const labels = Object.entries(attributes).map(([name, label]) => `${name.slice(10)}=${String(label)}`);
    const number = typeof value === 'number' ? value : `${value.count}x${value.sum}`;
    return [descriptor.name.slice(10), ...labels, number].join(' ');
  });
}
