package requestlog

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"purveyor/internal/commerce"
)

// errDamaged means that a chunk is not one that this program has written.
var errDamaged = errors.New("a chunk of the request log is damaged")

// scanner reads the values of a chunk one after another. After a fault it reads nothing more.
type scanner struct {
	rest   []byte
	faulty bool
}

func (s *scanner) number() uint64 {
	n, size := binary.Uvarint(s.rest)
	if size <= 0 {
		s.rest, s.faulty = nil, true
		return 0
	}
	s.rest = s.rest[size:]
	return n
}

func (s *scanner) bytes(n uint64) []byte {
	if n > uint64(len(s.rest)) {
		s.rest, s.faulty = nil, true
		return nil
	}
	b := s.rest[:n:n]
	s.rest = s.rest[n:]
	return b
}

func (s *scanner) blob() []byte { return s.bytes(s.number()) }

// text reads text of a client, which may be no UTF-8.
func (s *scanner) text() string { return strings.ToValidUTF8(string(s.blob()), "\uFFFD") }

// stored is a row as it stands in a chunk. Its headers and bodies are read only if they are
// wanted.
type stored struct {
	Entry
	headers, answered []byte
	bodies            [2][]byte
}

// entry is the row with its headers and bodies.
func (r *stored) entry() (Entry, error) {
	e := r.Entry
	var ok, fine bool
	e.RequestHeaders, ok = readHeaders(r.headers, e.TraceID)
	e.ResponseHeaders, fine = readHeaders(r.answered, e.TraceID)
	e.ResponseHeaders = r.withLength(e.ResponseHeaders)
	e.RequestBody, e.ResponseBody = string(r.bodies[0]), string(r.bodies[1])
	if !ok || !fine {
		return e, errDamaged
	}
	return e, nil
}

// withLength adds the length that net/http adds to a short answer of JSON.
func (r *stored) withLength(list []Header) []Header {
	const name = "content-length"
	at := slices.IndexFunc(list, func(h Header) bool { return h.Name >= name })
	if r.Method == http.MethodHead || !slices.Contains(list, Header{"content-type", jsonType}) || list[at].Name == name {
		return list
	}
	return slices.Insert(list, at, Header{name, strconv.FormatInt(r.ResponseBytes, 10)})
}

// rows calls visit for each row of a chunk, oldest first.
func (c *Chunk) rows(visit func(*stored)) error {
	if len(c.Rows) == 0 {
		return nil
	}
	s := scanner{rest: c.Rows}
	if got := s.bytes(1)[0]; got != form {
		return fmt.Errorf("%w: its form is %d", errDamaged, got)
	}
	var r stored
	r.At = c.First
	number := s.number()
	for len(s.rest) > 0 {
		r.read(&s, &number, c.Writer)
		if s.faulty {
			return errDamaged
		}
		visit(&r)
	}
	return nil
}

// read reads the next row over the one before it.
func (r *stored) read(s *scanner, number *uint64, writer Writer) {
	flags := s.number()
	r.At += commerce.Millis(s.number())
	*number += s.number()
	r.ID = entryID(r.At, writer, uint32(*number))
	if flags&sameMethod == 0 {
		r.Method = s.text()
	}
	if flags&sameKey == 0 {
		r.KeyID, r.Mode = s.text(), commerce.Mode(s.text())
	}
	if flags&sameAddress == 0 {
		r.Address = s.text()
	}
	if flags&sameOperation == 0 {
		r.Operation = s.text()
	}
	r.Status = int(s.number())
	r.Took = time.Duration(s.number()) * time.Microsecond
	r.RequestBytes, r.ResponseBytes = int64(s.number()), int64(s.number())
	r.Code = s.text()
	if flags&hexTrace != 0 {
		r.TraceID = hex.EncodeToString(s.bytes(traceBytes))
	} else {
		r.TraceID = s.text()
	}
	r.Path, r.StoreID, r.OrderID = s.text(), s.text(), s.text()
	if flags&sameHeaders == 0 {
		r.headers = s.blob()
	}
	r.answered = s.blob()
	r.Replayed, r.Truncated = flags&wasReplayed != 0, flags&wasCut != 0
	r.bodies = [2][]byte{}
	if flags&hasRequestBody != 0 {
		r.bodies[0] = s.blob()
	}
	if flags&hasResponseBody != 0 {
		r.bodies[1] = s.blob()
	}
}

// readHeaders reads what appendRequestHeaders or appendAnswerHeaders has written, in the order of
// the names.
func readHeaders(b []byte, traceID string) (list []Header, ok bool) {
	s := scanner{rest: b}
	for len(s.rest) > 0 && !s.faulty {
		var h Header
		no := int(s.bytes(1)[0])
		switch {
		case no == 0:
			h.Name = s.text()
		case no < len(headerNames):
			h.Name = strings.ToLower(headerNames[no])
		default:
			return nil, false
		}
		if h.Value = jsonType; no != jsonNo {
			h.Value = s.text()
		}
		if no == traceNo && h.Value == "" {
			h.Value = traceID
		}
		list = append(list, h)
	}
	slices.SortStableFunc(list, func(a, b Header) int { return strings.Compare(a.Name, b.Name) })
	return list, !s.faulty
}
