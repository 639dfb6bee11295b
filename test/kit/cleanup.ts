interface Closable {
  close(): Promise<void> | void;
}

/** What is opened piece by piece is closed in the opposite order, also where a piece fails to open or to close. */
export class Cleanup {
  readonly #opened: Closable[] = [];

  /** Closes whatever was opened before it failed. */
  static async unlessOpened<T>(open: (cleanup: Cleanup) => Promise<T>): Promise<T> {
    const cleanup = new Cleanup();
    try {
      return await open(cleanup);
    } catch (error) {
      await cleanup.close();
      throw error;
    }
  }

  add<R extends Closable>(resource: R): R {
    this.#opened.push(resource);
    return resource;
  }

  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const resource of this.#opened.splice(0).toReversed()) {
      try {
        await resource.close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'not everything could be closed');
  }
}
