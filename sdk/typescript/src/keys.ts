import { operations } from "./operations.js";
import type { CallOptions, Transport } from "./transport.js";
import type * as types from "./types.js";

/**
 * Your API keys. The value of a key is in one answer only: if that answer is lost, revoke the key, and make
 * another one.
 */
export class Keys {
  readonly #t: Transport;
  constructor(transport: Transport) {
    this.#t = transport;
  }

  /** Lists your keys, newest first. The list has no pages. */
  list(options?: CallOptions): Promise<types.KeyList> {
    return this.#t.call(operations.listKeys, {}, options);
  }

  /** Makes a key. */
  create(body: types.NewKey, options?: CallOptions): Promise<types.IssuedKey> {
    return this.#t.call(operations.makeKey, { body }, options);
  }

  /** Replaces a key. */
  rotate(keyId: string, body: types.RotateRequest = {}, options?: CallOptions): Promise<types.RotatedKey> {
    return this.#t.call(operations.rotateKey, { path: [keyId], body }, options);
  }

  /** Ends a key. It may be repeated. */
  revoke(keyId: string, options?: CallOptions): Promise<types.KeyReply> {
    return this.#t.call(operations.revokeKey, { path: [keyId], harmless: true }, options);
  }
}
