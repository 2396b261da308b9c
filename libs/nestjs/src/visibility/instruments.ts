// What is used of OpenTelemetry's API, in own words: its types must not be needed where the package is not.

/** Labels of a measurement. */
export type Attributes = Readonly<Record<string, string>>;

/** A counter, or one that goes up and down. */
export interface Counter {
  add(value: number, attributes: Attributes): void;
}

/** A distribution of values. */
export interface Histogram {
  record(value: number, attributes: Attributes): void;
}

interface MetricOptions {
  readonly description?: string;
  readonly unit?: string;
  readonly advice?: { readonly explicitBucketBoundaries?: number[] };
}

/** Makes instruments. */
export interface MeterProvider {
  getMeter(name: string): {
    createUpDownCounter(name: string, options: MetricOptions): Counter;
    createHistogram(name: string, options: MetricOptions): Histogram;
    createCounter(name: string, options: MetricOptions): Counter;
  };
}

/** The outcomes of an acquisition, as ASP.NET Core's middleware calls them. */
export type MetricResult = 'acquired' | 'endpoint_limiter' | 'global_limiter' | 'request_canceled';

const METER = '@ratelease/nestjs';
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const DURATION: MetricOptions = { unit: 's', advice: { explicitBucketBoundaries: SECONDS } };

/** The five instruments. Their labels are policies and outcomes, never keys: the number of series is bounded. */
export class Instruments {
  readonly provider: MeterProvider;
  readonly activeLeases: Counter;
  readonly leaseDuration: Histogram;
  readonly queuedRequests: Counter;
  readonly timeInQueue: Histogram;
  readonly requests: Counter;

  constructor(provider: MeterProvider) {
    this.provider = provider;
    const meter = provider.getMeter(METER);
    this.activeLeases = meter.createUpDownCounter('ratelease.active_request_leases', {
      description: 'Requests that hold a lease at present.',
      unit: '{request}',
    });
    this.leaseDuration = meter.createHistogram('ratelease.request_lease.duration', {
      ...DURATION,
      description: 'How long requests held their lease.',
    });
    this.queuedRequests = meter.createUpDownCounter('ratelease.queued_requests', {
      description: 'Requests that wait for a lease at present.',
      unit: '{request}',
    });
    this.timeInQueue = meter.createHistogram('ratelease.request.time_in_queue', {
      ...DURATION,
      description: 'How long requests waited for a lease.',
    });
    this.requests = meter.createCounter('ratelease.requests', {
      description: 'Requests that tried to get a lease, by outcome, once they are over.',
      unit: '{request}',
    });
  }
}

/** The labels of a policy; without a policy of the endpoint there is none. */
export function labelsOf(policy: string | undefined, result?: MetricResult): Attributes {
  return {
    ...(policy === undefined ? {} : { 'ratelease.policy': policy }),
    ...(result === undefined ? {} : { 'ratelease.result': result }),
  };
}

/** OpenTelemetry's API, where the application has it. */
export class Telemetry {
  #providerOf: (() => MeterProvider) | undefined = undefined;
  #instruments: Instruments | undefined = undefined;
  /** What the API has while no provider is registered. */
  #mute: MeterProvider | undefined = undefined;

  /** To be called once, before the first request. */
  async load(): Promise<void> {
    try {
      const { metrics } = await import('@opentelemetry/api');
      this.#providerOf = () => metrics.getMeterProvider();
    } catch {
      // Optional: without the package there are no metrics.
    }
  }

  /** The instruments of the provider that is registered at present; `undefined` where none is. */
  get instruments(): Instruments | undefined {
    const provider = this.#providerOf?.();
    if (provider === undefined || provider === this.#mute) return undefined;
    if (provider.constructor.name === 'NoopMeterProvider') {
      this.#mute = provider;
      return undefined;
    }
    // The API hands out instruments that stay mute when the SDK comes later, so it is asked again each time.
    if (this.#instruments?.provider !== provider) this.#instruments = new Instruments(provider);
    return this.#instruments;
  }
}
