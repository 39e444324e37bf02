package storagetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema/schematest"
)

// people reads users, their sessions, links and views as they were written.
func people(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	ctx, r := context.Background(), e.Reader()
	c := commerce.Changes{
		Users: []commerce.User{
			{ID: "usr_1", Email: "b@e.example", Name: "Bo", Password: "$argon2id$", TOTPSecret: "S", TOTPStep: 7, RecoveryCodes: []string{"x"},
				Grants: []commerce.Grant{{Role: commerce.Owner, StoreID: commerce.AllStores}}, Preferences: commerce.Preferences{Theme: "dark", Muted: true}},
			{ID: "usr_2", Email: "a@e.example", Name: "Ann", Suspended: true},
		},
		Members: []commerce.Member{{ID: "mem_1", PartnerID: "ptn_1", Email: "zoe@p.example", Role: commerce.MemberAdmin, CreatedOn: 6}, {ID: "mem_2", PartnerID: "ptn_1", Email: "al@p.example", Role: commerce.MemberRead},
			{ID: "mem_3", PartnerID: "ptn_2", Email: "al@q.example", Role: commerce.MemberAdmin}},
		Sessions:     []commerce.Session{{ID: "s1", UserID: "usr_1", Data: []byte{1}, SeenOn: 5}, {ID: "s2", UserID: "usr_1", SeenOn: 9}, {ID: "s3", UserID: "usr_2"}},
		SignInLinks:  []commerce.SignInLink{{UserID: "", Hash: commerce.HashKey("k"), ExpiresOn: 3}},
		SignInCounts: []commerce.SignInCount{{ID: "address 192.0.2.1", Since: 4, Failures: 2}},
		SavedViews: []commerce.SavedView{{SavedViewKey: commerce.SavedViewKey{UserID: "usr_1", Name: "late"}, Query: "status=paid"},
			{SavedViewKey: commerce.SavedViewKey{UserID: "usr_1", Name: "big"}}, {SavedViewKey: commerce.SavedViewKey{UserID: "usr_2", Name: "own"}}},
	}
	Change(t, e, schematest.Needs(c), func(*commerce.Rows, commerce.Millis) commerce.Changes { return c })
	users, err := r.Users(ctx)
	if err != nil || len(users) != 2 || users[0].Name != "Ann" || !users[0].Suspended || users[1].Preferences.Theme != "dark" || !users[1].OwnsAll() {
		t.Errorf("users %+v, %v", users, err)
	}
	if u, err := r.UserByEmail(ctx, "b@e.example"); err != nil || u.ID != "usr_1" || u.TOTPStep != 7 || len(u.RecoveryCodes) != 1 {
		t.Errorf("by e-mail: %+v, %v", u, err)
	}
	if u, err := r.User(ctx, "usr_2"); err != nil || u.Name != "Ann" {
		t.Errorf("by id: %+v, %v", u, err)
	}
	if m, err := r.Members(ctx, "ptn_1"); err != nil || len(m) != 2 || m[0].ID != "mem_2" || m[1] != c.Members[0] {
		t.Errorf("members %+v, %v", m, err)
	}
	if m, err := r.MemberByEmail(ctx, "al@q.example"); err != nil || m != c.Members[2] {
		t.Errorf("a member by e-mail: %+v, %v", m, err)
	}
	if m, err := r.Member(ctx, "mem_2"); err != nil || m != c.Members[1] {
		t.Errorf("a member: %+v, %v", m, err)
	}
	if s, err := r.Sessions(ctx, "usr_1"); err != nil || len(s) != 2 || s[0].ID != "s2" || len(s[1].Data) != 1 {
		t.Errorf("sessions %+v, %v", s, err)
	}
	if s, err := r.Session(ctx, "s3"); err != nil || s.UserID != "usr_2" {
		t.Errorf("session %+v, %v", s, err)
	}
	if l, err := r.SignInLink(ctx, ""); err != nil || l.Hash != commerce.HashKey("k") {
		t.Errorf("link %+v, %v", l, err)
	}
	if n, err := r.SignInCount(ctx, "address 192.0.2.1"); err != nil || n.Failures != 2 {
		t.Errorf("count %+v, %v", n, err)
	}
	if v, err := r.SavedViews(ctx, "usr_1"); err != nil || len(v) != 2 || v[0].Name != "big" || v[1].Query != "status=paid" {
		t.Errorf("views %+v, %v", v, err)
	}
	for what, read := range map[string]func() error{
		"user": func() error { _, err := r.User(ctx, "usr_3"); return err }, "e-mail": func() error { _, err := r.UserByEmail(ctx, "B@e.example"); return err },
		"member": func() error { _, err := r.Member(ctx, "mem_4"); return err }, "e-mail of a member": func() error { _, err := r.MemberByEmail(ctx, "b@e.example"); return err },
		"session": func() error { _, err := r.Session(ctx, "s4"); return err }, "link": func() error { _, err := r.SignInLink(ctx, "usr_1"); return err },
		"count": func() error { _, err := r.SignInCount(ctx, "x"); return err },
	} {
		if err := read(); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("an unknown %s: %v", what, err)
		}
	}
}
