import { PurveyorError, refusal } from "./error.js";
import type { Operation } from "./operation.js";
import { Patience } from "./outlast.js";
import { blame } from "./retry.js";
import { type CallOptions, Connection, lost, toAnswer, type Transport } from "./transport.js";
import type * as types from "./types.js";

/**
 * A change of an order on its way: `status` when the status of the order or of its delivery has changed,
 * `location` when the courier has moved, `end` when nothing will follow. More kinds may be added.
 */
export type TrackingUpdate =
  | { kind: "status"; id: string; data: types.TrackingStatus }
  | { kind: "location"; id: string; data: types.TrackingLocation }
  | { kind: "end"; id: string; data: { [name: string]: unknown } };

/** How to follow an order. */
export interface TrackingOptions {
  /** The id of the last update that you have: what is new since then comes first. */
  lastId?: string;
  /** Is told of each failure that passes: `track` waits and goes on. */
  onError?: (error: PurveyorError) => void;
}

const reconnectAfterMs = 2000; // until the service says otherwise
const longestSilenceMs = 45_000; // three missed heartbeats

/** What the stream says about itself. */
interface State {
  last: string;
  retryMs: number;
}

export async function* track(
  transport: Transport, o: Operation<void, void, void>, orderId: string, tracking: TrackingOptions, options: CallOptions,
): AsyncGenerator<TrackingUpdate, void, undefined> {
  const state: State = { last: tracking.lastId ?? "", retryMs: reconnectAfterMs };
  const patience = new Patience(transport, reconnectAfterMs / 2, options.signal, tracking.onError);
  for (;;) {
    try {
      for await (const update of read(transport, o, orderId, state, options)) {
        patience.reset();
        yield update;
        if (update.kind === "end") {
          return;
        }
      }
    } catch (error) {
      await patience.outlast(error);
      continue;
    }
    await patience.rest(state.retryMs); // streams end now and then
  }
}

/** Connects, and yields updates until the connection ends. */
async function* read(transport: Transport, o: Operation<void, void, void>, orderId: string, state: State, options: CallOptions): AsyncGenerator<TrackingUpdate> {
  const headers = { ...options.headers, accept: "text/event-stream", ...(state.last ? { "last-event-id": state.last } : {}) };
  const r = transport.request(o, { path: [orderId] }, { ...options, headers });
  const connection = new Connection(options.signal, r.tryTimeoutMs);
  let got = false;
  try {
    const response = await transport.send(r, connection);
    if (response.status !== 200 || !response.body) {
      throw refusal(toAnswer(response, await response.text(), "", 1));
    }
    const lines = new Lines();
    const reader = response.body.getReader();
    for (;;) {
      connection.extend(longestSilenceMs);
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      for (const update of lines.add(value, state)) {
        got = true;
        yield update;
      }
    }
  } catch (error) {
    const e = error instanceof PurveyorError ? error : lost(options.signal, error, connection.late);
    if (!got || e.code !== "no_answer") {
      throw blame(r, e, 1);
    }
  } finally {
    connection.end();
  }
}

/** Takes server-sent events out of what is read. */
class Lines {
  readonly #decoder = new TextDecoder();
  #rest = "";
  #kind = "";
  #data: string[] = [];

  *add(bytes: Uint8Array, state: State): Generator<TrackingUpdate> {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const update = this.#line(line.replace(/\r$/, ""), state);
      if (update) {
        yield update;
      }
    }
  }

  /** Takes a line, and returns the event that it ends, if there is one. */
  #line(line: string, state: State): TrackingUpdate | undefined {
    if (line === "") {
      return this.#end(state.last);
    }
    const [, name, value = ""] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
    if (name === "event") {
      this.#kind = value;
    } else if (name === "data") {
      this.#data.push(value);
    } else if (name === "id") {
      state.last = value;
    } else if (name === "retry" && /^\d{1,9}$/.test(value)) {
      state.retryMs = Number(value);
    }
    return undefined;
  }

  #end(id: string): TrackingUpdate | undefined {
    const [kind, data] = [this.#kind, this.#data];
    this.#kind = "";
    this.#data = [];
    if (data.length === 0) {
      return undefined;
    }
    try {
      return { kind, id, data: JSON.parse(data.join("\n")) as unknown } as TrackingUpdate;
    } catch {
      return undefined;
    }
  }
}
