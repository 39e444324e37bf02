package api

import (
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
)

type pickedUpIn struct {
	PickedUpAt *jsonin.Int `json:"picked_up_at"`
}

// markPickedUp records that the customer has the goods.
var markPickedUp = called[pickedUpIn](needsNoBody, (*service.Service).MarkPickedUp, advanced)

func (in pickedUpIn) call(r *request) (service.Handover, error) {
	return r.handover("picked_up_at", in.PickedUpAt)
}
