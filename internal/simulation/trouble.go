package simulation

import "slices"

// The kinds of trouble in a history. Each can be left out, so that a failing history becomes
// shorter.
const (
	kills       = "kills"       // of processes
	stops       = "stops"       // of processes, for a while
	clocks      = "clocks"      // that jump and drift
	outages     = "outages"     // of the database
	saves       = "saves"       // that fail or get lost
	full        = "full"        // disks of the database, for a while
	upgrades    = "upgrades"    // of processes, one after another
	callbacks   = "callbacks"   // that come twice, late and out of order
	rotations   = "rotations"   // of the secrets of endpoints
	keyChanges  = "keys"        // of partners, which are replaced and revoked
	endpoints   = "endpoints"   // of partners that hang, or answer 500 or 410
	claims      = "claims"      // of jobs that fail
	providers   = "providers"   // that are away, late, or whose answers get lost
	credentials = "credentials" // that the provider of couriers refuses for a while
	tags        = "tags"        // by which sandboxes misbehave
	suspensions = "suspensions" // of partners
	forgeries   = "forgeries"   // of callbacks
	mistakesBy  = "mistakes"    // of partners
	haste       = "haste"       // of a partner that calls more often than it may
	restocks    = "restocks"    // of partners
	staffWork   = "staff"       // that works through the list of attention
)

// Troubles are all kinds.
var Troubles = []string{kills, stops, clocks, outages, full, upgrades, saves, claims, callbacks, endpoints, rotations, keyChanges, providers, credentials, tags, suspensions, forgeries, mistakesBy, haste, restocks, staffWork}

// troubled reports whether there is this kind of trouble.
func (w *world) troubled(kind string) bool { return !slices.Contains(w.Without, kind) }

// trouble begins what makes trouble.
func (w *world) trouble(kind string, begin func()) {
	if w.troubled(kind) {
		w.env.Go(begin)
	}
}

// chance is true once in n times, while there are faults. It counts what happened then.
func (w *world) chance(kind, what string, n int) bool {
	if !w.faulty || !w.troubled(kind) || w.lot(n) > 0 {
		return false
	}
	w.fault(what)
	return true
}

// fault counts what went wrong in the world.
func (w *world) fault(what string) {
	w.report.Faults[what]++
	w.sim.Tracef("fault: %s", what)
}
