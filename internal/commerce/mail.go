package commerce

import "strings"

// What customers get at most (BEHAVIOUR, mails to customers): a partner writes
// part of each mail and chooses who gets it.
const (
	MailsOfOrder   = 3   // to one recipient about one order
	MailsOfPartner = 500 // a day
)

// MailCount is how many mails went to customers: to one recipient about one
// order, or for one partner on one day.
type MailCount struct {
	MailKey
	Day   int64  // since 1970, UTC; 0 for an order, which is counted for ever
	Count int64  // of mails, however often each was tried
	JobID string // of the mail that was counted last
}

// MailKey names a count. Owner is the order's store or the partner.
type MailKey struct{ Owner, Name string }

// MailsTo is the key of what one recipient got about an order.
func MailsTo(o OrderKey, recipient string) MailKey {
	return MailKey{o.StoreID, o.OrderID + " " + strings.ToLower(recipient)}
}

// MailsFor is the key of what a partner had sent to customers.
func MailsFor(partnerID string) MailKey { return MailKey{partnerID, "day"} }

// CountMail counts a mail to a customer, the first time that it is tried. With a
// reason the mail is beyond a limit, and neither count moves.
func CountMail(order, partner MailCount, jobID string, now int64) (MailCount, MailCount, OutboxReason) {
	if order.JobID == jobID && jobID != "" {
		return order, partner, ""
	}
	if today := now / day; partner.Day != today {
		partner.Day, partner.Count = today, 0
	}
	switch {
	case order.Count >= MailsOfOrder:
		return order, partner, OutboxTooManyOfOrder
	case partner.Owner != "" && partner.Count >= MailsOfPartner:
		return order, partner, OutboxTooManyOfPartner
	}
	order.Count, order.JobID = order.Count+1, jobID
	partner.Count, partner.JobID = partner.Count+1, jobID
	return order, partner, ""
}
