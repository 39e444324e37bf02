package service

import (
	"context"
	"errors"

	"purveyor/internal/certify"
	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// StartCertification asks for a run of the caller's integration through the script.
type StartCertification struct {
	WebhookURL string          // of one of the partner's endpoints; empty: the first that takes events of test orders
	Groups     []certify.Group // nil: all
}

// StartCertification begins a run. Its answer is made of the row and the run. Errors: 400 webhook_url if the partner has no such endpoint; 409
// limit_reached while another run goes on; 409 insufficient_stock if no store has goods to sell; 409 request_log_off.
func (s *Service) StartCertification(ctx context.Context, by Caller, in StartCertification, o Once[commerce.Certification]) (Outcome[commerce.Certification], error) {
	var out Outcome[commerce.Certification]
	if !s.o.LogsRequests {
		return out, commerce.Conflict("request_log_off", "This service keeps no log of requests, by which a certification sees what an integration does")
	}
	p, err := s.reader.Partner(ctx, by.Partner.ID) // the caller's may be seconds old
	if err != nil {
		return out, err
	}
	goods, err := s.goodsOf(ctx, by)
	if err != nil {
		return out, err
	}
	owner, url, err := s.certifiedEndpoint(ctx, p, goods.StoreID, in.WebhookURL)
	if err != nil {
		return out, err
	}
	run := certify.New(s.newID(commerce.PrefixRun), by.Partner.ID, in.Groups, goods, owner, commerce.WithoutPassword(url), s.millis())
	row, err := s.withRun(commerce.Certification{PartnerID: by.Partner.ID, RunID: run.ID, EndsOn: run.EndsOn}, run)
	if err != nil {
		return out, err
	}
	cmd := commit.Keyed[commerce.Certification](command.StartCertification{Certification: row})
	return once(ctx, s, by, o, auditPeople(by.Actor, deed{"start_certification", "", p.ID}, cmd), neverRefused)
}

// certifiedEndpoint is the endpoint that is watched: it gets the events of test orders of the store.
func (s *Service) certifiedEndpoint(ctx context.Context, p commerce.Partner, storeID, wanted string) (owner, url string, err error) {
	found, err := s.reader.Endpoints(ctx, p.Owners())
	if err != nil {
		return "", "", err
	}
	for _, owner := range p.Recipients(commerce.WebhookAccepted, commerce.Test, storeID) {
		e := found[owner]
		e.PartnerID, e.ID = commerce.SplitOwner(owner)
		if url := e.Of(p).URL; url != "" && (wanted == "" || wanted == url) && e.PausedOn == 0 {
			return owner, url, nil
		}
	}
	if wanted == "" {
		return "", "", commerce.Invalid("webhook_url", "webhook_url needs an endpoint of yours that takes events of test orders and is not paused; make one first")
	}
	return "", "", commerce.Invalid("webhook_url", "webhook_url is the URL of no endpoint of yours that takes events of test orders and is not paused")
}

// goodsOf are what a run sells: a piece of what a store has, and if there is a store that delivers, a piece of what
// that one has.
func (s *Service) goodsOf(ctx context.Context, by Caller) (goods certify.Goods, err error) {
	sale, err := s.sampleSale(ctx, by, "", false)
	if err != nil {
		return goods, err
	}
	goods.StoreID, goods.Items = sale.StoreID, itemsOf(sale)
	sale, err = s.sampleSale(ctx, by, "", true)
	if refused, ok := errors.AsType[*commerce.Error](err); ok && refused.Code == commerce.CodeInsufficientStock {
		return goods, nil
	}
	if err != nil {
		return goods, err
	}
	at := sale.Address.Address
	goods.DeliveryStore, goods.DeliveryItems, goods.Address = sale.StoreID, itemsOf(sale), &certify.Address{Name: "Certification"}
	goods.Address.Address.Line1, goods.Address.Address.City, goods.Address.Address.State = at.Line1, at.City, at.State
	goods.Address.Address.PostalCode, goods.Address.Address.Country = at.PostalCode, at.Country
	return goods, nil
}

func itemsOf(sale Sale) (items []certify.Item) {
	for _, l := range sale.Lines {
		items = append(items, certify.Item{ProductID: l.ProductID, Quantity: l.Quantity, Price: int64(l.PriceCents)})
	}
	return items
}
