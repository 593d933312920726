/** One run for all packages: on two cores it is about twice as fast as one run a package. */
export default {
  projects: [
    '<rootDir>/packages/*',
    '<rootDir>/apps/*',
    '<rootDir>/tooling/checks',
    '<rootDir>/tooling/clauses',
  ],
  // Only a test that hangs may fail by this: on a machine with other work a process can take ten times as long.
  testTimeout: 300_000,
  maxWorkers: '100%',
  watchman: false,
  reporters: ['default', '<rootDir>/tooling/jest-preset/reporter.js'],
  coverageProvider: 'v8',
  collectCoverageFrom: ['packages/*/src/**/*.ts', 'apps/*/src/**/*.ts', '!**/*.test.ts'],
};
