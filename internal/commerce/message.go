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

// UnsentKind is the way by which a message would have been sent.
type UnsentKind string

// The kinds.
const (
	UnsentMail UnsentKind = "mail"
	UnsentSMS  UnsentKind = "sms"
)

// UnsentReason is why a message was kept and not sent.
type UnsentReason string

// The reasons.
const (
	UnsentTestMode      UnsentReason = "test mode"
	UnsentNotConfigured UnsentReason = "not configured"
	// The limits of mails to customers.
	UnsentTooManyOfOrder   UnsentReason = "too many mails about this order"
	UnsentTooManyOfPartner UnsentReason = "too many mails of this partner today"
)

// UnsentMessage is an e-mail or SMS that was kept and not sent.
type UnsentMessage struct {
	ID        string // given by the committer
	Kind      UnsentKind
	To        string
	Subject   string // mail only
	Text      string
	HTML      string // mail only
	Reason    UnsentReason
	OrderID   string
	CreatedOn Millis
}

// E164 is the international form of a phone number. Ten digits are taken as a number of the
// United States.
func E164(phone string) (string, bool) {
	digits := strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -.()", r) {
			return -1
		}
		return r
	}, phone)
	digits, international := strings.CutPrefix(digits, "+")
	if strings.Trim(digits, "0123456789") != "" {
		return "", false
	}
	switch n := len(digits); {
	case international && n >= 8 && n <= 15 && digits[0] != '0':
		return "+" + digits, true
	case !international && n == 10 && digits[0] > '1':
		return "+1" + digits, true
	case !international && n == 11 && digits[0] == '1':
		return "+" + digits, true
	}
	return "", false
}
