package backoffice

import (
	"slices"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
)

// peopleRoutes are the pages where owners look after the staff.
var peopleRoutes = []route{
	{method: get, path: peoplePath, may: commerce.MayManagePeople, handle: careful((*visit).people), word: "People", icon: "users"},
	{method: post, path: peoplePath, may: commerce.MayManagePeople, handle: careful((*visit).invite)},
	{method: get, path: peoplePath + "/{id}", may: commerce.MayManagePeople, handle: careful(ofUser((*visit).person))},
	{method: post, path: peoplePath + "/{id}/grants", may: commerce.MayManagePeople, handle: careful(ofUser((*visit).grant))},
	{method: post, path: peoplePath + "/{id}/suspend", may: commerce.MayManagePeople, handle: careful(ofUser((*visit).suspend))},
	{method: post, path: peoplePath + "/{id}/reset", may: commerce.MayManagePeople, handle: careful(ofUser((*visit).reset))},
	{method: post, path: peoplePath + "/{id}/sessions", may: commerce.MayManagePeople, handle: careful(ofUser((*visit).endSessions))},
}

const peoplePath = Prefix + "/people"

// careful is a handler that asks for the password again if it was given long ago.
func careful(handle func(*visit) error) func(*visit) error {
	return func(v *visit) error {
		if err := v.recent(); err != nil {
			return err
		}
		return handle(v)
	}
}

// ofUser is the handler of a route about the user in the path.
func ofUser(handle func(*visit, commerce.User) error) func(*visit) error {
	return func(v *visit) error {
		u, err := v.o.reads.User(v.Context(), v.PathValue("id"))
		if err != nil {
			return notFoundOr(err, "user")
		}
		return handle(v, u)
	}
}

// peoplePage is the data of the page "people".
type peoplePage struct {
	People      []personRow
	Stores      []commerce.Store
	Roles       []commerce.Role
	Email, Name string
	Role, Store string
	Zone        *time.Location
}

// personRow is a user in the list.
type personRow struct {
	commerce.User
	SeenOn commerce.Millis // 0: not signed in anywhere
}

func (v *visit) peoplePage() (page peoplePage, err error) {
	page = peoplePage{Roles: commerce.Roles, Zone: time.UTC, Role: string(commerce.Clerk), Store: commerce.AllStores}
	users, err := v.o.reads.Users(v.Context())
	for _, u := range users {
		sessions, err := v.o.reads.Sessions(v.Context(), u.ID)
		if err != nil {
			return page, err
		}
		row := personRow{User: u}
		if len(sessions) > 0 {
			row.SeenOn = sessions[0].SeenOn
		}
		page.People = append(page.People, row)
	}
	if err == nil {
		page.Stores, err = v.storesOf(v.route.may)
	}
	return page, err
}

func (v *visit) people() error {
	page, err := v.peoplePage()
	if err != nil {
		return err
	}
	return v.page("people", "People", page)
}

// invite makes a user and shows the link by which that person chooses a password, once.
func (v *visit) invite() error {
	role, store := v.PostFormValue("role"), v.PostFormValue("store")
	out, err := v.o.uses.InviteUser(v.Context(), v.caller().Actor, service.InviteUser{Email: v.PostFormValue("email"), Name: v.PostFormValue("name"),
		Grants: []commerce.Grant{{Role: commerce.Role(role), StoreID: store}}})
	if err != nil {
		page, failed := v.peoplePage()
		if failed != nil {
			return failed
		}
		page.Email, page.Name, page.Role, page.Store = v.PostFormValue("email"), v.PostFormValue("name"), role, store
		return v.again(err, "people", "People", page)
	}
	return v.showLink(out)
}

// showLink shows a one-time link. It is never shown again.
func (v *visit) showLink(out service.Invited) error {
	return v.page("link", "A link for "+out.User.Name, linkPage{out.User, v.o.publicURL + Prefix + "/welcome?token=" + out.Token, int(service.LinkLife / time.Minute)})
}

// linkPage is the data of the page "link".
type linkPage struct {
	User    commerce.User
	URL     string
	Minutes int
}

// personPage is the data of the page "person".
type personPage struct {
	User     commerce.User
	Sessions []commerce.Session
	Stores   []commerce.Store
	Roles    []commerce.Role
	Rows     []commerce.Grant // of the form: those of the user, and empty ones
	Zone     *time.Location
}

func (v *visit) personPage(u commerce.User) (page personPage, err error) {
	page = personPage{User: u, Roles: commerce.Roles, Zone: time.UTC, Rows: append(slices.Clone(u.Grants), commerce.Grant{}, commerce.Grant{})}
	if page.Sessions, err = v.o.reads.Sessions(v.Context(), u.ID); err == nil {
		page.Stores, err = v.storesOf(v.route.may)
	}
	return page, err
}

func (v *visit) person(u commerce.User) error {
	page, err := v.personPage(u)
	if err != nil {
		return err
	}
	return v.page("person", u.Name, page)
}

func (v *visit) grant(u commerce.User) error {
	var grants []commerce.Grant
	for i, role := range v.PostForm["role"] {
		if role != "" && i < len(v.PostForm["store"]) {
			grants = append(grants, commerce.Grant{Role: commerce.Role(role), StoreID: v.PostForm["store"][i]})
		}
	}
	_, err := v.o.uses.GrantRights(v.Context(), v.caller().Actor, service.GrantRights{UserID: u.ID, Grants: grants, Seen: v.seen()})
	if err != nil {
		page, failed := v.personPage(u)
		if failed != nil {
			return failed
		}
		page.Rows = append(grants, commerce.Grant{}, commerce.Grant{})
		return v.again(err, "person", u.Name, page)
	}
	return v.done(peoplePath+"/"+u.ID, "The rights of "+u.Name+" are changed")
}

func (v *visit) suspend(u commerce.User) error {
	suspended := v.PostFormValue("suspended") == "yes"
	if _, err := v.o.uses.SuspendUser(v.Context(), v.caller().Actor, u.ID, suspended); err != nil {
		return err
	}
	said := u.Name + " may sign in again"
	if suspended {
		said = u.Name + " is suspended"
	}
	return v.done(peoplePath+"/"+u.ID, said)
}

func (v *visit) reset(u commerce.User) error {
	out, err := v.o.uses.ResetUser(v.Context(), v.caller().Actor, u.ID, v.PostFormValue("second_factor") == "drop")
	if err != nil {
		return err
	}
	return v.showLink(out)
}

func (v *visit) endSessions(u commerce.User) error {
	if err := v.o.uses.EndSessions(v.Context(), v.caller().Actor, u.ID, ""); err != nil {
		return err
	}
	return v.done(peoplePath+"/"+u.ID, u.Name+" is signed out everywhere")
}
