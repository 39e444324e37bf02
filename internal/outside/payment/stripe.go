package payment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/outside/httpcall"

	"github.com/stripe/stripe-go/v85"
)

const (
	stripeTimeout   = 15 * time.Second // for one call of the port, which may take several of Stripe
	maxStripeAnswer = 4 << 20
	maxImageURL     = 2048 // Stripe refuses longer ones
)

// Names of the metadata that we attach to Stripe's objects, so that its events lead
// back to the order.
const (
	metaOrder  = "order_id"
	metaRefund = "refund_id"
	metaReason = "reason"
)

// StripeOptions is an account of Stripe.
type StripeOptions struct {
	Env env.Env
	Key string // secret or restricted
	// WebhookSecrets are the secrets of the endpoint that posts to us. It has several
	// while one is being replaced.
	WebhookSecrets []string
	URL            string            // of the API, without a path; empty: Stripe's own
	Transport      http.RoundTripper // nil: http.DefaultTransport
	Log            *slog.Logger      // nil: slog.Default()
}

// Stripe is the Processor of a Stripe account: hosted Checkout, cards, US dollars. It
// is safe for concurrent use.
type Stripe struct {
	env     env.Env
	client  *stripe.Client
	key     string
	secrets []string
	timeout time.Duration
	log     *slog.Logger
}

var _ Processor = (*Stripe)(nil)

// NewStripe makes the processor without calling Stripe: a wrong key shows up with the
// first call.
func NewStripe(o StripeOptions) *Stripe {
	config := &stripe.BackendConfig{
		EnableTelemetry:   stripe.Bool(false),
		HTTPClient:        &http.Client{Transport: httpcall.Whole{Next: cmp.Or(o.Transport, http.DefaultTransport), Most: maxStripeAnswer}},
		LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull}, // its lines contain customers' data
		MaxNetworkRetries: stripe.Int64(0),                                // jobs repeat calls; the library would sleep past the end of the context
	}
	if o.URL != "" {
		config.URL = stripe.String(strings.TrimRight(o.URL, "/"))
	}
	return &Stripe{
		env:    o.Env,
		client: stripe.NewClient(o.Key, stripe.WithBackends(stripe.NewBackendsWithConfig(config))),
		key:    o.Key,
		// Anyone could sign with an empty secret.
		secrets: slices.DeleteFunc(slices.Clone(o.WebhookSecrets), func(s string) bool { return s == "" }),
		timeout: stripeTimeout,
		log:     cmp.Or(o.Log, slog.Default()),
	}
}

// OpenSession opens a Checkout session that ends at r.ExpiresOn. Stripe accepts 30
// minutes to 24 hours from now, in whole seconds. The order's id is the idempotency
// key, which Stripe keeps for at least a day, and so for the life of the session.
func (s *Stripe) OpenSession(ctx context.Context, r SessionRequest) (Session, error) {
	ctx, cancel := s.env.WithTimeout(ctx, s.timeout)
	defer cancel()
	made, err := s.client.V1CheckoutSessions.Create(ctx, sessionParams(r))
	if err := s.failure(ctx, "open a session", err, made.ID, made.URL); err != nil {
		return Session{}, err
	}
	if made.LastResponse.Header.Get("Idempotent-Replayed") == "true" { // the answer shows the session as it was created
		return s.Session(ctx, made.ID)
	}
	return toSession(made), nil
}

// Check makes a harmless call, so that a wrong key shows up before a customer wants
// to pay: it returns a *commerce.CredentialsError for it.
func (s *Stripe) Check(ctx context.Context) error {
	ctx, cancel := s.env.WithTimeout(ctx, s.timeout)
	defer cancel()
	params := &stripe.CheckoutSessionListParams{}
	params.Limit = stripe.Int64(1)
	for _, err := range s.client.V1CheckoutSessions.List(ctx, params).All(ctx) {
		if err != nil {
			return s.failure(ctx, "list sessions", err)
		}
		break
	}
	return nil
}

