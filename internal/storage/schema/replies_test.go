package schema

import (
	"bytes"
	"strings"
	"testing"

	"purveyor/internal/commerce"

	"pgregory.net/rapid"
)

// TestPack: every body comes back as it was; small ones and those that do not
// shrink are stored as they are.
func TestPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(t, "part")
		body := bytes.Repeat(part, rapid.IntRange(1, 20).Draw(t, "times"))
		stored := pack(body)
		got, err := unpack(stored)
		if err != nil || !bytes.Equal(got, body) {
			t.Fatalf("%d bytes became %d: %v", len(body), len(got), err)
		}
		if asIs := len(body) == 0 || body[0] != packed; asIs && len(stored) > len(body) {
			t.Fatalf("%d bytes became %d", len(body), len(stored))
		}
	})
	report := []byte(strings.Repeat("x", packFrom-1))
	if stored := pack(report); &stored[0] != &report[0] {
		t.Error("a small body was copied")
	}
	if _, err := unpack([]byte{packed, 1, 2}); err == nil {
		t.Error("a damaged body passed")
	}
}

// TestPackReplies: what is counted is what is stored.
func TestPackReplies(t *testing.T) {
	large := []byte(`{"a":"` + strings.Repeat("abc", 5000) + `"}`)
	key := func(partner string) commerce.ReplyKey {
		return commerce.ReplyKey{PartnerID: partner, Op: "o", Key: "k"}
	}
	var rows commerce.Rows
	Require(&rows, &commerce.Needs{Replies: []commerce.ReplyKey{key("a"), key("b")}, OpenReplies: []commerce.ReplyKey{key("c")}})
	rows.Replies.Fill(2, commerce.Reply{ReplyKey: key("c")})
	Apply(&rows, &commerce.Changes{Replies: []commerce.Reply{{ReplyKey: key("a"), Body: large}, {ReplyKey: key("b"), Body: []byte("{}")}, {ReplyKey: key("c"), Body: []byte("{}")}}})
	added := PackReplies(&rows.Replies)
	v, _ := rows.Replies.Get(key("a"))
	if len(v.Body) > len(large)/20 || added["a"] != int64(len(v.Body))+replyRow || added["b"] != 2+replyRow || added["c"] != 2 {
		t.Errorf("%d bytes, counted %v", len(v.Body), added)
	}
}

// BenchmarkPack is what the answer of a large adjustment costs its batch.
func BenchmarkPack(b *testing.B) {
	body := []byte(`{"ok":true,"adjusted":500,"adjustments":[` + strings.Repeat(`{"product_id":"prd_01kaaaaaaaaaaaaaaaaaaaaaaa","previous_quantity":12,"next_quantity":12,"delta":0},`, 500) + `{}]}`)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		b.ReportMetric(float64(len(body))/float64(len(pack(body))), "times-smaller")
	}
}
