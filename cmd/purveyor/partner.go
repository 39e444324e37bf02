package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/storage"
)

type partnerCommand struct {
	Create    partnerCreate    `cmd:"" help:"Create a partner, and print its two keys once."`
	List      partnerList      `cmd:"" help:"List all partners."`
	Show      partnerShow      `cmd:"" help:"Show one partner."`
	Update    partnerUpdate    `cmd:"" help:"Change a partner. Settings without a flag stay as they are."`
	Keys      partnerKeys      `cmd:"" help:"List the keys of a partner."`
	AddKey    partnerAddKey    `cmd:"" help:"Give a partner another key, and print it once."`
	RotateKey partnerRotateKey `cmd:"" help:"Replace a key, and print the new one once. The old one stops working within seconds, or after an overlap."`
	RevokeKey partnerRevokeKey `cmd:"" help:"End a key within seconds."`
	Invite    partnerInvite    `cmd:"" help:"Print a one-time link by which a member of a partner signs in to the portal. An unknown address becomes a member."`
	Members   partnerMembers   `cmd:"" help:"List the members of a partner."`
	Suspend   partnerSuspend   `cmd:"" help:"Stop a partner's keys within seconds, and hold its webhooks; or undo that."`
}

type partnerCreate struct {
	onAnyDatabase
	liveKeys
	Name           string           `help:"Name of the partner." required:"" env:"PURVEYOR_PARTNER_NAME"`
	Scope          []commerce.Scope `help:"Scope of the keys; may be repeated. Default: all (*)." placeholder:"S" sep:"none" env:"PURVEYOR_PARTNER_SCOPE" group:"Rights:"`
	TestScope      []commerce.Scope `help:"Scope of the test key, if it may do less than the live key; may be repeated." placeholder:"S" sep:"none" group:"Rights:"`
	Store          []string         `help:"Store that the keys may use; may be repeated. Default: all stores." placeholder:"ID" sep:"none" env:"PURVEYOR_PARTNER_STORE" group:"Rights:"`
	RateLimit      int64            `help:"Requests per minute." default:"240" env:"PURVEYOR_RATE_LIMIT" group:"Rights:"`
	CallbackURL    string           `help:"URL for webhooks." placeholder:"URL" env:"PURVEYOR_CALLBACK_URL" group:"Webhooks:"`
	CallbackSecret string           `help:"Secret that signs webhooks: whsec_ and base64, as libraries of Standard Webhooks take it, or a text that is the key itself. Default with --callback-url: one is drawn, and printed once. - reads it from standard input." env:"PURVEYOR_CALLBACK_SECRET" secret:"" placeholder:"S" group:"Webhooks:"`
	asJSON
}

// issued is the output of the commands that make keys, as JSON.
type issued struct {
	PartnerID string                   `json:"partner_client_id"`
	Keys      map[commerce.Mode]string `json:"keys"`
	KeyID     string                   `json:"key_id,omitzero"`          // if there is one key
	Secret    string                   `json:"callback_secret,omitzero"` // if one was drawn
}

func (c *partnerCreate) prepare() (err error) {
	if len(c.Scope) == 0 {
		c.Scope = []commerce.Scope{commerce.AllScopes}
	}
	c.CallbackSecret, err = secretOf("--callback-secret", c.CallbackSecret)
	return errors.Join(err, checkCallbackURL(c.CallbackURL))
}

func (c partnerCreate) Run(ctx context.Context, db *database) error {
	created, err := c.uses(db).CreatePartner(ctx, operator(), commerce.Partner{
		Name: c.Name, Scopes: c.Scope, StoreIDs: c.Store, RateLimit: c.RateLimit,
		CallbackURL: c.CallbackURL, CallbackSecret: c.CallbackSecret,
	}, c.TestScope, "")
	if err != nil {
		return flagError(err)
	}
	made := issued{created.Partner.ID, created.Keys, "", created.Secret}
	if err := warnOfNamesakes(ctx, db.Reader(), made.PartnerID, c.Name); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(made)
	}
	live := cmp.Or(made.Keys[commerce.Live], "none before the certification; then `purveyor partner add-key` makes one")
	printf("partner   %s\nlive key  %s\ntest key  %s\n", made.PartnerID, live, made.Keys[commerce.Test])
	if made.Secret != "" {
		printf("secret    %s\n", made.Secret)
	}
	printf("\nThe keys are shown only now; the database has only their hashes.\n")
	if made.Secret != "" {
		printf("The secret signs webhooks; it is shown only now, too.\n")
	}
	return nil
}

// warnOfNamesakes prints the partners with the same name. Names need not be unique, but
// most partners with the same name are one partner that was created twice.
func warnOfNamesakes(ctx context.Context, r storage.Reader, id, name string) error {
	partners, err := r.Partners(ctx)
	if err != nil {
		return err
	}
	for _, p := range partners {
		if p.Name == name && p.ID != id {
			complain("warning: partner %s is called %s, too\n", p.ID, name)
		}
	}
	return nil
}

// flagError names the flag that is at fault.
func flagError(err error) error {
	if refusal, ok := errors.AsType[*commerce.Error](err); ok && refusal.Field != "" {
		return fmt.Errorf("--%s: %s", refusal.Field, refusal.Message)
	}
	return err
}

type partnerList struct {
	onDatabase
	asJSON
}

func (c partnerList) Run(ctx context.Context, db *database) error {
	list, err := db.Reader().Partners(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(listOf(list, listedPartnerOf))
	}
	table := newTable("ID", "NAME", "STATE", "PER MINUTE", "SCOPES", "STORES")
	for _, p := range list {
		table.row(p.ID, p.Name, stateOf(p), p.RateLimit, scopesText(p), storesText(p))
	}
	return table.flush()
}

