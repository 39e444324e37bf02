package service

import (
	"context"

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
	ending, err := s.endingKeys(ctx, now)
	if err != nil {
		return err
	}
	for _, p := range partners {
		cmd := command.RaiseAlarms{PartnerID: p.ID, Keys: ending[p.ID]}
		if cmd.Endpoints, err = s.newsOf(ctx, p, now); err != nil {
			return err
		}
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

// newsOf are the endpoints of a partner of which there is something to tell.
func (s *Service) newsOf(ctx context.Context, p commerce.Partner, now commerce.Millis) (owners []string, err error) {
	endpoints, err := s.reader.Endpoints(ctx, p.Owners())
	for _, owner := range p.Owners() {
		if e, stored := endpoints[owner]; stored && e.NextAlarm(now) != "" {
			owners = append(owners, owner)
		}
	}
	return owners, err
}

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
