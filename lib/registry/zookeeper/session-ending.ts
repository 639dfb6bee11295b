import { connect, type Socket } from 'node:net';
import type { Clock } from '../environment.js';
import type { SessionCredentials } from './zookeeper-client.js';

const CLOSE_SESSION = -11;

/**
 * Ends a session over a connection of its own, and resolves to whether the server has confirmed it. The
 * native client can end one as well, but only on the server that it is connected to, and it blocks the
 * event loop until the answer comes: up to 1.5 s.
 */
export function endSession(
  address: string,
  session: SessionCredentials,
  clock: Clock,
  timeout: number,
): Promise<boolean> {
  return new Promise((resolve) => {
    const colon = address.lastIndexOf(':');
    const socket = connect({
      host: address.slice(0, colon),
      port: Number(address.slice(colon + 1)),
    });
    const end = (isConfirmed: boolean): void => {
      timer.cancel();
      socket.destroy();
      resolve(isConfirmed);
    };
    const timer = clock.setTimer(() => end(false), timeout);
    socket.on('connect', () => socket.write(toFrame(connectRequest(session, timeout))));
    socket.on('error', () => end(false));
    // Without the session the server answers with the id 0; there is nothing left to end.
    void converse(socket).then(end, () => end(false));
  });
}

/** The answer to the connect request, then that to the close request, after which the server hangs up. */
async function converse(socket: Socket): Promise<boolean> {
  let received = Buffer.alloc(0);
  let isClosing = false;
  for await (const chunk of socket) {
    received = Buffer.concat([received, chunk as Buffer]);
    if (received.length < 4 || received.length < 4 + received.readInt32BE(0)) continue;
    if (isClosing) return true;
    const grantedTimeout = received.readInt32BE(8);
    if (grantedTimeout <= 0) return true;
    received = received.subarray(4 + received.readInt32BE(0));
    isClosing = true;
    socket.write(toFrame(closeRequest()));
  }
  return isClosing;
}

function connectRequest({ id, password }: SessionCredentials, timeout: number): Buffer {
  const request = Buffer.alloc(45);
  // Protocol version 0 and last transaction 0 at the start, read-only 0 at the end.
  request.writeInt32BE(timeout, 12);
  request.writeBigUInt64BE(BigInt(`0x${id}`), 16);
  request.writeInt32BE(16, 24);
  request.write(password, 28, 'hex');
  return request;
}

function closeRequest(): Buffer {
  const request = Buffer.alloc(8);
  request.writeInt32BE(1, 0);
  request.writeInt32BE(CLOSE_SESSION, 4);
  return request;
}

function toFrame(body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length);
  return Buffer.concat([length, body]);
}
