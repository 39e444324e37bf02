package e2e_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"

	"purveyor/internal/testkit/history"
)

var inStock = regexp.MustCompile(`\((\S+)\): requested \d+, available (\d+)`)

// told is what an answer of the API told of a thing.
func told(a answer, of thing, keyed bool) history.Answer {
	type quantity struct {
		ID       string `json:"product_id"`
		Had      int64  `json:"previous_quantity"`
		Have     int64  `json:"next_quantity"`
		ReadID   string `json:"id"`
		Quantity int64  `json:"available_quantity"`
	}
	var body struct {
		Code, Error, Status string
		OrderID             string `json:"order_id"`
		Again               bool   `json:"idempotent_replay"`
		Restored            bool   `json:"inventory_restored"`
		Order               order
		Product             *quantity
		Items, Adjustments  []quantity
	}
	if err := json.Unmarshal(a.body, &body); err != nil {
		return history.Answer{Status: a.status, Code: "no JSON: " + err.Error()}
	}
	out := history.Answer{Status: a.status, Code: body.Code, Order: body.OrderID + body.Order.ID, State: body.Status + body.Order.Status,
		Restored: body.Restored, Replayed: body.Again || a.header.Get("Idempotent-Replayed") == "true"}
	if keyed && a.status/100 == 2 {
		out.Body = string(a.body)
	}
	set := func(list *[]int64, id string, n int64) {
		if *list == nil {
			*list = slices.Repeat([]int64{history.Untold}, len(of.products))
		}
		if i := slices.Index(of.products, id); i >= 0 {
			(*list)[i] = n
		}
	}
	if body.Product != nil {
		set(&out.Have, body.Product.ReadID, body.Product.Quantity)
	}
	for _, q := range body.Items {
		set(&out.Have, q.ID, q.Quantity)
	}
	for _, q := range body.Adjustments {
		set(&out.Had, q.ID, q.Had)
		set(&out.Have, q.ID, q.Have)
	}
	if short := inStock.FindStringSubmatch(body.Error); short != nil && body.Code == "insufficient_stock" {
		n, _ := strconv.ParseInt(short[2], 10, 64)
		set(&out.Have, short[1], n)
	}
	return out
}
