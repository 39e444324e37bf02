package commerce

import "slices"

// Mode keeps the sandbox apart from the real thing.
type Mode string

// The two modes of a key, an order, an idempotency key and an external id.
const (
	Live Mode = "live"
	Test Mode = "test"
)

// Scope is a permission of a partner.
type Scope string

// The scopes of SPEC.md, Authentication 4.
const (
	AllScopes      Scope = "*"
	ReadStores     Scope = "read_stores"
	ReadCategories Scope = "read_categories"
	ReadProducts   Scope = "read_products"
	WriteProducts  Scope = "write_products"
	ReadOrders     Scope = "read_orders"
	WriteOrders    Scope = "write_orders"
	ReadDelivery   Scope = "read_delivery"
	WriteInventory Scope = "write_inventory"
)

// ManageSelf is the permission to see and change what belongs to the partner itself: its
// keys, its webhook endpoints, its requests. AllScopes does not include it, so that keys
// made before it was there cannot do more than they could.
const ManageSelf Scope = "manage_self"

// Scopes lists every scope that a partner can be given.
var Scopes = []Scope{AllScopes, ReadStores, ReadCategories, ReadProducts, WriteProducts,
	ReadOrders, WriteOrders, ReadDelivery, WriteInventory, ManageSelf}

// DefaultRateLimit is the requests per minute of a partner unless said
// otherwise (SPEC, Limits).
const DefaultRateLimit = 240

// Partner is a client of the API.
type Partner struct {
	ID             string
	Name           string
	Scopes         []Scope
	StoreIDs       []string // empty: every store
	RateLimit      int64    // requests per clock minute and mode
	CallbackURL    string
	CallbackSecret string
	Suspended      bool
	Routes         []Route  // to endpoints; a callback URL without one gets every event
	AlarmAddresses []string // the partner's e-mail addresses for alarms
	KeysNo         int64    // ascends with each change of the partner's keys
	CreatedOn      Millis
	UpdatedOn      Millis
}

// MayUse applies the one rule of which stores a partner may read, sell from and change,
// and refuses all others (SPEC, Authentication 3: the message is part of the contract).
func (p Partner) MayUse(storeID string) error {
	if len(p.StoreIDs) == 0 || slices.Contains(p.StoreIDs, storeID) {
		return nil
	}
	return &Error{Kind: KindForbidden, Code: "store_not_allowed", Message: "Access denied to this store"}
}

// Has reports whether the partner has the scope.
func (p Partner) Has(s Scope) bool { return hasScope(p.Scopes, s) }

func hasScope(list []Scope, s Scope) bool {
	return slices.Contains(list, s) || s != ManageSelf && slices.Contains(list, AllScopes)
}

// RateWindow names the requests that count together against a partner's rate limit.
type RateWindow struct {
	PartnerID string
	Mode      Mode
	Minute    int64 // Unix time in whole minutes
}
