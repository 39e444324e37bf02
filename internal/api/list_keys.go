package api

import (
	"purveyor/internal/commerce"
)

// listKeys lists the partner's keys, the newest first.
func (a *API) listKeys(r *request) (reply, error) {
	p, err := a.reader.Partner(r.Context(), r.Partner.ID)
	if err != nil {
		return reply{}, err
	}
	keys, err := a.reader.APIKeys(r.Context(), p.ID)
	if err != nil {
		return reply{}, err
	}
	out, now := []keyOut{}, commerce.MillisOf(a.now())
	for _, k := range keys {
		if r.seesKey(k) {
			out = append(out, keyOf(p, k, now))
		}
	}
	return ok(struct {
		OK    bool     `json:"ok"`
		Count int      `json:"count"`
		Keys  []keyOut `json:"keys"`
	}{true, len(out), out})
}
