package service

import (
	"context"
	"slices"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// RaiseAlarms looks at the endpoints of all partners and at the keys that end soon, and has
// people told of what is new. The command looks again in its transaction, so processes that
// look at once tell it once.
func (s *Service) RaiseAlarms(ctx context.Context) error {
	now := s.millis()
	partners, err := s.reader.Partners(ctx)
	if err != nil {
		return err
	}
	news, err := s.endpointNews(ctx, partners, now)
	if err != nil {
		return err
	}
	ending, err := s.endingKeys(ctx, now)
	if err != nil {
		return err
	}
	for _, p := range partners {
		cmd := command.RaiseAlarms{PartnerID: p.ID, Endpoints: news[p.ID], Keys: ending[p.ID]}
		if p.Suspended || len(cmd.Endpoints)+len(cmd.Keys) == 0 {
			continue
		}
		if cmd.Owners, err = s.owners(ctx, p); err != nil {
			return err
		}
		if _, err := commit.Do(ctx, s.committer, cmd); err != nil {
			return err
		}
	}
	return nil
}

// endpointNews are the endpoints of which there is something to tell, by partner.
func (s *Service) endpointNews(ctx context.Context, partners []commerce.Partner, now commerce.Millis) (map[string][]string, error) {
	var owners []string
	for _, p := range partners {
		owners = append(owners, p.Owners()...)
	}
	byPartner := map[string][]string{}
	for some := range slices.Chunk(owners, endpointsAtOnce) {
		endpoints, err := s.reader.Endpoints(ctx, some)
		if err != nil {
			return nil, err
		}
		for _, owner := range some {
			if e, stored := endpoints[owner]; stored && e.NextAlarm(now) != "" {
				byPartner[e.PartnerID] = append(byPartner[e.PartnerID], owner)
			}
		}
	}
	return byPartner, nil
}

// endpointsAtOnce is how many endpoints one read reads.
const endpointsAtOnce = 500

// endingKeys are the keys of which there is something to tell, by partner.
func (s *Service) endingKeys(ctx context.Context, now commerce.Millis) (map[string][]string, error) {
	ending, err := s.reader.EndingKeys(ctx, now, now.Add(commerce.AlarmWindow))
	byPartner := map[string][]string{}
	for _, k := range ending {
		if k.NextAlarm(now) == "" {
			continue
		}
		keys, err := s.reader.APIKeys(ctx, k.PartnerID)
		if err != nil {
			return nil, err
		}
		if !commerce.IsReplaced(keys, k.ID) {
			byPartner[k.PartnerID] = append(byPartner[k.PartnerID], k.ID)
		}
	}
	return byPartner, err
}

// owners are the addresses of the people that manage the partner.
func (s *Service) owners(ctx context.Context, p commerce.Partner) (list []string, err error) {
	users, err := s.reader.Users(ctx)
	for _, u := range users {
		if u.ManagesPartner(p) {
			list = append(list, u.Email)
		}
	}
	return list, err
}
