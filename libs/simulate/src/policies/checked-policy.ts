import { shown } from '../errors/shown.js';
import { SimulationError } from '../errors/simulation-error.js';
import { ALGORITHM_NAMES, algorithmOf, POLICY_OPTIONS } from './algorithms.js';
import { notationOf } from './notation.js';
import type { KeyOf } from './policy-keys.js';
import { readKey } from './policy-keys.js';
import type { AlgorithmName, PolicyOrChain, SimulatedPolicy } from './policy-options.js';
import type { AppliesTo } from './request-filter.js';
import { readFilter } from './request-filter.js';

/** A policy whose options are right. */
export interface CheckedPolicy {
  readonly algorithm: AlgorithmName;
  /** What its limiters are made with. */
  readonly numbers: { readonly queueLimit?: number | undefined };
  readonly keyOf: KeyOf;
  readonly appliesTo: AppliesTo;
}

/** What is replayed under one name: one policy, or several that have to grant together. */
export interface NamedPolicy {
  readonly name: string;
  /** In the short notation. */
  readonly text: string;
  readonly members: readonly CheckedPolicy[];
}

/** What a simulation takes: one policy, several by name, or chains of them. */
export type Policies = SimulatedPolicy | Readonly<Record<string, PolicyOrChain>>;

/** @throws SimulationError - that names the policy and what is wrong with it. */
export function readPolicies(policies: Policies): readonly NamedPolicy[] {
  if (typeof policies !== 'object' || policies === null || Array.isArray(policies))
    throw noPolicies(policies);
  const named = isPolicy(policies) ? { [notationOf(policies)]: policies } : policies;
  const all = Object.entries(named).map(([name, policy]) => readOne(name, policy));
  if (all.length === 0) throw noPolicies(policies);
  return all;
}

function isPolicy(policies: Policies): policies is SimulatedPolicy {
  return typeof policies.algorithm === 'string';
}

function noPolicies(value: unknown): SimulationError {
  return new SimulationError(
    'ERR_RL_INVALID_OPTION',
    `policies must be an options object with an algorithm, or such objects by name, but got ${shown(value)}.`,
  );
}

function readOne(name: string, policy: PolicyOrChain): NamedPolicy {
  const members: readonly SimulatedPolicy[] = Array.isArray(policy) ? policy : [policy];
  if (members.length === 0)
    throw new SimulationError(
      'ERR_RL_INVALID_OPTION',
      `Policy ${shown(name)}: a chain needs at least one member.`,
    );
  const checked = members.map((member) => checkPolicy(`Policy ${shown(name)}`, member));
  return { name, text: members.map((member) => notationOf(member)).join(' and '), members: checked };
}

function checkPolicy(policy: string, options: SimulatedPolicy): CheckedPolicy {
  if (typeof options !== 'object' || options === null)
    throw new SimulationError(
      'ERR_RL_INVALID_OPTION',
      `${policy} must be an options object, but got ${shown(options)}.`,
    );
  const { algorithm, key, paths, methods, ...numbers } = options;
  if (!ALGORITHM_NAMES.includes(algorithm))
    throw new SimulationError(
      'ERR_RL_INVALID_OPTION',
      `${policy}: algorithm must be one of ${ALGORITHM_NAMES.join(', ')}, but got ${shown(algorithm)}.`,
    );
  checkNames(policy, algorithm, numbers);
  checkNumbers(policy, algorithm, numbers);
  return {
    algorithm,
    numbers,
    keyOf: readKey(policy, key),
    appliesTo: readFilter(policy, { paths, methods }),
  };
}

function checkNames(policy: string, algorithm: AlgorithmName, numbers: object): void {
  const { options } = algorithmOf(algorithm);
  const unknown = Object.keys(numbers).find((option) => !options.includes(option));
  if (unknown === undefined) return;
  throw new SimulationError(
    'ERR_RL_UNKNOWN_OPTION',
    `${policy}: ${algorithm} has no option ${shown(unknown)}. There are ${[...POLICY_OPTIONS, ...options].join(', ')}.`,
  );
}

/** What the limiter's own class says about its numbers. */
function checkNumbers(policy: string, algorithm: AlgorithmName, numbers: object): void {
  const { limiter: Limiter } = algorithmOf(algorithm);
  try {
    void new Limiter(numbers);
  } catch (error) {
    throw new SimulationError('ERR_RL_INVALID_OPTION', `${policy}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
