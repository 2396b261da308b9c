import type { PolicySnapshot, Snapshot } from '../src/stream/snapshot.js';
import { follow } from './connection.js';
import { byId, setText } from './elements.js';
import { History } from './history.js';
import { showLists } from './lists.js';
import { PolicyCard } from './policy-card.js';

const history = new History();
const cards = new Map<string, PolicyCard>();
const span = byId('span') as HTMLSelectElement;
let asTables = false;
let isPaused = false;
let latest: Snapshot | undefined;

function show(): void {
  if (latest === undefined || document.hidden) return;
  const view = { seconds: Number(span.value), asTables };
  const quiet: string[] = [];
  for (const policy of history.policies.values()) {
    const past = history.span(policy.policy, view.seconds);
    const isQuiet =
      policy.queued === 0 &&
      policy.inUse === 0 &&
      (['granted', 'refused', 'waiting', 'inUse'] as const).every((name) =>
        past.column(name).every((value) => value === 0),
      );
    const card = cards.get(policy.policy);
    if (isQuiet) {
      quiet.push(policy.policy);
      if (card !== undefined) card.card.hidden = true;
    } else {
      const shown = card ?? addCard(policy);
      shown.card.hidden = false;
      shown.show(policy, past, view);
    }
  }
  setText(byId('quiet'), quiet.length === 0 ? '' : `Nothing in this time: ${quiet.join(', ')}.`);
  showLists(latest);
}

/** Cards keep the order of the policies, whichever of them wakes first. */
function addCard(policy: PolicySnapshot): PolicyCard {
  const card = new PolicyCard(policy);
  cards.set(policy.policy, card);
  const names = [...history.policies.keys()];
  const next = names.slice(names.indexOf(policy.policy) + 1).find((name) => cards.has(name));
  byId('policies').insertBefore(card.card, next === undefined ? null : cards.get(next)!.card);
  return card;
}

function onToggle(id: string, toggled: (isOn: boolean) => void): void {
  const button = byId(id);
  button.addEventListener('click', () => {
    const isOn = button.getAttribute('aria-pressed') !== 'true';
    button.setAttribute('aria-pressed', String(isOn));
    toggled(isOn);
  });
}

onToggle('tables', (isOn) => {
  asTables = isOn;
  show();
});
onToggle('pause', (isOn) => {
  isPaused = isOn;
});
span.addEventListener('change', show);
document.addEventListener('visibilitychange', show);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  for (const card of cards.values()) card.redraw();
});

follow((snapshot) => {
  history.add(snapshot);
  if (isPaused) return;
  latest = snapshot;
  show();
});
