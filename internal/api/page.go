package api

import (
	"net/http"
	"sync"

	"purveyor/internal/api/wire"
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
