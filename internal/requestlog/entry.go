package requestlog

import (
	"net/http"
	"time"

	"purveyor/internal/commerce"
)

// Call is a request of a partner that was answered, as its front saw it.
type Call struct {
	Key                             *commerce.APIKey // with which it was sent
	At                              time.Time        // of the end of the answer
	Took                            time.Duration
	Method                          string
	Target                          string // path and query, as they were sent
	Operation                       string // its operationId; empty: no operation has this path and method
	Status                          int
	Code                            string // of the error; empty: none
	StoreID, OrderID                string // empty: it is about none, or about several
	Address                         string // IP address of the caller
	TraceID                         string
	Replayed                        bool
	RequestBytes, ResponseBytes     int64
	RequestHeaders, ResponseHeaders http.Header
	RequestBody, ResponseBody       Body
}

// Entry is a request as the log has it.
type Entry struct {
	ID                              string
	At                              commerce.Millis // of the end of the answer
	Took                            time.Duration
	Method                          string
	Path                            string // with the query
	Operation                       string
	Status                          int
	Code                            string
	Mode                            commerce.Mode // of the key
	KeyID                           string
	StoreID, OrderID                string
	Address                         string
	TraceID                         string
	Replayed                        bool
	RequestBytes, ResponseBytes     int64
	RequestHeaders, ResponseHeaders []Header // only of Find, as are the bodies
	RequestBody, ResponseBody       string   // JSON, or the begin of it; empty: not kept
	Truncated                       bool     // a body, a header or the path was cut
}
