package api

import (
	"net/http"
	"sync"

	"purveyor/internal/api/wire"
	"purveyor/internal/storage"
	"purveyor/internal/web"
)

const (
	// maxPage is how many bytes a page of a list takes at most, unless its first
	// element alone takes more.
	maxPage = 2 << 20
	// maxKept is the largest answer whose buffer is kept for the next one, and the
	// largest page that is kept for a repeat of its question.
	maxKept = 1 << 20
)

// pages are buffers for long lists, which would be most of the garbage.
var pages = sync.Pool{New: func() any { return new([]byte) }}

const (
	// maxAnswers is how many bytes of long answers are being written at a time, and
	// maxOfPartner how many to one partner: one that reads slowly, or not at all,
	// holds its answer for as long as the server lets it.
	maxAnswers   = 64 << 20
	maxOfPartner = 32 << 20
	// longAnswer is what counts; the others are short enough.
	longAnswer = 64 << 10
)

// write sends an answer. A long answer of a read is refused (429) while its
// partner, or all together, are still reading too many. What is refused has
// changed nothing and can be asked for again.
func (a *API) write(w *web.Writer, route Route, answer reply) error {
	if answer.pooled != nil {
		defer func() { release(answer.pooled, answer.body) }()
	}
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

// release gives back a buffer that came from pages, now that its answer is
// written.
func release(buffer *[]byte, answer []byte) {
	if cap(answer) <= maxKept {
		*buffer = answer[:0]
		pages.Put(buffer)
	}
}

// roomFor is how many bytes the elements of a page may take beside the rest of
// the answer, of which filters may be the longer part; a cursor is the other.
func roomFor(filters []byte) int {
	const rest = 4096
	return maxPage - rest - len(filters)
}

// escaped is how many bytes a byte of text takes at most: \u0001.
const escaped = 6

// fitting is how many elements of a list a page has room for. Few lists are so
// long that each element has to be encoded for that.
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
