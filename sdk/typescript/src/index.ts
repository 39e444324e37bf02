/**
 * A client of the Purveyor Partner API, without dependencies. Calls are repeated where that is safe, and fail
 * with a `PurveyorError`. Members that a type does not know are kept.
 */
import { Categories, Inventory, Products, Stores } from "./catalog.js";
import { Events } from "./events.js";
import { Endpoints } from "./endpoints.js";
import { Keys } from "./keys.js";
import { Checkout, Delivery, Orders } from "./orders.js";
import { Requests } from "./requests.js";
import { Certify } from "./certify.js";
import { Sandbox } from "./sandbox.js";
import { Service } from "./service.js";
import { type ClientOptions, Transport } from "./transport.js";

export type { Followed, FollowOptions } from "./events.js";
export { type Answer, type LocalCode, PurveyorError } from "./error.js";
export type { TrackingOptions, TrackingUpdate } from "./track.js";
export { answerOf, type CallOptions, type ClientOptions, version } from "./transport.js";
export type * from "./types.js";
export { type HeadersLike, WebhookError, Webhooks, type WebhooksOptions } from "./webhooks.js";

/** Calls the API with one key. */
export class Purveyor {
  readonly service: Service;
  readonly stores: Stores;
  readonly categories: Categories;
  readonly products: Products;
  readonly inventory: Inventory;
  readonly checkout: Checkout;
  readonly orders: Orders;
  readonly delivery: Delivery;
  readonly events: Events;
  readonly endpoints: Endpoints;
  readonly keys: Keys;
  readonly requests: Requests;
  readonly sandbox: Sandbox;
  readonly certify: Certify;

  constructor(options: ClientOptions) {
    const transport = new Transport(options);
    this.service = new Service(transport);
    this.stores = new Stores(transport);
    this.categories = new Categories(transport);
    this.products = new Products(transport);
    this.inventory = new Inventory(transport);
    this.checkout = new Checkout(transport);
    this.orders = new Orders(transport);
    this.delivery = new Delivery(transport);
    this.events = new Events(transport);
    this.endpoints = new Endpoints(transport);
    this.keys = new Keys(transport);
    this.requests = new Requests(transport);
    this.sandbox = new Sandbox(transport);
    this.certify = new Certify(transport);
  }
}
