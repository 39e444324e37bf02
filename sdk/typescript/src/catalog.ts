import { operations } from "./operations.js";
import { pages } from "./page.js";
import type { CallOptions, Transport } from "./transport.js";
import type * as types from "./types.js";

/** The most entries that a page can have. */
export const longestPage = 300;

/** The stores that the key may use. */
export class Stores {
  readonly #t: Transport;
  constructor(transport: Transport) {
    this.#t = transport;
  }

  /** Reads one page of stores. */
  list(query: types.ListStoresQuery = {}, options?: CallOptions): Promise<types.StoreList> {
    return this.#t.call(operations.listStores, { query }, options);
  }

  /** Ranges over the stores of all pages. */
  all(query: types.ListStoresQuery = {}, options?: CallOptions): AsyncGenerator<types.Store, void, undefined> {
    return pages((cursor) => this.list({ ...query, ...cursor }, options), (page) => page.stores);
  }

  /** Finds the stores near an address. */
  nearby(body: types.NearbyRequest, options?: CallOptions): Promise<types.NearbyReply> {
    return this.#t.call(operations.findNearbyStores, { body, harmless: true }, options);
  }

  /** Lists the categories that have products in a store. */
  categories(storeId: string, options?: CallOptions): Promise<types.CategoryList> {
    return this.#t.call(operations.listStoreCategories, { path: [storeId] }, options);
  }
}

/** The categories of products. */
export class Categories {
  readonly #t: Transport;
  constructor(transport: Transport) {
    this.#t = transport;
  }

  /** Lists the categories. The list has no pages. */
  list(query: types.ListCategoriesQuery = {}, options?: CallOptions): Promise<types.CategoryList> {
    return this.#t.call(operations.listCategories, { query }, options);
  }
}

/** The catalog. */
export class Products {
  readonly #t: Transport;
  constructor(transport: Transport) {
    this.#t = transport;
  }

  /** Reads one page of products, the least recently changed first. */
  list(query: types.ListProductsQuery = {}, options?: CallOptions): Promise<types.ProductList> {
    return this.#t.call(operations.listProducts, { query }, options);
  }

  /** Ranges over the products of all pages. */
  all(query: types.ListProductsQuery = {}, options?: CallOptions): AsyncGenerator<types.Product, void, undefined> {
    return pages((cursor) => this.list({ ...query, ...cursor }, options), (page) => page.products);
  }

  /**
   * Ranges over the products that were changed at or after a time in Unix milliseconds, active or not unless
   * the query says, in the order of their changes. Since 0 it ranges over all. Keep the `updated_on` of the
   * last product that you have stored: it is the `since` of the next sync, also after a crash. The products
   * of that very time come again then.
   */
  sync(since: number, query: types.ListProductsQuery = {}, options?: CallOptions): AsyncGenerator<types.Product, void, undefined> {
    return this.all({ active: "all", limit: longestPage, ...query, ...(since > 0 ? { updated_since: since } : {}) }, options);
  }

  /** Reads a product. */
  get(productId: string, options?: CallOptions): Promise<types.ProductReply> {
    return this.#t.call(operations.getProduct, { path: [productId] }, options);
  }

  /** Tells whether quantities are in stock now. */
  availability(body: types.AvailabilityRequest, options?: CallOptions): Promise<types.AvailabilityReply> {
    return this.#t.call(operations.checkAvailability, { body, harmless: true }, options);
  }

  /** Creates a product, or updates the one that `id` names. */
  upsert(body: types.ProductInput, options?: CallOptions): Promise<types.UpsertReply> {
    return this.#t.call(operations.upsertProduct, { body }, options);
  }

  /** Updates the product of the store with the SKU, or creates it. Two such calls at once create one product. */
  upsertBySKU(body: types.ProductInput, options?: CallOptions): Promise<types.UpsertReply> {
    return this.#t.call(operations.upsertProduct, { query: { match: "sku" }, body }, options);
  }

  /**
   * Upserts 1 to 200 products, which succeed or fail alone: look at `failed`, and at the `results`, which are
   * in the order of the products.
   */
  bulkUpsert(body: types.BulkUpsertRequest, options?: CallOptions): Promise<types.BulkUpsertReply> {
    return this.#t.call(operations.bulkUpsertProducts, { body }, options);
  }
}

/** Moves stock by deltas. */
export class Inventory {
  readonly #t: Transport;
  constructor(transport: Transport) {
    this.#t = transport;
  }

  /** Makes all adjustments, or none. */
  adjust(body: types.AdjustmentsRequest, options?: CallOptions): Promise<types.AdjustmentsReply> {
    return this.#t.call(operations.adjustInventory, { body }, options);
  }
}
