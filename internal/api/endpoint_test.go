package api

import (
	"strings"
	"testing"
)

func TestIdempotencyKey(t *testing.T) {
	for _, c := range []struct {
		given []string
		key   string
		ok    bool
	}{
		{nil, "", true}, {[]string{"k"}, "k", true}, {[]string{`"k"`}, "k", true}, {[]string{`""k""`}, `"k"`, true}, {[]string{`"`}, `"`, true},
		{[]string{`"k`}, `"k`, true}, {[]string{`k"`}, `k"`, true}, {[]string{`xk`}, `xk`, true},
		{[]string{strings.Repeat("é", 255)}, strings.Repeat("é", 255), true}, {[]string{"a b"}, "a b", true},
		{[]string{""}, "", false}, {[]string{`""`}, "", false}, {[]string{"a", "b"}, "", false}, {[]string{strings.Repeat("k", 256)}, "", false},
		{[]string{"a\tb"}, "", false}, {[]string{"a\x00"}, "", false}, {[]string{"a\xff"}, "", false}, {[]string{"\ufffd"}, "", false}, {[]string{"a\u0085"}, "", false},
	} {
		if key, err := readIdempotencyKey(c.given); key != c.key || (err == nil) != c.ok {
			t.Errorf("%q: %q, %v", c.given, key, err)
		}
	}
}
