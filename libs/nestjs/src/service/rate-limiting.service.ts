import type { OnModuleDestroy } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import type { RateLimiterStatistics, RateLimitLease } from '@ratelease/limiters';
import { MetadataName, ObjectDisposedError } from '@ratelease/limiters';
import type { HandlingContext } from '../context/handling-context.js';
import type { RateLimitingContext } from '../context/rate-limiting-context.js';
import { RateLimitingConfigurationError } from '../errors/rate-limiting-configuration-error.js';
import { causeOf } from '../enforcement/wait-failure.js';
import { Grant } from '../holding/grant.js';
import type { Boot } from '../module/boot.js';
import type { Settings } from '../module/settings.js';
import { BOOT, POLICIES, SETTINGS, VISIBILITY } from '../module/tokens.js';
import type { CompiledPolicy } from '../policies/compiled-policy.js';
import type { AlgorithmNumbers } from '../policies/limiter-numbers.js';
import type { PolicyName } from '../policies/policy-names.js';
import type { PolicyRegistry } from '../policies/policy-registry.js';
import type { WaitBounds } from '../policies/policy-set.js';
import { PromisedAnswers } from '../policies/promised-answers.js';
import type { Waiter } from '../policies/waiting-places.js';
import { WaitingPlaces } from '../policies/waiting-places.js';
import type { RateLimitingEvent } from '../visibility/events.js';
import type { Observation } from '../visibility/observation.js';
import type { Acquired, Visibility } from '../visibility/visibility.js';
import type { CheckedOptions, ServiceAcquireOptions } from './acquire-options.js';
import { checkedOptions } from './acquire-options.js';
import type { ContextFields } from './context-fields.js';
import { checkedContext, checkedEvent, contextOf } from './context-fields.js';
import { CountedLease } from './counted-lease.js';
import type { PolicyDetail } from './policy-detail.js';
import { detailOf } from './policy-detail.js';
import type { PolicyOverview } from './policy-overview.js';
import { overviewOf } from './policy-overview.js';

/** New numbers of a policy: any of the options of its algorithm. */
export type PolicyChanges = Partial<AlgorithmNumbers[keyof AlgorithmNumbers]>;

/** The name of a policy, or `'global'` for the global limiter. */
// Declared names leave no room for 'global'.
// oxlint-disable-next-line typescript/no-redundant-type-constituents
export type ServicePolicyName = PolicyName | 'global';

const NAME = 'RateLimitingService';

/** The policies of the application for code outside handlers: jobs, consumers, tests, dashboards. */
@Injectable()
export class RateLimitingService implements OnModuleDestroy {
  readonly #policies: PolicyRegistry;
  readonly #settings: Settings;
  readonly #boot: Boot;
  readonly #visibility: Visibility;
  /** Aborts when the application ends, so that nobody waits on. */
  readonly #waits = new WaitingPlaces();
  readonly #answers = new PromisedAnswers();
  #end: ObjectDisposedError | undefined = undefined;

  /** @internal Nest makes it. */
  constructor(
    @Inject(POLICIES) policies: PolicyRegistry,
    @Inject(SETTINGS) settings: Settings,
    @Inject(BOOT) boot: Boot,
    @Inject(VISIBILITY) visibility: Visibility,
  ) {
    this.#visibility = visibility;
    this.#policies = policies;
    this.#settings = settings;
    this.#boot = boot;
  }