func sessionParams(r SessionRequest) *stripe.CheckoutSessionCreateParams {
	order := map[string]string{metaOrder: r.OrderID}
	p := &stripe.CheckoutSessionCreateParams{
		Mode:               stripe.String(stripe.CheckoutSessionModePayment),
		PaymentMethodTypes: stripe.StringSlice([]string{"card"}),
		// In another currency the customer would pay an amount that differs from
		// ours.
		AdaptivePricing:   &stripe.CheckoutSessionCreateAdaptivePricingParams{Enabled: stripe.Bool(false)},
		ClientReferenceID: stripe.String(r.OrderID),
		Metadata:          order,
		PaymentIntentData: &stripe.CheckoutSessionCreatePaymentIntentDataParams{
			Description: stripe.String("Order " + r.OrderID + ", " + r.StoreName),
			Metadata:    order, // the session's metadata is not copied to its payment
		},
		SuccessURL: stripe.String(r.SuccessURL),
		CancelURL:  stripe.String(r.CancelURL),
		ExpiresAt:  stripe.Int64(int64(r.ExpiresOn / 1000)),
	}
	p.SetIdempotencyKey(r.OrderID)
	if r.CustomerEmail != "" {
		p.CustomerEmail = stripe.String(r.CustomerEmail)
	}
	for _, l := range r.Lines {
		p.LineItems = append(p.LineItems, lineItem(l))
	}
	if r.DeliveryFeeCents > 0 {
		p.LineItems = append(p.LineItems, lineItem(Line{Name: "Delivery", PriceCents: r.DeliveryFeeCents, Quantity: 1}))
	}
	if r.TaxCents > 0 {
		p.LineItems = append(p.LineItems, lineItem(Line{Name: "Tax", PriceCents: r.TaxCents, Quantity: 1}))
	}
	return p
}

func lineItem(l Line) *stripe.CheckoutSessionCreateLineItemParams {
	product := &stripe.CheckoutSessionCreateLineItemPriceDataProductDataParams{Name: stripe.String(l.Name)}
	if showable(l.ImageURL) {
		product.Images = stripe.StringSlice([]string{l.ImageURL})
	}
	return &stripe.CheckoutSessionCreateLineItemParams{
		PriceData: &stripe.CheckoutSessionCreateLineItemPriceDataParams{
			Currency:    stripe.String(stripe.CurrencyUSD),
			UnitAmount:  stripe.Int64(int64(l.PriceCents)),
			ProductData: product,
		},
		Quantity: stripe.Int64(l.Quantity),
	}
}

// showable reports whether Stripe accepts the picture. A picture that it refuses must
// not prevent the payment.
func showable(image string) bool {
	u, err := url.Parse(image)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && len(image) <= maxImageURL
}

// ExpireSession ends a session. Stripe refuses if it is no longer open; then
// ExpireSession reads its state.
func (s *Stripe) ExpireSession(ctx context.Context, id string) (Session, error) {
	ctx, cancel := s.env.WithTimeout(ctx, s.timeout)
	defer cancel()
	ended, err := s.client.V1CheckoutSessions.Expire(ctx, id, nil)
	if err = s.failure(ctx, "expire a session", err, ended.ID); err == nil {
		return toSession(ended), nil
	}
	if !refused(err) {
		return Session{}, err
	}
	now, readErr := s.Session(ctx, id)
	switch {
	case readErr != nil:
		return Session{}, readErr
	case now.Status == SessionOpen:
		return Session{}, err
	}
	return now, nil
}

