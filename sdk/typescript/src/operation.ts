/** An operation of the API, with the types of its query, body and reply. */
export interface Operation<Query, Body, Reply> {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** Whether it takes an idempotency key. */
  readonly keyed: boolean;
  /** It is never there: it only ties the types to the operation. */
  readonly types?: [Query, Body, Reply];
}

export function operation<Query, Body, Reply>(method: "GET" | "POST", path: string, keyed: boolean): Operation<Query, Body, Reply> {
  return { method, path, keyed };
}
