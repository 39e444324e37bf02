package commerce

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
