package commerce

// Certification is the newest run of a partner's integration through the script of package certify, and
// when the partner first passed it.
type Certification struct {
	PartnerID   string
	RunID       string
	Running     bool
	Run         string // the run, as JSON
	EndsOn      Millis // when the run ends if it is not over before
	Version     int64  // of the run; each change adds one
	CertifiedOn Millis // 0: it has not passed
	UpdatedOn   Millis
}

// Runs reports whether the run goes on.
func (c Certification) Runs(now Millis) bool { return c.Running && now < c.EndsOn }
