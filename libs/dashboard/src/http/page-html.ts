import { ASSETS } from '../assets/assets.generated.js';
import { escapeHtml } from './escape-html.js';

/** What the page needs to be written. */
export interface PageFacts {
  /** What its own addresses begin with. */
  readonly base: string;
  readonly title: string;
  /** Modules of the application that add to the page. */
  readonly scripts: readonly string[];
}

/** The page, with what an application has added. */
export function pageHtml({ base, title, scripts }: PageFacts): string {
  const added = scripts.map((script) => `<script type="module" src="${escapeHtml(script)}"></script>`);
  return ASSETS['index.html'].text
    .replaceAll('{{base}}', () => escapeHtml(base))
    .replaceAll('{{title}}', () => escapeHtml(title))
    .replaceAll('{{scripts}}', () => added.join('\n    '));
}
