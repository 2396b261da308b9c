import type { TrafficPlan } from '../src/traffic/traffic-plan.js';
import type { TrafficState } from '../src/traffic/traffic-state.js';

const ADDRESS = '/traffic';
const POLL_MS = 500;

interface Preset {
  readonly name: string;
  readonly plan: TrafficPlan;
}

const PRESETS: readonly Preset[] = [
  {
    name: 'A window resets',
    plan: { target: 'window', shape: 'steady', rate: 12, clients: 1, concurrency: 50, seconds: 30 },
  },
  {
    name: 'A bucket refills',
    plan: { target: 'bucket', shape: 'steady', rate: 12, clients: 1, concurrency: 50, seconds: 20 },
  },
  {
    name: 'A queue builds up and drains',
    plan: { target: 'queue', shape: 'ramp', rate: 18, clients: 5, concurrency: 100, seconds: 15 },
  },
  {
    name: 'One is greedy, others are patient',
    plan: { target: 'window', shape: 'greedy', rate: 20, clients: 6, concurrency: 50, seconds: 30 },
  },
];

const CHOICES = {
  target: [
    ['window', 'window: 20 in 5 s, per client'],
    ['bucket', 'bucket: 20, and 5 more a second, per client'],
    ['queue', 'queue: 4 at once, 30 may wait'],
    ['per-client', 'perClient: 5 in a sliding 10 s'],
    ['two-policies', 'burst and sustained: 3 in 2 s, 6 in 30 s'],
    ['reports', 'reports: 2 at once, 1 may wait'],
    ['plans', 'plan: files at once, by customer'],
    ['events', 'listeners: 2 streams'],
  ],
  shape: [
    ['steady', 'steady'],
    ['burst', 'a burst every 5 seconds'],
    ['ramp', 'rising'],
    ['greedy', 'one greedy client, others patient'],
  ],
} as const;

const NUMBERS = [
  ['rate', 'Rate, or burst', 200],
  ['clients', 'Clients', 50],
  ['concurrency', 'On their way at most', 200],
  ['seconds', 'Seconds', 60],
] as const;

function element(
  tag: string,
  properties: Record<string, string>,
  ...children: (Node | string)[]
): HTMLElement {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const selects = Object.entries(CHOICES).map(([name, choices]) =>
  element(
    'label',
    {},
    name === 'target' ? 'Limit ' : 'Shape ',
    element('select', { name }, ...choices.map(([value, text]) => element('option', { value }, text))),
  ),
);
const inputs = NUMBERS.map(([name, label, max]) =>
  element(
    'label',
    {},
    `${label} `,
    element('input', {
      name,
      type: 'number',
      min: '1',
      max: String(max),
      required: '',
      inputmode: 'numeric',
    }),
  ),
);
const presets = PRESETS.map(({ name }) => element('button', { type: 'button' }, name));
const send = element('button', { class: 'primary' }, 'Send');
const stop = element('button', { type: 'button', disabled: '' }, 'Stop') as HTMLButtonElement;
const output = element('output', { class: 'note' }, 'Nothing is sent.');
const form = element(
  'form',
  { class: 'card', 'aria-labelledby': 'traffic-heading' },
  element(
    'p',
    { class: 'note' },
    'Send the demo some traffic, and watch its limits. The ',
    element('a', { href: '/' }, 'curl lines'),
    ' show the same from a terminal.',
  ),
  element('div', { class: 'controls', role: 'group', 'aria-label': 'Ready-made traffic' }, ...presets),
  element('div', { class: 'fields' }, ...selects, ...inputs),
  element('div', { class: 'controls' }, send, stop, output),
) as HTMLFormElement;

function fill(plan: TrafficPlan): void {
  for (const [name, value] of Object.entries(plan)) {
    const field = form.elements.namedItem(name) as HTMLInputElement;
    field.value = String(value);
  }
}

function read(): Record<string, unknown> {
  const values = Object.fromEntries(new FormData(form));
  const numbers = NUMBERS.map(([name]) => [name, Number(values[name])] as const);
  return { ...values, ...Object.fromEntries(numbers) };
}

async function ask(method: string, body?: object): Promise<TrafficState> {
  const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(ADDRESS, { method, ...(body === undefined ? {} : json) });
  const answer = (await response.json()) as TrafficState & { message?: string };
  if (!response.ok) throw new Error(answer.message ?? response.statusText);
  return answer;
}

function tell({ isRunning, sent, onTheirWay, answers, unanswered, heldBack }: TrafficState): void {
  stop.disabled = !isRunning;
  const parts = Object.entries(answers).map(([status, count]) => `${count} × ${status}`);
  if (onTheirWay > 0) parts.push(`${onTheirWay} on their way`);
  if (unanswered > 0) parts.push(`${unanswered} without an answer`);
  if (heldBack > 0) parts.push(`${heldBack} held back`);
  output.textContent = `${isRunning ? 'Sending' : 'Sent'} ${sent}: ${parts.join(', ')}`;
}

let polling: ReturnType<typeof setTimeout> | undefined;

/** Asks how it goes, as long as it goes on. */
async function follow(question: Promise<TrafficState>): Promise<void> {
  clearTimeout(polling);
  try {
    const state = await question;
    tell(state);
    if (state.isRunning) polling = setTimeout(() => void follow(ask('GET')), POLL_MS);
  } catch (error) {
    output.textContent = (error as Error).message;
  }
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void follow(ask('POST', read()));
});
stop.addEventListener('click', () => void follow(ask('DELETE')));
presets.forEach((preset, index) =>
  preset.addEventListener('click', () => {
    fill(PRESETS[index]!.plan);
    void follow(ask('POST', read()));
  }),
);
fill(PRESETS[0]!.plan);
document
  .getElementById('extensions')!
  .append(element('section', {}, element('h2', { id: 'traffic-heading' }, 'Traffic'), form));
