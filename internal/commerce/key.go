package commerce

import (
	"crypto/sha256"
	"encoding/base32"
	"net/netip"
	"slices"
	"strings"
	"time"
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

// KeyHash is the stored form of an API key.
type KeyHash [sha256.Size]byte

// HashKey returns the stored form of a key.
func HashKey(key string) KeyHash { return sha256.Sum256([]byte(key)) }

// APIKey is a key of a partner, without its secret part. It may do what both the key and
// the partner may.
type APIKey struct {
	ID        string // key_
	PartnerID string
	Mode      Mode
	Name      string
	Hash      KeyHash
	Last4     string   // the last characters; empty: the key was made before they were kept
	Scopes    []Scope  // empty: those of the partner
	StoreIDs  []string // empty: those of the partner
	Addresses []string // IP addresses and CIDR blocks that may use the key; empty: all
	Replaces  string   // the id of the key that this one replaced; empty: none
	CreatedOn Millis
	ExpiresOn Millis // 0: never
	RevokedOn Millis // 0: it is not
	UsedOn    Millis // the minute of the last request; 0: none yet
	Alarmed   Alarm  // the last one that people were told of; empty: none
}

// The limits of keys.
const (
	MaxActiveKeys  = 10 // of a partner and mode
	MaxKeyName     = 80
	MaxAddresses   = 20
	MaxKeyLife     = 731 * day
	MaxOverlap     = 168 * time.Hour // how long a replaced key or secret goes on working
	DefaultOverlap = day
)

// KeyState says whether a key works.
type KeyState string

// The states of a key.
const (
	KeyActive  KeyState = "active"
	KeyExpired KeyState = "expired"
	KeyRevoked KeyState = "revoked"
)

// State of the key at a time.
func (k APIKey) State(now Millis) KeyState {
	switch {
	case k.RevokedOn != 0:
		return KeyRevoked
	case k.ExpiresOn != 0 && now >= k.ExpiresOn:
		return KeyExpired
	}
	return KeyActive
}

// IsReplaced reports whether one of the keys replaces the key with this id.
func IsReplaced(keys []APIKey, id string) bool {
	return slices.ContainsFunc(keys, func(k APIKey) bool { return k.Replaces == id })
}

// Whole reports whether the key may do all that its partner may, for ever and from
// anywhere.
func (k APIKey) Whole() bool {
	return len(k.Scopes) == 0 && len(k.StoreIDs) == 0 && len(k.Addresses) == 0 && k.ExpiresOn == 0
}

// Admits reports whether the key may be used from an IP address.
func (k APIKey) Admits(address string) bool {
	if len(k.Addresses) == 0 {
		return true
	}
	from, err := netip.ParseAddr(address)
	return err == nil && slices.ContainsFunc(k.Addresses, func(text string) bool {
		block, err := blockOf(text)
		return err == nil && block.Contains(from.Unmap())
	})
}

// blockOf reads an IP address or a CIDR block.
func blockOf(text string) (netip.Prefix, error) {
	if block, err := netip.ParsePrefix(text); err == nil {
		return block.Masked(), nil
	}
	address, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, err
	}
	return address.Unmap().WithZone("").Prefix(address.Unmap().BitLen())
}

// noStore is no store's id. It stands for a list of stores that became empty, since an empty
// list means every store.
const noStore = ""

// Under is the partner with the rights that remain when it calls with a key. A nil key
// takes none away.
func (p Partner) Under(k *APIKey) Partner {
	if k == nil {
		return p
	}
	if len(k.Scopes) > 0 {
		p.Scopes = slices.DeleteFunc(slices.Clone(Scopes), func(s Scope) bool { return s == AllScopes || !p.Has(s) || !hasScope(k.Scopes, s) })
	}
	switch {
	case len(k.StoreIDs) == 0:
	case len(p.StoreIDs) == 0:
		p.StoreIDs = k.StoreIDs
	default:
		p.StoreIDs = slices.DeleteFunc(slices.Clone(p.StoreIDs), func(id string) bool { return !slices.Contains(k.StoreIDs, id) })
		if len(p.StoreIDs) == 0 {
			p.StoreIDs = []string{noStore}
		}
	}
	return p
}

