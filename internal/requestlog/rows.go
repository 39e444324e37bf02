package requestlog

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"

	"purveyor/internal/commerce"
)

// A chunk has the requests of one partner that one process has answered within a short time. Its
// rows follow each other, oldest first, and a row leaves out what is the same as in the row before
// it. The first byte of the rows is the form.

const form = 1

// Flags of a row.
const (
	sameMethod = 1 << iota
	sameKey
	sameAddress
	sameOperation
	sameHeaders
	hexTrace // the trace id is 16 bytes, as those that the service makes
	wasReplayed
	wasCut
	hasRequestBody
	hasResponseBody
)

// repeated is what a row may leave out.
type repeated struct {
	method    string
	keyID     string
	mode      commerce.Mode
	address   string
	operation string
}

// row is a call in the form in which it is written, but for what may be the same as in the row
// before.
type row struct {
	flags  uint64
	buffer []byte // what stands before the headers of the request, these, and what stands behind
	// Where the headers of the request begin and end in buffer.
	headers, headersEnd int
	path                []byte // while it is made
}

// rowRoom is more than the bytes of a row beside its texts.
const rowRoom = 64

func (r *row) size(c *Call) int {
	return rowRoom + len(c.Method) + len(c.Key.ID) + len(c.Key.Mode) + len(c.Address) + len(c.Operation) + len(r.buffer) + len(c.RequestBody.Text) + len(c.ResponseBody.Text)
}

// encode fills a row.
func (r *row) encode(c *Call) {
	r.flags = 0
	b := binary.AppendUvarint(r.buffer[:0], uint64(c.Status))
	b = binary.AppendUvarint(b, uint64(max(0, c.Took.Microseconds())))
	b = binary.AppendUvarint(b, uint64(max(0, c.RequestBytes)))
	b = binary.AppendUvarint(b, uint64(max(0, c.ResponseBytes)))
	b = appendString(b, c.Code)
	b = r.appendTrace(b, c)
	r.path = appendTarget(r.path[:0], c.Target)
	cut := c.RequestBody.Cut || c.ResponseBody.Cut || len(r.path) > mostTarget
	b = appendString(b, whole(r.path[:min(len(r.path), mostTarget)]))
	b, _ = appendClean(b, c.StoreID, mostID)
	b, _ = appendClean(b, c.OrderID, mostID)
	r.headers = len(b)
	b, long := appendRequestHeaders(b, c.RequestHeaders, c.TraceID)
	r.headersEnd = len(b)
	r.buffer = appendAnswerHeaders(b, c.ResponseHeaders)
	r.set(wasReplayed, c.Replayed)
	r.set(wasCut, cut || long)
	r.set(hasRequestBody, len(c.RequestBody.Text) > 0)
	r.set(hasResponseBody, len(c.ResponseBody.Text) > 0)
}

func (r *row) set(flag uint64, on bool) {
	if on {
		r.flags |= flag
	}
}

// appendTrace appends the trace id, one of the caller's without secrets.
func (r *row) appendTrace(b []byte, c *Call) []byte {
	given := c.RequestHeaders[traceHeader]
	if len(given) == 0 || given[0] != c.TraceID {
		if b, err := hex.AppendDecode(b, []byte(c.TraceID)); err == nil && len(c.TraceID) == 2*traceBytes {
			r.flags |= hexTrace
			return b
		}
	}
	b, _ = appendClean(b, c.TraceID, mostHeader)
	return b
}

const traceBytes = 16

func appendString[T string | []byte](dst []byte, text T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// appendTo appends the row of a call to a chunk.
func (r *row) appendTo(c *chunk, call *Call, sinceLast commerce.Millis, numbers uint64) {
	last, headers := &c.last, r.buffer[r.headers:r.headersEnd]
	r.set(sameMethod, call.Method == last.method)
	r.set(sameKey, call.Key.ID == last.keyID && call.Key.Mode == last.mode)
	r.set(sameAddress, call.Address == last.address)
	r.set(sameOperation, call.Operation == last.operation)
	r.set(sameHeaders, bytes.Equal(headers, c.Rows[c.headers:c.headersEnd]))
	b := binary.AppendUvarint(c.Rows, r.flags)
	b = binary.AppendUvarint(b, uint64(sinceLast))
	b = binary.AppendUvarint(b, numbers)
	if r.flags&sameMethod == 0 {
		b, _ = appendClean(b, call.Method, mostID)
		last.method = call.Method
	}
	if r.flags&sameKey == 0 {
		b = appendString(appendString(b, call.Key.ID), string(call.Key.Mode))
		last.keyID, last.mode = call.Key.ID, call.Key.Mode
	}
	if r.flags&sameAddress == 0 {
		b = appendString(b, call.Address)
		last.address = call.Address
	}
	if r.flags&sameOperation == 0 {
		b = appendString(b, call.Operation)
		last.operation = call.Operation
	}
	b = append(b, r.buffer[:r.headers]...)
	if r.flags&sameHeaders == 0 {
		b = appendString(b, headers)
		c.headers, c.headersEnd = len(b)-len(headers), len(b)
	}
	b = appendString(b, r.buffer[r.headersEnd:])
	for _, body := range [...][]byte{call.RequestBody.Text, call.ResponseBody.Text} {
		if len(body) > 0 {
			b = appendString(b, body)
		}
	}
	c.Rows = b
}
