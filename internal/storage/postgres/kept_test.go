package postgres

import (
	"bytes"
	"testing"
)

// TestKept: memory is used again, what was in it before is not seen, and much of it is not kept.
func TestKept(t *testing.T) {
	var k kept
	first := append(k.grow([]byte("ab"), 300), bytes.Repeat([]byte("1"), 300)...)
	if again := k.grow(first, 100); &again[0] != &first[0] {
		t.Error("memory with room enough was given up")
	}
	second := append(k.grow([]byte("c"), 200), bytes.Repeat([]byte("2"), 200)...)
	if &second[0] != &first[0] {
		t.Error("memory is made anew for each use")
	}
	if want := "c" + string(bytes.Repeat([]byte("2"), 200)); string(second) != want {
		t.Errorf("sent is %q", second)
	}
	grown := k.grow(second, 1000)
	if string(grown) != string(second) || cap(grown) < len(second)+1000 {
		t.Errorf("%d bytes with room for %d, of %q", len(grown), cap(grown)-len(grown), second)
	}
	if huge := k.grow([]byte("d"), mostKept); string(huge) != "d" || cap(k) > mostKept || &huge[0] == &k[:1][0] {
		t.Errorf("%d bytes are kept", cap(k))
	}
	sent, err := (&room{bytes: 50}).Encode(nil)
	if err != nil || len(sent) != 0 || cap(sent) < 50 {
		t.Errorf("the message that makes room has %d bytes, and room for %d: %v", len(sent), cap(sent), err)
	}
}
