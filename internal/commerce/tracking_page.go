package commerce

import (
	"crypto/hmac"
	"crypto/sha256"
	"slices"
	"strings"
)

// TrackingPages are the pages on which customers follow their orders. Everyone with the
// address of a page may see it, so an address holds a part that only the secret of the
// database can make. The zero value has no pages.
type TrackingPages struct {
	URL    string // of the service, without a slash at its end
	Secret []byte
}

// TrackingPrefix begins the path of every page.
const TrackingPrefix = "/track/"

// PageOf is the address of an order's page; empty if there are no pages.
func (p TrackingPages) PageOf(orderID string) string {
	if len(p.Secret) == 0 || orderID == "" {
		return ""
	}
	return p.URL + TrackingPrefix + p.token(orderID)
}

// token is the order's id without its prefix, and 128 bits of an HMAC-SHA256 of the id.
func (p TrackingPages) token(orderID string) string {
	mac := hmac.New(sha256.New, p.Secret)
	mac.Write([]byte(orderID))
	return strings.TrimPrefix(orderID, PrefixOrder) + "_" + crockford.EncodeToString(mac.Sum(nil)[:16])
}

// OrderOf is the order whose page has the token; false for any other text.
func (p TrackingPages) OrderOf(token string) (orderID string, ok bool) {
	body := token[:max(0, strings.LastIndexByte(token, '_'))]
	orderID = PrefixOrder + body
	if _, known := StoreNoOfOrder(orderID); !known || len(p.Secret) == 0 {
		return "", false
	}
	return orderID, hmac.Equal([]byte(token), []byte(p.token(orderID)))
}

// TrackingKept is how long a page can be read after its order has ended.
const TrackingKept = 30 * day

// Ended is when the order came to its end, by its timeline, oldest event first; 0: it has not
// ended. A refund after the end does not move it.
func (o Order) Ended(timeline []TimelineEvent) Millis {
	over := func(s OrderStatus) bool { return s.Terminal() || s == FailedPayment }
	if !over(o.Status) {
		return 0
	}
	end := o.UpdatedOn
	for _, e := range slices.Backward(timeline) {
		switch {
		case e.Status == "": // a note
		case !over(e.Status):
			return end
		default:
			end = e.CreatedOn
		}
	}
	return end
}

// MayBeTracked reports whether an order that ended then, or has not ended (0), still has a page.
func MayBeTracked(ended, now Millis) bool {
	return ended == 0 || now < ended.Add(TrackingKept)
}
