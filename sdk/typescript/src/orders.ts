import { longestPage } from "./catalog.js";
import { operations } from "./operations.js";
import { pages } from "./page.js";
import { track, type TrackingOptions, type TrackingUpdate } from "./track.js";
import type { CallOptions, Transport } from "./transport.js";
import type * as types from "./types.js";

/** Lets customers pay by card on a hosted page. */
export class Checkout {
  readonly #t: Transport;
  constructor(transport: Transport) {
    this.#t = transport;
  }

  /** Tells whether an order could be made of a cart. */
  preflight(body: types.PreflightRequest, options?: CallOptions): Promise<types.PreflightReply> {
    return this.#t.call(operations.preflightCheckout, { body, harmless: true }, options);
  }

  /** Makes an order, and the page on which the customer pays. */
  start(body: types.CheckoutRequest, options?: CallOptions): Promise<types.CheckoutReply> {
    return this.#t.call(operations.createCheckoutSession, { body }, options);
  }
}

/** Deliveries before there is an order. */
export class Delivery {
  readonly #t: Transport;
  constructor(transport: Transport) {
    this.#t = transport;
  }

  /** Tells what a courier would charge, and how long it would take. */
  quote(body: types.QuoteRequest, options?: CallOptions): Promise<types.QuoteReply> {
    return this.#t.call(operations.quoteDelivery, { body, harmless: true }, options);
  }
}

/** Orders. */
export class Orders {
  readonly #t: Transport;
  constructor(transport: Transport) {
    this.#t = transport;
  }

  /** Reports an order that you have sold, and that the customer has paid. */
  report(body: types.ReportRequest, options?: CallOptions): Promise<types.ReportReply> {
    return this.#t.call(operations.reportOrder, { body }, options);
  }

  /** Reads one page of orders, the newest first unless the query says otherwise. */
  list(query: types.ListOrdersQuery = {}, options?: CallOptions): Promise<types.OrderList> {
    return this.#t.call(operations.listOrders, { query }, options);
  }

  /** Ranges over the orders of all pages. */
  all(query: types.ListOrdersQuery = {}, options?: CallOptions): AsyncGenerator<types.Order, void, undefined> {
    return pages((cursor) => this.list({ ...query, ...cursor }, options), (page) => page.orders);
  }

  /**
   * Ranges over the orders that were changed at or after a time in Unix milliseconds, in the order of their
   * changes. Since 0 it ranges over all. Keep the `updated_on` of the last order that you have stored: it is
   * the `since` of the next sync. The orders of that very time come again then.
   */
  sync(since: number, query: types.ListOrdersQuery = {}, options?: CallOptions): AsyncGenerator<types.Order, void, undefined> {
    return this.all({ limit: longestPage, ...query, updated_since: Math.max(since, 1) }, options);
  }

  /** Reads an order. */
  get(orderId: string, options?: CallOptions): Promise<types.OrderReply> {
    return this.#t.call(operations.getOrder, { path: [orderId] }, options);
  }

  /** Reads the order that has an external id. */
  getByExternalID(externalOrderId: string, options?: CallOptions): Promise<types.OrderReply> {
    return this.#t.call(operations.getOrderByExternalId, { path: [externalOrderId] }, options);
  }

  /** Reads the status of an order. */
  ping(orderId: string, options?: CallOptions): Promise<types.PingReply> {
    return this.#t.call(operations.pingOrder, { path: [orderId] }, options);
  }

  /** Reads what has happened to an order, oldest first. */
  timeline(orderId: string, query: types.GetOrderTimelineQuery = {}, options?: CallOptions): Promise<types.TimelineReply> {
    return this.#t.call(operations.getOrderTimeline, { path: [orderId], query }, options);
  }

  /** Makes a paid order processed, and takes its stock. It may be repeated. */
  confirm(orderId: string, body: types.ConfirmRequest = {}, options?: CallOptions): Promise<types.AdvanceReply> {
    return this.#t.call(operations.confirmOrder, { path: [orderId], body, harmless: true }, options);
  }

  /** Changes the metadata of an order. A null removes its name. */
  updateMetadata(orderId: string, body: types.UpdateMetadataRequest, options?: CallOptions): Promise<types.UpdateMetadataReply> {
    return this.#t.call(operations.updateOrderMetadata, { path: [orderId], body }, options);
  }

  /** Says that a pickup order waits for its customer. It may be repeated. */
  markReady(orderId: string, body: types.ReadyForPickupRequest = {}, options?: CallOptions): Promise<types.AdvanceReply> {
    return this.#t.call(operations.markReadyForPickup, { path: [orderId], body, harmless: true }, options);
  }

  /** Says that the customer has the goods. It may be repeated. */
  markPickedUp(orderId: string, body: types.PickedUpRequest = {}, options?: CallOptions): Promise<types.AdvanceReply> {
    return this.#t.call(operations.markPickedUp, { path: [orderId], body, harmless: true }, options);
  }

  /** Cancels an order. */
  cancel(orderId: string, body: types.CancelRequest = {}, options?: CallOptions): Promise<types.CancelReply> {
    return this.#t.call(operations.cancelOrder, { path: [orderId], body }, options);
  }

  /** Gives money of a card payment back. */
  refund(orderId: string, body: types.RefundRequest = {}, options?: CallOptions): Promise<types.RefundReply> {
    return this.#t.call(operations.refundOrder, { path: [orderId], body }, options);
  }

  /** Reads how far an order is on its way. */
  tracking(orderId: string, options?: CallOptions): Promise<types.TrackingReply> {
    return this.#t.call(operations.getOrderTracking, { path: [orderId] }, options);
  }

  /** Asks the courier where it is. */
  driverLocation(orderId: string, options?: CallOptions): Promise<types.DriverLocationReply> {
    return this.#t.call(operations.getDriverLocation, { path: [orderId] }, options);
  }

  /**
   * Ranges over the changes of an order as they happen, and connects again when the stream breaks. It ends
   * behind the kind `end`, and throws when the signal is aborted and after an error that would not pass.
   */
  track(orderId: string, tracking: TrackingOptions = {}, options: CallOptions = {}): AsyncGenerator<TrackingUpdate, void, undefined> {
    return track(this.#t, operations.streamOrderTracking, orderId, tracking, options);
  }
}