// Session reads a session, its payment and its refunds.
func (s *Stripe) Session(ctx context.Context, id string) (Session, error) {
	ctx, cancel := s.env.WithTimeout(ctx, s.timeout)
	defer cancel()
	params := &stripe.CheckoutSessionRetrieveParams{}
	params.AddExpand("payment_intent")
	read, err := s.client.V1CheckoutSessions.Retrieve(ctx, id, params)
	if err := s.failure(ctx, "read a session", err, read.ID); err != nil {
		return Session{}, err
	}
	session := toSession(read)
	if session.Status != SessionPaid || read.PaymentIntent == nil { // a session with nothing to pay has no payment
		return session, nil
	}
	session.PaymentID = read.PaymentIntent.ID
	session.PaidCents = commerce.Cents(read.PaymentIntent.AmountReceived)
	refunds, err := s.refunds(ctx, &stripe.RefundListParams{PaymentIntent: stripe.String(session.PaymentID)})
	if err != nil {
		return Session{}, err
	}
	for _, r := range refunds {
		if !refundFailed(string(r.Status)) {
			session.RefundedCents += commerce.Cents(r.Amount)
		}
	}
	return session, nil
}

// toSession translates a session, without its payment.
func toSession(c *stripe.CheckoutSession) Session {
	session := Session{ID: c.ID, Status: SessionPending}
	switch {
	case c.Status == stripe.CheckoutSessionStatusOpen:
		session.Status, session.URL = SessionOpen, c.URL
	case c.Status == stripe.CheckoutSessionStatusExpired:
		session.Status = SessionExpired
	case c.PaymentStatus != stripe.CheckoutSessionPaymentStatusUnpaid:
		session.Status = SessionPaid
	}
	return session
}

// refunds lists all refunds, failed ones included.
func (s *Stripe) refunds(ctx context.Context, which *stripe.RefundListParams) ([]*stripe.Refund, error) {
	which.Limit = stripe.Int64(100)
	var all []*stripe.Refund
	for r, err := range s.client.V1Refunds.List(ctx, which).All(ctx) {
		if err != nil {
			return nil, s.failure(ctx, "list refunds", err)
		}
		all = append(all, r)
	}
	return all, nil
}

// Refund returns money to the customer. It first looks for a refund with the same id
// of ours: Stripe forgets an idempotency key after a day, and until then repeats even
// an answer of 500.
func (s *Stripe) Refund(ctx context.Context, r RefundRequest) (Refund, error) {
	if r.PaymentID == "" { // without it Stripe would list all refunds of the account
		return Refund{}, &Refusal{Message: "there is no payment to refund"}
	}
	ctx, cancel := s.env.WithTimeout(ctx, s.timeout)
	defer cancel()
	earlier, err := s.refunds(ctx, &stripe.RefundListParams{PaymentIntent: stripe.String(r.PaymentID)})
	if err != nil {
		return Refund{}, err
	}
	for _, e := range earlier {
		switch {
		case e.Metadata[metaRefund] != r.ID:
		case e.Amount != int64(r.AmountCents):
			return Refund{}, &Refusal{Message: fmt.Sprintf("refund %s was made before, of %d cents", r.ID, e.Amount)}
		default:
			return toRefund(e)
		}
	}
	made, err := s.client.V1Refunds.Create(ctx, refundParams(r))
	if err := s.failure(ctx, "refund", err, made.ID); err != nil {
		return Refund{}, err
	}
	return toRefund(made)
}

func refundParams(r RefundRequest) *stripe.RefundCreateParams {
	p := &stripe.RefundCreateParams{
		PaymentIntent: stripe.String(r.PaymentID),
		Amount:        stripe.Int64(int64(r.AmountCents)),
		Metadata:      map[string]string{metaOrder: r.OrderID, metaRefund: r.ID},
	}
	p.SetIdempotencyKey(r.ID)
	switch stripe.RefundReason(r.Reason) {
	case "":
	case stripe.RefundReasonDuplicate, stripe.RefundReasonFraudulent, stripe.RefundReasonRequestedByCustomer:
		p.Reason = stripe.String(r.Reason)
	default:
		p.Metadata[metaReason] = commerce.Cut(r.Reason, maxMetadata)
	}
	return p
}

