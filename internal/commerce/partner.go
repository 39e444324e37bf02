package commerce

import (
	"crypto/sha256"
	"encoding/base32"
	"slices"
	"strings"
)

// Mode keeps the sandbox apart from the real thing.
type Mode string

// The two modes of a key, an order, an idempotency key and an external id.
const (
	Live Mode = "live"
	Test Mode = "test"
)

// KeyPrefix begins every API key of the mode (SPEC, rule 6).
func (m Mode) KeyPrefix() string { return "sk_" + string(m) + "_" }

// NewKey makes an API key of the mode from what the caller drew.
func (m Mode) NewKey(random [20]byte) string {
	return m.KeyPrefix() + keyBody.EncodeToString(random[:])
}

const keyDigits = "abcdefghijklmnopqrstuvwxyz234567"

var keyBody = base32.NewEncoding(keyDigits)

// IsKey reports whether NewKey could have made the text.
func IsKey(text string) bool {
	body, ok := strings.CutPrefix(text, Live.KeyPrefix())
	if !ok {
		body, ok = strings.CutPrefix(text, Test.KeyPrefix())
	}
	return ok && len(body) == keyBody.EncodedLen(20) && strings.Trim(body, keyDigits) == ""
}

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

// Scopes lists every scope that a partner can be given.
var Scopes = []Scope{AllScopes, ReadStores, ReadCategories, ReadProducts, WriteProducts,
	ReadOrders, WriteOrders, ReadDelivery, WriteInventory}

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
func (p Partner) Has(s Scope) bool {
	return slices.Contains(p.Scopes, AllScopes) || slices.Contains(p.Scopes, s)
}

// KeyHash is the stored form of an API key.
type KeyHash [sha256.Size]byte

// HashKey returns the stored form of a key.
func HashKey(key string) KeyHash { return sha256.Sum256([]byte(key)) }

// APIKey belongs to one partner and mode. Another key for the same pair replaces it.
type APIKey struct {
	PartnerID string
	Mode      Mode
	Hash      KeyHash
	CreatedOn Millis
}

// APIKeyRef names the one key of a partner in a mode.
type APIKeyRef struct {
	PartnerID string
	Mode      Mode
}

// RateWindow names the requests that count together against a partner's rate limit.
type RateWindow struct {
	PartnerID string
	Mode      Mode
	Minute    int64 // Unix time in whole minutes
}
