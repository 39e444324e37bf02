import type { WebhookEvent } from "./types.js";

/** Why a request is not taken for a webhook of the service: answer 400 then. */
export class WebhookError extends Error {
  override readonly name = "WebhookError";
}

export interface WebhooksOptions {
  /** How far webhook-timestamp may be from now; 300,000. */
  toleranceMs?: number;
  /**
   * Refuses requests without webhook-signature. The other signature, x-partner-signature, does not cover the
   * time, so it does not stop a replay.
   */
  standardOnly?: boolean;
  /** Replaces the clock: the time in Unix milliseconds. */
  now?: () => number;
}

/** The headers of a request: those of fetch, or those of Node's http. */
export type HeadersLike = { get(name: string): string | null } | { [name: string]: string | string[] | undefined };

/** Checks what is posted to your endpoint. */
export class Webhooks {
  readonly #secrets: string[];
  readonly #options: WebhooksOptions;

  /** Takes the secrets of the endpoint. While one is replaced, give both. */
  constructor(secrets: string | string[], options: WebhooksOptions = {}) {
    this.#secrets = (typeof secrets === "string" ? [secrets] : secrets).filter((secret) => secret !== "");
    this.#options = options;
  }

  /**
   * Checks the signature and the time of a request, and returns its event. `body` is the body exactly as it
   * came. It throws a WebhookError.
   */
  async verify(body: string | Uint8Array, headers: HeadersLike): Promise<WebhookEvent> {
    const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
    await this.#verify(bytes, (name) => header(headers, name));
    try {
      return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as WebhookEvent;
    } catch (cause) {
      throw new WebhookError("the body is not JSON", { cause });
    }
  }

  async #verify(body: Uint8Array, get: (name: string) => string): Promise<void> {
    if (this.#secrets.length === 0) {
      throw new WebhookError("no secret is given");
    }
    const [id, at, signatures] = [get("webhook-id"), get("webhook-timestamp"), get("webhook-signature").split(/\s+/).filter(Boolean)];
    if (at !== "" || signatures.length > 0) {
      this.#checkTime(at);
    }
    if (signatures.length > 0) {
      if (id === "") {
        throw new WebhookError("webhook-id is missing");
      }
      const given = signatures.filter((s) => s.startsWith("v1,")).map((s) => fromBase64(s.slice(3)));
      return this.#anyOf(standardKey, given, concat(new TextEncoder().encode(`${id}.${at}.`), body));
    }
    const given = fromHex(get("x-partner-signature"));
    if (!given || this.#options.standardOnly) {
      throw new WebhookError("there is no signature");
    }
    return this.#anyOf((secret) => new TextEncoder().encode(secret), [given], body);
  }

  async #anyOf(keyOf: (secret: string) => Uint8Array, signatures: (Uint8Array | undefined)[], signed: Uint8Array): Promise<void> {
    for (const secret of this.#secrets) {
      const key = await crypto.subtle.importKey("raw", keyOf(secret) as BufferSource, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
      for (const signature of signatures) {
        if (signature && (await crypto.subtle.verify("HMAC", key, signature as BufferSource, signed as BufferSource))) {
          return;
        }
      }
    }
    throw new WebhookError("no signature is right");
  }

  #checkTime(text: string): void {
    if (!/^\d{1,15}$/.test(text)) {
      throw new WebhookError("webhook-timestamp is missing or no number");
    }
    const now = this.#options.now?.() ?? Date.now();
    if (Math.abs(now - Number(text) * 1000) > (this.#options.toleranceMs ?? 300_000)) {
      throw new WebhookError("webhook-timestamp is too far from now");
    }
  }
}

function header(headers: HeadersLike, name: string): string {
  if (typeof headers.get === "function") {
    return (headers as { get(name: string): string | null }).get(name) ?? "";
  }
  for (const [key, value] of Object.entries(headers as { [name: string]: string | string[] | undefined })) {
    if (key.toLowerCase() === name) {
      return (Array.isArray(value) ? value[0] : value) ?? "";
    }
  }
  return "";
}

/** The key of a secret: what the base64 behind whsec_ stands for, or else the whole text. */
function standardKey(secret: string): Uint8Array {
  const key = secret.startsWith("whsec_") ? fromBase64(secret.slice(6)) : undefined;
  return key && key.length > 0 ? key : new TextEncoder().encode(secret);
}

function fromBase64(text: string): Uint8Array | undefined {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/.test(text)) {
    return undefined;
  }
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

function fromHex(text: string): Uint8Array | undefined {
  if (!/^(?:[0-9a-fA-F]{2})+$/.test(text)) {
    return undefined;
  }
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
