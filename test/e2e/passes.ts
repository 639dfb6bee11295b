import { eventually } from '../kit/eventually.js';
import { now } from './fixtures/member.protocol.js';

/** Lets this much time pass, or less once aborted: as the length of a fault, never to wait for something. */
export async function passes(milliseconds: number, signal?: AbortSignal): Promise<void> {
  const end = now() + milliseconds;
  await eventually(() => now() >= end || signal?.aborted === true, {
    timeout: Math.max(0, milliseconds) + 60_000,
    interval: 10,
  });
}
