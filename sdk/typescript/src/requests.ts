import { operations } from "./operations.js";
import { pages } from "./page.js";
import type { CallOptions, Transport } from "./transport.js";
import type * as types from "./types.js";

/** The requests that your programs have sent. */
export class Requests {
  readonly #t: Transport;
  constructor(transport: Transport) {
    this.#t = transport;
  }

  /** Reads one page of requests, newest first. */
  list(query: types.ListRequestsQuery = {}, options?: CallOptions): Promise<types.LoggedRequestList> {
    return this.#t.call(operations.listRequests, { query }, options);
  }

  /** Ranges over the requests of all pages. */
  all(query: types.ListRequestsQuery = {}, options?: CallOptions): AsyncGenerator<types.LoggedRequest, void, undefined> {
    return pages((cursor) => this.list({ ...query, ...cursor }, options), (page) => page.requests);
  }

  /** Reads a request with what was sent and answered. */
  get(requestId: string, options?: CallOptions): Promise<types.LoggedRequestReply> {
    return this.#t.call(operations.getRequest, { path: [requestId] }, options);
  }
}
