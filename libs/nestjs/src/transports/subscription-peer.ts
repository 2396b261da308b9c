import type { HandlingContext } from '../context/handling-context.js';
import type { Peer } from './peer.js';

/** What Mercurius knows of a subscription, as far as it is needed here: its resolvers' context has it as `pubsub`. */
interface MercuriusSubscription {
  readonly closed: boolean;
  readonly queue: {
    /** What a source of events adds itself to, to be told when nobody reads them any more. */
    close?: (() => void)[];
  };
}

/** One for each, so that it has one listener however many handlings it has. */
const peers = new WeakMap<MercuriusSubscription, SubscriptionPeer>();

/**
 * A subscription of Mercurius, which may be given up while its socket stays open. Mercurius tells that to the sources of
 * events, and to nobody else before the subscription has a stream: so this passes for a source.
 */
export class SubscriptionPeer implements Peer {
  readonly #subscription: MercuriusSubscription;

  private constructor(subscription: MercuriusSubscription) {
    this.#subscription = subscription;
  }

  /** `undefined` for handlings of other kinds. */
  static of({ type, execution }: HandlingContext): SubscriptionPeer | undefined {
    if (type !== 'graphql') return undefined;
    const context = execution.getArgByIndex<{ readonly pubsub?: unknown } | undefined>(2);
    const subscription = context?.pubsub;
    if (!isSubscription(subscription)) return undefined;
    const known = peers.get(subscription) ?? new SubscriptionPeer(subscription);
    peers.set(subscription, known);
    return known;
  }

  get destroyed(): boolean {
    return this.#subscription.closed;
  }

  once(_event: string, listener: () => void): void {
    (this.#subscription.queue.close ??= []).push(listener);
  }
}

function isSubscription(pubsub: unknown): pubsub is MercuriusSubscription {
  const { closed, queue } = (pubsub ?? {}) as Partial<MercuriusSubscription>;
  return typeof closed === 'boolean' && typeof queue === 'object' && queue !== null && isOpen(queue);
}

/** Of another release than those known, nothing is expected. */
function isOpen({ close }: MercuriusSubscription['queue']): boolean {
  return close === undefined || Array.isArray(close);
}
