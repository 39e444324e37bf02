package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// UpdatePartner is a change of a partner. Fields that are nil keep their values.
type UpdatePartner = command.UpdatePartner

// UpdatePartner changes a partner: its name, rights, limits and endpoint, and
// whether it is suspended.
func (s *Service) UpdatePartner(ctx context.Context, by commerce.Actor, in UpdatePartner) (commerce.Partner, error) {
	if err := checkCallbackURL(in.CallbackURL); err != nil {
		return commerce.Partner{}, err
	}
	if in.AlarmAddresses != nil {
		checked, err := checkAlarmAddresses(*in.AlarmAddresses)
		if err != nil {
			return commerce.Partner{}, err
		}
		in.AlarmAddresses = &checked
	}
	return act(ctx, s, by, deed{"update_partner", "", in.ID}, in)
}
