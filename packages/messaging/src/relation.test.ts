import { expect, it } from '@jest/globals';
import { relationOf } from './relation.ts';

const root = { sessionId: 'root', parentId: null };
const a = { sessionId: 'a', parentId: 'root' };
const b = { sessionId: 'b', parentId: 'root' };
const deep = { sessionId: 'deep', parentId: 'a' };
const other = { sessionId: 'other', parentId: null };

it.each([
  { who: 'a child', whom: 'its parent', sender: a, recipient: root, relation: 'parent' },
  { who: 'a parent', whom: 'its child', sender: root, recipient: a, relation: 'child' },
  { who: 'a child', whom: 'another child of the same parent', sender: a, recipient: b, relation: 'sibling' },
  { who: 'a grandchild', whom: 'its root', sender: deep, recipient: root, relation: '*' },
  { who: 'a root', whom: 'its grandchild', sender: root, recipient: deep, relation: '*' },
  { who: 'a child', whom: 'the child of its sibling', sender: b, recipient: deep, relation: '*' },
  {
    who: 'a root',
    whom: 'another root, which has no parent either',
    sender: root,
    recipient: other,
    relation: '*',
  },
])('$who sees $whom by stored origins alone [MSG-4]', ({ sender, recipient, relation }) => {
  expect(relationOf(sender, recipient)).toBe(relation);
});
