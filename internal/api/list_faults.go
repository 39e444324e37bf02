package api

import (
	"purveyor/internal/commerce"
)

// faultOut is a fault as partners see it.
type faultOut struct {
	ID        string             `json:"id"`
	Kind      commerce.FaultKind `json:"kind"`
	Operation string             `json:"operation,omitempty"`
	Calls     int64              `json:"calls"`
	CallsLeft int64              `json:"calls_left"`
	DelayMs   int64              `json:"delay_ms,omitzero"`
	ExpiresOn commerce.Millis    `json:"expires_on"`
}

func faultOf(f commerce.Fault) faultOut {
	return faultOut{f.ID, f.Kind, f.Operation, f.Calls, f.Left, f.Delay.Milliseconds(), f.ExpiresOn}
}

// listFaults lists the faults that still hit something, the oldest first.
func (a *API) listFaults(r *request) (reply, error) {
	stored, err := a.reader.Faults(r.Context(), r.Partner.ID)
	if err != nil {
		return reply{}, err
	}
	list := []faultOut{}
	for _, f := range stored.Asked(commerce.MillisOf(a.now())) {
		list = append(list, faultOf(f))
	}
	return ok(struct {
		OK     bool       `json:"ok"`
		Count  int        `json:"count"`
		Faults []faultOut `json:"faults"`
	}{true, len(list), list})
}