func stateOf(p commerce.Partner) string {
	if p.Suspended {
		return "suspended"
	}
	return "active"
}

func scopesText(p commerce.Partner) string {
	names := make([]string, len(p.Scopes))
	for i, s := range p.Scopes {
		names[i] = string(s)
	}
	return strings.Join(names, ",")
}

func storesText(p commerce.Partner) string {
	return cmp.Or(strings.Join(p.StoreIDs, ","), "all")
}

// onPartner is the part of a command that is about one partner.
type onPartner struct {
	onDatabase
	ID string `arg:"" help:"The partner's id."`
}

type partnerShow struct{ onPartner }

func (c partnerShow) Run(ctx context.Context, db *database) error {
	p, err := db.Reader().Partner(ctx, c.ID)
	if err != nil {
		return partnerMissing(c.ID, err)
	}
	printPartner(p)
	return nil
}

func printPartner(p commerce.Partner) {
	secret := "none"
	if p.CallbackSecret != "" {
		secret = "set (not shown)"
	}
	printf("id               %s\nname             %s\nstate            %s\nrate limit       %d per minute\nscopes           %s\n"+
		"stores           %s\ncallback url     %s\ncallback secret  %s\nalarms go to     %s\ncreated          %s\nupdated          %s\n",
		p.ID, p.Name, stateOf(p), p.RateLimit, scopesText(p), storesText(p), orNone(commerce.WithoutPassword(p.CallbackURL)), secret, orNone(strings.Join(p.AlarmAddresses, ", ")),
		moment(p.CreatedOn), moment(p.UpdatedOn))
}

func orNone(s string) string { return cmp.Or(s, "none") }

func partnerMissing(id string, err error) error {
	refusal, ok := errors.AsType[*commerce.Error](err)
	if errors.Is(err, storage.ErrNotFound) || (ok && refusal.Kind == commerce.KindNotFound) {
		return fmt.Errorf("there is no partner %s; `purveyor partner list` shows all", id)
	}
	return flagError(err)
}

type partnerUpdate struct {
	onPartner
	Name           *string          `help:"Name of the partner."`
	Scope          []commerce.Scope `help:"Scopes that replace the present ones; may be repeated." placeholder:"S" sep:"none" group:"Rights:"`
	Store          []string         `help:"Stores that replace the present ones; may be repeated." placeholder:"ID" sep:"none" group:"Rights:"`
	AllStores      bool             `help:"Lift the restriction to stores." xor:"stores" group:"Rights:"`
	ManageSelf     bool             `help:"Also let the partner manage its own keys and endpoints: the scope manage_self, which * does not include." group:"Rights:"`
	RateLimit      *int64           `help:"Requests per minute." group:"Rights:"`
	CallbackURL    *string          `help:"URL for webhooks; empty: none." placeholder:"URL" group:"Webhooks and alarms:"`
	AlarmAddress   []string         `help:"E-mail addresses for alarms about endpoints and keys, which replace the present ones; up to 5; empty: none." placeholder:"E" sep:"none" group:"Webhooks and alarms:"`
	CallbackSecret *string          `help:"Secret that signs webhooks from now on: whsec_ and base64, as libraries of Standard Webhooks take it, or a text that is the key itself. It ends a rotation. Default with the first --callback-url: one is drawn, and printed once. - reads it from standard input." placeholder:"S" group:"Webhooks and alarms:"`
}

func (c partnerUpdate) prepare() (err error) {
	if c.CallbackURL != nil {
		if err := checkCallbackURL(*c.CallbackURL); err != nil {
			return err
		}
	}
	if c.CallbackSecret != nil {
		if *c.CallbackSecret, err = secretOf("--callback-secret", *c.CallbackSecret); err != nil {
			return err
		}
	}
	if len(c.Store) > 0 && c.AllStores {
		return wrong("--store and --all-stores exclude each other")
	}
	return nil
}

func (c partnerUpdate) Run(ctx context.Context, db *database) error {
	change := service.UpdatePartner{ID: c.ID, ManageSelf: c.ManageSelf, Name: c.Name, RateLimit: c.RateLimit, CallbackURL: c.CallbackURL, CallbackSecret: c.CallbackSecret}
	if len(c.Scope) > 0 {
		change.Scopes = &c.Scope
	}
	if len(c.AlarmAddress) > 0 {
		change.AlarmAddresses = &c.AlarmAddress
	}
	if len(c.Store) > 0 || c.AllStores {
		change.StoreIDs = &c.Store
	}
	if c.CallbackURL != nil && c.CallbackSecret == nil {
		drawn, err := db.uses.DrawSecret("")
		if err != nil {
			return err
		}
		change.FirstSecret = drawn
	}
	p, err := changePartner(ctx, db, change)
	if err != nil {
		return err
	}
	printPartner(p)
	if p.CallbackSecret != "" && p.CallbackSecret == change.FirstSecret {
		printf("\nsecret           %s\n\nThe secret signs webhooks; it is shown only now.\n", p.CallbackSecret)
	}
	return nil
}

func changePartner(ctx context.Context, db *database, change service.UpdatePartner) (commerce.Partner, error) {
	p, err := db.uses.UpdatePartner(ctx, operator(), change)
	if err != nil {
		err = partnerMissing(change.ID, err)
	}
	return p, err
}

type partnerSuspend struct {
	onPartner
	Lift bool `help:"Let the keys work again, and send the held webhooks."`
}

func (c partnerSuspend) Run(ctx context.Context, db *database) error {
	suspended := !c.Lift
	p, err := changePartner(ctx, db, service.UpdatePartner{ID: c.ID, Suspended: &suspended})
	if err == nil {
		printPartner(p)
	}
	return err
}
