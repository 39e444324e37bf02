package commerce

// OutboxKind is how a callback would have travelled.
type OutboxKind string

// The kinds.
const (
	OutboxMail OutboxKind = "mail"
	OutboxSMS  OutboxKind = "sms"
)

// OutboxReason says why a callback was kept and not sent.
type OutboxReason string

// The reasons.
const (
	OutboxTestMode      OutboxReason = "test mode"
	OutboxNotConfigured OutboxReason = "not configured"
	// Beyond the limits of mails to customers.
	OutboxTooManyOfOrder   OutboxReason = "too many mails about this order"
	OutboxTooManyOfPartner OutboxReason = "too many mails of this partner today"
)

// OutboxMessage is an e-mail or SMS that did not leave the house.
type OutboxMessage struct {
	ID        string // given by the committer
	Kind      OutboxKind
	To        string
	Subject   string // mail only
	Text      string
	HTML      string // mail only
	Reason    OutboxReason
	OrderID   string
	CreatedOn int64 // Unix ms
}
