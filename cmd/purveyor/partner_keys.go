package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
)

type partnerKeys struct {
	onPartner
	asJSON
}

func (c partnerKeys) Run(ctx context.Context, db *database) error {
	keys, err := keysOfPartner(ctx, db, c.ID)
	if err != nil {
		return err
	}
	now := commerce.MillisOf(time.Now())
	if c.JSON {
		return printJSON(listOf(keys, listedKeyOf(now)))
	}
	table := newTable("ID", "NAME", "MODE", "KEY", "STATE", "LAST USED", "ENDS", "SCOPES", "STORES", "ADDRESSES")
	for _, k := range keys {
		scopes, stores := "as the partner", "as the partner"
		if len(k.Scopes) > 0 {
			scopes = scopesText(commerce.Partner{Scopes: k.Scopes})
		}
		if len(k.StoreIDs) > 0 {
			stores = strings.Join(k.StoreIDs, ",")
		}
		addresses := "all"
		if len(k.Addresses) > 0 {
			addresses = strings.Join(k.Addresses, ",")
		}
		table.row(k.ID, k.Name, k.Mode, endsOf(k), k.State(now), momentOr(k.UsedOn, "never"), momentOr(k.ExpiresOn, "never"), scopes, stores, addresses)
	}
	return table.flush()
}

// endsOf are the ends of a key, by which it can be told from others.
func endsOf(k commerce.APIKey) string { return k.Mode.KeyPrefix() + "..." + k.Last4 }

func momentOr(at commerce.Millis, none string) string {
	if at == 0 {
		return none
	}
	return moment(at)
}

// keysOfPartner reads the keys of a partner that must be there.
func keysOfPartner(ctx context.Context, db *database, id string) ([]commerce.APIKey, error) {
	if _, err := db.Reader().Partner(ctx, id); err != nil {
		return nil, partnerMissing(id, err)
	}
	return db.Reader().APIKeys(ctx, id)
}

func printKey(k service.IssuedKey, asJSON bool, previous string) error {
	if asJSON {
		return printJSON(issued{k.PartnerID, map[commerce.Mode]string{k.Mode: k.Value}, k.ID, ""})
	}
	printf("%s key  %s\nid        %s\n\nThe key is shown only now.%s\n", k.Mode, k.Value, k.ID, previous)
	return nil
}

// liveKeys is the part of a command that makes live keys. The command writes to the database and asks no service, so it is told as
// the service is whether these need a certification.
type liveKeys struct {
	RequireCertified bool `help:"Make live keys for partners alone whose integration has passed the certification, as a service with this setting does." env:"PURVEYOR_REQUIRE_CERTIFIED" group:"Certification:"`
	Force            bool `help:"Make a live key all the same." group:"Certification:"`
}

// uses are the use cases under these settings.
func (l liveKeys) uses(db *database) *service.Service {
	return db.usesWith(service.Options{RequireCertified: l.RequireCertified && !l.Force})
}

type partnerAddKey struct {
	onPartner
	liveKeys
	Name    string           `help:"What the key is for." required:""`
	Mode    commerce.Mode    `help:"Which key: live or test." enum:"live,test" required:""`
	Scope   []commerce.Scope `help:"Scope of the key; may be repeated. Default: those of the partner; a test key then changes no products and no stock." placeholder:"S" sep:"none" group:"Rights:"`
	Store   []string         `help:"Store that the key may use; may be repeated. Default: those of the partner." placeholder:"ID" sep:"none" group:"Rights:"`
	Address []string         `help:"IP address or CIDR block that may use the key; may be repeated. Default: all." sep:"none" group:"Rights:"`
	Days    int              `help:"Days until the key ends. Default: it does not." group:"Rights:"`
	asJSON
}

func (c partnerAddKey) Run(ctx context.Context, db *database) error {
	in := service.NewKey{PartnerID: c.ID, Name: c.Name, Mode: c.Mode, Scopes: c.Scope, StoreIDs: c.Store, Addresses: c.Address}
	if c.Days != 0 {
		in.ExpiresOn = commerce.MillisOf(time.Now()).Add(time.Duration(c.Days) * 24 * time.Hour)
	}
	if _, err := keysOfPartner(ctx, db, c.ID); err != nil {
		return err
	}
	made, err := c.uses(db).MakeKey(ctx, operator(), in)
	if refusal, ok := errors.AsType[*commerce.Error](err); ok && refusal.Code == "not_certified" {
		return fmt.Errorf("%s; --force makes one all the same", refusal.Message)
	}
	if err != nil {
		return flagError(err)
	}
	return printKey(made, c.JSON, "")
}

type partnerRotateKey struct {
	onPartner
	liveKeys
	Mode         commerce.Mode `help:"Which key: live or test, if the partner has one of them." enum:"live,test" xor:"which" required:""`
	Key          string        `help:"Which key, by its id." placeholder:"ID" xor:"which" required:""`
	OverlapHours int           `help:"Hours for which the old key goes on working; 168 at most." default:"0"`
	asJSON
}

func (c *partnerRotateKey) prepare() error {
	if overlap := time.Duration(c.OverlapHours) * time.Hour; overlap < 0 || overlap > commerce.MaxOverlap {
		return wrong("--overlap-hours must be 0 to 168")
	}
	return nil
}

func (c partnerRotateKey) Run(ctx context.Context, db *database) error {
	keys, err := keysOfPartner(ctx, db, c.ID)
	if err != nil {
		return err
	}
	if c.Key == "" {
		if c.Key, err = theKey(keys, c.Mode); errors.Is(err, errNoKey) { // the first one of the mode
			return partnerAddKey{onPartner: c.onPartner, liveKeys: c.liveKeys, Name: string(c.Mode) + " key", Mode: c.Mode, asJSON: c.asJSON}.Run(ctx, db)
		} else if err != nil {
			return err
		}
	}
	done, err := db.uses.RotateKey(ctx, operator(), service.RotateKey{PartnerID: c.ID, KeyID: c.Key, Overlap: time.Duration(c.OverlapHours) * time.Hour})
	if err != nil {
		return flagError(err)
	}
	previous := " The old one stops working within 5 seconds."
	if c.OverlapHours > 0 {
		previous = " The old one works until " + moment(done.Previous.ExpiresOn) + "."
	}
	return printKey(done.IssuedKey, c.JSON, previous)
}

var errNoKey = errors.New("the partner has no such key")

// theKey is the id of the only key of a mode that works.
func theKey(keys []commerce.APIKey, mode commerce.Mode) (id string, err error) {
	now := commerce.MillisOf(time.Now())
	for _, k := range keys {
		switch {
		case k.Mode != mode || k.State(now) != commerce.KeyActive:
		case id != "":
			return "", fmt.Errorf("the partner has several %s keys; name one with --key (`purveyor partner keys` lists them)", mode)
		default:
			id = k.ID
		}
	}
	if id == "" {
		return "", errNoKey
	}
	return id, nil
}

type partnerRevokeKey struct {
	onPartner
	Key string `arg:"" help:"The key's id."`
}

func (c partnerRevokeKey) Run(ctx context.Context, db *database) error {
	if _, err := keysOfPartner(ctx, db, c.ID); err != nil {
		return err
	}
	k, err := db.uses.RevokeKey(ctx, operator(), c.ID, c.Key)
	if err != nil {
		return flagError(err)
	}
	printf("key %s is %s, and stops working within 5 seconds\n", k.ID, k.State(commerce.MillisOf(time.Now())))
	return nil
}
