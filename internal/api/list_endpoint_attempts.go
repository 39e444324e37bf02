package api

import (
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/web"
)

// attemptForm is the form of the cursors of attempts: a tag of the endpoint, and an id.
const attemptForm = "a1."

// maxAttempts bounds the attempts that one request looks at.
const maxAttempts = 5000

// listEndpointAttempts lists the attempts at an endpoint, newest first.
func (a *API) listEndpointAttempts(r *request, e endpointSeen) (reply, error) {
	if err := e.reads(r); err != nil {
		return reply{}, err
	}
	q := web.QueryOf(r.Request)
	since, limit := q.Millis("since"), q.Limit(100, 300)
	delivered := q.Text("delivered")
	if delivered != "" && delivered != "true" && delivered != "false" {
		q.Fail("invalid_query", "delivered", "must be true or false")
	}
	tag := cursorTag(e.owner())
	before := readCursor(q, "is not a next_cursor of this list", tag, func(text, tag string) (string, bool) {
		id, ok := openCursor(text, attemptForm+tag)
		return id, ok && commerce.IsID(commerce.PrefixAttempt, id)
	})
	if err := q.Err(); err != nil {
		return reply{}, err
	}
	list := []commerce.WebhookAttempt{}
	more := true
	for seen := 0; more && len(list) < limit && seen < maxAttempts; {
		page, err := a.reader.EndpointAttempts(r.Context(), e.owner(), before, limit)
		if err != nil {
			return reply{}, err
		}
		seen += len(page)
		more = len(page) == limit
		for _, t := range page {
			if commerce.TimeOfAttempt(t.ID) < since { // they ascend by when they ended, which is later than they began
				more = false
				break
			}
			if len(list) == limit {
				more = true
				break
			}
			if before = t.ID; t.At >= since && (delivered == "" || t.Delivered() == (delivered == "true")) {
				list = append(list, t)
			}
		}
	}
	answer := struct {
		OK       bool         `json:"ok"`
		Count    int          `json:"count"`
		Next     string       `json:"next_cursor,omitempty"`
		Attempts []attemptOut `json:"attempts"`
	}{OK: true, Count: len(list), Attempts: attemptsOf(slices.Clip(list))}
	if more {
		answer.Next = sealCursor(attemptForm+tag, before)
	}
	return ok(answer)
}
