package api

import (
	"purveyor/internal/certify"
	"purveyor/internal/commerce"
	"purveyor/internal/service"
)

// runOut is a run as partners see it.
type runOut struct {
	ID          string           `json:"id"`
	State       certify.State    `json:"state"`
	Groups      []certify.Group  `json:"groups"`
	WebhookURL  string           `json:"webhook_url"`
	BeganOn     commerce.Millis  `json:"began_on"`
	EndsOn      commerce.Millis  `json:"ends_on"`
	Tasks       []certify.Task   `json:"tasks"`
	Checks      []checkOut       `json:"checks"`
	CertifiedOn *commerce.Millis `json:"certified_on"`
}

type checkOut struct {
	ID       string          `json:"id"`
	Group    certify.Group   `json:"group"`
	Title    string          `json:"title"`
	State    certify.Verdict `json:"state"`
	Message  *string         `json:"message"`
	TraceIDs []string        `json:"trace_ids"`
}

func runShape(run certify.Run, row commerce.Certification) runOut {
	out := runOut{ID: run.ID, State: run.State, Groups: run.Groups, WebhookURL: run.WebhookURL, BeganOn: run.BeganOn, EndsOn: run.EndsOn,
		Tasks: append([]certify.Task{}, run.Tasks...), CertifiedOn: timeOrNull(row.CertifiedOn)}
	for _, c := range run.Checks {
		shown := checkOut{ID: c.ID, Group: c.Group, Title: certify.Title(c.ID), State: c.State, TraceIDs: append([]string{}, c.TraceIDs...)}
		if c.Message != "" {
			shown.Message = &c.Message
		}
		out.Checks = append(out.Checks, shown)
	}
	return out
}

// runOf is the run of a certification that this process has just encoded.
func runOf(row commerce.Certification) runOut {
	run, err := service.RunOf(row)
	if err != nil {
		panic(err)
	}
	return runShape(run, row)
}
