package api

import (
	"net/http"
	"slices"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
	"purveyor/internal/web"
)

type actIn struct {
	Action      *string     `json:"action"`
	AmountCents *jsonin.Int `json:"amount_cents"`
}

// actInSandbox has the customer, the courier, the bank or the merchant of a test order act.
func (a *API) actInSandbox(r *request, order commerce.Order) (reply, error) {
	var in actIn
	if err := r.decodeBody(&in, 0); err != nil {
		return reply{}, err
	}
	act, err := in.read(order)
	if err != nil {
		return reply{}, err
	}
	if act.Repeat, err = r.repeat(in); err != nil {
		return reply{}, err
	}
	order, err = a.service.ActInSandbox(r.Context(), r.caller(), act)
	if err != nil {
		return reply{}, err
	}
	return ok(struct {
		OK      bool                 `json:"ok"`
		OrderID string               `json:"order_id"`
		Action  string               `json:"action"`
		Status  commerce.OrderStatus `json:"status"`
		TraceID string               `json:"trace_id"`
	}{true, order.ID, act.Action, order.Status, r.traceID})
}

func (in actIn) read(order commerce.Order) (service.SandboxAct, error) {
	var c check
	act := service.SandboxAct{Order: order, Action: c.Required("action", in.Action, jsonin.MaxID)}
	if !slices.Contains(service.SandboxActions, act.Action) {
		c.Fail("action", "must be one of %s", strings.Join(service.SandboxActions, ", "))
	}
	if amount := c.OptBetween("amount_cents", in.AmountCents, 1, int64(commerce.MaxTotal)); amount != nil {
		act.AmountCents = commerce.Cents(*amount)
		if act.Action != service.MerchantRefund {
			c.Fail("amount_cents", "is for %s alone", service.MerchantRefund)
		}
	}
	return act, c.Err
}

// inTest refuses a live key, whatever else it asks for.
func inTest(h handler) handler {
	return func(a *API, r *request) (reply, error) {
		if r.Mode != commerce.Test {
			return reply{}, &web.Error{Status: http.StatusForbidden, Code: "test_key_only", Message: "This needs a test key"}
		}
		return h(a, r)
	}
}