// MayGrant refuses to a partner, as it is under the acting key, a key or an endpoint with
// more rights than it has: 403 scope_missing, store_not_allowed or mode_not_allowed. Without
// scopes, the rights are those of the partner as a whole; a nil list of scopes asks for none.
func (p Partner) MayGrant(acting *APIKey, mode Mode, scopes []Scope, storeIDs []string) error {
	if acting != nil && acting.Mode == Test && mode != Test {
		return &Error{Kind: KindForbidden, Code: "mode_not_allowed", Message: "A test key sees and makes only what is of mode test"}
	}
	for _, s := range scopes {
		if !p.Has(s) || s == AllScopes && !slices.Contains(p.Scopes, AllScopes) {
			return scopeMissing(s)
		}
	}
	if len(storeIDs) == 0 && len(p.StoreIDs) > 0 && acting != nil && len(acting.StoreIDs) > 0 {
		return &Error{Kind: KindForbidden, Code: "store_not_allowed", Message: "Access denied to this store"}
	}
	for _, id := range storeIDs {
		if err := p.MayUse(id); err != nil {
			return err
		}
	}
	return nil
}

func scopeMissing(s Scope) error {
	return &Error{Kind: KindForbidden, Code: "scope_missing", Message: "This key lacks the scope " + string(s)}
}

// CheckAddresses refuses what is neither an IP address nor a CIDR block.
func CheckAddresses(list []string) error {
	for i, text := range list {
		if _, err := blockOf(text); err != nil {
			field := Index("allowed_addresses", i, "")
			return Invalid(field, "%s must be an IP address or a CIDR block", field)
		}
	}
	return nil
}

// AddressesWithin reports whether every address of inner is one of outer; an empty list has
// all addresses.
func AddressesWithin(inner, outer []string) bool {
	if len(outer) == 0 {
		return true
	}
	return len(inner) > 0 && !slices.ContainsFunc(inner, func(text string) bool {
		block, err := blockOf(text)
		return err != nil || !slices.ContainsFunc(outer, func(text string) bool {
			wide, err := blockOf(text)
			return err == nil && wide.Bits() <= block.Bits() && wide.Contains(block.Addr())
		})
	})
}

// DefaultScopes are the scopes of a new key that is given none: those that its maker has. A
// test key gets them without the ones that change the catalog, which live and test share.
func DefaultScopes(mode Mode, of Partner, acting *APIKey) []Scope {
	var made []Scope // those of the partner
	if acting != nil {
		made = acting.Scopes
	}
	if mode == Live {
		return made
	}
	have := of.Under(acting)
	return slices.DeleteFunc(slices.Clone(Scopes), func(s Scope) bool {
		return s == AllScopes || s == WriteProducts || s == WriteInventory || !have.Has(s)
	})
}

// FormerKey is a key as programs before this one knew it: the one key of a partner and mode.
// It is written beside the others, so that such a program can still serve the database.
type FormerKey struct {
	PartnerID string
	Mode      Mode
	Hash      KeyHash
	CreatedOn Millis
}

// FormerKeyRef names the one key of a partner in a mode.
type FormerKeyRef struct {
	PartnerID string
	Mode      Mode
}

// FormerKeyOf is the newest whole key of a mode among the keys of a partner, and whether
// there is one. A key with fewer rights would have all of them for such a program.
func FormerKeyOf(keys []APIKey, mode Mode, now Millis) (former FormerKey, ok bool) {
	for _, k := range keys {
		if k.Mode == mode && k.Whole() && k.State(now) == KeyActive && (!ok || k.CreatedOn >= former.CreatedOn) {
			former, ok = FormerKey{k.PartnerID, mode, k.Hash, k.CreatedOn}, true
		}
	}
	return former, ok
}
