// Package certify has the script of the checks that a partner's integration passes before it
// sells: what it is asked to do, what is done to it meanwhile, and what it must then have done.
// It is pure: the job of a run brings what was seen, and does what Step asks for.
package certify

import (
	"maps"
	"slices"
	"time"

	"purveyor/internal/commerce"
)

// Group is a part of the script that can be run alone.
type Group string

// The groups, in their order.
const (
	Calls    Group = "calls"
	Manners  Group = "manners"
	Webhooks Group = "webhooks"
	Stories  Group = "stories"
	Repair   Group = "repair"
)

// Groups are all of them.
var Groups = []Group{Calls, Manners, Webhooks, Stories, Repair}

// State is how far a run has come.
type State string

// The states.
const (
	Running State = "running"
	Passed  State = "passed" // every check of every group has passed or been left out
	Failed  State = "failed" // the script is over, and a check has failed
	Ended   State = "ended"  // its time is up
)

// Verdict is what is known of a check.
type Verdict string

// The verdicts.
const (
	CheckPending Verdict = "pending"
	CheckPassed  Verdict = "passed"
	CheckFailed  Verdict = "failed"
	CheckSkipped Verdict = "skipped" // it could not be tried here; Message says why
)

// RunLife is how long a run may take.
const RunLife = 2 * time.Hour

// Run is one play of the script against a partner's integration.
type Run struct {
	ID         string          `json:"id"` // run_...
	PartnerID  string          `json:"partner_id"`
	State      State           `json:"state"`
	Groups     []Group         `json:"groups"`
	Endpoint   string          `json:"endpoint"` // the owner of the endpoint that is watched
	WebhookURL string          `json:"webhook_url"`
	BeganOn    commerce.Millis `json:"began_on"`
	EndsOn     commerce.Millis `json:"ends_on"`
	Goods      Goods           `json:"goods"`
	Tasks      []Task          `json:"tasks"`  // that are to be done now
	Checks     []Check         `json:"checks"` // of its groups, in the order of the script

	Stage    int                `json:"stage"` // of the script
	StageOn  commerce.Millis    `json:"stage_on"`
	Done     []string           `json:"done,omitzero"`     // keys of the acts that are done
	Posts    map[string]Post    `json:"posts,omitzero"`    // how events of an order are sent, by its external id
	Forged   map[Forgery]Forged `json:"forged,omitzero"`   // what became of webhooks that are not as they should be
	Books    map[string]int     `json:"books,omitzero"`    // how often the partner's books have an event, by its id
	Statuses map[string]string  `json:"statuses,omitzero"` // of orders in the partner's books, by their ids
	AckNo    int                `json:"ack_no"`            // how often the partner has named what its books have
	Orders   map[string]string  `json:"orders,omitzero"`   // ids of the orders of tasks, by our number of them
	Marks    map[string]int64   `json:"marks,omitzero"`    // what a stage keeps for its next look
	Slowest  commerce.Millis    `json:"slowest"`           // the longest time that a stage took
}

// Goods are what the tasks sell.
type Goods struct {
	StoreID       string   `json:"store_id"`
	Items         []Item   `json:"items"`                   // one piece of each is an order
	DeliveryStore string   `json:"delivery_store,omitzero"` // empty: no store delivers
	DeliveryItems []Item   `json:"delivery_items,omitzero"`
	Address       *Address `json:"address,omitzero"` // in reach of DeliveryStore
}

// Task is something that the integration is asked to do.
type Task struct {
	ID    string `json:"id"`             // unique in the run
	Do    string `json:"do"`             // report, checkout, cancel, refund, sync or ack
	Order string `json:"order,omitzero"` // the number by which tasks name the order; of a report, its external id
	Text  string `json:"text"`           // for a person
	Body  *Body  `json:"body,omitzero"`  // of the call that it asks for
}

// Body is the body of a call that a task asks for.
type Body struct {
	ExternalOrderID string   `json:"external_order_id,omitzero"`
	StoreID         string   `json:"store_id,omitzero"`
	Fulfillment     string   `json:"fulfillment_type,omitzero"`
	Items           []Item   `json:"items,omitzero"`
	SuccessURL      string   `json:"success_url,omitzero"`
	CancelURL       string   `json:"cancel_url,omitzero"`
	Address         *Address `json:"delivery_address,omitzero"`
	AmountCents     int64    `json:"amount_cents,omitzero"`
	RunID           string   `json:"run_id,omitzero"` // of an ack
}

// Item is a line of an order.
type Item struct {
	ProductID string `json:"product_id"`
	Quantity  int64  `json:"quantity"`
	Price     int64  `json:"price,omitzero"` // in cents; checkouts have none
}

// Address is where an order goes to.
type Address struct {
	Name    string `json:"name"`
	Address struct {
		Line1      string `json:"line1"`
		City       string `json:"city"`
		State      string `json:"state"`
		PostalCode string `json:"postal_code"`
		Country    string `json:"country"`
	} `json:"address"`
}

// Check is one of the thirty.
type Check struct {
	ID       string   `json:"id"`
	Group    Group    `json:"group"`
	State    Verdict  `json:"state"`
	Message  string   `json:"message,omitzero"`   // why it failed or was skipped
	TraceIDs []string `json:"trace_ids,omitzero"` // of calls that show it
}

// New begins a run. Groups that are not asked for are left out.
func New(id, partnerID string, groups []Group, goods Goods, endpoint, url string, now commerce.Millis) Run {
	if len(groups) == 0 {
		groups = Groups
	}
	r := Run{ID: id, PartnerID: partnerID, State: Running, Endpoint: endpoint, WebhookURL: url, BeganOn: now, EndsOn: now.Add(RunLife), Goods: goods, Stage: -1}
	for _, g := range Groups {
		if slices.Contains(groups, g) {
			r.Groups = append(r.Groups, g)
		}
	}
	for _, c := range script {
		if slices.Contains(r.Groups, c.Group) {
			r.Checks = append(r.Checks, Check{ID: c.ID, Group: c.Group, State: CheckPending})
		}
	}
	return r
}

// Ack adds to a run what the partner says its books have: events, an id as often as they have it, and
// the statuses of orders by their ids.
//
// What it has named before stays: it may name some events now and others later.
func (r Run) Ack(events []string, statuses map[string]string) Run {
	books := map[string]int{}
	for _, id := range events {
		books[id]++
	}
	for id, n := range r.Books {
		books[id] = max(books[id], n)
	}
	r.Books, r.Statuses = books, maps.Clone(r.Statuses)
	if r.Statuses == nil {
		r.Statuses = map[string]string{}
	}
	maps.Copy(r.Statuses, statuses)
	r.AckNo++
	return r
}

// MaxBooks is how many events a run keeps of a partner's books.
const MaxBooks = 5000

// Over reports whether the run has come to its end.
func (r Run) Over() bool { return r.State != Running }

// Whole reports whether the run tries every group.
func (r Run) Whole() bool { return len(r.Groups) == len(Groups) }
