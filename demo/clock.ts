/** Milliseconds on the machine's monotonic clock, which all processes of the machine share. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
