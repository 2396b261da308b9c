import { element, escaped } from './svg.js';

/**
 * The colours that charts have, each with a meaning: `main` what it is about, `second` and `third` what stands beside
 * it, `quiet` what is there to compare with. They can be told apart without seeing red and green.
 */
export type ChartColor = 'main' | 'second' | 'third' | 'quiet';

/** Light, then dark. The background belongs to the chart, so that it can be read on any page. */
const COLORS: Readonly<Record<string, readonly [light: string, dark: string]>> = {
  main: ['#0969da', '#4493f8'],
  second: ['#bf8700', '#e3b341'],
  third: ['#cf222e', '#ff7b72'],
  quiet: ['#afb8c1', '#6e7681'],
};
const INK = ['#1f2328', '#f0f6fc'];
const PALE_INK = ['#59636e', '#9da7b3'];
const LINE = ['#d1d9e0', '#3d444d'];
const PAPER = ['#ffffff', '#0d1117'];

function rules(scheme: 0 | 1): string {
  const colors = Object.entries(COLORS).map(
    ([name, shades]) => `.${name}{fill:${shades[scheme]}}.${name}-line{stroke:${shades[scheme]}}`,
  );
  return [
    ...colors,
    `text{fill:${INK[scheme]}}`,
    `.pale{fill:${PALE_INK[scheme]}}`,
    `.range{stroke:${INK[scheme]}}`,
    `.grid{stroke:${LINE[scheme]}}`,
    `.mark{stroke:${PALE_INK[scheme]}}`,
    `.paper{fill:${PAPER[scheme]}}`,
  ].join('');
}

const STYLE = [
  'text{font:12px system-ui,-apple-system,"Segoe UI",sans-serif}.head{font-weight:600}',
  '.grid,.mark,.range{stroke-width:1;fill:none}.range{opacity:.6}.mark{stroke-dasharray:3 3}',
  '[class$="-line"]{fill:none;stroke-width:2;stroke-linejoin:round}',
  rules(0),
  `@media(prefers-color-scheme:dark){${rules(1)}}`,
].join('');

/** The whole picture. Its title and description are what screen readers say. */
export function picture(
  {
    title,
    description,
    width,
    height,
  }: { title: string; description: string; width: number; height: number },
  children: readonly string[],
): string {
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: 'img',
  };
  const parts = [
    `<title>${escaped(title)}</title>`,
    `<desc>${escaped(description)}</desc>`,
    `<style>${STYLE}</style>`,
    element('rect', { class: 'paper', width, height, rx: 6 }),
    ...children.filter((child) => child !== ''),
  ];
  return `${element('svg', attributes, [`\n${parts.join('\n')}\n`])}\n`;
}
