package api

import (
	"purveyor/internal/certify"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
)

type ackIn struct {
	RunID    *string   `json:"run_id"`
	EventIDs *[]string `json:"event_ids"`
	Orders   *[]*struct {
		OrderID *string `json:"order_id"`
		Status  *string `json:"status"`
	} `json:"orders"`
}

// ackCertification is told what the partner's books have.
func (a *API) ackCertification(r *request) (reply, error) {
	var in ackIn
	if err := r.decodeBody(&in, largeBody); err != nil {
		return reply{}, err
	}
	call, err := in.read(r.Partner.ID)
	if err != nil {
		return reply{}, err
	}
	n, err := a.service.AckCertification(r.Context(), call)
	if err != nil {
		return reply{}, err
	}
	return ok(struct {
		OK      bool   `json:"ok"`
		RunID   string `json:"run_id"`
		Events  int    `json:"events"`
		TraceID string `json:"trace_id"`
	}{true, call.RunID, n, r.traceID})
}

func (in ackIn) read(partnerID string) (service.CertifyAck, error) {
	var c check
	call := service.CertifyAck{PartnerID: partnerID, RunID: c.Required("run_id", in.RunID, jsonin.MaxID), Statuses: map[string]string{}}
	if in.EventIDs == nil {
		c.Fail("event_ids", "is required")
		return call, c.Err
	}
	call.Events = c.texts("event_ids", *in.EventIDs)
	if len(call.Events) > 2*certify.MaxBooks {
		c.Fail("event_ids", "must have at most %d items", 2*certify.MaxBooks)
	}
	if in.Orders != nil {
		c.Each("orders", len(*in.Orders), func(i int) {
			o := (*in.Orders)[i]
			if o == nil {
				c.Fail("", "must be an object")
				return
			}
			id, status := c.Required("order_id", o.OrderID, jsonin.MaxID), c.Required("status", o.Status, jsonin.MaxID)
			call.Statuses[id] = status
		})
		if len(*in.Orders) > certify.MaxBooks {
			c.Fail("orders", "must have at most %d items", certify.MaxBooks)
		}
	}
	return call, c.Err
}