const maxMetadata = 500 // characters of one value

func toRefund(r *stripe.Refund) (Refund, error) {
	if refundFailed(string(r.Status)) {
		return Refund{}, &Refusal{Message: fmt.Sprintf("the refund %s: %s", r.Status, cmp.Or(string(r.FailureReason), "no reason given"))}
	}
	return Refund{ID: r.ID}, nil
}

func refundFailed(status string) bool {
	return status == string(stripe.RefundStatusFailed) || status == string(stripe.RefundStatusCanceled)
}

var errNotStripe = errors.New("the answer is not one of Stripe's; check --stripe-url and proxies")

func refused(err error) bool {
	var r *Refusal
	return errors.As(err, &r)
}

// failure turns err into a *Refusal if the call was definitely refused. Otherwise the
// call may be repeated, and the text says what an operator can do. The text never
// contains the key. A call without an error has failed, too, if one of the fields that
// no answer of Stripe leaves empty is empty; else failure returns nil.
func (s *Stripe) failure(ctx context.Context, doing string, err error, fields ...string) error {
	if err == nil && slices.Contains(fields, "") {
		err = errNotStripe
	}
	if err == nil {
		return nil
	}
	var answer *stripe.Error
	var unreachable *url.Error
	switch {
	case errors.As(err, &answer) && definite(answer):
		return &Refusal{Message: s.clean(words(answer))}
	case answer != nil && refusesUs(answer.HTTPStatusCode):
		return &commerce.CredentialsError{Message: "stripe: " + doing + ": " + s.clean(advice(answer))}
	case answer != nil:
		return fmt.Errorf("stripe: %s: %s", doing, s.clean(advice(answer)))
	case ctx.Err() != nil:
		return fmt.Errorf("stripe: %s: no answer yet: %w", doing, ctx.Err())
	case errors.As(err, &unreachable):
		return fmt.Errorf("stripe: %s: Stripe cannot be reached, check the network: %s", doing, s.clean(unreachable.Err.Error()))
	}
	return fmt.Errorf("stripe: %s: %s", doing, s.clean(err.Error()))
}

// clean makes a provider's text fit for storage.
func (s *Stripe) clean(text string) string {
	if s.key != "" {
		text = strings.ReplaceAll(text, s.key, "[key]")
	}
	return commerce.CleanText(text, commerce.MaxNote)
}

// refusesUs reports whether a status is about the key rather than the request.
func refusesUs(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// definite reports whether the request itself is at fault. Otherwise the cause may
// pass, or the operator can fix it (401, 403: the key).
func definite(e *stripe.Error) bool {
	switch e.Type {
	case stripe.ErrorTypeCard, stripe.ErrorTypeInvalidRequest, stripe.ErrorTypeIdempotency:
		return httpcall.BlamesRequest(e.HTTPStatusCode) && e.HTTPStatusCode != http.StatusConflict
	}
	return false
}

func advice(e *stripe.Error) string {
	switch e.HTTPStatusCode {
	case http.StatusUnauthorized:
		return "Stripe does not accept the key: give a secret key that is not revoked (--stripe-key; in test mode --stripe-test-key)"
	case http.StatusForbidden:
		return "the key may not do this: it needs to write Checkout Sessions and Refunds, and to read PaymentIntents and Charges: " + words(e)
	case http.StatusConflict:
		return "Stripe is still at work on an earlier try"
	case http.StatusTooManyRequests:
		return "Stripe limits our requests for a moment: " + words(e)
	}
	return fmt.Sprintf("Stripe answered %d (https://status.stripe.com tells of outages; request %q): %s", e.HTTPStatusCode, e.RequestID, words(e))
}

func words(e *stripe.Error) string {
	return cmp.Or(e.Msg, string(e.Code), string(e.Type), "no reason given")
}
