import { operations } from "./operations.js";
import type { CallOptions, Transport } from "./transport.js";
import type * as types from "./types.js";

/** Plays what happens beside you in test mode. It needs a test key. */
export class Sandbox {
  readonly #t: Transport;
  constructor(transport: Transport) {
    this.#t = transport;
  }

  /** Lists your faults that still hit something. The list has no pages. */
  faults(options?: CallOptions): Promise<types.FaultList> {
    return this.#t.call(operations.listFaults, {}, options);
  }

  /** Has your next calls go wrong. */
  fault(body: types.NewFault, options?: CallOptions): Promise<types.FaultReply> {
    return this.#t.call(operations.makeFault, { body }, options);
  }

  /** Ends all of your faults. It may be repeated. */
  clearFaults(options?: CallOptions): Promise<types.ClearedFaults> {
    return this.#t.call(operations.clearFaults, { harmless: true }, options);
  }

  /** Plays a test order until an event has happened. */
  trigger(body: types.TriggerRequest, options?: CallOptions): Promise<types.TriggerReply> {
    return this.#t.call(operations.triggerEvent, { body }, options);
  }

  /** Has the customer, the courier, the bank or the merchant of a test order act. */
  act(orderId: string, body: types.SandboxActRequest, options?: CallOptions): Promise<types.SandboxActReply> {
    return this.#t.call(operations.actInSandbox, { path: [orderId], body }, options);
  }
}
