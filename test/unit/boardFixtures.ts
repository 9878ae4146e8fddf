import type { Task } from '../../src/team/task';
import type { Acceptance, TaskWorktree } from '../../src/team/worktree';

/** Builders of tasks, with defaults. */

export function task(id: string, overrides: Partial<Task> = {}): Task {
  return {
    id,
    subject: `Do ${id}`,
    description: '',
    status: 'pending',
    priority: 0,
    order: Number(id.slice(1)),
    blockedBy: [],
    notes: [],
    createdBy: 'lead',
    createdAt: Number(id.slice(1)),
    ...overrides,
  };
}

export function worktree(id: string, accepted: readonly Acceptance[] = []): TaskWorktree {
  return {
    state: 'ready',
    path: `.team/worktrees/${id}`,
    branch: `handshake/${id}`,
    base: '0123456789',
    baseName: 'main',
    createdAt: 1,
    accepted: [...accepted],
    sentBack: 0,
  };
}

export function acceptance(overrides: Partial<Acceptance> = {}): Acceptance {
  return {
    id: 'a1',
    mode: 'commit',
    tree: '0123',
    landing: { from: '01', to: '02', conflicts: [], staged: true },
    files: ['a'],
    remaining: 0,
    at: 1,
    outcome: 'merged',
    ...overrides,
  };
}
