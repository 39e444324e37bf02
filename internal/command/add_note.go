package command

import "purveyor/internal/commerce"

// AddNote appends a text of staff to the timeline of an order.
type AddNote struct {
	Facts OrderFacts
	Actor commerce.Actor
	Text  string
}

// Needs names the order and its partner.
func (c AddNote) Needs() commerce.Needs { return c.Facts.needs() }

// Access implements commit.Keyed: staff are checked by their front.
func (c AddNote) Access(*commerce.Rows) error { return nil }

// Decide adds the note.
func (c AddNote) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Order, commerce.Changes, error) {
	oc, err := c.Facts.begin(rows, now, c.Actor)
	if err != nil {
		return commerce.Order{}, commerce.Changes{}, err
	}
	oc.addNote(CodeStaffNote, commerce.CleanText(c.Text, commerce.MaxNote))
	return oc.order, oc.finish(), nil
}

// CodeStaffNote is the code of a note that staff wrote.
const CodeStaffNote = "staff_note"