  /**
   * Makes a context for policies, where there is no request.
   *
   * @throws InvalidContextError `ERR_RL_INVALID_ARGUMENT` - for fields that are no object.
   */
  createContext(fields: ContextFields = {}): RateLimitingContext {
    return contextOf(fields, this.#settings, `${NAME}.createContext()`);
  }

  /**
   * Asks a policy for permits, as requests do; a refusal is a value, and calls no `onRejected`. Dispose the lease
   * when the work is done.
   *
   * @param context - whom it is for: of {@link RateLimitingService.createContext}, or that of a request.
   * @throws RateLimitingConfigurationError `ERR_RL_UNKNOWN_POLICY` - when no policy has the name.
   * @throws InvalidContextError `ERR_RL_INVALID_ARGUMENT` - for a context that is none, and for options that are none,
   * or that bound no wait.
   * @throws RangeError | TypeError - for a `permitCount` that is none, or above the limit.
   * @throws ObjectDisposedError - when the application ends.
   * @throws `signal.reason` - when the signal aborts before the decision.
   */
  async acquire(
    policyName: ServicePolicyName,
    context: RateLimitingContext,
    options: ServiceAcquireOptions = {},
  ): Promise<RateLimitLease> {
    const { permitCount, signal, maxWaitMs } = checkedOptions(options, `${NAME}.acquire()`);
    await this.#boot.run();
    this.#assertUsable();
    const policy = this.#policies.named(policyName, `${NAME}.acquire()`);
    const asker = checkedContext(context, `${NAME}.acquire()`);
    const choice = policy.choosePartition(asker);
    if (choice !== undefined) await this.#answers.wait(choice, signal);
    this.#assertUsable();
    const set = this.#policies.setOf([policy])!;
    const asked = { set, permits: permitCount, endpoint: NAME, context: asker };
    const observation = this.#visibility.observe(asked);
    const question = { ...asked, signal, maxWaitMs, observation, end: withTheWait };
    return this.#settle(policy, await this.#ask(question), question);
  }

  /**
   * The counters of the partition that a context belongs to; `null` where its limiter keeps none. A promise only
   * where the policy chooses its partition by one.
   *
   * @throws RateLimitingConfigurationError `ERR_RL_UNKNOWN_POLICY` - when no policy has the name.
   * @throws InvalidContextError `ERR_RL_INVALID_ARGUMENT` - for a context that is none.
   */
  getStatistics(
    policyName: ServicePolicyName,
    context: RateLimitingContext,
  ): RateLimiterStatistics | null | Promise<RateLimiterStatistics | null> {
    const policy = this.#policies.named(policyName, `${NAME}.getStatistics()`);
    const choice = policy.choosePartition(checkedContext(context, `${NAME}.getStatistics()`));
    return choice === undefined
      ? policy.limiter.getStatistics(context)
      : choice.then(() => policy.limiter.getStatistics(context));
  }

  /** A row for each policy, the global limiter first, from running counters: it costs the same for any number of keys. */
  overview(): PolicyOverview[] {
    return this.#policies.all.map(overviewOf);
  }

  /**
   * Explains an event of the diagnostics channels, which serve the whole process: for each of its policies the key
   * that was chosen, and how the policy stands at the moment of the call.
   *
   * @returns `undefined` for an event of another application in this process.
   * @throws InvalidContextError `ERR_RL_INVALID_ARGUMENT` - for what is no event of the channels.
   */
  explain(event: RateLimitingEvent): PolicyDetail[] | undefined {
    const { context, policies } = checkedEvent(event, `${NAME}.explain()`);
    const chosen = context as HandlingContext;
    // Not even the method, where another copy of this package has made it.
    if ((chosen as Partial<HandlingContext>).isOf?.(this.#settings) !== true) return undefined;
    return policies.map((name) => detailOf(this.#policies.labelled(name), chosen));
  }

  /**
   * Gives a policy new numbers while the application runs. What is spent stays spent, and what is held stays held:
   * only the limit moves.
   *
   * @param changes - options of its algorithm, such as `{ permitLimit: 20 }`; what isn't named, or is `undefined`, stays.
   * @throws RateLimitingConfigurationError `ERR_RL_UNKNOWN_POLICY` - when no policy has the name;
   * `ERR_RL_UNKNOWN_OPTION`, `ERR_RL_INVALID_OPTION` - for what its algorithm doesn't take, and when the policy is
   * no options object: then change what its partitioner reads, and call {@link RateLimitingService.refreshPolicies}.
   */
  updatePolicy(policyName: ServicePolicyName, changes: PolicyChanges): void {
    if (this.#policies.named(policyName, `${NAME}.updatePolicy()`).change(changes)) return;
    throw new RateLimitingConfigurationError(
      'ERR_RL_INVALID_OPTION',
      `${NAME}.updatePolicy(): policy ${JSON.stringify(policyName)} is no options object, so that its numbers are yours. Change ` +
        'what its partitioner reads, and call refreshPolicies().',
    );
  }

  /**
   * Has partitions ask their factories for options again, for partitioners whose numbers come from elsewhere. What
   * is spent stays spent.
   *
   * @param policyName - only this policy; without it all.
   * @throws RateLimitingConfigurationError `ERR_RL_UNKNOWN_POLICY` - when no policy has the name.
   */
  refreshPolicies(policyName?: ServicePolicyName): void {
    const { all } = this.#policies;
    const chosen =
      policyName === undefined ? all : [this.#policies.named(policyName, `${NAME}.refreshPolicies()`)];
    for (const policy of chosen) policy.refresh();
  }

  /**
   * Forgets what was spent, so that everybody starts anew; for tests, and for an operator's pardon. Leases handed
   * out before give nothing back.
   *
   * @param policyName - only this policy; without it everything that the module has made, and limiters of yours
   * that have a method `reset`; what is counted in Redis stays.
   * @param context - only the partition that this context belongs to; permits held there by running work stay
   * held. A promise only where the policy chooses its partition by one.
   * @throws RateLimitingConfigurationError `ERR_RL_UNKNOWN_POLICY` - when no policy has the name;
   * `ERR_RL_NOT_RESETTABLE` - when a limiter of yours behind the policy has no method `reset`, and when the policy counts
   * in Redis.
   * @throws InvalidContextError `ERR_RL_INVALID_ARGUMENT` - for a context that is none.
   */
  reset(policyName?: ServicePolicyName, context?: RateLimitingContext): void | Promise<void> {
    if (policyName === undefined) {
      this.#policies.reset();
      return undefined;
    }
    const policy = this.#policies.named(policyName, `${NAME}.reset()`);
    if (context === undefined) return assertReset(policy, this.#policies.reset(policy));
    const chosen = checkedContext(context, `${NAME}.reset()`);
    const choice = policy.choosePartition(chosen);
    if (choice === undefined) return assertReset(policy, policy.resetPartition(chosen));
    return choice.then(() => assertReset(policy, policy.resetPartition(chosen)));
  }

  /** Ends all waits. */
  onModuleDestroy(): void {
    this.#end = new ObjectDisposedError(NAME);
    this.#waits.end(this.#end);
    this.#answers.end(this.#end);
  }

  #assertUsable(): void {
    if (this.#end !== undefined) throw this.#end;
  }

  #settle(policy: CompiledPolicy, lease: RateLimitLease, question: Question): RateLimitLease {
    const { set, permits, context, observation } = question;
    if (lease.isAcquired) {
      set.noteGranted(permits);
      observation?.acquiredOutside();
      return new CountedLease(new Grant(lease, set, permits, observation));
    }
    policy.counters.refused++;
    const reason = set.isGlobal(policy) ? 'global' : 'endpoint';
    const retryAfterMs = lease.getMetadata(MetadataName.retryAfter);
    observation?.refused({ policyName: policy.name, reason, retryAfterMs }, false);
    this.#visibility.log(policy, reason, context, lease);
    return lease;
  }

  /** Most are answered at once: what only a wait needs is made when it comes to one. */
  async #ask(question: Question): Promise<RateLimitLease> {
    const { set, context, permits, signal, observation } = question;
    let bounds: WaitBounds | undefined;
    let lease: RateLimitLease;
    try {
      // Of a signal that has aborted already only a wait would hear.
      if (signal?.aborted === true) throw signal.reason;
      const answer = set.ask(context, permits, () => (bounds = this.#beginWait(question)));
      if (bounds !== undefined && answer instanceof Promise) observation?.waiting(answer);
      lease = await answer;
    } catch (error) {
      throw this.#failure(question, bounds, error);
    }
    if (bounds !== undefined) this.#endWait(question);
    return lease;
  }

  /** Why there is no answer. */
  #failure(question: Question, bounds: WaitBounds | undefined, error: unknown): unknown {
    // Before anybody hears of the end: who hears of it counts those who still wait.
    if (bounds !== undefined) this.#endWait(question);
    const heard = bounds ?? question;
    if (heard.signal?.aborted === true) question.observation?.canceled();
    else question.observation?.failed();
    return causeOf(heard, error);
  }

  #beginWait(question: Question): WaitBounds {
    const { set, signal, maxWaitMs } = question;
    set.noteQueued(1);
    return { signal: this.#waits.enter(signal, question).controller.signal, maxWaitMs };
  }

  #endWait(question: Question): void {
    this.#waits.leave(question.signal, question);
    question.set.noteQueued(-1);
  }
}

interface Question extends Acquired, Waiter, Omit<CheckedOptions, 'permitCount'> {
  readonly observation: Observation | undefined;
}

/** What waits here is ended with the wait for the policy. */
function withTheWait(): void {
  // That ends by the signal.
}

function assertReset({ name, storeOutside }: CompiledPolicy, isDone: boolean): void {
  if (isDone) return;
  const why =
    storeOutside === undefined
      ? 'asks a limiter that was handed in and has no method reset(). Reset it where you made it, or make a new application.'
      : `counts ${storeOutside}, for other processes too: this one can't make it forget. Delete the keys there.`;
  throw new RateLimitingConfigurationError('ERR_RL_NOT_RESETTABLE', `Policy ${JSON.stringify(name)} ${why}`);
}
