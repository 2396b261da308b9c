// The demo: npm start. It prints what there is to try; each folder beside this file is a scenario.
import 'reflect-metadata';
import { runDemo } from './run-demo.js';

let isStopping = false;

const app = await runDemo({
  args: process.argv.slice(2),
  env: process.env,
  print: (text) => console.log(text),
  printError: (text) => console.error(text),
});

if (app === undefined) process.exitCode = 1;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);

/** Lets what runs finish; the second time, ends it. */
function stop(): void {
  if (app === undefined || isStopping) process.exit(130);
  isStopping = true;
  console.log('\nThe demo ends as soon as its last request is answered. Ctrl-C again ends it now.');
  void app.close();
}
