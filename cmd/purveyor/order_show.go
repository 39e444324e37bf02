package main

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"purveyor/internal/backoffice"
	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// shownOrder is one order as JSON.
type shownOrder struct {
	listedOrder
	Situation string          `json:"situation"`
	Lines     []shownLine     `json:"items"`
	Money     shownMoney      `json:"money"`
	Refunds   []shownRefund   `json:"refunds"`
	Attention []shownReason   `json:"attention"`
	Possible  []string        `json:"possible"` // acts
	Story     []shownEvent    `json:"story,omitempty"`
	Jobs      []shownOrderJob `json:"jobs,omitempty"`
}

type shownLine struct {
	ProductID  string         `json:"product_id"`
	Name       string         `json:"name"`
	Quantity   int64          `json:"quantity"`
	PriceCents commerce.Cents `json:"price"`
}

type shownMoney struct {
	Subtotal commerce.Cents `json:"subtotal"`
	Tax      commerce.Cents `json:"tax"`
	Fee      commerce.Cents `json:"delivery_fee"`
	Total    commerce.Cents `json:"total"`
	Captured commerce.Cents `json:"captured"`
	Refunded commerce.Cents `json:"refunded"`
	Pending  commerce.Cents `json:"on_its_way_back"`
}

type shownRefund struct {
	ID          string               `json:"id"`
	State       commerce.RefundState `json:"state"`
	AmountCents commerce.Cents       `json:"amount"`
	Reason      string               `json:"reason"`
	Error       string               `json:"error"`
}

type shownReason struct {
	Code   commerce.AttentionCode `json:"code"`
	Since  commerce.Millis        `json:"since"`
	Means  string                 `json:"means"`
	Detail string                 `json:"detail"`
	Step   string                 `json:"step"`
}

type shownEvent struct {
	At     commerce.Millis `json:"at"`
	Part   string          `json:"part"`
	Title  string          `json:"title"`
	Actor  string          `json:"actor"`
	Detail []string        `json:"detail"`
	Failed bool            `json:"failed"`
}

type shownOrderJob struct {
	ID    string           `json:"id"`
	Kind  commerce.JobKind `json:"kind"`
	State string           `json:"state"`
	Tries int64            `json:"tries"`
	Next  string           `json:"next"`
	Error string           `json:"error"`
}

func shown(o commerce.Order, e backoffice.Explanation) shownOrder {
	s := shownOrder{listedOrder: listed(o), Situation: e.Situation, Lines: []shownLine{}, Refunds: []shownRefund{}, Attention: []shownReason{}, Possible: []string{},
		Money: shownMoney{Subtotal: o.SubtotalCents, Tax: o.TaxCents, Fee: o.DeliveryFeeCents, Total: o.TotalCents, Refunded: o.RefundedCents}}
	if p := e.Payment; p != nil {
		s.Money.Captured, s.Money.Pending = p.CapturedCents, p.PendingCents
	}
	for _, l := range o.Lines {
		s.Lines = append(s.Lines, shownLine{l.ProductID, cmp.Or(e.Names[l.ProductID], l.ProductID), l.Quantity, l.PriceCents})
	}
	for _, r := range e.Refunds {
		s.Refunds = append(s.Refunds, shownRefund{r.ID, r.State, r.AmountCents, r.Reason, r.Error})
	}
	for _, a := range e.Reasons {
		s.Attention = append(s.Attention, shownReason{a.Code, a.Since, a.Means, a.Detail, a.Step})
	}
	for _, a := range e.Possible {
		s.Possible = append(s.Possible, a.Name)
	}
	return s
}

// explained reads the order, and all that is known about it.
func (c onOrder) explained(ctx context.Context, db *database) (o commerce.Order, e backoffice.Explanation, err error) {
	if o, err = c.find(ctx, db); err == nil {
		e, err = backoffice.Explain(ctx, db.Reader(), o, moment)
	}
	return o, e, err
}

type orderShow struct{ onOrder }

func (c orderShow) Run(ctx context.Context, db *database) error {
	o, e, err := c.explained(ctx, db)
	if err != nil {
		return err
	}
	s := shown(o, e)
	if c.JSON {
		return printJSON(s)
	}
	if err := s.print(o); err != nil {
		return err
	}
	printPossible(o, e)
	return nil
}

