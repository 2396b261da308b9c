import type { ExecutionContext } from '@nestjs/common';
import type { AsyncRateLimiter, RateLimitPartition } from '@ratelease/limiters';
import { noteForwarded } from '../warnings/proxy-warnings.js';
import { networkOf, normalAddress } from './client-address.js';
import { addressOf, requestOf, responseOf, userOf } from './context-source.js';
import type {
  ApplicationValue,
  RateLimitingContext,
  RateLimitingContextType,
} from './rate-limiting-context.js';

/** A partition of any policy. */
export type AnyPartition = RateLimitPartition<unknown, AsyncRateLimiter>;

/** What a context needs from the application. */
export interface ContextSettings {
  readonly ipv6SubnetPrefix: number;
}

/** Notices when the client leaves. */
interface Follower {
  follow(): void;
}

/** The {@link RateLimitingContext} of a handling, with the partitions that its policies have chosen. */
export class HandlingContext implements RateLimitingContext {
  readonly type: RateLimitingContextType;
  readonly request: ApplicationValue;
  readonly response: ApplicationValue;
  args: readonly unknown[] | undefined = undefined;

  readonly #settings: ContextSettings;
  #execution: ExecutionContext;
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  #handler: Function | undefined;
  /** The partition that was chosen first, by its policy's index: most requests have no other one. */
  #firstIndex = -1;
  #firstPartition: AnyPartition | undefined = undefined;
  /** The others, each after the index of its policy. */
  #others: (number | AnyPartition)[] | undefined = undefined;
  #abort: AbortController | undefined = undefined;
  #follower: Follower | undefined = undefined;
  #abortReason: Error | undefined = undefined;
  #clientIp: string | undefined = undefined;
  #clientNetwork: string | undefined = undefined;

  // oxlint-disable-next-line typescript/no-unsafe-function-type
  constructor(execution: ExecutionContext, handler: Function | undefined, settings: ContextSettings) {
    this.type = execution.getType<RateLimitingContextType>();
    this.request = requestOf(execution, this.type);
    this.response = responseOf(execution, this.type);
    this.#handler = handler;
    this.#execution = execution;
    this.#settings = settings;
  }

  // oxlint-disable-next-line typescript/no-unsafe-function-type
  get handler(): Function | undefined {
    return this.#handler;
  }

  // oxlint-disable-next-line typescript/no-unsafe-function-type
  get controller(): Function | undefined {
    return this.#execution.getClass();
  }

  get execution(): ExecutionContext {
    return this.#execution;
  }

  /** The request has come to its handler; what was decided before routing stays decided. */
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  route(execution: ExecutionContext, handler: Function): void {
    this.#execution = execution;
    this.#handler = handler;
  }

  get user(): ApplicationValue {
    return userOf(this.request, this.type);
  }

  get clientIp(): string | undefined {
    if (this.#clientIp !== undefined) return this.#clientIp;
    const address = addressOf(this.request);
    if (address === undefined) return undefined;
    if (this.type === 'http') noteForwarded(this.request, address);
    return (this.#clientIp = normalAddress(address));
  }

  get clientNetwork(): string | undefined {
    if (this.#clientNetwork !== undefined) return this.#clientNetwork;
    const ip = this.clientIp;
    return (this.#clientNetwork =
      ip === undefined ? undefined : networkOf(ip, this.#settings.ipv6SubnetPrefix));
  }

  /** Made at the first access: most requests are granted at once and need none. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      // Whoever asks wants to hear of a client that leaves: until then nobody need watch for it.
      this.#follower?.follow();
      this.#abort = new AbortController();
      if (this.#abortReason !== undefined) this.#abort.abort(this.#abortReason);
    }
    return this.#abort.signal;
  }

  /** Ends every wait for this handling. */
  abort(reason: Error): void {
    this.#abortReason = reason;
    this.#abort?.abort(reason);
  }

  /** Ends the present waits only: whoever asks for the signal later gets a new one. */
  abortWait(reason: Error): void {
    const abort = this.#abort;
    this.#abort = undefined;
    abort?.abort(reason);
  }

  /** From now on this one knows how to notice the end of the connection. */
  followBy(follower: Follower): void {
    this.#follower = follower;
  }

  /** The reason of {@link HandlingContext.abort}, or `undefined` while the handling goes on. */
  get abortReason(): Error | undefined {
    return this.#abortReason;
  }

  choosePartition(policyIndex: number, partition: AnyPartition): void {
    if (this.#firstIndex === -1 || this.#firstIndex === policyIndex) {
      this.#firstIndex = policyIndex;
      this.#firstPartition = partition;
    } else if (this.#others === undefined) {
      this.#others = [policyIndex, partition];
    } else {
      this.#replaceOrAdd(this.#others, policyIndex, partition);
    }
  }

  #replaceOrAdd(others: (number | AnyPartition)[], policyIndex: number, partition: AnyPartition): void {
    const at = others.indexOf(policyIndex);
    if (at === -1) others.push(policyIndex, partition);
    else others[at + 1] = partition;
  }

  /** Whether it was made by the application with these settings. */
  isOf(settings: ContextSettings): boolean {
    return this.#settings === settings;
  }

  chosenPartition(policyIndex: number): AnyPartition {
    if (policyIndex === this.#firstIndex) return this.#firstPartition!;
    const at = this.#others?.indexOf(policyIndex) ?? -1;
    return (at === -1 ? undefined : this.#others![at + 1]) as AnyPartition;
  }
}
