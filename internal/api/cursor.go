package api

import (
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// A cursor is the form of its list and a position in it, opaque to partners.
// Forms with a tag belong to what the tag was made of: the filters of a list of
// products, the partner of a list of events. The forms without a tag were given
// by earlier versions of the service and are still taken.
const (
	productForm    = "2." // tag, stamp, id
	productFormOld = "1." // stamp, id
	eventForm      = "e2."
	eventFormOld   = "e1."
	storeForm      = "s1." // id
)

// cursorTag tells apart what cursors belong to.
func cursorTag(of ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(of, "\x00"))) // which no text of a query holds
	return base64.RawURLEncoding.EncodeToString(sum[:6]) + "."
}

// productTag is of the filters that a page of products was read with.
func productTag(inEffect map[string]string) string {
	return cursorTag(inEffect["store_id"], inEffect["category_id"], inEffect["active"], inEffect["available_only"])
}

func sealCursor(form, position string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(form + position))
}

// openCursor gives the position of a cursor that has one of the forms; false:
// sealCursor made no such text.
func openCursor(text string, forms ...string) (position string, ok bool) {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || base64.RawURLEncoding.EncodeToString(data) != text { // line breaks, spare bits
		return "", false
	}
	for _, form := range forms {
		if position, ok := strings.CutPrefix(string(data), form); ok {
			return position, plainText(position)
		}
	}
	return "", false
}

// plainText tells whether a stored id can hold the text.
func plainText(text string) bool {
	return text != "" && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

func encodeProductCursor(p storage.ProductPosition, tag string) string {
	return sealCursor(productForm+tag, strconv.FormatInt(p.UpdatedOn, 10)+"."+p.ID)
}

// decodeProductCursor takes what encodeProductCursor made with the same tag, and
// cursors of the old form.
func decodeProductCursor(text, tag string) (p storage.ProductPosition, ok bool) {
	position, ok := openCursor(text, productForm+tag, productFormOld)
	stamp, id, cut := strings.Cut(position, ".")
	updatedOn, err := strconv.ParseInt(stamp, 10, 64)
	if !ok || !cut || id == "" || err != nil || updatedOn < 0 || strconv.FormatInt(updatedOn, 10) != stamp {
		return p, false
	}
	return storage.ProductPosition{UpdatedOn: updatedOn, ID: id}, true
}

// encodeEventCursor makes the cursor behind an event of the partner; empty:
// there is no event to stand behind.
func encodeEventCursor(partnerID, through string) string {
	if through == "" {
		return ""
	}
	return sealCursor(eventForm+cursorTag(partnerID), through)
}

// decodeEventCursor takes what encodeEventCursor made for the partner, and
// cursors of the old form.
func decodeEventCursor(text, partnerID string) (after string, ok bool) {
	after, ok = openCursor(text, eventForm+cursorTag(partnerID), eventFormOld)
	return after, ok && commerce.IsID(commerce.PrefixEvent, after)
}
