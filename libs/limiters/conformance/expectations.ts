import { inspect } from 'node:util';
import { MetadataName, ObjectDisposedError, RateLimitLease } from '../src/index.js';
import type { RateLimiterStatistics } from '../src/index.js';
import { FakeError } from './fakes.js';
import type { Expectation } from './scenario.js';

/** A step that went otherwise than the scenario says. */
export class Mismatch extends Error {}

/** Fails unless the values are the same; numbers to a nanosecond. */
export function same(what: string, expected: unknown, actual: unknown): void {
  if (isSame(expected, actual)) return;
  throw new Mismatch(`${what}: expected ${show(expected)}, got ${show(actual)}`);
}

export function checkLease(lease: RateLimitLease, expected: Expectation): void {
  if (!(lease instanceof RateLimitLease)) throw new Mismatch(`expected a lease, got ${show(lease)}`);
  if (expected.isAcquired !== undefined) same('isAcquired', expected.isAcquired, lease.isAcquired);
  for (const [name, value] of Object.entries(expected.metadata ?? {}))
    same(name, value, metadata(lease, name));
  for (const name of expected.metadataAbsent ?? []) same(name, undefined, metadata(lease, name));
  if (expected.metadataNames === undefined) return;
  same('metadataNames', [...expected.metadataNames].sort(), [...lease.metadataNames].sort());
}

/** @param reason - the reason of the signal, where the request had one. */
export function checkError(error: unknown, expected: Expectation, reason?: unknown): void {
  const kind = expected.throws ?? 'nothing';
  if (!isOfKind(kind, error, reason)) throw new Mismatch(`expected to throw ${kind}, threw ${show(error)}`);
  if (expected.innerCount !== undefined) {
    same('inner errors', expected.innerCount, (error as AggregateError).errors.length);
  }
  for (const part of expected.messageIncludes ?? []) {
    const { message } = error as Error;
    if (!message.includes(part)) throw new Mismatch(`expected a message with ${part}, got ${message}`);
  }
}

const COUNTERS = [
  'currentAvailablePermits',
  'currentQueuedCount',
  'totalFailedLeases',
  'totalSuccessfulLeases',
] as const;

export function checkStatistics(statistics: RateLimiterStatistics | null, expected: Expectation): void {
  if (expected.isNull !== undefined) return same('statistics are null', expected.isNull, statistics === null);
  if (statistics === null) throw new Mismatch('expected statistics, got null');
  for (const name of COUNTERS) if (name in expected) same(name, expected[name], statistics[name]);
}

function isOfKind(kind: string, error: unknown, reason: unknown): boolean {
  switch (kind) {
    case 'canceled':
      return reason !== undefined && error === reason;
    case 'range':
      return error instanceof RangeError;
    case 'type':
      return error instanceof TypeError;
    case 'rangeOrType':
      return error instanceof RangeError || error instanceof TypeError;
    case 'disposed':
      return error instanceof ObjectDisposedError && error.name === 'ObjectDisposedError';
    case 'aggregate':
      return error instanceof AggregateError;
    case 'error':
      return error instanceof FakeError;
    default:
      return false;
  }
}

/** A value under its name, which must be the same however the name is given. */
function metadata(lease: RateLimitLease, name: string): unknown {
  const value = lease.getMetadata(name);
  same(`${name} by MetadataName`, value, lease.getMetadata(MetadataName.create(name)));
  return value;
}

function isSame(expected: unknown, actual: unknown): boolean {
  if (Object.is(expected, actual)) return true;
  if (typeof actual === 'number') {
    if (expected === 'unbounded') return actual >= Number.MAX_SAFE_INTEGER;
    return typeof expected === 'number' && Math.abs(expected - actual) < 1e-6;
  }
  return Array.isArray(expected) && JSON.stringify(expected) === JSON.stringify(actual);
}

function show(value: unknown): string {
  return value instanceof Error ? `${value.name}: ${value.message}` : inspect(value);
}
