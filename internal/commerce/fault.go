package commerce

import (
	"slices"
	"time"
)

// FaultKind is what happens to a call of a partner in test mode, because the partner has asked for it.
type FaultKind string

// The kinds.
const (
	FaultSlow       FaultKind = "slow"               // the call waits, and is then answered
	FaultError      FaultKind = "error"              // it is refused as if the database were away
	FaultLostAnswer FaultKind = "lost_answer"        // it is done, and the connection is cut
	FaultLimited    FaultKind = "rate_limited"       // it is refused as if the limit were used up
	FaultStock      FaultKind = "insufficient_stock" // it is refused as if the goods were sold out
)

// The kinds that certification adds, which partners cannot ask for.
const (
	FaultExtraField FaultKind = "extra_field" // the answer has a field that is not documented
	FaultNewValue   FaultKind = "new_value"   // the answer has a status that is not documented
	FaultShortPage  FaultKind = "short_page"  // a page has few rows, and there is one more
)

// FaultKinds are those that partners can ask for.
var FaultKinds = []FaultKind{FaultSlow, FaultError, FaultLostAnswer, FaultLimited, FaultStock}

// StockOperations are the operations of the API that refuse for want of stock.
var StockOperations = []string{"createCheckoutSession", "reportOrder", "confirmOrder", "adjustInventory"}

// FaultFreshness is how long a process knows the faults of a partner without another look, as long as it knows keys.
const FaultFreshness = 2 * time.Second

// MaxFaults is the most faults of a partner, MaxFaultCalls the most calls that one hits.
const (
	MaxFaults     = 20
	MaxFaultCalls = 100
	FaultLife     = time.Hour
)

// Fault hits the next calls of a partner's test keys.
type Fault struct {
	ID        string
	Kind      FaultKind
	Operation string // the operation that it hits; empty: each
	Calls     int64  // that it hits in all
	Left      int64  // of them
	Delay     time.Duration
	ExpiresOn Millis
}

// Hits reports whether the fault hits a call of an operation.
func (f Fault) Hits(operation string, now Millis) bool {
	return f.active(now) && (f.Operation == "" || f.Operation == operation) && (f.Kind != FaultStock || slices.Contains(StockOperations, operation))
}

func (f Fault) active(now Millis) bool { return f.Left > 0 && now < f.ExpiresOn }

// Faults are those of a partner.
type Faults struct {
	PartnerID string
	List      []Fault // in the order in which they were made
	UpdatedOn Millis
}

// Asked are those of Active that the partner has asked for: a certification makes others.
func (f Faults) Asked(now Millis) []Fault {
	return slices.DeleteFunc(f.Active(now), func(f Fault) bool { return !slices.Contains(FaultKinds, f.Kind) })
}

// Active are the faults that still hit something.
func (f Faults) Active(now Millis) (list []Fault) {
	for _, fault := range f.List {
		if fault.active(now) {
			list = append(list, fault)
		}
	}
	return list
}
