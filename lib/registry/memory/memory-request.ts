import type { Answer } from '../operations.js';
import type { CreateMode } from '../registry.js';
import type { OperationSubject } from '../registry.errors.js';

/** A request as it travels from a client to its server. */
export interface MemoryRequest {
  readonly subject: OperationSubject;
  readonly command: Command;
  readonly answer: Answer<unknown>;
}

export type Write =
  | {
      readonly kind: 'create';
      readonly path: string;
      readonly data: Buffer;
      readonly mode: CreateMode;
      readonly parents: boolean;
    }
  | { readonly kind: 'set'; readonly path: string; readonly data: Buffer; readonly version: number }
  | { readonly kind: 'delete'; readonly path: string; readonly version: number };

export type Read = {
  readonly kind: 'get' | 'exists' | 'children';
  readonly path: string;
  readonly watch: boolean;
};

export type Command = Write | Read | { readonly kind: 'sync'; readonly path: string };

export function isRead(command: Command): command is Read {
  return 'watch' in command;
}

export function isWrite(command: Command): command is Write {
  return !isRead(command) && command.kind !== 'sync';
}
