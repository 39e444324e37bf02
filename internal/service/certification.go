package service

import (
	"purveyor/internal/certify"
	"purveyor/internal/commerce"

	"github.com/go-json-experiment/json"
)

// RunOf is the run of a certification, as it is stored.
func RunOf(row commerce.Certification) (run certify.Run, err error) {
	err = json.Unmarshal([]byte(row.Run), &run)
	return run, err
}

// withRun is the certification with another state of its run. A partner that has passed everything is certified
// from then on.
func (s *Service) withRun(row commerce.Certification, run certify.Run) (commerce.Certification, error) {
	text, err := json.Marshal(run, json.Deterministic(true))
	row.Run, row.Running = string(text), !run.Over()
	if row.CertifiedOn == 0 && run.State == certify.Passed && run.Whole() {
		row.CertifiedOn = s.millis()
	}
	return row, err
}
