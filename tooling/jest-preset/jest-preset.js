import { fileURLToPath } from 'node:url';

if (Number(process.versions.node.split('.')[0]) < 24) {
  throw new Error(
    `Tests need Node 24, this is ${process.version}. Run them through "npm test" or "npx pnpm exec", which use the Node that the workspace installs.`,
  );
}

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

export default {
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['@agentd/source', 'node', 'node-addons'] },
  // Only a test that hangs may fail by this: on a machine with other work a process can take ten times as long.
  testTimeout: 300_000,
  extensionsToTreatAsEsm: ['.ts'],
  testMatch: ['<rootDir>/src/**/*.test.ts', '<rootDir>/test/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  transform: { '\\.ts$': here('./strip-types.js') },
};
