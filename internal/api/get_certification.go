package api

import (
	"errors"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// getCertification answers the partner's newest run.
func (a *API) getCertification(r *request) (reply, error) {
	run, row, err := a.service.FindCertification(r.Context(), r.Partner.ID)
	if errors.Is(err, storage.ErrNotFound) || err == nil && run.ID != r.param("run_id") {
		err = commerce.NotFound("run")
	}
	if err != nil {
		return reply{}, err
	}
	return ok(struct {
		OK  bool   `json:"ok"`
		Run runOut `json:"run"`
	}{true, runShape(run, row)})
}
