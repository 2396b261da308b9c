import { NestFactory } from '@nestjs/core';
import type { AddressInfo } from 'node:net';
import { send } from '../e2e/nestjs/fixtures/http-client.js';
import { PLATFORMS } from '../e2e/nestjs/fixtures/test-app.js';
import { blocksOf } from './markdown.js';
import { runSnippet } from './run-snippet.js';
import { readSnippets } from './snippet.js';

describe.each(PLATFORMS)('the quick start of the README on $name', ({ adapter }) => {
  it('answers as it says', async () => {
    const snippet = readSnippets().find(
      ({ file, promises }) => file === 'README.md' && promises.has('boot'),
    )!;
    const { exports } = await runSnippet(snippet);
    const app = await NestFactory.create(exports.AppModule!, adapter(), { logger: false });
    await app.listen(0, '127.0.0.1');
    const { port } = (app.getHttpServer() as { address(): AddressInfo }).address();

    const ask = () => send(port, { path: '/reports' });
    const answers = [await ask(), await ask(), await ask(), await ask(), await ask(), await ask()];
    await app.close();
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
    const refused = answers.at(-1)!;
    const [statusLine, ...fields] = quotedAnswer();
    expect(statusLine).toBe(`HTTP/1.1 ${refused.status} Too Many Requests`);
    for (const field of fields) {
      const [name, value] = field.split(/: (.*)/) as [string, string];
      const answered = String(refused.headers[name.toLowerCase()]);
      expect(`${name}: ${inTheFirstSecond(answered)}`).toBe(`${name}: ${value}`);
    }
  });
});

/** The seconds that are left, as if no time had passed: a busy machine takes its time for six requests. */
function inTheFirstSecond(value: string): string {
  return value.replace(/(?<=^|t=)5\d(?=$|,)/g, '60');
}

function quotedAnswer(): string[] {
  const [block] = blocksOf('README.md').filter(({ language }) => language === 'http');
  return block!.text.split('\n');
}
