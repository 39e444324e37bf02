package payment

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/sandbox"
)

// NoticePath is the inbound path that takes notices of payments, as
// sandbox.Notice names it.
const NoticePath = "payments"

// maxNoticeBytes is far above what a sandbox says.
const maxNoticeBytes = 64 << 10

// noticeJSON is a Notice as the sandbox posts it.
type noticeJSON struct {
	ID          string         `json:"id"`
	Kind        NoticeKind     `json:"kind"`
	OrderID     string         `json:"order_id"`
	SessionID   string         `json:"session_id,omitempty"`
	PaymentID   string         `json:"payment_id,omitempty"`
	AmountCents commerce.Cents `json:"amount_cents"`
	RefundID    string         `json:"refund_id,omitempty"`
	OurRefundID string         `json:"our_refund_id,omitempty"`
	Message     string         `json:"message,omitempty"`
}

// tell adds a notice to the change that is being made. Its id is made of the
// session's and a number, so that it is the same whoever sends it how often.
func (x *session) tell(after time.Duration, n Notice) {
	x.Told++
	n.ID = "evt_test_" + strings.TrimPrefix(x.ID, sessionPrefix) + "_" + strconv.Itoa(x.Told)
	n.OrderID = x.Request.OrderID
	if n.RefundID == "" {
		n.SessionID = x.ID
	}
	body, err := json.Marshal(noticeJSON(n))
	if err != nil {
		panic(err) // texts and numbers always encode
	}
	notice := sandbox.Notice{To: NoticePath, After: after, Body: body}
	x.notices = append(x.notices, notice)
	if asks(x.email(), tagTwice) {
		x.notices = append(x.notices, notice)
	}
}

// decodeNotice reads what tell has made. Fields that a newer process has added
// are passed over; a kind that is not known may be by the process that gets
// the next try.
func decodeNotice(body []byte) (Notice, error) {
	var n noticeJSON
	if err := json.Unmarshal(body, &n); err != nil {
		return Notice{}, fmt.Errorf("it is no JSON as the sandbox writes it: %w", err)
	}
	switch n.Kind {
	case NoticePaid, NoticePending, NoticeDeclined, NoticeExpired, NoticeRefunded, NoticeRefundFailed:
	default:
		return Notice{}, fmt.Errorf("its kind %q is not known", n.Kind)
	}
	if n.ID == "" || n.OrderID == "" {
		return Notice{}, errors.New("it names no order or has no id")
	}
	return Notice(n), nil
}
