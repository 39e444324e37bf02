package commerce

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"strings"
)

// An id is a prefix that names the noun and a time-ordered body: 48 bits of Unix
// milliseconds and 80 random bits that the caller draws, in lower-case Crockford base32. Ids of orders carry the short number of their store before the body
// (ord_<store>_<body>), so that the row is found without a look-up.

// Prefixes of the ids that the service makes.
const (
	PrefixPartner       = "ptn_"
	PrefixKey           = "key_"
	PrefixEndpoint      = "whe_"
	PrefixStore         = "sto_"
	PrefixProduct       = "prd_"
	PrefixCategory      = "cat_"
	PrefixOrder         = "ord_"
	PrefixCustomer      = "cus_"
	PrefixEvent         = "evt_"
	PrefixJob           = "job_"
	PrefixAttempt       = "att_"
	PrefixOutbox        = "out_"
	PrefixRefund        = "rfd_"
	PrefixSandbox       = "sbx_"
	PrefixStrayCallback = "cno_"
	PrefixQuote         = "qte_"
	PrefixAudit         = "aud_"
	PrefixUser          = "usr_"
	PrefixMember        = "mem_"
	PrefixRequest       = "req_"
	PrefixFault         = "flt_"
	PrefixRun           = "run_"
	prefixTimeline      = "tev_"
)

const idBodyLen = 26

var crockford = base32.NewEncoding(digits).WithPadding(base32.NoPadding)

// Entropy is the random part of one id. The caller draws it.
type Entropy [10]byte

// NewID makes an id. Ids sort by at (Unix ms), then by the entropy.
func NewID(prefix string, at Millis, e Entropy) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(at)<<16)
	copy(b[6:], e[:])
	var body [idBodyLen]byte
	crockford.Encode(body[:], b[:])
	return prefix + string(body[:])
}

// IsID reports whether id has the form that NewID gives with this prefix.
func IsID(prefix, id string) bool {
	body, ok := strings.CutPrefix(id, prefix)
	return ok && len(body) == idBodyLen && isCrockford(body)
}

// NewOrderID makes the id of an order of the store with this number.
func NewOrderID(storeNo int64, at Millis, e Entropy) string {
	return NewID(PrefixOrder+encodeNo(storeNo)+"_", at, e)
}

// NewRefundID makes the id of a refund of an order of the store with this
// number.
func NewRefundID(storeNo int64, at Millis, e Entropy) string {
	return NewID(PrefixRefund+encodeNo(storeNo)+"_", at, e)
}

// LateRefundID is the id of the refund of a payment that arrived after the order was over.
// An order has at most one such refund, so its id is derived and not drawn.
func LateRefundID(orderID string) string {
	return PrefixRefund + strings.TrimPrefix(orderID, PrefixOrder)
}

// ProductIDOfSKU is the id of a new product that is made for a SKU of a store. It is derived
// and not drawn, so that two calls at once make one product. try is 0,
// unless a product with that id has another SKU by now: then 1, and so on.
func ProductIDOfSKU(storeID, sku string, try int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %q %q", try, storeID, sku))
	return PrefixProduct + crockford.EncodeToString(sum[:16])
}

// StoreNoOfOrder parses the store number in an order id. An id that does not parse names no
// order.
func StoreNoOfOrder(id string) (storeNo int64, ok bool) {
	rest, ok := strings.CutPrefix(id, PrefixOrder)
	if !ok {
		return 0, false
	}
	no, body, ok := strings.Cut(rest, "_")
	if !ok || len(body) != idBodyLen || !isCrockford(body) {
		return 0, false
	}
	return decodeNo(no)
}

// TimeOfOrder is the time in an order's id: when the service began to make the order. It is
// 0 for a text that is not such an id.
func TimeOfOrder(id string) Millis {
	b := OrderBodyOf(id)
	return Millis(binary.BigEndian.Uint64(b[:8]) >> 16)
}

// TimeOfEvent is the time in the id of a webhook event; 0 for a text that is not such an id.
func TimeOfEvent(id string) Millis { return timeOf(PrefixEvent, id) }

// TimeOfAttempt is the time in the id of an attempt, which is when it was recorded; 0 for a
// text that is not such an id.
func TimeOfAttempt(id string) Millis { return timeOf(PrefixAttempt, id) }

// TimeOfJob is the time in the id of a job; 0 for a text that is not such an id.
func TimeOfJob(id string) Millis { return timeOf(PrefixJob, id) }

// TimeOfRequest is the time in the id of a logged request; 0 for a text that is not such an id.
func TimeOfRequest(id string) Millis { return timeOf(PrefixRequest, id) }

func timeOf(prefix, id string) Millis {
	var b [16]byte
	if !IsID(prefix, id) {
		return 0
	}
	_, _ = crockford.Decode(b[:], []byte(id[len(prefix):])) // the form was checked
	return Millis(binary.BigEndian.Uint64(b[:8]) >> 16)
}

// JobIDsFrom is the lowest id of the jobs from a time on.
func JobIDsFrom(at Millis) string { return NewID(PrefixJob, at, Entropy{}) }

// OrderIDsFrom is the lowest id of the orders of a store from a time on.
func OrderIDsFrom(storeNo int64, at Millis) string { return NewOrderID(storeNo, at, Entropy{}) }

// OrderBody is the body of an order's id, which is the id without the number of the store.
// Zero stands for no order.
type OrderBody [16]byte

// OrderBodyOf is the body of an order's id; zero for a text that is not such an id.
func OrderBodyOf(id string) (b OrderBody) {
	if _, ok := StoreNoOfOrder(id); ok {
		_, _ = crockford.Decode(b[:], []byte(id[len(id)-idBodyLen:])) // the form was checked
	}
	return b
}

// OrderID is the id with this body, of an order of the store with this number.
func (b OrderBody) OrderID(storeNo int64) string {
	return PrefixOrder + encodeNo(storeNo) + "_" + crockford.EncodeToString(b[:])
}

// TimelineEventID is derived and not drawn, so that an event has the same id each time it is
// read.
func TimelineEventID(orderID string, seq int64) string {
	return prefixTimeline + strings.TrimPrefix(orderID, PrefixOrder) + "_" + encodeNo(seq)
}

const digits = "0123456789abcdefghjkmnpqrstvwxyz"

func encodeNo(n int64) string {
	var b [13]byte
	i := len(b)
	for {
		i--
		b[i] = digits[n&31]
		n >>= 5
		if n == 0 {
			return string(b[i:])
		}
	}
}

func decodeNo(s string) (int64, bool) {
	if s == "" || len(s) > 7 || (len(s) > 1 && s[0] == '0') {
		return 0, false
	}
	var n int64
	for i := range len(s) {
		d := strings.IndexByte(digits, s[i])
		if d < 0 {
			return 0, false
		}
		n = n<<5 | int64(d)
	}
	return n, true
}

func isCrockford(s string) bool {
	return strings.Trim(s, digits) == ""
}
