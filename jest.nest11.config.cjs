// The e2e tests once more, on Nest 11: the same specs and sources, with `@nestjs/*` taken from test/nest11.
const { dirname } = require('node:path');
const base = require('./jest.config.cjs');

const NEST_PACKAGES = [
  'common',
  'core',
  'platform-express',
  'platform-fastify',
  'testing',
  'websockets',
  'platform-ws',
  'platform-socket.io',
  'microservices',
  'graphql',
  'apollo',
];

const nest11 = Object.fromEntries(
  NEST_PACKAGES.map((name) => {
    const manifest = require.resolve(`@nestjs/${name}/package.json`, { paths: [`${__dirname}/test/nest11`] });
    const { version } = require(manifest);
    if (!version.startsWith('11.')) {
      throw new Error(`@nestjs/${name} resolves to ${version} from test/nest11: expected 11.x. Run npm ci.`);
    }
    return [`^@nestjs/${name}(/.*)?$`, `${dirname(manifest)}$1`];
  }),
);

/** @type {import('jest').Config} */
module.exports = {
  ...base,
  // What does not know Nest needs no second run.
  testPathIgnorePatterns: [...base.testPathIgnorePatterns, '/libs/limiters/', '/libs/redis/', '/test/limiters/'],
  moduleNameMapper: { ...nest11, ...base.moduleNameMapper },
};
