import { describe, expect, it } from '@jest/globals';
import { projectKey, projectOf } from './project.ts';

describe('projectKey', () => {
  it('is a readable name and a hash of the path [CFG-1]', () => {
    expect(projectKey('/home/me/my app!')).toMatch(/^my-app--[0-9a-f]{12}$/);
    expect(projectKey('/a/app')).not.toBe(projectKey('/b/app'));
    expect(projectKey('/a/app')).toBe(projectKey('/a/app'));
  });

  it.each(['/', '/...', '/a/..hidden', `/x/${'y'.repeat(300)}`, '/a/é'])(
    'names a folder that can exist for %s [CFG-1]',
    (path) => {
      expect(projectKey(path)).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,40}-[0-9a-f]{12}$/);
    },
  );

  it('keeps sessions, artifacts and staging apart [CFG-1]', () => {
    const project = projectOf('/h', '/w/app');
    expect(project.sessions).toBe(`/h/projects/${project.key}/sessions`);
    expect([project.artifacts, project.staging].map((path) => path.split('/').at(-1))).toEqual([
      'artifacts',
      'staging',
    ]);
  });
});
