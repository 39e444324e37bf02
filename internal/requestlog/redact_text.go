package requestlog

import (
	"bytes"
	"unicode/utf8"
)

// redacted takes the place of what the log must not hold.
const redacted = "[redacted]"

// Classes of bytes.
const (
	isDigit byte = 1 << iota
	isWordByte
	isKeyByte
	isSecretByte // of a webhook secret, whose body is base64
	endsAuthority
)

var classes = func() (list [256]byte) {
	for c := range list {
		switch {
		case '0' <= c && c <= '9':
			list[c] = isDigit | isWordByte | isKeyByte | isSecretByte
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_':
			list[c] = isWordByte | isKeyByte | isSecretByte
		case c == '-':
			list[c] = isKeyByte | isSecretByte
		case c == '+', c == '/', c == '=':
			list[c] = isSecretByte
		}
		if c <= ' ' || bytes.IndexByte([]byte(`/?#\"'<>`), byte(c)) >= 0 {
			list[c] |= endsAuthority
		}
	}
	return list
}()

func is(c, class byte) bool { return classes[c]&class != 0 }

const (
	fewestDigits, mostDigits = 13, 19 // of the number of a card
)

// Classes of bytes that tell where a secret may be.
const (
	scanDigit = 1 + iota
	scanGap   // between digits of a number
	scanMark  // keys and the begin of URLs have one of these
	// Those below end or change a string of JSON.
	scanQuote
	scanEscape
	scanWide
	scanControl
)

var scan = func() (list [256]byte) {
	for c := range list {
		switch {
		case '0' <= c && c <= '9':
			list[c] = scanDigit
		case c == ' ' || c == '-':
			list[c] = scanGap
		case c == '_' || c == ':':
			list[c] = scanMark
		case c == '"':
			list[c] = scanQuote
		case c == '\\':
			list[c] = scanEscape
		case c >= utf8.RuneSelf:
			list[c] = scanWide
		case c < ' ':
			list[c] = scanControl
		}
	}
	return list
}()

// suspicious reports whether text may hold a secret. It is quick, and right when it says no.
func suspicious[T string | []byte](text T) bool {
	digits := 0 // before i, with nothing but gaps between them
	for i := range len(text) {
		switch scan[text[i]] {
		case scanDigit:
			if digits++; digits >= fewestDigits {
				return true
			}
		case scanGap:
		case scanMark:
			if digits = 0; marks(text, i) {
				return true
			}
		default:
			digits = 0
		}
	}
	return false
}

// marks reports whether the underscore or colon at i is that of a key, a webhook secret or a URL.
func marks[T string | []byte](text T, i int) bool {
	switch {
	case text[i] == ':':
		return i+2 < len(text) && text[i+1] == '/' && text[i+2] == '/'
	case i < 2:
		return false
	}
	return text[i-1] == 'k' && text[i-2] == 's' || i > 2 && text[i-1] == 'c' && text[i-2] == 'e' && text[i-3] == 's'
}

// appendText appends text without keys, webhook secrets, the user information of URLs and the
// numbers of cards. changed reports whether there were any.
func appendText(dst, text []byte) (_ []byte, changed bool) {
	if !suspicious(text) {
		return append(dst, text...), false
	}
	kept := 0 // text before it is in dst
	for i := 0; i < len(text); {
		from, to := secretAt(text, i)
		if from == to {
			i = max(to, i+1)
			continue
		}
		dst = append(append(dst, text[kept:from]...), redacted...)
		i, kept, changed = to, to, true
	}
	return append(dst, text[kept:]...), changed
}

// secretAt finds the secret that begins at i, or, in a URL, behind it: text[from:to]. If they
// are equal, there is none, and none begins before to.
func secretAt(text []byte, i int) (from, to int) {
	rest := text[i:]
	switch c := text[i]; {
	case c == 's' && isKey(text, i):
		return i, i + run(rest, isKeyByte)
	case c == 'w' && bytes.HasPrefix(rest, []byte("whsec_")):
		return i, i + run(rest, isSecretByte)
	case c == ':' && bytes.HasPrefix(rest, []byte("://")):
		return userInfo(text, i+len("://"))
	case is(c, isDigit):
		if n := card(rest); n > 0 {
			return i, i + n
		}
		n := i + run(rest, isDigit)
		return n, n
	}
	return i, i
}

// isKey reports whether an API key begins at i. Keys of ours and of payment processors are
// found even if they are glued to a word.
func isKey(text []byte, i int) bool {
	rest := text[i:]
	if !bytes.HasPrefix(rest, []byte("sk_")) {
		return false
	}
	return i == 0 || !is(text[i-1], isWordByte) || bytes.HasPrefix(rest, []byte("sk_live_")) || bytes.HasPrefix(rest, []byte("sk_test_"))
}

// run is how many bytes of a class text begins with.
func run(text []byte, class byte) int {
	n := 0
	for n < len(text) && is(text[n], class) {
		n++
	}
	return n
}

// userInfo finds the user and the password in the authority of a URL, which begins at i.
func userInfo(text []byte, i int) (from, to int) {
	end := i
	for end < len(text) && !is(text[end], endsAuthority) {
		end++
	}
	if at := bytes.LastIndexByte(text[i:end], '@'); at > 0 {
		return i, i + at
	}
	return i, i
}

// card is the length of the number of a card at the begin of text; 0: there is none. Its digits
// may stand in groups with single spaces or hyphens between them.
func card(text []byte) (length int) {
	var digits [mostDigits]byte
	n := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case is(c, isDigit):
			if n == mostDigits {
				return length
			}
			digits[n] = c - '0'
			n++
			if n >= fewestDigits && (i+1 == len(text) || !is(text[i+1], isDigit)) && luhn(digits[:n]) {
				length = i + 1
			}
		case (c == ' ' || c == '-') && i+1 < len(text) && is(text[i+1], isDigit):
		default:
			return length
		}
	}
	return length
}

// luhn reports whether the last of the digits checks the others, as in the number of a card.
func luhn(digits []byte) bool {
	sum := 0
	for i, d := range digits {
		n := int(d)
		if (len(digits)-i)%2 == 0 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return sum%10 == 0
}
