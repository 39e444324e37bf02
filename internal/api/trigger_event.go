package api

import (
	"net/http"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
	"purveyor/internal/web"
)

type triggerIn struct {
	Event   *string `json:"event"`
	StoreID *string `json:"store_id"`
}

// triggersPerMinute is how many events a partner can have played.
const triggersPerMinute = 30

// triggerEvent plays a test order until an event has happened.
func (a *API) triggerEvent(r *request) (reply, error) {
	var in triggerIn
	if err := r.decodeBody(&in, 0); err != nil {
		return reply{}, err
	}
	var c check
	trigger := service.TriggerEvent{Event: commerce.WebhookKind(c.Required("event", in.Event, jsonin.MaxID)), StoreID: c.Optional("store_id", in.StoreID, jsonin.MaxID)}
	if kinds := service.TriggeredEvents(); !slices.Contains(kinds, trigger.Event) {
		c.Fail("event", "must be one of %v", kinds)
	}
	if c.Err != nil {
		return reply{}, c.Err
	}
	var err error
	if trigger.Repeat, err = r.repeat(in); err != nil {
		return reply{}, err
	}
	if err := r.takeTrigger(); err != nil {
		return reply{}, err
	}
	id, err := a.service.TriggerEvent(r.Context(), r.caller(), trigger)
	if err != nil {
		return reply{}, err
	}
	return ok(struct {
		OK      bool                 `json:"ok"`
		Event   commerce.WebhookKind `json:"event"`
		OrderID string               `json:"order_id"`
		TraceID string               `json:"trace_id"`
	}{true, trigger.Event, id, r.traceID})
}

// takeTrigger counts the call in its minute, over all processes.
func (r *request) takeTrigger() error {
	now := r.api.now().Unix()
	window := commerce.RateWindow{PartnerID: r.Partner.ID + "/trigger", Mode: commerce.Test, Minute: now / 60}
	granted, _, err := r.api.quotas.GrantQuota(r.Context(), window, triggersPerMinute, 1)
	if err == nil && granted == 0 {
		err = &web.Error{Status: http.StatusTooManyRequests, Code: "rate_limited", RetryAfter: int(60 - now%60), Message: "At most 30 events are played a minute; wait"}
	}
	return err
}
