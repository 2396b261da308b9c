import { RateLimitingConfigurationError } from '../errors/rate-limiting-configuration-error.js';
import { suggestion } from '../errors/nearest-name.js';
import { shown } from '../errors/shown.js';
import type { PolicyReference } from '../decorators/enable-rate-limiting.js';
import type { Settings } from '../module/settings.js';
import type { OnRejected } from '../rejection/on-rejected.js';
import { AdditionalLimits } from './additional-limits.js';
import type { NoteLetThrough, PolicySource } from './compiled-policy.js';
import { CompiledPolicy } from './compiled-policy.js';
import type { PolicyClass, PolicyDefinition, PolicyInstance } from './policy-definition.js';
import { isPartitionedLimiter, isPolicy, isPolicyClass, isSelectivePolicy } from './policy-definition.js';
import { namedAfter } from './named-partition.js';
import type { PartitionTraits } from './policy-traits.js';
import { readTraits } from './policy-traits.js';
import { policyFromOptions } from './policy-options.js';
import { StoreLog } from '../visibility/store-log.js';
import { GLOBAL, PolicySet } from './policy-set.js';

/** Makes, or finds, the one instance of a policy class. */
export type PolicyProvider = (type: PolicyClass) => Promise<PolicyInstance>;

/** What is known of a policy before it is compiled. */
interface Compilable {
  readonly source: PolicySource;
  readonly onRejected?: OnRejected | undefined;
  readonly traits?: PartitionTraits;
  readonly change?: (changes: object) => void;
  readonly mayWait?: boolean;
  readonly holdsPermits?: boolean;
}

/** The policies of one application, compiled: by name, by instance or class, and the global limiter. */
export class PolicyRegistry {
  readonly #settings: Settings;
  readonly #named = new Map<string, CompiledPolicy>();
  readonly #labelled = new Map<string, CompiledPolicy>();
  readonly #unnamed = new Map<object, CompiledPolicy>();
  readonly #names = new Set<string>([GLOBAL]);
  readonly #all: CompiledPolicy[] = [];
  readonly #sets = new Map<string, PolicySet>();
  readonly #additional: CompiledPolicy[] = [];
  readonly #additionalLimits: AdditionalLimits;
  readonly #noteLetThrough: NoteLetThrough;
  readonly #stores = new StoreLog();
  #global: CompiledPolicy | undefined = undefined;

  constructor(
    settings: Settings,
    noteLetThrough: NoteLetThrough,
    additionalLimits: AdditionalLimits = new AdditionalLimits(),
  ) {
    this.#settings = settings;
    this.#noteLetThrough = noteLetThrough;
    this.#additionalLimits = additionalLimits;
  }

  get global(): CompiledPolicy | undefined {
    return this.#global;
  }

  /** The limits that modules have added to the global one. */
  get additional(): readonly CompiledPolicy[] {
    return this.#additional;
  }

