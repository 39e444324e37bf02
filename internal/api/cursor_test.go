package api

import (
	"encoding/base64"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

const anEvent = "evt_06eay4zfg8zepzmpwpee83wwp4"

var aTag = cursorTag("sto_a", "", "true", "false")

func TestCursor(t *testing.T) {
	for _, p := range []storage.ProductPosition{{UpdatedOn: 0, ID: "a"}, {UpdatedOn: 1772463845250, ID: "prd_1"}, {UpdatedOn: 1<<63 - 1, ID: "x"},
		{UpdatedOn: 1<<53 + 1, ID: "beyond what a float holds"},
		{UpdatedOn: 5, ID: "a.b.c"}, {UpdatedOn: 5, ID: "Käse 🧀"}, {UpdatedOn: 5, ID: strings.Repeat("x", 255)}} {
		if got, ok := decodeProductCursor(encodeProductCursor(p, aTag), aTag); !ok || got != p {
			t.Errorf("%v came back as %v, %t", p, got, ok)
		}
	}
}

// A cursor of products belongs to the four filters, one of events to the
// partner, and none to another list.
func TestCursorsBelong(t *testing.T) {
	filters := map[string]string{"store_id": "sto_a", "category_id": "cat_a", "active": "true", "available_only": "false", "updated_since": "7"}
	product := encodeProductCursor(storage.ProductPosition{UpdatedOn: 5, ID: "prd_a"}, productTag(filters))
	for name, other := range map[string]string{"store_id": "sto_b", "category_id": "", "active": "all", "available_only": "true"} {
		was := filters[name]
		filters[name] = other
		if p, ok := decodeProductCursor(product, productTag(filters)); ok {
			t.Errorf("with another %s it is taken for %v", name, p)
		}
		filters[name] = was
	}
	filters["updated_since"] = "8"
	if _, ok := decodeProductCursor(product, productTag(filters)); !ok {
		t.Error("it does not belong to updated_since")
	}
	event := encodeEventCursor("ptn_a", anEvent)
	if got, ok := decodeEventCursor(event, "ptn_a"); !ok || got != anEvent {
		t.Errorf("%q came back as %q, %t", anEvent, got, ok)
	}
	if got, ok := decodeEventCursor(event, "ptn_b"); ok {
		t.Errorf("of another partner it is taken for %q", got)
	}
	if got, ok := decodeEventCursor(product, "ptn_a"); ok {
		t.Errorf("a cursor of products is taken for %q", got)
	}
	if got, ok := decodeProductCursor(event, aTag); ok {
		t.Errorf("a cursor of events is taken for %v", got)
	}
}

// Cursors that were given before they belonged to anything are taken as before.
func TestOldCursors(t *testing.T) {
	old := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	for _, tag := range []string{aTag, productTag(nil)} {
		if p, ok := decodeProductCursor(old("1.1772463845250.prd_soho"), tag); !ok || p != (storage.ProductPosition{UpdatedOn: 1772463845250, ID: "prd_soho"}) {
			t.Errorf("%v, %t", p, ok)
		}
	}
	for _, partner := range []string{"ptn_a", "ptn_b"} {
		if after, ok := decodeEventCursor(old("e1."+anEvent), partner); !ok || after != anEvent {
			t.Errorf("%q, %t", after, ok)
		}
	}
}

// FuzzDecodeCursor: what is accepted is exactly what would be given, or was given
// before cursors had tags, and only by the list that it belongs to.
func FuzzDecodeCursor(f *testing.F) {
	for _, seed := range []string{"", "MQ", "MS41LmE", "MS41LmE=", "MS4tNS5h", "Mi41LmE", "MS4wNS5h", "MS41Lg", "!!", "MS4xNzcyNDYzODQ1MjUwLnByZF8x", "MS41LmE\n",
		encodeProductCursor(storage.ProductPosition{UpdatedOn: 5, ID: "a"}, aTag), encodeProductCursor(storage.ProductPosition{UpdatedOn: 5, ID: "a"}, cursorTag()),
		sealCursor(productForm+aTag, "05.a"), sealCursor(productForm+aTag, "9223372036854775808.a"), sealCursor(productForm+aTag, "5e0.a"),
		encodeEventCursor("ptn_a", anEvent), sealCursor(eventFormOld, anEvent), sealCursor(eventForm, anEvent)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, ok := decodeProductCursor(text, aTag)
		if ok && encodeProductCursor(p, aTag) != text && sealCursor(productFormOld, strings.TrimPrefix(decoded(text), productFormOld)) != text || ok && (p.UpdatedOn < 0 || p.ID == "") {
			t.Errorf("%q is taken for %v", text, p)
		}
		if ok && strings.HasPrefix(decoded(text), productForm) {
			if p, ok := decodeProductCursor(text, cursorTag("another")); ok {
				t.Errorf("with other filters %q is taken for %v", text, p)
			}
		}
		after, isEvent := decodeEventCursor(text, "ptn_a")
		if isEvent && (encodeEventCursor("ptn_a", after) != text && sealCursor(eventFormOld, after) != text || !commerce.IsID(commerce.PrefixEvent, after)) {
			t.Errorf("%q is taken for the event %q", text, after)
		}
		if ok && isEvent {
			t.Errorf("%q is of two lists", text)
		}
	})
}

func decoded(text string) string {
	data, _ := base64.RawURLEncoding.DecodeString(text)
	return string(data)
}

// FuzzCursor: every position comes back, whatever its id.
func FuzzCursor(f *testing.F) {
	f.Add(int64(0), "prd_1", "sto_a")
	f.Add(int64(1772463845250), "a.b", "")
	f.Fuzz(func(t *testing.T, updatedOn int64, id, store string) {
		p, tag := storage.ProductPosition{UpdatedOn: commerce.Millis(updatedOn), ID: id}, cursorTag(store)
		got, ok := decodeProductCursor(encodeProductCursor(p, tag), tag)
		// Stored ids are text on one line; nothing else need come back.
		plain := updatedOn >= 0 && id != "" && utf8.ValidString(id) && !strings.ContainsFunc(id, unicode.IsControl)
		if (ok && got != p) || (plain && !ok) {
			t.Errorf("%v came back as %v, %t", p, got, ok)
		}
	})
}
