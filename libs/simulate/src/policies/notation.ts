import { shown } from '../errors/shown.js';
import { SimulationError } from '../errors/simulation-error.js';
import { ALGORITHM_NAMES } from './algorithms.js';
import { durationText, parseDuration } from './duration-text.js';
import type { AlgorithmName, PolicyOrChain, SimulatedPolicy } from './policy-options.js';

const NAMED = /^\s*(?:([\w-]+)\s*=\s*)?([a-zA-Z]+:[\s\S]*)$/;
const MEMBER = /^([a-zA-Z]+):([^,]*)((?:,[^,=]+=[^,]*)*)$/;
const RATE = /^(\d+)\/(.+)$/;
const EXAMPLE = "'perIp=fixedWindow:100/1m,queue=10,key=ip'";
/** Short names of options. */
const ALIASES: Readonly<Record<string, string>> = {
  queue: 'queueLimit',
  order: 'queueProcessingOrder',
  segments: 'segmentsPerWindow',
  burst: 'tokenLimit',
  path: 'paths',
  method: 'methods',
};
const SHORT: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(ALIASES).map(([short, option]) => [option, short]),
);
/** What stands before the first comma. */
const IN_RATE = ['algorithm', 'permitLimit', 'windowMs', 'tokensPerPeriod', 'replenishmentPeriodMs'];

/**
 * Reads a policy from the short notation:
 *
 * ```text
 * [name=]fixedWindow:100/1m[,option=value…]      slidingWindow:100/1m,segments=6
 * tokenBucket:10/1s,burst=20                     concurrency:8,queue=20,key=user/ip
 * fixedWindow:10/1s,key=ip and concurrency:5     both have to grant
 * ```
 *
 * @returns the policy, or a chain, under its name, which is the text itself where it has none.
 * @throws SimulationError `ERR_RL_INVALID_NOTATION` - for a text that is no policy.
 */
export function parsePolicy(text: string): readonly [name: string, policy: PolicyOrChain] {
  const [, name, body] = NAMED.exec(text) ?? [];
  if (body === undefined) throw unreadable(text, `there is no algorithm with a colon`);
  const members = body.split(/\s+and\s+/).map((member) => parseMember(text, member.trim()));
  return [name ?? text.trim(), members.length === 1 ? members[0]! : members];
}

function parseMember(text: string, member: string): SimulatedPolicy {
  const [, algorithm, main, rest] = MEMBER.exec(member) ?? [];
  if (algorithm === undefined || main === undefined || rest === undefined)
    throw unreadable(text, `${shown(member)} is not "algorithm:numbers,option=value,…"`);
  if (!ALGORITHM_NAMES.includes(algorithm as AlgorithmName))
    throw unreadable(text, `${shown(algorithm)} is none of ${ALGORITHM_NAMES.join(', ')}`);
  const numbers = parseMain(text, algorithm as AlgorithmName, main.trim());
  return { algorithm, ...numbers, ...parseOptions(rest) } as SimulatedPolicy;
}

function parseMain(text: string, algorithm: AlgorithmName, main: string): object {
  if (algorithm === 'concurrency') {
    if (/^\d+$/.test(main)) return { permitLimit: Number(main) };
    throw unreadable(text, `a number of permits belongs behind "concurrency:", not ${shown(main)}`);
  }
  const [, count, time] = RATE.exec(main) ?? [];
  const ms = parseDuration(time ?? '');
  if (ms === undefined)
    throw unreadable(text, `a rate such as 100/1m belongs behind "${algorithm}:", not ${shown(main)}`);
  const permits = Number(count);
  return algorithm === 'tokenBucket'
    ? { tokenLimit: permits, tokensPerPeriod: permits, replenishmentPeriodMs: ms }
    : {
        permitLimit: permits,
        windowMs: ms,
        ...(algorithm === 'slidingWindow' ? { segmentsPerWindow: 10 } : {}),
      };
}

function parseOptions(rest: string): object {
  const pairs = rest.split(',').slice(1);
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      const name = pair.slice(0, at).trim();
      const option = Object.hasOwn(ALIASES, name) ? ALIASES[name]! : name;
      return [option, optionValue(option, pair.slice(at + 1).trim())];
    }),
  );
}

function optionValue(option: string, text: string): unknown {
  if (option === 'paths' || option === 'methods') return text.split('|');
  return option !== 'key' && /^\d+$/.test(text) ? Number(text) : text;
}

function unreadable(text: string, why: string): SimulationError {
  return new SimulationError(
    'ERR_RL_INVALID_NOTATION',
    `${shown(text)} is no policy: ${why}. Write it like ${EXAMPLE}.`,
  );
}

/** A policy in the short notation, as reports name it. */
export function notationOf(policy: SimulatedPolicy): string {
  const others = Object.entries(policy).filter(
    ([option, value]) => !IN_RATE.includes(option) && value !== undefined,
  );
  return [
    `${policy.algorithm}:${mainOf(policy)}`,
    ...others.map(([option, value]) => pairOf(option, value)),
  ].join(',');
}

function mainOf(policy: SimulatedPolicy): string {
  if (policy.algorithm === 'concurrency') return String(policy.permitLimit);
  return policy.algorithm === 'tokenBucket'
    ? `${policy.tokensPerPeriod}/${timeText(policy.replenishmentPeriodMs)}`
    : `${policy.permitLimit}/${timeText(policy.windowMs)}`;
}

/** It may be no number at all: nobody has looked at it yet. */
function timeText(ms: unknown): string {
  return typeof ms === 'number' ? durationText(ms) : String(ms);
}

function pairOf(option: string, value: unknown): string {
  const separator = option === 'key' ? '+' : '|';
  const text = Array.isArray(value) ? value.join(separator) : value;
  return `${SHORT[option] ?? option}=${typeof text === 'function' ? shown(text) : String(text)}`;
}
