package history

import "net/http"

// read is a read of an order by its id or its external id, in full or by ping.
func read(s *state, op Op) Answer {
	if s.status == "" {
		return Answer{Status: http.StatusNotFound, Code: "not_found"}
	}
	return Answer{Status: http.StatusOK, State: s.status, Order: s.orders[op.External]}
}

// confirm deducts the goods of a paid order. A repeat finds the work done (BEHAVIOUR, repeated
// confirm).
func confirm(s *state, _ Op) Answer {
	switch {
	case s.status == "paid":
		if !s.move(s.lines, -1) {
			return s.insufficient()
		}
		s.deducted, s.confirmed = true, true
		return s.advance("processed")
	case s.status == "processed", s.status == "ready_for_pickup" && s.confirmed:
		return s.again()
	}
	return refused("wrong_status")
}

func ready(s *state, _ Op) Answer {
	switch s.status {
	case "processed":
		return s.advance("ready_for_pickup")
	case "ready_for_pickup", "picked_up":
		return s.again()
	}
	return refused("wrong_status")
}

func pickedUp(s *state, _ Op) Answer {
	switch s.status {
	case "ready_for_pickup":
		return s.advance("picked_up")
	case "picked_up":
		return s.again()
	}
	return refused("wrong_status")
}

func (s *state) advance(status string) Answer {
	s.status = status
	return Answer{Status: http.StatusOK, State: status}
}

func (s *state) again() Answer {
	return Answer{Status: http.StatusOK, State: s.status, Replayed: true}
}

// cancel is allowed in every status that is not terminal, and restores what was deducted
// (BEHAVIOUR, Lifecycle).
func cancel(s *state, _ Op) Answer {
	switch s.status {
	case "picked_up", "cancelled", "refunded":
		return refused("wrong_status")
	}
	restored := s.deducted
	if restored {
		s.move(s.lines, +1)
	}
	s.status, s.deducted = "cancelled", false
	return Answer{Status: http.StatusOK, State: "cancelled", Restored: restored}
}
