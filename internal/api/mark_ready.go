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

func (in readyIn) call(r *request) (what service.MarkReady, err error) {
	if what.ReadyAt, err = r.moment("ready_at", in.ReadyAt); err != nil {
		return what, err
	}
	what.Order, err = r.order()
	return what, err
}
