package service

import (
	"context"

	"purveyor/internal/certify"
	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// FindCertification reads the newest certification of a partner. A run whose time is up has ended. Error:
// storage.ErrNotFound if the partner never began one.
func (s *Service) FindCertification(ctx context.Context, partnerID string) (run certify.Run, row commerce.Certification, err error) {
	if row, err = s.reader.Certification(ctx, partnerID); err != nil {
		return run, row, err
	}
	if row.RunID == "" {
		return run, row, storage.ErrNotFound
	}
	if run, err = RunOf(row); err == nil && !run.Over() && !row.Runs(s.millis()) {
		run.State, run.Tasks = certify.Ended, nil
	}
	return run, row, err
}