  /** Compiles the global limiter, what was added to it, and the named policies. */
  async compileNamed(provide: PolicyProvider): Promise<void> {
    const { global, policies } = this.#settings;
    if (global !== undefined) {
      const compilable = await this.#read('The global limiter', global, provide);
      this.#global = this.#add(GLOBAL, namedCompilable(GLOBAL, compilable));
    }
    for (const [name, definition] of this.#additionalLimits.take()) {
      const compilable = await this.#read(
        `The additional limit ${JSON.stringify(name)}`,
        definition,
        provide,
      );
      this.#additional.push(this.#add(this.#freeName(name), compilable));
    }
    await this.addNamed(policies, provide);
  }

  /**
   * Compiles named policies.
   *
   * @throws RateLimitingConfigurationError `ERR_RL_DUPLICATE_POLICY` - when a name is taken.
   */
  async addNamed(policies: ReadonlyMap<string, PolicyDefinition>, provide: PolicyProvider): Promise<void> {
    this.#assertFree(policies.keys());
    const read = new Map<string, Compilable>();
    for (const [name, definition] of policies)
      read.set(name, await this.#read(`Policy ${JSON.stringify(name)}`, definition, provide));
    // All of them or none: a module that fails to load may be loaded again. And others may have been loaded meanwhile.
    this.#assertFree(read.keys());
    for (const [name, compilable] of read) {
      this.#names.add(name);
      this.#named.set(name, this.#add(name, namedCompilable(name, compilable)));
    }
  }

  #assertFree(names: Iterable<string>): void {
    for (const name of names) if (this.#named.has(name)) throw duplicate(name);
  }

  /** Compiles an unnamed policy; its identity is the instance or the class itself. */
  async compileUnnamed(policy: PolicyInstance | PolicyClass, provide: PolicyProvider): Promise<void> {
    if (this.#unnamed.has(policy)) return;
    const className = isPolicyClass(policy) ? policy.name : policy.constructor.name;
    const compilable = await this.#read(`Policy ${className}`, policy, provide);
    this.#unnamed.set(policy, this.#add(this.#freeName(className), compilable));
  }

  /**
   * Makes the limiter of a conditional limit: concurrency, nobody waits, for one handler.
   *
   * @throws RateLimitingConfigurationError `ERR_RL_INVALID_OPTION` - for a limit that is none.
   */
  addConcurrencyLimit(endpoint: string, permitLimit: number): CompiledPolicy {
    const options = { algorithm: 'concurrency', permitLimit } as const;
    const { partitioner, ...known } = policyFromOptions(
      `${endpoint}: @ConcurrencyLimit()`,
      options,
      this.#settings.clock,
    );
    return this.#add(this.#freeName(endpoint), { source: { partitioner }, ...known });
  }

  /**
   * Finds a policy where `'global'` is the global limiter.
   *
   * @throws RateLimitingConfigurationError `ERR_RL_UNKNOWN_POLICY` - when no policy has the name.
   */
  named(name: PolicyReference, place: string): CompiledPolicy {
    const isGlobal = name === GLOBAL && this.#global !== undefined;
    return isGlobal ? this.#global! : this.find(name, place);
  }

  /**
   * Finds a compiled policy.
   *
   * @param place - the endpoint, for the message.
   * @throws RateLimitingConfigurationError `ERR_RL_UNKNOWN_POLICY` - when no policy has the name.
   */
  find(reference: PolicyReference, place: string): CompiledPolicy {
    const policy = typeof reference === 'string' ? this.#named.get(reference) : this.#unnamed.get(reference);
    if (policy !== undefined) return policy;
    if (reference === GLOBAL) throw this.#misnamedGlobal(place);
    const way =
      typeof reference === 'string' ? `${suggestion(reference, [...this.#named.keys()], 'policies')} ` : '';
    throw new RateLimitingConfigurationError(
      'ERR_RL_UNKNOWN_POLICY',
      `${place} uses the policy ${shown(reference)}, which is not registered. ${way}` +
        'Register it under policies in RateLimitingModule.forRoot().',
    );
  }

  /** The name is taken: registering a policy under it, as for other names, would be no way out. */
  #misnamedGlobal(place: string): RateLimitingConfigurationError {
    const way =
      this.#global === undefined
        ? 'There is none: give RateLimitingModule.forRoot() the option global.'
        : 'It applies to everything that is not disabled, without being named.';
    const message = `${place} names "${GLOBAL}", which is no policy but the global limiter. ${way}`;
    return new RateLimitingConfigurationError('ERR_RL_UNKNOWN_POLICY', message);
  }

  /** The policy that events and overviews call by this name; unlike configured names it is every policy's own. */
  labelled(label: string): CompiledPolicy {
    let policy = this.#labelled.get(label);
    if (policy === undefined) {
      policy = this.#all.find(({ name }) => name === label)!;
      this.#labelled.set(label, policy);
    }
    return policy;
  }

  /** Says in the log where each policy counts; to be called when all are compiled. */
  tellStores(): void {
    this.#stores.tellAll(this.#all);
  }

  /** Every compiled policy, the global limiter too. */
  get all(): readonly CompiledPolicy[] {
    return this.#all;
  }

  /**
   * Forgets what was spent: of one policy, or of all that can.
   *
   * @param policy - without it all are reset that were made here, and those handed in that know how.
   */
  reset(policy?: CompiledPolicy): boolean {
    const done = policy === undefined ? this.#all.map((each) => each.reset()) : [policy.reset()];
    for (const set of this.#sets.values())
      if (policy === undefined || set.policies.includes(policy)) set.renew();
    return done.every(Boolean);
  }

  /** The policies as one limiter, made once for each combination; `null` for none. */
  setOf(policies: readonly CompiledPolicy[]): PolicySet | null {
    const [first, ...rest] = policies;
    if (first === undefined) return null;
    const key = policies.map((policy) => policy.index).join();
    let set = this.#sets.get(key);
    if (set === undefined) {
      const everywhere = this.#global === undefined ? this.#additional : [this.#global, ...this.#additional];
      const withoutFailing = (): PolicySet | null =>
        this.setOf(policies.filter(({ failsOpen }) => !failsOpen));
      set = new PolicySet([first, ...rest], everywhere, withoutFailing);
      this.#sets.set(key, set);
    }
    return set;
  }

  /** Disposes what was made here; waiting requests get refused leases. */
  async dispose(): Promise<void> {
    await Promise.all(this.#all.map((policy) => (policy.ownsLimiter ? policy.limiter.dispose() : undefined)));
  }

  #add(
    name: string,
    { source, onRejected, traits = {}, change, mayWait, holdsPermits }: Compilable,
  ): CompiledPolicy {
    const { clock, whenFailing, maxPartitions } = this.#settings;
    const policy = new CompiledPolicy(source, {
      index: this.#all.length,
      name,
      onRejected,
      traits: {
        ...traits,
        whenFailing: traits.whenFailing ?? whenFailing,
        maxPartitions: traits.maxPartitions ?? maxPartitions,
      },
      change,
      mayWait: mayWait ?? true,
      holdsPermits: holdsPermits ?? true,
      // Only options objects tell; a partitioner may well ask a store.
      isInProcess: holdsPermits !== undefined,
      clock,
      noteLetThrough: this.#noteLetThrough,
      noteStore: (store) => this.#stores.tell(name, store),
    });
    this.#all.push(policy);
    return policy;
  }

  async #read(place: string, definition: PolicyDefinition, provide: PolicyProvider): Promise<Compilable> {
    const policy = isPolicyClass(definition) ? await provide(definition) : definition;
    if (isPolicy(policy)) {
      return {
        source: { partitioner: (context) => policy.getPartition(context) },
        onRejected: boundCallback(policy),
        traits: readTraits(place, policy),
      };
    }
    if (isSelectivePolicy(policy))
      return {
        source: { limiter: policy.limiter },
        onRejected: boundCallback(policy),
        traits: readTraits(place, policy),
      };
    if (isPartitionedLimiter(policy)) return { source: { limiter: policy } };
    if (typeof policy === 'function') return { source: { partitioner: policy } };
    if (typeof policy === 'object' && policy !== null && 'algorithm' in policy) {
      const { partitioner, ...known } = policyFromOptions(place, policy, this.#settings.clock);
      return { source: { partitioner }, ...known };
    }
    throw new RateLimitingConfigurationError(
      'ERR_RL_INVALID_POLICY',
      `${place} is ${shown(policy)}, which is no policy. Give an options object with an algorithm, a partitioner ` +
        'function, an object with getPartition(), or a class of such objects.',
    );
  }

  #freeName(className: string): string {
    let name = className;
    for (let number = 2; this.#names.has(name); number++) name = `${className}-${number}`;
    this.#names.add(name);
    return name;
  }
}

function duplicate(name: string): RateLimitingConfigurationError {
  return new RateLimitingConfigurationError(
    'ERR_RL_DUPLICATE_POLICY',
    `There is already a policy ${JSON.stringify(name)}, in forRoot() or in another forFeature(): names are the ` +
      "application's. Give each policy a name of its own.",
  );
}

function boundCallback(policy: PolicyInstance): OnRejected | undefined {
  if (typeof policy.onRejected !== 'function') return undefined;
  return (rejection, context, signal) => policy.onRejected?.(rejection, context, signal);
}

/** The state of a policy with a name of its own is named after it, where it is kept outside of the process. */
function namedCompilable(name: string, compilable: Compilable): Compilable {
  return { ...compilable, source: namedAfter(name, compilable.source) };
}
