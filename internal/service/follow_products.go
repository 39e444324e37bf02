package service

import (
	"context"
	"errors"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage"
)

const (
	newsPage  = 300 // products of a step; fewer if many partners hear of them
	movesPage = 100 // stock moves of a read
)

// FollowProducts makes the events of products that have changed since the last call, in this or
// another process. It does nothing while another process follows the feed, or if no endpoint
// of a partner names the events. Calls of one process must not overlap.
//
// Each step is saved with the place up to which it has looked, so every change is told once.
// It returns whether this process follows the feed.
func (s *Service) FollowProducts(ctx context.Context) (follows bool, err error) {
	if s.follower == "" {
		s.follower = s.o.Env.Text()
	}
	place, free, err := s.feedPlace(ctx)
	if err != nil || !free {
		return false, err
	}
	named, err := s.namingProducts(ctx)
	if err != nil || len(named) == 0 && place.At == 0 {
		return false, err
	}
	for more := true; more && free; {
		if more, err = s.followStep(ctx, place, named); err != nil || !more {
			return true, err
		}
		if place, free, err = s.feedPlace(ctx); err != nil {
			return true, err
		}
	}
	return free, nil
}

// feedPlace reads how far the feed was followed, and whether this process may go on.
func (s *Service) feedPlace(ctx context.Context) (place commerce.FeedPlace, free bool, err error) {
	place, err = s.reader.FeedPlace(ctx, commerce.ProductFeed)
	return place, place.Free(s.follower, s.millis()), ignoreMissing(err)
}

// namingProducts are the partners with an endpoint that names events of products.
func (s *Service) namingProducts(ctx context.Context) (ids []string, err error) {
	partners, err := s.reader.Partners(ctx)
	for _, p := range partners {
		if p.NamesProducts() {
			ids = append(ids, p.ID)
		}
	}
	return ids, err
}

// followStep looks at the next page of the feed, or, at its end, at the news that are due too.
func (s *Service) followStep(ctx context.Context, place commerce.FeedPlace, named []string) (more bool, err error) {
	cmd := command.FollowProducts{Worker: s.follower, From: place, To: place, Partners: named}
	limit := max(10, newsPage/max(1, len(named)))
	if place.At != 0 && len(named) > 0 {
		page, err := s.reader.ProductPage(ctx, storage.ProductFilter{After: storage.ProductPosition{UpdatedOn: place.At, ID: place.ID}, Limit: limit}, nil)
		if err != nil {
			return false, err
		}
		for _, item := range page.Items {
			seen, err := s.seen(ctx, item, place)
			if err != nil {
				return false, err
			}
			cmd.Seen = append(cmd.Seen, seen)
			cmd.To.At, cmd.To.ID = item.Stock.UpdatedOn, item.ID
		}
		more = page.More
	}
	if place.At != 0 && !more {
		due, err := s.due(ctx, cmd.Seen, limit, len(named) == 0)
		if err != nil {
			return false, err
		}
		cmd.Seen, cmd.Forget, more = append(cmd.Seen, due...), true, len(due) == limit
	}
	if len(cmd.Seen) == 0 && len(named) > 0 && place.At != 0 && place.Leased(s.follower, s.millis()) == place {
		return false, nil
	}
	followed, err := commit.Do(ctx, s.committer, cmd)
	return more && followed, err
}

// seen adds to a product of the feed what it was at the place.
func (s *Service) seen(ctx context.Context, item commerce.Item, place commerce.FeedPlace) (command.SeenProduct, error) {
	seen := command.SeenProduct{Item: item, Before: item.Stock.Quantity}
	at := item.Stock.NewestMove()
	for !place.Passed(at.At, item.ID) {
		moves, err := s.reader.StockMoves(ctx, item.Product.Key(), at, movesPage)
		if err != nil || len(moves) == 0 { // older moves than the history has
			return seen, err
		}
		for _, m := range moves {
			if place.Passed(m.At, item.ID) {
				break
			}
			seen.Before, seen.Created = m.QuantityAfter-m.Delta, m.Seq == 1 && m.Kind == commerce.MoveOpened
		}
		at = moves[len(moves)-1].Before()
	}
	return seen, nil
}

// due reads products whose news are due, or all with news, but not those that were seen.
func (s *Service) due(ctx context.Context, seen []command.SeenProduct, limit int, all bool) (list []command.SeenProduct, err error) {
	before := s.millis()
	if all {
		before = before.Add(2 * commerce.ProductNewsEvery)
	}
	keys, err := s.reader.DueProductNews(ctx, before, limit)
	if err != nil {
		return nil, err
	}
	met := make(map[string]bool, len(seen))
	for _, p := range seen {
		met[p.ID] = true
	}
	for _, key := range keys {
		if met[key.ProductID] {
			continue
		}
		item, _, err := s.reader.Product(ctx, key.ProductID)
		if errors.Is(err, storage.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, command.SeenProduct{Item: item, Before: item.Stock.Quantity})
	}
	return list, nil
}
