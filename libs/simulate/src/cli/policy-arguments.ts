import { readFileSync } from 'node:fs';
import { shown } from '../errors/shown.js';
import type { Policies } from '../policies/checked-policy.js';
import { parsePolicy } from '../policies/notation.js';
import type { PolicyOrChain } from '../policies/policy-options.js';
import type { Flags } from './flags.js';
import { UsageError } from './usage-error.js';

/** The policies of the flags and of the file, by name. */
export function readPolicyArguments({ policies: texts, policyFile }: Flags): Policies {
  const policies = new Map<string, PolicyOrChain>();
  if (policyFile !== undefined)
    for (const [name, policy] of Object.entries(readPolicyFile(policyFile))) policies.set(name, policy);
  for (const text of texts) {
    const [name, policy] = parsePolicy(text);
    if (policies.has(name)) throw new UsageError(`There are two policies called ${shown(name)}.`);
    policies.set(name, policy);
  }
  if (policies.size === 0)
    throw new UsageError(
      "There is no policy: give one, as --policy 'fixedWindow:100/1m,key=ip', or --policies FILE. See --help.",
    );
  return Object.fromEntries(policies);
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
