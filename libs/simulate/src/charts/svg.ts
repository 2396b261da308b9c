import { printable } from '../text/printable.js';

/** A text as it may stand in markup. */
export function escaped(text: string): string {
  return printable(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** An element with its attributes; children are markup already. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | number | undefined>>,
  children: readonly string[] = [],
): string {
  const pairs = Object.entries(attributes).filter(([, value]) => value !== undefined);
  const head = [name, ...pairs.map(([key, value]) => `${key}="${shownValue(value!)}"`)].join(' ');
  return children.length === 0 ? `<${head}/>` : `<${head}>${children.join('')}</${name}>`;
}

function shownValue(value: string | number): string {
  return typeof value === 'number' ? String(pixels(value)) : escaped(value);
}

/** As exact as an eye sees it: files stay small, and equal on every machine. */
export function pixels(value: number): number {
  return Math.round(value * 10) / 10;
}

/** A line of text; `anchor` is what of it stands at the point. */
export function textAt(
  [x, y]: readonly [number, number],
  text: string,
  look: { readonly class?: string; readonly anchor?: 'start' | 'middle' | 'end' } = {},
): string {
  const anchor = look.anchor === 'start' ? undefined : look.anchor;
  return element('text', { x, y, class: look.class, 'text-anchor': anchor }, [escaped(text)]);
}

/** How wide a text is, roughly: fonts differ. */
export function textWidth(text: string): number {
  return text.length * 6.6;
}

/** Rectangles as one path, `[x, y, width, height]` each. */
export function rectangles(
  boxes: readonly (readonly [number, number, number, number])[],
  look: string,
): string {
  const visible = boxes.filter(([, , width, height]) => width > 0 && height > 0);
  if (visible.length === 0) return '';
  const d = visible
    .map(
      ([x, y, width, height]) =>
        `M${pixels(x)} ${pixels(y)}h${pixels(width)}v${pixels(height)}h${-pixels(width)}z`,
    )
    .join('');
  return element('path', { class: look, d });
}
