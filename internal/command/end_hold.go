package command

import "purveyor/internal/commerce"

// EndHold ends the time for which a checkout holds its goods. If the order is still unpaid,
// they may be sold again. A payment after that is as without a hold.
type EndHold struct {
	RecordJob
	Facts OrderFacts
}

// Needs names the order with its partner, the stock of what is held, and the job.
func (c EndHold) Needs() commerce.Needs {
	n := c.Facts.needs()
	c.Facts.needHeld(&n)
	n.Jobs = c.RecordJob.Needs().Jobs
	return n
}

// Decide gives the goods back. Those of an order that was paid stay held until it is
// confirmed or stopped.
func (c EndHold) Decide(rows *commerce.Rows, now commerce.Millis) (Recorded, commerce.Changes, error) {
	oc, err := c.begin(c.Facts, rows, now)
	if oc == nil {
		return Recorded{Job: c.Job}, commerce.Changes{}, err
	}
	if err := oc.record(c.RecordJob); err != nil {
		return Recorded{}, commerce.Changes{}, err
	}
	oc.endHold()
	return oc.recorded(commerce.Undecided)
}

// endHold gives back what is held for an unpaid order, with a note.
func (oc *orderChange) endHold() {
	if oc.order.Status != commerce.PendingPayment || oc.order.HeldUntil == 0 {
		return
	}
	moves, _ := oc.moveStock(commerce.ReleasesStock) // it is never refused
	oc.addTimeline(commerce.TimelineNote, "The customer has not paid in time; the goods are for sale again", commerce.NoteData{Code: "hold_ended", Moves: moves})
}
