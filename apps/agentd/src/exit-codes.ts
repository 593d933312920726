/** Exit codes of every command (CLI-3). */
export const EXIT = { completed: 0, failed: 1, usage: 2, denied: 3, cancelled: 4, setUp: 5 } as const;
