import type { KeySnapshot, LeaseSnapshot, Snapshot } from '../src/stream/snapshot.js';
import { byId, element } from './elements.js';
import { table } from './table.js';
import { durationText, numberText } from './texts.js';

/** Shows the busiest keys and the leases that are held longest. */
export function showLists({ keys, leases }: Snapshot): void {
  const section = byId('keys');
  section.hidden = keys === null;
  if (keys !== null) fill(section, keys.length === 0 ? note('None in the last minutes.') : keysTable(keys));
  fill(byId('leases'), leases.length === 0 ? note('None is held.') : leasesTable(leases));
}

function keysTable(keys: readonly KeySnapshot[]): HTMLElement {
  const rows = keys.map(({ policy, key, requests, overestimate, refused }) => [
    policy,
    key,
    overestimate === 0
      ? numberText(requests)
      : `${numberText(requests - overestimate)}–${numberText(requests)}`,
    numberText(refused),
  ]);
  return scrolling(
    'Busiest keys',
    table(['policy', 'key', 'requests', 'refused'], rows, { numbers: [2, 3], mono: [1] }),
  );
}

function leasesTable(leases: readonly LeaseSnapshot[]): HTMLElement {
  const rows = leases.map(({ endpoint, policies, keys, heldMs }) => [
    endpoint,
    policies.join(', '),
    keys.filter((key) => key !== '').join(', '),
    heldMs < 1_000 ? '< 1 s' : durationText(Math.floor(heldMs / 1_000) * 1_000),
  ]);
  return scrolling(
    'Leases held longest',
    table(['by', 'policy', 'key', 'for'], rows, { numbers: [3], mono: [2] }),
  );
}

function scrolling(label: string, content: HTMLElement): HTMLElement {
  return element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label }, content);
}

function note(text: string): HTMLElement {
  return element('p', { class: 'note' }, text);
}

/** Replaces what stands below the heading. Who has scrolled or focused the old one keeps place in the new. */
function fill(section: HTMLElement, content: HTMLElement): void {
  const old = section.children[1];
  const left = old?.scrollLeft ?? 0;
  const hadFocus = old !== undefined && old === document.activeElement;
  old?.remove();
  section.append(content);
  content.scrollLeft = left;
  if (hadFocus) content.focus({ preventScroll: true });
}
