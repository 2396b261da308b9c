// The e2e tests once more, on Nest 11: the same specs and sources, with `@nestjs/*` taken from test/nest11.
const { dirname } = require('node:path');
const base = require('./jest.config.cjs');

/** Each with the major version that belongs to Nest 11. */
const NEST_PACKAGES = {
  common: 11,
  core: 11,
  'platform-express': 11,
  'platform-fastify': 11,
  testing: 11,
  websockets: 11,
  'platform-ws': 11,
  'platform-socket.io': 11,
  microservices: 11,
  graphql: 13,
  apollo: 13,
  mercurius: 13,
};

const nest11 = Object.fromEntries(
  Object.entries(NEST_PACKAGES).map(([name, major]) => {
    const manifest = require.resolve(`@nestjs/${name}/package.json`, { paths: [`${__dirname}/test/nest11`] });
    const { version } = require(manifest);
    if (!version.startsWith(`${major}.`)) {
      throw new Error(
        `@nestjs/${name} resolves to ${version} from test/nest11: expected ${major}.x. Run npm ci.`,
      );
    }
    return [`^@nestjs/${name}(/.*)?$`, `${dirname(manifest)}$1`];
  }),
);

/** @type {import('jest').Config} */
module.exports = {
  ...base,
  // What does not know Nest needs no second run.
  testPathIgnorePatterns: [
    ...base.testPathIgnorePatterns,
    '/libs/limiters/',
    '/libs/redis/',
    '/libs/simulate/',
    '/test/docs/(errors|links)',
    // TypeScript finds the types of Nest 12 in both runs.
    '/test/docs/snippet-types',
    '/test/packages/',
    '/test/redis/',
    '/test/scripts/',
    '/test/e2e/simulate/',
    '/test/browser/',
    '/test/programs/',
    // Meets Nest where the others of its folder do; what it puts to the test is the store.
    '/test/e2e/redis/storm',
    // Nest 11 makes no gateways per client.
    '/test/e2e/nestjs/transports/scoped-gateways',
  ],
  moduleNameMapper: { ...nest11, ...base.moduleNameMapper },
};
