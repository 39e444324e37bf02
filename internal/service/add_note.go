package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// AddNote adds a text of staff to the timeline of an order, where its partner reads it, too.
func (s *Service) AddNote(ctx context.Context, by Caller, order commerce.Order, text string, o Once[commerce.Order]) (Outcome[commerce.Order], error) {
	if text == "" {
		return Outcome[commerce.Order]{}, commerce.Invalid("text", "text is empty")
	}
	cmd := command.AddNote{Facts: command.FactsOf(order), Actor: by.Actor, Text: text}
	return once(ctx, s, by, o, auditPeople(by.Actor, deed{"add_note", order.StoreID, order.ID}, cmd), neverRefused)
}
