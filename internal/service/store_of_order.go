package service

import "purveyor/internal/commerce"

// StoreOfOrder is the store that an order's id names; empty if it is not known in this process,
// because no order of the store was looked for.
func (s *Service) StoreOfOrder(orderID string) string {
	no, ok := commerce.StoreNoOfOrder(orderID)
	if !ok {
		return ""
	}
	id, _ := s.storeIDs.Load(no)
	text, _ := id.(string)
	return text
}
