import { longestPage } from "./catalog.js";
import type { PurveyorError } from "./error.js";
import { operations } from "./operations.js";
import { Patience } from "./outlast.js";
import type { CallOptions, Transport } from "./transport.js";
import type * as types from "./types.js";

/** How to follow events. */
export interface FollowOptions {
  /** Only these. */
  kinds?: (types.WebhookEvent["event"] | (string & {}))[];
  /** Only events of this time and later, in Unix milliseconds. */
  since?: number;
  /** Of a page; 300. */
  limit?: number;
  /** Between two looks when there is nothing new; 5,000. */
  everyMs?: number;
  /** Is told of each failure that passes: `follow` waits and goes on. */
  onError?: (error: PurveyorError) => void;
}

/** An event, and where to go on. */
export interface Followed {
  event: types.WebhookEvent;
  /**
   * Where to follow again once this event is handled. It skips nothing; the events since the last page
   * began may come again, which their ids tell.
   */
  cursor: string;
}

/** What happened to your orders. */
export class Events {
  readonly #t: Transport;
  constructor(transport: Transport) {
    this.#t = transport;
  }

  /** Reads one page of events, oldest first. */
  list(query: types.ListEventsQuery = {}, options?: CallOptions): Promise<types.EventList> {
    return this.#t.call(operations.listEvents, { query }, options);
  }

  /** Reads an event, and how far it has come to each endpoint. */
  get(eventId: string, options?: CallOptions): Promise<types.EventReply> {
    return this.#t.call(operations.getEvent, { path: [eventId] }, options);
  }

  /** Lists the newest attempts to deliver an event, oldest first. */
  attempts(eventId: string, query: types.ListEventAttemptsQuery = {}, options?: CallOptions): Promise<types.EventAttempts> {
    return this.#t.call(operations.listEventAttempts, { path: [eventId], query }, options);
  }

  /** Sends an event again. */
  resend(eventId: string, body: types.ResendRequest = {}, options?: CallOptions): Promise<types.ResendReply> {
    return this.#t.call(operations.resendEvent, { path: [eventId], body }, options);
  }

  /**
   * Ranges over the events behind a cursor, oldest first, and then over each new one. The empty cursor
   * begins with the oldest event that is kept. It ends when the loop is left, and throws when the signal is
   * aborted and after an error that would not pass, such as that of a revoked key.
   */
  async *follow(cursor = "", following: FollowOptions = {}, options: CallOptions = {}): AsyncGenerator<Followed, void, undefined> {
    const { kinds, since, limit = longestPage, everyMs = 5000, onError } = following;
    const patience = new Patience(this.#t, everyMs, options.signal, onError);
    const query: types.ListEventsQuery = { limit, ...(kinds ? { types: kinds.join(",") } : {}), ...(since ? { since } : {}) };
    for (;;) {
      let page: types.EventList;
      try {
        page = await this.list({ ...query, ...(cursor ? { cursor } : {}) }, { ...options, tries: 1 }); // the loop is the repeat
      } catch (error) {
        await patience.outlast(error);
        continue;
      }
      patience.reset();
      const next = page.next_cursor ?? "";
      const newest = page.events.at(-1);
      for (const event of page.events) {
        yield { event, cursor: event === newest ? next : cursor };
      }
      const behind = newest ? page.events.length >= limit || Date.now() - Date.parse(newest.timestamp) > everyMs : next !== cursor;
      cursor = next;
      if (!behind) {
        await patience.rest(everyMs);
      }
    }
  }
}
