package schema

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"sync"
	"time"

	"purveyor/internal/commerce"
)

// Replies has the answer of each idempotency key. Engines call PackReplies before
// they bind rows. Idempotency keys come in no order and may be long; a
// digest keeps the index that each of them changes small.
var Replies = Table[commerce.ReplyKey, commerce.Reply]{
	Name: "replies", Key: "partner_id, digest", Fixed: "fingerprint, created_on", Mutable: "status, body, job_slot, job_id",
	KeyOf:     func(v *commerce.Reply) commerce.ReplyKey { return v.ReplyKey },
	BindKey:   func(b Binder, k commerce.ReplyKey) { b.Text(k.PartnerID).Blob(digest(k)) },
	BindFixed: func(b Binder, v *commerce.Reply) { b.Blob(v.Fingerprint[:]).Int(int64(v.CreatedOn)) },
	BindMutable: func(b Binder, v *commerce.Reply) {
		b.Int(int64(v.Status)).Blob(v.Body).Int(v.Job.Slot).Text(v.Job.ID)
	},
	Scan: func(s Scanner, k commerce.ReplyKey) commerce.Reply {
		v := commerce.Reply{ReplyKey: k}
		copy(v.Fingerprint[:], s.Blob())
		v.CreatedOn, v.Status = millis(s), int(s.Int())
		var err error
		if v.Body, err = unpack(s.Blob()); err != nil {
			s.Fail(err)
		}
		v.Job = commerce.JobKey{Slot: s.Int(), ID: s.Text()}
		return v
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[commerce.ReplyKey, commerce.Reply] { return &r.Replies },
	Needs:   func(n *commerce.Needs) *[]commerce.ReplyKey { return &n.Replies },
	Changes: func(c *commerce.Changes) *[]commerce.Reply { return &c.Replies },
	Locked:  func(n *commerce.Needs) *[]commerce.ReplyKey { return &n.OpenReplies },
	Deleted: func(c *commerce.Changes) *[]commerce.ReplyKey { return &c.Released },
	Traits: Traits{Shard: "partner_id", Collides: true, AddedByName: true, Single: true,
		Expired: []Expired{{Keep: ReplyKeep, Column: "created_on", Order: "created_on"}}},
}

func digest(k commerce.ReplyKey) []byte {
	var parts []byte
	for _, part := range []string{k.PartnerID, k.Op, k.Key} {
		parts = binary.BigEndian.AppendUint32(parts, uint32(len(part)))
		parts = append(parts, part...)
	}
	sum := sha256.Sum256(parts)
	return sum[:16]
}

// packFrom is the size from which stored bodies are compressed. The answer of a
// report is below it: compressing that would cost more than the rest of its row.
const packFrom = 1 << 10

// packed begins a body that is compressed. No JSON begins with it.
const packed = 0

// replyRow is about the number of bytes that a stored reply takes beside its body.
const replyRow = 256

var packers = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, flate.BestSpeed) // the level is known
	return w
}}

// pack returns the stored form of a body: compressed if the body is large and compression
// makes it smaller, else the body itself.
func pack(body []byte) []byte {
	marked := len(body) > 0 && body[0] == packed // no body of ours is; if it stayed as it is, it would be taken for a packed one
	if len(body) < packFrom && !marked {
		return body
	}
	var out bytes.Buffer
	out.WriteByte(packed)
	w := packers.Get().(*flate.Writer)
	w.Reset(&out)
	_, _ = w.Write(body) // a buffer takes everything
	_ = w.Close()
	packers.Put(w)
	if out.Len() >= len(body) && !marked {
		return body
	}
	return out.Bytes()
}

// unpack returns the body of a stored form.
func unpack(stored []byte) ([]byte, error) {
	if len(stored) == 0 || stored[0] != packed {
		return stored, nil
	}
	return io.ReadAll(flate.NewReader(bytes.NewReader(stored[1:])))
}

// PackReplies packs the bodies of a batch, just before they are saved, and returns the
// bytes that the batch adds for each partner.
func PackReplies(rows *commerce.Table[commerce.ReplyKey, commerce.Reply]) (added ReplyBytes) {
	for i := range rows.Changed() {
		_, v, was := rows.Change(i)
		if v == nil {
			continue
		}
		v.Body = pack(v.Body)
		n := int64(len(v.Body))
		if was == nil {
			n += replyRow
		}
		if added == nil {
			added = ReplyBytes{}
		}
		added[v.PartnerID] += n
	}
	return added
}

// ReplyBytes are bytes of stored replies, by partner.
type ReplyBytes map[string]int64

// ReplyCount adds up the bytes that an engine stores, until they are written to
// StoredReplies.
type ReplyCount struct {
	mu    sync.Mutex
	added ReplyBytes
}

// Add counts the bytes of a batch that was saved.
func (c *ReplyCount) Add(b ReplyBytes) {
	if len(b) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.added == nil {
		c.added = ReplyBytes{}
	}
	for partner, n := range b {
		c.added[partner] += n
	}
}

// Take returns the bytes that were counted since the last call. If they cannot be written
// down, the caller gives them back by Add.
func (c *ReplyCount) Take() ReplyBytes {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := c.added
	c.added = nil
	return taken
}

// HourOf is the hour under which bytes are counted: its beginning, Unix ms.
func HourOf(at commerce.Millis) int64 { return int64(at - at%HourMs) }

// HourMs is an hour in ms.
const HourMs = 60 * 60 * 1000

type storedReplies struct {
	PartnerID   string
	Hour, Bytes int64
}

// StoredReplies counts the bytes of stored replies by partner and hour. It is a Log only
// for copies; engines add to the rows of the running hour by statements of their own.
var StoredReplies = Log[storedReplies]{
	Name: "stored_replies", ID: "partner_id, hour", Rest: "bytes",
	Bind: func(b Binder, v *storedReplies) { b.Text(v.PartnerID).Int(v.Hour).Int(v.Bytes) },
	Traits: Traits{Shard: "partner_id", // the hour has ended when it expires, and all rows are few
		Expired: []Expired{{Keep: ReplyKeep + time.Hour, Column: "hour", Order: "partner_id, hour"}}},
}
