/** An endpoint that traffic can be sent to. */
export interface Target {
  readonly id: string;
  readonly path: string;
  /** @param client - counts from 0. */
  readonly headers: (client: number) => Readonly<Record<string, string>>;
  /** A client that never leaves by itself does so after this. */
  readonly leavesAfterMs?: number;
}

// Addresses for documentation (RFC 5737): the demo takes its own machine for a proxy.
const byAddress = (client: number): Record<string, string> => ({
  'x-forwarded-for': `203.0.113.${client + 1}`,
});
const byCustomer = (client: number): Record<string, string> => ({
  ...byAddress(client),
  'x-customer': client % 2 === 0 ? 'fred' : 'paula',
});

/** Where traffic can go. */
export const TARGETS: readonly Target[] = [
  { id: 'window', path: '/shapes/window', headers: byAddress },
  { id: 'bucket', path: '/shapes/bucket', headers: byAddress },
  { id: 'queue', path: '/shapes/queue', headers: byAddress },
  { id: 'per-client', path: '/per-client', headers: byAddress },
  { id: 'two-policies', path: '/two-policies/search', headers: byAddress },
  { id: 'reports', path: '/queue/report', headers: byAddress },
  { id: 'plans', path: '/plans/export', headers: byCustomer },
  { id: 'events', path: '/events', headers: byAddress, leavesAfterMs: 3_000 },
];
