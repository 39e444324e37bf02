package commerce

import "strings"

// The limits of mails to customers (BEHAVIOUR, mails to customers). They exist because a
// partner chooses the recipient and writes part of each mail.
const (
	MailsOfOrder   = 3   // to one recipient about one order
	MailsOfPartner = 500 // a day
)

// MailCount counts mails to customers, either to one recipient about one order or for one
// partner on one day.
type MailCount struct {
	MailKey
	Day   int64  // since 1970, UTC; 0 for an order, whose count never starts again
	Count int64  // of mails; several attempts of one mail count once
	JobID string // of the mail that was counted last
}

// MailKey names a count. Owner is the order's store or the partner.
type MailKey struct{ Owner, Name string }

// MailsTo is the key of the count of mails to one recipient about an order.
func MailsTo(o OrderKey, recipient string) MailKey {
	return MailKey{o.StoreID, o.OrderID + " " + strings.ToLower(recipient)}
}

// MailsFor is the key of the count of a partner's mails to customers.
func MailsFor(partnerID string) MailKey { return MailKey{partnerID, "day"} }

// CountMail counts a mail to a customer at its first attempt. If it returns a reason, the
// mail is beyond a limit and neither count changes.
func CountMail(order, partner MailCount, jobID string, now Millis) (MailCount, MailCount, UnsentReason) {
	if order.JobID == jobID && jobID != "" {
		return order, partner, ""
	}
	if today := int64(now) / day.Milliseconds(); partner.Day != today {
		partner.Day, partner.Count = today, 0
	}
	switch {
	case order.Count >= MailsOfOrder:
		return order, partner, UnsentTooManyOfOrder
	case partner.Owner != "" && partner.Count >= MailsOfPartner:
		return order, partner, UnsentTooManyOfPartner
	}
	order.Count, order.JobID = order.Count+1, jobID
	partner.Count, partner.JobID = partner.Count+1, jobID
	return order, partner, ""
}
