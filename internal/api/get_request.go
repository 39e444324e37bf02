package api

import (
	"errors"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/requestlog"
	"purveyor/internal/service"
)

// requestDetail is a request with what was sent and answered, without secrets.
type requestDetail struct {
	requestOut
	RequestHeaders  headersOut `json:"request_headers"`
	RequestBody     *string    `json:"request_body"`
	ResponseHeaders headersOut `json:"response_headers"`
	ResponseBody    *string    `json:"response_body"`
	Truncated       bool       `json:"truncated"`
	EventIDs        []string   `json:"event_ids"`
}

// getRequest reads a request that the key may see.
func (a *API) getRequest(r *request) (reply, error) {
	if a.requests == nil {
		return reply{}, errNoRequestLog
	}
	e, err := a.requests.Find(r.Context(), r.Partner.ID, r.param("request_id"))
	visible := r.visibleRequests()
	if errors.Is(err, requestlog.ErrNotFound) || err == nil && (e.At < visible.Since || !visible.Shows(&e)) {
		return reply{}, commerce.NotFound("request")
	}
	if err != nil {
		return reply{}, requestLogAway(err)
	}
	if r.restricted() && e.KeyID != r.Key.ID {
		e.RequestBody, e.ResponseBody = "", ""
	}
	out := requestDetail{requestShape(e), headersOut(e.RequestHeaders), wire.OrNull(e.RequestBody), headersOut(e.ResponseHeaders), wire.OrNull(e.ResponseBody), e.Truncated, []string{}}
	events, err := a.service.EventsOfRequest(r.Context(), service.Request{PartnerID: r.Partner.ID, OrderID: e.OrderID, TraceID: e.TraceID, Began: e.At.Add(-e.Took), Ended: e.At})
	if err != nil {
		return reply{}, err
	}
	for _, event := range events {
		if r.mayHear(event) {
			out.EventIDs = append(out.EventIDs, event.ID)
		}
	}
	return ok(struct {
		OK      bool          `json:"ok"`
		Request requestDetail `json:"request"`
	}{true, out})
}

// headersOut are headers as an object, in which each name has all its values in one text.
type headersOut []requestlog.Header

// MarshalJSON implements json.Marshaler.
func (h headersOut) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i := 0; i < len(h); i++ {
		if i > 0 {
			b = append(b, ',')
		}
		value := h[i].Value
		for ; i+1 < len(h) && h[i+1].Name == h[i].Name; i++ {
			value += ", " + h[i+1].Value
		}
		b = wire.AppendString(append(wire.AppendString(b, h[i].Name), ':'), value)
	}
	return append(b, '}'), nil
}
