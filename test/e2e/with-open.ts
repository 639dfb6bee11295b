/** Uses something and closes it, whatever happens. */
export async function withOpen<R extends { close(): Promise<void> }>(
  resource: R,
  use: (resource: R) => Promise<void>,
): Promise<void> {
  try {
    await use(resource);
  } finally {
    await resource.close();
  }
}
