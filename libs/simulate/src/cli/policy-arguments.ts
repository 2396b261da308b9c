import { readFileSync } from 'node:fs';
import { shown } from '../errors/shown.js';
import type { Policies } from '../policies/checked-policy.js';
import { parsePolicy } from '../policies/notation.js';
import type { PolicyOrChain } from '../policies/policy-options.js';
import type { PolicyAt } from '../suggestion/limit-suggestion.js';
import type { Flags } from './flags.js';
import { UsageError } from './usage-error.js';

/** The policies of the flags and of the file, by name. */
export function readPolicyArguments({ policies: texts, policyFile }: Flags): Policies {
  const policies = new Map<string, PolicyOrChain>();
  if (policyFile !== undefined)
    for (const [name, policy] of Object.entries(readPolicyFile(policyFile))) policies.set(name, policy);
  for (const text of texts) {
    if (hasSoughtNumber(text))
      throw new UsageError(
        `${shown(text)} has a ? for its limit: say how much may be refused, as --suggest 0.1%. See --help.`,
      );
    const [name, policy] = parsePolicy(text);
    if (policies.has(name)) throw twice(name);
    policies.set(name, policy);
  }
  if (policies.size === 0)
    throw new UsageError(
      "There is no policy: give one, as --policy 'fixedWindow:100/1m,key=ip', or --policies FILE. See --help.",
    );
  return Object.fromEntries(policies);
}

/** The policies whose limit is looked for, by name. */
export function readSoughtPolicies({ policies: texts, policyFile }: Flags): ReadonlyMap<string, PolicyAt> {
  if (policyFile !== undefined)
    throw new UsageError('--suggest looks for the ? of a --policy; --policies can have none. See --help.');
  if (texts.length === 0)
    throw new UsageError(
      "There is no policy: give one with a ? for its limit, as --policy 'fixedWindow:?/1m,key=ip'. See --help.",
    );
  const sought = new Map<string, PolicyAt>();
  for (const text of texts) {
    const [name, policyAt] = readSought(text);
    if (sought.has(name)) throw twice(name);
    sought.set(name, policyAt);
  }
  return sought;
}

/** A number of a policy for which a question mark stands. */
const SOUGHT = /(?<=[:=])\?(?=\/|,|\s|$)/g;

function hasSoughtNumber(text: string): boolean {
  return text.search(SOUGHT) !== -1;
}

function readSought(text: string): readonly [name: string, policyAt: PolicyAt] {
  const count = text.match(SOUGHT)?.length ?? 0;
  if (count !== 1)
    throw new UsageError(
      `${shown(text)} must have one ? in the place of the number that --suggest looks for, as 'fixedWindow:?/1m', but has ${count}.`,
    );
  const withLimit = (limit: number): string => text.replace(SOUGHT, String(limit));
  const [name] = parsePolicy(withLimit(1));
  const isNamed = name !== withLimit(1).trim();
  return [isNamed ? name : text.trim(), (limit) => parsePolicy(withLimit(limit))[1]];
}

function twice(name: string): UsageError {
  return new UsageError(`There are two policies called ${shown(name)}.`);
}

/** Its entries are checked with all others. */
function readPolicyFile(file: string): Record<string, PolicyOrChain> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`The policies in ${file} can't be read: ${(error as Error).message}`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, PolicyOrChain>;
  throw new UsageError(
    `${file} must have policies by name, as {"perIp": {"algorithm": "fixedWindow", …}}, but has ${shown(value)}.`,
  );
}
