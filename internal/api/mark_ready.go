package api

import (
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
)

type readyIn struct {
	ReadyAt *jsonin.Int `json:"ready_at"`
}

// markReady records that a pickup order waits for its customer.
var markReady = called[readyIn](needsNoBody, (*service.Service).MarkReady, advanced)

func (in readyIn) call(r *request) (service.Handover, error) {
	return r.handover("ready_at", in.ReadyAt)
}
