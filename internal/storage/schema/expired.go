package schema

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"purveyor/internal/commerce"
)

// How long partners can read replies and events (BEHAVIOUR, Idempotency; openapi.yaml,
// Events).
const (
	ReplyKeep = 72 * time.Hour
	EventKeep = 30 * 24 * time.Hour
	// SignInKeep is the longest time for which sign-ins and links are counted.
	SignInKeep = max(commerce.SignInWindow, commerce.MemberLinkWindow)
)

// Expired describes the rows of a table that sweeps delete: the rows older than Keep.
type Expired struct {
	Keep time.Duration
	// Column has the time of a row: Unix ms, or an id with this Prefix, which begins
	// with the time.
	Column, Prefix string
	Where          string // a further condition; empty: there is none
	// Partner is a column with a partner's id. The index begins with it, so rows are
	// looked for partner by partner. Empty: the index begins with Column.
	Partner string
	Order   string // columns of the index, from Column on
}

// Condition is the SQL condition of the rows that a sweep deletes. Its parameters are Args,
// numbered from first on.
func (x Expired) Condition(first int) string {
	list := []string{x.Column + " < $" + strconv.Itoa(first)}
	if x.Partner != "" {
		list = append(list, x.Partner+" = $"+strconv.Itoa(first+1))
	}
	if x.Where != "" {
		list = append(list, x.Where)
	}
	return strings.Join(list, " AND ")
}

// owners are the values of the column Partner: partners or, in the column "owner", also
// their endpoints. Without such a column there is one empty value.
func (x Expired) owners(partners []commerce.Partner) (list []string) {
	if x.Partner == "" {
		return []string{""}
	}
	for _, p := range partners {
		list = append(list, p.ID)
		for _, r := range p.Routes {
			if x.Partner == "owner" && r.ID != "" {
				list = append(list, commerce.EndpointOwner(p.ID, r.ID))
			}
		}
	}
	return list
}

// Args are the parameters of Condition. partnerID is not used if Partner is empty.
func (x Expired) Args(now commerce.Millis, partnerID string) []any {
	before := max(0, now.Add(-x.Keep))
	args := []any{int64(before)}
	if x.Prefix != "" {
		args[0] = commerce.NewID(x.Prefix, before, commerce.Entropy{})
	}
	if x.Partner != "" {
		args = append(args, partnerID)
	}
	return args
}

// FindSQL selects the keys of expired rows. Its last parameter is the largest number of
// rows.
func (p *Plain) FindSQL(x Expired) string {
	limit := 2
	if x.Partner != "" {
		limit++
	}
	return "SELECT " + p.Key + " FROM " + p.Name + " WHERE " + x.Condition(1) + " ORDER BY " + x.Order + " LIMIT $" + strconv.Itoa(limit)
}

// Sweep calls remove for each kind of expired rows, partner by partner if the kind has a
// Partner column, until most rows are removed. It returns the number of removed rows. Where
// one kind fails the others are removed all the same.
func Sweep(now commerce.Millis, partners []commerce.Partner, most int, remove func(p *Plain, x Expired, args []any, limit int) (int, error)) (n int, err error) {
	for _, p := range Plains {
		for _, x := range p.Expired {
			for _, owner := range x.owners(partners) {
				if n >= most {
					return n, err
				}
				removed, failed := remove(p, x, x.Args(now, owner), most-n)
				n += removed
				err = cmp.Or(err, failed)
			}
		}
	}
	return n, err
}
