package api

import (
	"net/http"
	"slices"

	"purveyor/internal/api/wire"
	"purveyor/internal/certify"
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
)

type newRunIn struct {
	WebhookURL *string   `json:"webhook_url"`
	Groups     *[]string `json:"groups"`
}

// startCertification begins a run of the partner's integration through the script.
var startCertification = keyed[newRunIn](needsNoBody, (*service.Service).StartCertification, func(r *request, row commerce.Certification) (int, []byte) {
	return http.StatusCreated, wire.Encode(struct {
		OK      bool   `json:"ok"`
		Run     runOut `json:"run"`
		TraceID string `json:"trace_id"`
	}{true, runOf(row), r.traceID})
})

func (in newRunIn) call(*request) (service.StartCertification, error) {
	var c check
	call := service.StartCertification{WebhookURL: c.Optional("webhook_url", in.WebhookURL, jsonin.MaxURL)}
	if in.Groups != nil {
		c.NotEmpty("groups", len(*in.Groups))
		if len(*in.Groups) > len(certify.Groups) {
			c.Fail("groups", "must have at most %d items", len(certify.Groups))
		}
		for _, g := range c.texts("groups", *in.Groups) {
			call.Groups = append(call.Groups, certify.Group(g))
		}
		c.Each("groups", len(call.Groups), func(i int) {
			if !slices.Contains(certify.Groups, call.Groups[i]) {
				c.Fail("", "must be one of %v", certify.Groups)
			}
		})
	}
	return call, c.Err
}
