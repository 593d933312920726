/**
 * Milliseconds of processor time that this thread spends on `work`, which must be synchronous. For bounds on what hostile
 * input costs: unlike a watch it does not count what else the machine does meanwhile.
 */
export function processorMs(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
