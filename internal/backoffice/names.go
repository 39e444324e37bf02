package backoffice

import (
	"strings"

	"purveyor/internal/commerce"
)

// actorNames has the names of the parties that make changes.
type actorNames struct{ users, partners, members map[string]string }

// actorNames reads the names of all users and partners.
func (v *visit) actorNames() (names actorNames, err error) {
	names = actorNames{map[string]string{}, map[string]string{}, map[string]string{}}
	users, err := v.o.reads.Users(v.Context())
	if err != nil {
		return names, err
	}
	for _, u := range users {
		names.users[u.ID] = u.Name
	}
	partners, err := v.o.reads.Partners(v.Context())
	for _, p := range partners {
		names.partners[p.ID] = p.Name
	}
	return names, err
}

// know reads the name of an actor that is a member.
func (n actorNames) know(v *visit, actor string) error {
	id, ok := strings.CutPrefix(actor, string(commerce.ActorMember)+":")
	if _, known := n.members[id]; !ok || known {
		return nil
	}
	m, err := v.o.reads.Member(v.Context(), id)
	if notFound(err) {
		err = nil
	}
	n.members[id] = m.Email
	return err
}

// of is an actor, as Actor.Name gives it, in the words of people.
func (n actorNames) of(actor string) string {
	kind, id, _ := strings.Cut(actor, ":")
	switch commerce.ActorKind(kind) {
	case commerce.ActorStaff:
		if name := n.users[id]; name != "" {
			return name
		}
		return "Staff " + id
	case commerce.ActorPartner:
		partner, key, _ := strings.Cut(id, "/")
		if name := n.partners[partner]; name != "" {
			partner = name
		}
		if key == string(commerce.Test) {
			return partner + ", test key"
		}
		return partner
	case commerce.ActorMember:
		if member := n.members[id]; member != "" {
			return member
		}
		return "Member " + id
	case commerce.ActorProvider:
		return providerName(id)
	case commerce.ActorSystem:
		return "Purveyor"
	case commerce.ActorOperator:
		return id + " in the shell"
	}
	return actor
}
