package api

import (
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
)

type replayIn struct {
	Since  *jsonin.Int                     `json:"since"`
	Until  *jsonin.Int                     `json:"until"`
	Events *jsonin.List[string, maxEvents] `json:"events"`
	Only   *string                         `json:"only"`
}

// replayMost is the most events that one call sends again.
const replayMost = 1000

// replayEvents sends the events of a range to an endpoint again.
func (a *API) replayEvents(r *request, e endpointSeen) (reply, error) {
	var in replayIn
	if err := r.decodeBody(&in, 0); err != nil {
		return reply{}, err
	}
	call := service.ReplayEvents{PartnerID: r.Partner.ID, Only: e.owner(), Most: replayMost, Undelivered: true, Route: &e.route}
	if err := in.read(&call); err != nil {
		return reply{}, err
	}
	var err error
	if call.Repeat, err = r.repeat(in); err != nil {
		return reply{}, err
	}
	if err := e.reads(r); err != nil {
		return reply{}, err
	}
	if slices.ContainsFunc(call.Route.Kinds(), commerce.WebhookKind.OfProduct) && !r.Partner.Has(commerce.ReadProducts) {
		return reply{}, scopeMissing(commerce.ReadProducts)
	}
	n, through, more, err := a.service.ReplayEvents(r.Context(), r.caller(), call)
	if err != nil {
		return reply{}, err
	}
	return ok(struct {
		OK         bool             `json:"ok"`
		EndpointID string           `json:"endpoint_id"`
		Queued     int              `json:"queued"`
		More       bool             `json:"more"`
		Through    *commerce.Millis `json:"through"`
		TraceID    string           `json:"trace_id"`
	}{true, endpointID(e.endpoint), n, more, timeOrNull(through), r.traceID})
}

func (in replayIn) read(call *service.ReplayEvents) error {
	var c check
	call.Since = commerce.Millis(c.Between("since", in.Since, 0, 1<<53))
	if until := c.OptBetween("until", in.Until, 0, 1<<53); until != nil {
		call.Until = commerce.Millis(*until)
	}
	switch only := c.Optional("only", in.Only, jsonin.MaxID); only {
	case "", "undelivered":
	case "all":
		call.Undelivered = false
	default:
		c.Fail("only", "must be undelivered or all")
	}
	if in.Events != nil {
		c.NotEmpty("events", len(*in.Events))
		call.Route.Events = c.texts("events", *in.Events)
		c.Each("events", len(call.Route.Events), func(i int) {
			if !commerce.IsEventPattern(call.Route.Events[i]) {
				c.Fail("", "must be a kind of event, order.*, delivery.*, product.* or *")
			}
		})
	}
	return c.Err
}