func (s shownOrder) print(o commerce.Order) error {
	printf("order       %s\nstands      %s\nstatus      %s\nmode        %s\nstore       %s\npartner     %s\nits id      %s\nkind        %s\nmade        %s\ncustomer    %s\n\n",
		s.ID, oneLine.Replace(s.Situation), s.Status, s.Mode, s.StoreID, orNone(s.PartnerID), orNone(s.ExternalID), s.Fulfillment, moment(s.CreatedOn), orNone(o.CustomerEmail))
	t := newTable("PRODUCT", "NAME", "PIECES", "PRICE", "TOGETHER")
	for _, l := range s.Lines {
		t.row(l.ProductID, l.Name, l.Quantity, l.PriceCents.Dollars(), (l.PriceCents * commerce.Cents(l.Quantity)).Dollars())
	}
	if err := t.flush(); err != nil {
		return err
	}
	m := s.Money
	printf("\nsubtotal    %s\ntax         %s\ndelivery    %s\ntotal       %s\nby card     %s\nrefunded    %s\ngoing back  %s\n",
		m.Subtotal.Dollars(), m.Tax.Dollars(), m.Fee.Dollars(), m.Total.Dollars(), m.Captured.Dollars(), m.Refunded.Dollars(), m.Pending.Dollars())
	for _, r := range s.Refunds {
		printf("refund      %s  %s  %s  %s\n", r.ID, r.AmountCents.Dollars(), r.State, oneLine.Replace(strings.TrimSpace(r.Reason+"  "+r.Error)))
	}
	s.printAttention()
	return nil
}

func (s shownOrder) printAttention() {
	for _, a := range s.Attention {
		printf("attention   %s since %s: %s\n            %s. %s\n", a.Code, moment(a.Since), a.Means, oneLine.Replace(strings.TrimSuffix(a.Detail, ".")), a.Step)
	}
}

// printPossible prints what may be done next: the command, where there is one.
func printPossible(o commerce.Order, e backoffice.Explanation) {
	commands := map[string]string{"confirm": "", "ready": "", "picked-up": "", "cancel": " --reason TEXT", "refund": " --reason TEXT"}
	head := "may be done"
	for _, a := range e.Possible {
		if flags, here := commands[a.Name]; here {
			printf("%-11s purveyor order %s %s%s\n", head, a.Name, o.ID, flags)
		} else {
			printf("%-11s %s, in the back office\n", head, a.Word)
		}
		head = ""
	}
}

type orderExplain struct{ onOrder }

func (c orderExplain) Run(ctx context.Context, db *database) error {
	o, e, err := c.explained(ctx, db)
	if err != nil {
		return err
	}
	s := shown(o, e)
	for _, told := range e.Story {
		s.Story = append(s.Story, shownEvent(told))
	}
	if s.Jobs, err = jobsAbout(ctx, db, e); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(s)
	}
	printf("order       %s\nstands      %s\n\n", o.ID, oneLine.Replace(s.Situation))
	s.tell()
	s.printAttention()
	for _, j := range s.Jobs {
		printf("job         %s  %s  %s  failed tries %d  next %s  %s\n", j.ID, j.Kind, j.State, j.Tries, j.Next, oneLine.Replace(j.Error))
	}
	printPossible(o, e)
	return nil
}

// tell prints the story.
func (s shownOrder) tell() {
	for _, e := range s.Story {
		mark := " "
		if e.Failed {
			mark = "!"
		}
		printf("%s %s %-8s %s", moment(e.At), mark, e.Part, oneLine.Replace(e.Title))
		if e.Actor != "" {
			printf(", by %s", oneLine.Replace(e.Actor))
		}
		printf("\n")
		for _, d := range e.Detail {
			printf("%33s%s\n", "", oneLine.Replace(d))
		}
	}
	printf("\n")
}

// jobsAbout reads the jobs about an order that are not done.
func jobsAbout(ctx context.Context, db *database, e backoffice.Explanation) (list []shownOrderJob, err error) {
	now := commerce.MillisOf(time.Now())
	for _, owner := range e.Owners {
		for _, state := range []commerce.JobState{commerce.JobWaiting, commerce.JobParked, commerce.JobHeld, commerce.JobDead} {
			jobs, err := db.Reader().Jobs(ctx, storage.JobFilter{State: state, Owner: owner, Limit: shownJobs})
			if err != nil {
				return nil, err
			}
			for _, j := range jobs {
				if slices.Contains(e.Subjects, j.Subject) {
					list = append(list, shownOrderJob{j.ID, j.Kind, jobState(j, now), j.Tries, nextTry(j, now), j.Error})
				}
			}
		}
	}
	return list, nil
}
