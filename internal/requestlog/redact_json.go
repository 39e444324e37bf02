package requestlog

import (
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// BodyRoom is how many bytes of a body are kept.
const BodyRoom = 8 << 10

// mostNested bounds how deep the values of a body may be nested. The API refuses bodies that are
// nested deeper.
const mostNested = 10_000

// Body is a body as the log keeps it.
type Body struct {
	Text []byte // JSON without secrets, at most BodyRoom bytes; empty: the body is no JSON
	Cut  bool   // Text is only the begin
	// StoreID and OrderID are those of the members store_id and order_id of the outermost
	// object; empty: there are none.
	StoreID, OrderID string
}

// AppendBody redacts a body and appends what is kept of it to dst, of which Body.Text is then a
// part. valid says that the body is known to be JSON, so that what is cut off need not be read.
func AppendBody(dst, body []byte, valid bool) (Body, []byte) {
	r := redactors.Get().(*redactor)
	defer redactors.Put(r)
	*r = redactor{src: body, dst: dst, begin: len(dst), hidden: -1, valid: valid, nested: r.nested[:0], scratch: r.scratch, cleaned: r.cleaned}
	kept := r.run()
	written, storeID, orderID := r.dst, r.storeID, r.orderID
	r.src, r.dst, r.storeID, r.orderID = nil, nil, nil, nil // nothing else is kept of the body
	if !kept {
		return Body{Cut: len(body) > 0}, dst
	}
	b := Body{Text: written[len(dst):], StoreID: string(storeID), OrderID: string(orderID)}
	if len(b.Text) > BodyRoom {
		b.Text, b.Cut = whole(b.Text[:BodyRoom]), true
	}
	return b, written[:len(dst)+len(b.Text)]
}

// redactors are without a body, and their buffers are used again.
var redactors = sync.Pool{New: func() any { return new(redactor) }}

// whole is text without the part of a character at its end.
func whole(text []byte) []byte {
	for i := 1; i <= utf8.UTFMax && i <= len(text); i++ {
		if utf8.RuneStart(text[len(text)-i]) {
			if !utf8.FullRune(text[len(text)-i:]) {
				return text[:len(text)-i]
			}
			break
		}
	}
	return text
}

// What is known of a value from the names above it.
const (
	inObject    byte = 1 << iota // it is a member of an object, not an element of a list
	inPerson                     // of an address or a courier, whose name is hidden
	inMetadata                   // all of it is hidden
	hideStrings                  // it is hidden if it is a string
	hideAlways
)

// rulesOf are what the name of a member says of its value. Names are compared in lower case.
func rulesOf[T string | []byte](name T) byte {
	const shortest, longest = 4, 20
	if len(name) < shortest || len(name) > longest {
		return 0
	}
	var lower [longest]byte
	for i := range len(name) {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	switch string(lower[:len(name)]) {
	case "secret", "value", "token", "password", "email", "customer_email", "phone", "phone_number", "line1", "line2", "city", "postal_code",
		"pickup_instructions", "dropoff_instructions", "checkout_url", "courier_tracking_url", "tracking_page_url":
		return hideAlways
	case "delivery_address":
		return hideStrings | inPerson
	case "address", "courier":
		return inPerson
	case "metadata":
		return inMetadata
	}
	return 0
}

// redactor copies a JSON value without white space and secrets. It keeps one byte for each
// nested value, and no value.
type redactor struct {
	src   []byte
	at    int
	dst   []byte
	begin int // of what is written, in dst
	// nested has the rules of the open objects and lists. Those of a list hold for its
	// elements.
	nested  []byte
	hidden  int // how deep the value is nested that is hidden; -1: nothing is
	valid   bool
	scratch []byte // the last string with escapes, without them
	cleaned []byte // the last string that may hold a secret, without it

	storeID, orderID []byte
}

// run copies the value, and reports whether it is JSON. It stops once enough is written, if the
// rest is known to be JSON.
func (r *redactor) run() bool {
	rules := byte(0) // of the next value
	for {
		if r.valid && len(r.dst)-r.begin > BodyRoom {
			return true
		}
		opened, ok := r.value(rules)
		if !ok {
			return false
		}
		if !opened && !r.close() {
			return len(r.nested) == 0 && r.peek() == 0 && r.at == len(r.src)
		}
		if rules, ok = r.next(opened); !ok {
			return false
		}
	}
}

// value copies a value, or the begin of an object or list that is not empty.
func (r *redactor) value(rules byte) (opened, ok bool) {
	switch c := r.peek(); {
	case c == '{' || c == '[':
		return r.open(c, rules)
	case c == '"':
		t, ok := r.text()
		if ok && rules&(hideAlways|hideStrings|inMetadata) != 0 {
			r.hide()
		} else if ok {
			r.putText(t)
		}
		return false, ok
	case c == 'n':
		return false, r.literal("null", 0)
	case c == 't':
		return false, r.literal("true", rules)
	case c == 'f':
		return false, r.literal("false", rules)
	default:
		return false, r.number(rules)
	}
}

// open begins an object or a list.
func (r *redactor) open(c, rules byte) (opened, ok bool) {
	if len(r.nested) == mostNested {
		return false, false
	}
	if rules&hideAlways != 0 {
		r.hide()
		if r.hidden < 0 {
			r.hidden = len(r.nested)
		}
	}
	r.at++
	r.put(c)
	rules &^= inObject
	end := byte(']')
	if c == '{' {
		rules, end = rules&^hideStrings|inObject, '}'
	} else if rules&inMetadata != 0 {
		rules |= hideAlways
	}
	if r.peek() == end {
		r.at++
		r.put(end)
		if r.hidden == len(r.nested) {
			r.hidden = -1
		}
		return false, true
	}
	r.nested = append(r.nested, rules)
	return true, true
}

// close ends the objects and lists that end here. It returns false if no value can follow.
func (r *redactor) close() bool {
	for len(r.nested) > 0 {
		end := byte(']')
		if r.nested[len(r.nested)-1]&inObject != 0 {
			end = '}'
		}
		switch r.peek() {
		case ',':
			r.at++
			r.put(',')
			return true
		case end:
			r.at++
			r.put(end)
			r.nested = r.nested[:len(r.nested)-1]
			if r.hidden == len(r.nested) {
				r.hidden = -1
			}
		default:
			return false
		}
	}
	return false
}

// next copies the name of the next member, if the next value has one, and returns the rules of
// the value.
func (r *redactor) next(first bool) (rules byte, ok bool) {
	above := r.nested[len(r.nested)-1]
	if above&inObject == 0 {
		return above, true
	}
	if r.peek() != '"' {
		return 0, false
	}
	t, ok := r.text()
	if !ok {
		return 0, false
	}
	r.putText(t)
	name := t.value
	if r.peek() != ':' {
		return 0, false
	}
	r.at++
	r.put(':')
	rules = rulesOf(name)
	switch {
	case above&inMetadata != 0:
		rules = hideAlways
	case above&inPerson != 0 && len(name) == len("name") && string(name) == "name":
		rules = hideAlways
	}
	if len(r.nested) == 1 {
		r.note(name)
	}
	return rules, true
}

// note remembers the value of a member of the outermost object that says what the body is about.
func (r *redactor) note(name []byte) {
	var to *[]byte
	switch string(name) {
	case "store_id":
		to = &r.storeID
	case "order_id":
		to = &r.orderID
	default:
		return
	}
	at := r.at
	if r.peek() == '"' {
		if t, ok := r.text(); ok && t.plain && len(t.value) <= mostID && (t.clean || !r.hasSecret(t.value)) {
			*to = t.value
		}
	}
	r.at = at
}

func (r *redactor) hasSecret(text []byte) (changed bool) {
	r.cleaned, changed = appendText(r.cleaned[:0], text)
	return changed
}

// mostID is the length of the longest id that is noted.
const mostID = 100

// peek skips white space and returns the byte behind it; 0: the body ends.
func (r *redactor) peek() byte {
	for r.at < len(r.src) {
		switch c := r.src[r.at]; c {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return c
		}
	}
	return 0
}

// text is a string of a body.
type text struct {
	value []byte
	plain bool // it stands in the body as it is, without escapes
	clean bool // it holds no secret
}

// text reads a string.
func (r *redactor) text() (t text, ok bool) {
	begin := r.at + 1
	digits, ascii := 0, true // digits before i, with nothing but gaps between them
	t.plain, t.clean = true, true
	for i := begin; i < len(r.src); i++ {
		switch scan[r.src[i]] {
		case scanDigit:
			if digits++; digits >= fewestDigits {
				t.clean = false
			}
		case scanGap:
		case scanMark:
			if digits = 0; marks(r.src, i) {
				t.clean = false
			}
		case scanEscape:
			t.plain, t.clean = false, false
			i++
		case scanWide:
			digits, ascii = 0, false
		case scanControl:
			return t, false
		case scanQuote:
			r.at = i + 1
			t.value = r.src[begin:i]
			if !t.plain {
				var err error
				r.scratch, err = jsontext.AppendUnquote(r.scratch[:0], r.src[begin-1:i+1])
				t.value = r.scratch
				return t, err == nil
			}
			return t, ascii || utf8.Valid(t.value)
		default:
			digits = 0
		}
	}
	return t, false
}

// putText writes a string that was read.
func (r *redactor) putText(t text) {
	if !r.writing() {
		return
	}
	if !t.clean {
		var changed bool
		r.cleaned, changed = appendText(r.cleaned[:0], t.value)
		if !t.plain || changed {
			quoted, err := jsontext.AppendQuote(r.dst, r.cleaned)
			if err != nil {
				panic(err) // the text was checked when it was read
			}
			r.dst = quoted
			return
		}
	}
	r.dst = append(append(append(r.dst, '"'), t.value...), '"')
}

// literal copies a word of JSON.
func (r *redactor) literal(word string, rules byte) bool {
	if len(r.src)-r.at < len(word) || string(r.src[r.at:r.at+len(word)]) != word {
		return false
	}
	r.at += len(word)
	if rules&(hideAlways|inMetadata) != 0 {
		r.hide()
	} else if r.writing() {
		r.dst = append(r.dst, word...)
	}
	return true
}

// number copies a number.
func (r *redactor) number(rules byte) bool {
	begin := r.at
	digits := func() bool {
		from := r.at
		r.at += run(r.src[r.at:], isDigit)
		return r.at > from
	}
	skip := func(c byte) bool {
		if r.at < len(r.src) && r.src[r.at] == c {
			r.at++
			return true
		}
		return false
	}
	skip('-')
	if !skip('0') && !digits() {
		return false
	}
	if skip('.') && !digits() {
		return false
	}
	if skip('e') || skip('E') {
		if !skip('-') {
			skip('+')
		}
		if !digits() {
			return false
		}
	}
	text := r.src[begin:r.at]
	if rules&(hideAlways|inMetadata) != 0 || hasCard(text) {
		r.hide()
	} else if r.writing() {
		r.dst = append(r.dst, text...)
	}
	return true
}

// hasCard reports whether a number has the digits of a card.
func hasCard(number []byte) bool {
	for i := 0; i < len(number) && len(number)-i >= fewestDigits; {
		if from, to := secretAt(number, i); from < to {
			return true
		} else if i++; to > i {
			i = to
		}
	}
	return false
}

// hide writes what takes the place of a value.
func (r *redactor) hide() {
	if r.writing() {
		r.dst = append(r.dst, `"`+redacted+`"`...)
	}
}

func (r *redactor) put(c byte) {
	if r.writing() {
		r.dst = append(r.dst, c)
	}
}

// writing reports whether what is read is written, too. One byte more than there is room for shows
// that the text is cut.
func (r *redactor) writing() bool {
	return r.hidden < 0 && len(r.dst)-r.begin <= BodyRoom
}
