package api

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/web"
)

const (
	// maxPage is the size of a page of a list in bytes, unless its first element alone
	// is larger.
	maxPage = 2 << 20
	// maxKept is the size of the largest buffer that is kept for another answer, and of
	// the largest page that is cached.
	maxKept = 1 << 20
)

// pages are reusable buffers for long lists, which would otherwise be most of the garbage.
var pages = sync.Pool{New: func() any { return new([]byte) }}

const (
	// maxAnswers bounds the bytes of long answers that are being written at a time, and
	// maxOfPartner those to one partner. A partner that reads slowly, or not at all,
	// keeps its answer in memory until the write deadline.
	maxAnswers   = 64 << 20
	maxOfPartner = 32 << 20
	// longAnswer is the size from which answers count.
	longAnswer = 64 << 10
)

// write sends an answer. A long answer of a read is refused (429) while too many bytes are
// being written to its partner, or to all partners. A read changes nothing, so the partner
// can repeat it.
func (a *API) write(w *web.Writer, route Route, answer reply) error {
	if n := int64(len(answer.body)); n > longAnswer && route.Method == http.MethodGet && !answer.shared {
		if !a.answers.Take(w.Partner, n) {
			return &web.Error{Status: http.StatusTooManyRequests, Code: "rate_limited", RetryAfter: 1,
				Message: "Too many long answers are being read at once; read them to their end, or try again"}
		}
		defer a.answers.Give(w.Partner, n)
	}
	web.WriteJSON(w, answer.status, answer.body)
	return nil
}

// release returns a buffer to pages after its answer was copied.
func release(buffer *[]byte, answer []byte) {
	if cap(answer) <= maxKept {
		*buffer = answer[:0]
		pages.Put(buffer)
	}
}

// roomFor returns how many bytes the elements of a page may take, given the encoded
// filters that the answer repeats.
func roomFor(filters []byte) int {
	const rest = 4096
	return maxPage - rest - len(filters)
}

// escaped is how many bytes JSON takes for one byte of text at most: \u0001.
const escaped = 6

// fitting returns how many elements of a list fit on a page. It sums upper bounds, so that
// elements need not be encoded twice.
func fitting[T interface{ atMost() int }](list []T, limit int) int {
	room, total := storage.Room{Limit: limit, Bytes: roomFor(nil)}, 0
	for _, v := range list {
		total += v.atMost()
	}
	if total <= room.Bytes {
		return min(len(list), limit)
	}
	for _, v := range list {
		if !room.Add(len(wire.Encode(v)) + len(",")) {
			break
		}
	}
	return room.Count
}

// A cursor consists of the form of its list and a position, and is opaque to partners.
// Cursors of the forms with a tag can only be used with the same filters (products) or by
// the same partner (events), from which the tag was made. Earlier versions of the service
// returned the forms without a tag, which are still accepted.
const (
	productForm    = "2." // tag, stamp, id
	productFormOld = "1." // stamp, id
	eventForm      = "e2."
	eventFormOld   = "e1."
	storeForm      = "s1." // id
)

// cursorTag returns a short hash of the values that a cursor belongs to.
func cursorTag(of ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(of, "\x00"))) // no value of a query contains \x00
	return base64.RawURLEncoding.EncodeToString(sum[:6]) + "."
}

// productTag is the tag of a page of products that was read with these filters.
func productTag(inEffect map[string]string) string {
	return cursorTag(inEffect["store_id"], inEffect["category_id"], inEffect["active"], inEffect["available_only"])
}

func sealCursor(form, position string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(form + position))
}

// readCursor reads the cursor of a query. It returns the position before all rows if there
// is none, or if open refuses it for this tag; then the query fails with the fault.
func readCursor[P any](q *web.Query, fault, tag string, open func(text, tag string) (P, bool)) (position P) {
	text := q.Text("cursor")
	if text == "" {
		return position
	}
	position, ok := open(text, tag)
	if !ok {
		q.Fail("invalid_cursor", "cursor", fault)
	}
	return position
}

// openCursor returns the position of a cursor that has one of the forms. It returns false
// for a text that sealCursor did not make.
func openCursor(text string, forms ...string) (position string, ok bool) {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || base64.RawURLEncoding.EncodeToString(data) != text { // refuses line breaks and spare bits, which decoding ignores
		return "", false
	}
	for _, form := range forms {
		if position, ok := strings.CutPrefix(string(data), form); ok {
			// No stored id contains another text.
			return position, position != "" && utf8.ValidString(position) && !strings.ContainsFunc(position, unicode.IsControl)
		}
	}
	return "", false
}

func encodeProductCursor(p storage.ProductPosition, tag string) string {
	return sealCursor(productForm+tag, strconv.FormatInt(int64(p.UpdatedOn), 10)+"."+p.ID)
}

// decodeProductCursor reads a cursor of encodeProductCursor with the same tag, or of the
// old form.
func decodeProductCursor(text, tag string) (p storage.ProductPosition, ok bool) {
	position, ok := openCursor(text, productForm+tag, productFormOld)
	stamp, id, cut := strings.Cut(position, ".")
	updatedOn, err := strconv.ParseInt(stamp, 10, 64)
	if !ok || !cut || id == "" || err != nil || updatedOn < 0 || strconv.FormatInt(updatedOn, 10) != stamp {
		return p, false
	}
	return storage.ProductPosition{UpdatedOn: commerce.Millis(updatedOn), ID: id}, true
}

// encodeEventCursor makes the cursor behind an event of the partner. It is empty if there
// is no event.
func encodeEventCursor(partnerID, through string) string {
	if through == "" {
		return ""
	}
	return sealCursor(eventForm+cursorTag(partnerID), through)
}

// decodeEventCursor reads a cursor that encodeEventCursor made for the partner, or one of
// the old form.
func decodeEventCursor(text, partnerID string) (after string, ok bool) {
	after, ok = openCursor(text, eventForm+cursorTag(partnerID), eventFormOld)
	return after, ok && commerce.IsID(commerce.PrefixEvent, after)
}
