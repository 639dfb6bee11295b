import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

export const LOOPBACK = '127.0.0.1';

/**
 * Below the range from which systems take the ports of outgoing connections: a port stays ours while
 * its server is down, because no client socket is ever given it by chance. Five digits each.
 */
const LOWEST = 15_000;
const HIGHEST = 32_000;

/** Makes `server` listen on a free loopback port and says which. */
export async function listenOnFreePort(server: Server): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const port = randomInt(LOWEST, HIGHEST);
    try {
      await listen(server, port);
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || attempt === 100) throw error;
    }
  }
}

export async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, LOOPBACK);
  await once(server, 'listening');
}

/** A port that was free a moment ago: whoever binds it must still be ready to try another one. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listenOnFreePort(server);
  server.close();
  await once(server, 'close');
  return port;
}

export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}
