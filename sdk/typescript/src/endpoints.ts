import { operations } from "./operations.js";
import { pages } from "./page.js";
import type { CallOptions, Transport } from "./transport.js";
import type * as types from "./types.js";

/** The URLs to which your events are sent. The secret of an endpoint is in one answer only. */
export class Endpoints {
  readonly #t: Transport;
  constructor(transport: Transport) {
    this.#t = transport;
  }

  /** Lists your endpoints. The list has no pages. */
  list(options?: CallOptions): Promise<types.EndpointList> {
    return this.#t.call(operations.listEndpoints, {}, options);
  }

  /** Reads an endpoint and how it fares. */
  get(endpointId: string, options?: CallOptions): Promise<types.EndpointReply> {
    return this.#t.call(operations.getEndpoint, { path: [endpointId] }, options);
  }

  /** Makes an endpoint. */
  create(body: types.NewEndpoint, options?: CallOptions): Promise<types.MadeEndpoint> {
    return this.#t.call(operations.makeEndpoint, { body }, options);
  }

  /** Changes what is given. */
  update(endpointId: string, body: types.EndpointChange, options?: CallOptions): Promise<types.EndpointReply> {
    return this.#t.call(operations.changeEndpoint, { path: [endpointId], body, harmless: true }, options);
  }

  /** Replaces the secret of an endpoint. */
  rotateSecret(endpointId: string, body: types.SecretRotation = {}, options?: CallOptions): Promise<types.RotatedSecret> {
    return this.#t.call(operations.rotateEndpointSecret, { path: [endpointId], body }, options);
  }

  /** Stops the sending to an endpoint. It may be repeated. */
  pause(endpointId: string, options?: CallOptions): Promise<types.EndpointReply> {
    return this.#t.call(operations.pauseEndpoint, { path: [endpointId], harmless: true }, options);
  }

  /** Tries an endpoint at once. It may be repeated. */
  resume(endpointId: string, options?: CallOptions): Promise<types.EndpointReply> {
    return this.#t.call(operations.resumeEndpoint, { path: [endpointId], harmless: true }, options);
  }

  /** Takes an endpoint away. */
  delete(endpointId: string, options?: CallOptions): Promise<types.EndpointReply> {
    return this.#t.call(operations.deleteEndpoint, { path: [endpointId] }, options);
  }

  /** Sends an event of kind `webhook.test` to an endpoint, and waits for the answer. */
  test(endpointId: string, options?: CallOptions): Promise<types.EndpointTest> {
    return this.#t.call(operations.testEndpoint, { path: [endpointId] }, options);
  }

  /** Sends the events of a time again to an endpoint. */
  replay(endpointId: string, body: types.ReplayRequest, options?: CallOptions): Promise<types.ReplayReply> {
    return this.#t.call(operations.replayEvents, { path: [endpointId], body }, options);
  }

  /** Reads one page of the attempts at an endpoint, newest first. */
  attempts(endpointId: string, query: types.ListEndpointAttemptsQuery = {}, options?: CallOptions): Promise<types.AttemptList> {
    return this.#t.call(operations.listEndpointAttempts, { path: [endpointId], query }, options);
  }

  /** Ranges over the attempts of all pages. */
  allAttempts(endpointId: string, query: types.ListEndpointAttemptsQuery = {}, options?: CallOptions): AsyncGenerator<types.Attempt, void, undefined> {
    return pages((cursor) => this.attempts(endpointId, { ...query, ...cursor }, options), (page) => page.attempts);
  }
}
