import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { UsageReport } from './reports';

const DELAY_RESOLUTION_MS = 5;

/** Runs the work and measures it; nothing else should run in the process. */
export async function metered(work: () => Promise<void>): Promise<UsageReport> {
  const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  delay.enable();
  const cpuBefore = process.cpuUsage();
  const begun = performance.now();
  await work();
  const wallMs = performance.now() - begun;
  const cpu = process.cpuUsage(cpuBefore);
  delay.disable();
  const late = (nanoseconds: number): number => Math.max(nanoseconds / 1e6 - DELAY_RESOLUTION_MS, 0);
  return {
    cpuMs: (cpu.user + cpu.system) / 1000,
    wallMs,
    delayP50Ms: late(delay.percentile(50)),
    delayP99Ms: late(delay.percentile(99)),
    peakRssMb: process.resourceUsage().maxRSS / 1024,
    heapMb: process.memoryUsage().heapUsed / 1024 / 1024,
  };
}
