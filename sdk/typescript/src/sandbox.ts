import { operations } from "./operations.js";
import type { CallOptions, Transport } from "./transport.js";
import type * as types from "./types.js";

/** Plays what happens beside you in test mode. It needs a test key. */
export class Sandbox {
  readonly #t: Transport;
  constructor(transport: Transport) {
    this.#t = transport;
  }

  /** Has the customer, the courier, the bank or the merchant of a test order act. */
  act(orderId: string, body: types.SandboxActRequest, options?: CallOptions): Promise<types.SandboxActReply> {
    return this.#t.call(operations.actInSandbox, { path: [orderId], body }, options);
  }
}
