package command

import (
	"testing"

	"purveyor/internal/commerce"
)

// TestEndHold: only what is held for an unpaid order is released, with a note that tells what
// came back. A second attempt of the job changes nothing.
func TestEndHold(t *testing.T) {
	for _, status := range commerce.Statuses {
		for _, heldUntil := range []commerce.Millis{0, now - 1} {
			o, job := orderIn(status, commerce.ByPickup, false), leased(commerce.JobEndHold, "o")
			o.HeldUntil = heldUntil
			before := stored(o, 1)
			before.Stock[0].Held, before.Jobs = 3, []commerce.Job{job}
			cmd := EndHold{RecordJob: RecordJob{Job: job}, Facts: FactsOf(o)}
			got, changes, err := decided(cmd, before, now)
			if err != nil || len(changes.DoneJobs) != 1 || got.Order.Status != status {
				t.Fatalf("%s: %+v, %v", status, changes, err)
			}
			if status != commerce.PendingPayment || heldUntil == 0 {
				if len(changes.Orders)+len(changes.Stock)+len(changes.Timeline) != 0 {
					t.Errorf("%s, held until %d: %+v", status, heldUntil, changes)
				}
				continue
			}
			note := changes.Timeline[0].Data.(commerce.NoteData)
			if s := changes.Stock[0]; s.Quantity != 4 || s.Held != 0 || s.SoldCount != 3 || got.Order.HeldUntil != 0 || got.Order.Restocked || len(changes.Webhooks) != 0 ||
				note.Code != "hold_ended" || len(note.Moves) != 1 || note.Moves[0] != (commerce.InventoryMove{ProductID: "a", Delta: 3, Left: 4}) {
				t.Errorf("%+v", changes)
			}
			before.Jobs = nil
			if _, again, err := decided(cmd, before, now); err != nil || len(again.Stock) != 0 {
				t.Errorf("another worker had ended the job: %+v, %v", again, err)
			}
		}
	}
}
