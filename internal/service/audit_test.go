package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"purveyor/internal/api"
	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/storage"
	"purveyor/internal/storage/postgres"
	"purveyor/internal/storage/schema/schematest"
	"purveyor/internal/storage/sqlite"
	"purveyor/internal/testkit/database"
	"purveyor/internal/testkit/fixture"
)

// onBoth runs a test in a shop on each engine.
func onBoth(t *testing.T, f func(*testing.T, *fixture.Shop, *service.Service)) {
	for name, open := range map[string]func(*testing.T) (storage.Engine, error){
		"sqlite": func(t *testing.T) (storage.Engine, error) { return sqlite.Open(database.SQLite(t), sqlite.Options{}) },
		"postgres": func(t *testing.T) (storage.Engine, error) {
			return postgres.Open(database.Postgres(t), postgres.Options{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			engine, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			s := fixture.Open(t, engine, nil, 2, 100)
			f(t, s, service.New(engine.Reader(), engine, s.Committer, service.Options{Answers: api.Answers{}, LogsRequests: true}))
		})
	}
}

// stored is a command that stores rows as they are.
type stored commerce.Changes

func (c stored) Needs() commerce.Needs { return schematest.Needs(commerce.Changes(c)) }

func (c stored) Decide(*commerce.Rows, commerce.Millis) (bool, commerce.Changes, error) {
	return true, commerce.Changes(c), nil
}

var staff = service.Caller{Actor: commerce.Actor{Kind: commerce.ActorStaff, ID: "usr_1", TraceID: "trace", Address: "192.0.2.1:7", Mode: commerce.Live}}

// anAct is what a person does, and texts of the two sides of its audit entry.
type anAct struct {
	name, store   string
	do            func() error
	before, after string // regular expressions
}

// shell is another operator.
var shell = commerce.Actor{Kind: commerce.ActorOperator, ID: "bea"}

const nothing = `^\{\}$`

// secrets are what must never stand in an entry.
var secrets = []string{"$argon2id$secret-hash", "TOTPSECRET", "s3cret-of-old", "whsec_", "s3cret", "a-password", "a-token", "sk_live_", "sk_test_"}

func operatorActs(s *fixture.Shop, uses *service.Service) []anAct {
	ctx := context.Background()
	dead := func(id string) commerce.Job {
		j := commerce.Job{ID: id, Slot: 1, Kind: commerce.JobDeliverWebhook, Mode: commerce.Live, Owner: fixture.PartnerID, Subject: "evt_1", State: commerce.JobDead, Error: "no answer"}
		fixture.Do(s, stored{Jobs: []commerce.Job{j}})
		return j
	}
	further, member := "", ""
	url, secret, limit := "https://ann:a-password@p.example/hook?key=a-token", "s3cret-of-old", int64(7)
	return []anAct{
		{"create_partner", "", func() error {
			_, err := uses.CreatePartner(ctx, operator, commerce.Partner{Name: "Q", RateLimit: 9, CallbackURL: url, CallbackSecret: secret}, nil, "")
			return err
		}, nothing, `"api_keys":\{"ptn_\w+/live":\{"created_on":\d+,"hash":"sha256:[0-9a-f]{8}"\},.*"partner_keys":\{"key_\w+":\{.*"callback_secret":"set","callback_url":"https://ann:xxxxx@p.example/hook\?\.\.\.".*"name":"Q".*"rate_limit":9`},
		{"update_partner", "", func() error {
			_, err := uses.UpdatePartner(ctx, operator, service.UpdatePartner{ID: fixture.PartnerID, RateLimit: &limit, CallbackURL: &url, CallbackSecret: &secret})
			return err
		}, `"callback_secret":"set".*"rate_limit":1099511627776`, `"callback_secret":"set".*"rate_limit":7,"updated_on":\d+`},
		{"rotate_key", "", func() error {
			_, err := uses.RotateKey(ctx, operator, service.RotateKey{PartnerID: fixture.PartnerID, KeyID: fixture.KeyID(fixture.PartnerID, commerce.Live)})
			return err
		}, `"api_keys":\{"ptn_1/live":\{.*"hash":"sha256:`, `"api_keys":\{"ptn_1/live":\{.*"hash":"sha256:`},
		{"make_endpoint", "", func() error {
			made, err := uses.MakeEndpoint(ctx, operator, service.NewEndpoint{PartnerID: fixture.PartnerID, URL: "https://kiosk.example/hooks", Secret: "s3cret-of-a-kiosk"})
			further = made.Owner()
			return err
		}, `"routes"`, `"endpoints":\{"ptn_1/whe_\w+":\{.*"secret":"\.\.\..{4}".*"url":"https://kiosk.example/hooks"`},
		{"change_endpoint", "", func() error {
			_, err := uses.ChangeEndpoint(ctx, operator, service.ChangeEndpoint{Owner: further, Text: new("The kiosk")})
			return err
		}, `"description":""`, `"description":"The kiosk"`},
		{"start_certification", "", func() error {
			_, err := uses.StartCertification(ctx, service.Caller{Actor: operator, Partner: fixture.Partner()}, service.StartCertification{}, service.Once[commerce.Certification]{})
			return err
		}, nothing, `"certifications":.*"running":true`},
		{"make_fault", "", func() error {
			_, err := uses.MakeFault(ctx, service.Caller{Actor: operator, Partner: fixture.Partner()}, commerce.Fault{Kind: commerce.FaultError, Calls: 3}, service.Once[commerce.Fault]{})
			return err
		}, nothing, `"faults":.*"error"`},
		{"clear_faults", "", func() error {
			_, err := uses.ClearFaults(ctx, service.Caller{Actor: operator, Partner: fixture.Partner()})
			return err
		}, `"faults":.*"error"`, `"faults":`},
		{"delete_endpoint", "", func() error { return uses.DeleteEndpoint(ctx, operator, further) }, `"routes":\[\{"id":"whe_`, `"new_jobs":\["release_parked`},
		{"make_key", "", func() error {
			_, err := uses.MakeKey(ctx, operator, service.NewKey{PartnerID: fixture.PartnerID, Name: "Kiosk", Mode: commerce.Test})
			return err
		}, `"keys_no":\d+`, `"partner_keys":\{"key_\w+":\{.*"hash":"sha256:[0-9a-f]{8}".*"name":"Kiosk"`},
		{"revoke_key", "", func() error {
			_, err := uses.RevokeKey(ctx, operator, fixture.PartnerID, fixture.KeyID(fixture.PartnerID, commerce.Test))
			return err
		}, `"revoked_on":0`, `"revoked_on":\d+`},
		{"rotate_secret", "", func() error {
			_, _, err := uses.RotateSecret(ctx, operator, service.RotateSecret{Owner: fixture.PartnerID})
			return err
		}, `"callback_secret":"set"`, `"previous_secret":"set".*"callback_secret":"\.\.\..{4}"`},
		{"pause_endpoint", "", func() error { return uses.PauseEndpoint(ctx, operator, fixture.PartnerID) }, `"paused_for":""`, `"paused_for":"operator"`},
		{"resume_endpoint", "", func() error { return uses.ResumeEndpoint(ctx, operator, fixture.PartnerID) }, `"paused_for":"operator"`, `"paused_for":""`},
		{"test_endpoint", "", func() error { return uses.TestEndpoint(ctx, operator, fixture.PartnerID) }, nothing, `"new_events":\["webhook.test"\]`},
		{"resend_events", "", func() error {
			events := s.Events(fixture.PartnerID)
			ids := []string{events[0].ID, events[1].ID}
			_, err := uses.ResendEvents(ctx, service.Caller{Actor: operator}, service.ResendEvents{PartnerID: fixture.PartnerID, EventIDs: ids})
			return err
		}, nothing, `"new_jobs":\["deliver_webhook evt_\w+","deliver_webhook evt_\w+"\]`},
		{"retry_job", "", func() error { _, err := uses.RetryJob(ctx, operator, dead("job_1")); return err }, `"jobs":\{"1/job_1":.*"state":"dead"`, `"state":"waiting"`},
		{"hold_jobs", "", func() error {
			fixture.Do(s, stored{Jobs: []commerce.Job{{ID: "job_3", Slot: 1, Kind: commerce.JobMailAlarm, Mode: commerce.Live, Owner: fixture.PartnerID, Subject: "x", State: commerce.JobWaiting}}})
			_, err := uses.HoldJobs(ctx, operator)
			return err
		}, `"jobs":\{.*"1/job_3":.*"state":"waiting"`, `"state":"held"`},
		{"release_jobs", "", func() error { _, err := uses.ReleaseJobs(ctx, operator, commerce.JobMailAlarm); return err }, `"jobs":\{"1/job_3":.*"state":"held"`, `"state":"waiting"`},
		{"give_up_job", "", func() error { _, err := uses.GiveUpJob(ctx, operator, dead("job_2"), "by phone"); return err }, `"state":"dead"`, `"error":".*by phone.*"state":"given_up"`},
		{"repair_stock", fixture.StoreID, func() error {
			_, err := uses.RepairStock(ctx, operator, service.RepairStock{Product: fixture.ProductKey(0), Reason: "test"})
			return err
		}, `"stock":\{"sto_1/prd_0":\{.*"moves":\d+`, `"moves":\d+`},
		{"invite_member", "", func() error {
			made, err := uses.InviteMember(ctx, operator, service.InviteMember{PartnerID: fixture.PartnerID, Email: "bo@p.example", Role: commerce.MemberRead})
			member = made.Member.ID
			return err
		}, nothing, `"members":\{"mem_\w+":\{.*"email":"bo@p.example".*"role":"read"`},
		{"change_member", "", func() error {
			_, err := uses.ChangeMember(ctx, operator, fixture.PartnerID, member, commerce.MemberAdmin)
			return err
		}, `"role":"read"`, `"role":"admin"`},
		{"remove_member", "", func() error { _, err := uses.RemoveMember(ctx, operator, fixture.PartnerID, member); return err }, `"removed_members":\["mem_\w+"\]`, `"sign_in_links":`},
		{"import_catalog", "", func() error {
			_, err := uses.ImportCatalog(ctx, operator, fixture.Catalog(60, 50))
			return err
		}, `"quantity":100`, `"rows_left_out":20.*"quantity":50`},
	}
}

func staffActs(t *testing.T, s *fixture.Shop, uses *service.Service) []anAct {
	ctx := context.Background()
	paid := func(id string) commerce.Order {
		o := fixture.Do(s, s.Report(0, 1))
		o.Status, o.InventoryDeducted = commerce.Paid, false
		fixture.Do(s, stored{Orders: []commerce.Order{o}, Payments: []commerce.Payment{{StoreID: o.StoreID, OrderID: o.ID, State: commerce.PaymentPaid, CapturedCents: 500, PaymentID: id}}})
		return o
	}
	pickup := fixture.Do(s, s.Report(0, 1))
	key := service.Once[commerce.Item]{Key: commerce.ReplyKey{PartnerID: "usr_1", Op: "o", Key: "k"}, Encode: func(commerce.Item) (int, []byte) { return 200, []byte("{}") }}
	price := commerce.Cents(99)
	handedOver := paid("pi_4")
	delivered := s.Report(0, 1)
	delivered.Fulfillment, delivered.Address = commerce.ByDelivery, &commerce.DeliveryAddress{Name: "Ann"}
	late := fixture.Do(s, delivered)
	fixture.Do(s, stored{Deliveries: []commerce.Delivery{{StoreID: late.StoreID, OrderID: late.ID, Attempt: 4, State: commerce.DeliveryOver,
		Status: commerce.CourierCancelled, ProviderID: "d"}}, Attention: []commerce.Attention{{StoreID: late.StoreID, OrderID: late.ID, Code: commerce.AttentionMailNotSent, Since: 1}}})
	return []anAct{
		{"create_store", "sto_new", func() error {
			_, err := uses.CreateStore(ctx, staff, commerce.Store{ID: "sto_new", Name: "New", TimeZone: "UTC", LateMinutes: 9}, service.Once[commerce.Store]{})
			return err
		}, nothing, `"stores":\{"sto_new":\{.*"late_minutes":9`},
		{"update_store", "sto_new", func() error {
			_, err := uses.UpdateStore(ctx, staff, commerce.Store{ID: "sto_new", Name: "New", TimeZone: "UTC", LateMinutes: 8})
			return err
		}, `"late_minutes":9`, `"late_minutes":8`},
		{"replay_events", "", func() error {
			n, _, _, err := uses.ReplayEvents(ctx, staff, service.ReplayEvents{PartnerID: fixture.PartnerID, Kinds: []commerce.WebhookKind{commerce.WebhookAccepted}})
			if err == nil && n == 0 {
				t.Error("no event was sent again")
			}
			return err
		}, nothing, `"new_jobs":\["deliver_webhook evt_`},
		{"request_refund", fixture.StoreID, func() error {
			_, err := uses.RequestRefund(ctx, staff, service.ForReason{Order: handedOver, Reason: "cold"})
			return err
		}, `"status":"paid"`, `"attention":.*"detail":"cold".*"status":"refund_requested"`},
		{"decline_refund", fixture.StoreID, func() error {
			_, err := uses.DeclineRefund(ctx, staff, service.ForReason{Order: handedOver, Reason: "eaten"})
			return err
		}, `"status":"refund_requested"`, `"status":"paid"`},
		{"dispatch_again", fixture.StoreID, func() error {
			_, err := uses.DispatchAgain(ctx, staff, service.ForReason{Order: late, Reason: "late"})
			return err
		}, `"attempt":4`, `"attempt":5`},
		{"add_note", fixture.StoreID, func() error {
			_, err := uses.AddNote(ctx, staff, late, "rings twice", service.Once[commerce.Order]{})
			return err
		}, `"events":`, `"events":`},
		{"resolve_attention", fixture.StoreID, func() error {
			_, err := uses.ResolveAttention(ctx, staff, service.ResolveAttention{Order: late, Code: commerce.AttentionMailNotSent})
			return err
		}, `"resolved_on":0`, `"resolved_by":"staff:usr_1"`},
		{"create_native_order", fixture.StoreID, func() error {
			in := service.NativeOrder{PaidAtStore: true}
			in.Sale = service.Sale{StoreID: fixture.StoreID, Fulfillment: commerce.ByPickup, Lines: []commerce.OrderLine{{ProductID: fixture.ProductID(0), Quantity: 1}}}
			_, err := uses.CreateNativeOrder(ctx, staff, in, service.Once[commerce.Order]{})
			return err
		}, `"quantity":`, `"source":"service"`},
		{"confirm_order", fixture.StoreID, func() error {
			_, err := uses.ConfirmOrder(ctx, staff, service.ConfirmOrder{Order: paid("pi_1")})
			return err
		}, `"status":"paid"`, `"status":"processed"`},
		{"update_metadata", fixture.StoreID, func() error {
			_, err := uses.UpdateMetadata(ctx, staff, service.UpdateMetadata{Order: pickup, Changes: map[string]*string{"table": new("7")}}, service.Once[commerce.Order]{})
			return err
		}, `"metadata":null`, `"metadata":{"table":"7"}`},
		{"mark_ready", fixture.StoreID, func() error { _, err := uses.MarkReady(ctx, staff, service.Handover{Order: pickup}); return err }, `"status":"processed"`, `"status":"ready_for_pickup"`},
		{"mark_picked_up", fixture.StoreID, func() error {
			_, err := uses.MarkPickedUp(ctx, staff, service.Handover{Order: pickup})
			return err
		}, `"status":"ready_for_pickup"`, `"status":"picked_up"`},
		{"cancel_order", fixture.StoreID, func() error {
			_, err := uses.CancelOrder(ctx, staff, service.CancelOrder{Order: paid("pi_2"), Reason: "closed today"}, service.Once[service.Cancelled]{})
			return err
		}, `"status":"paid"`, `"status":"cancelled".*"reason":"closed today"`},
		{"refund_order", fixture.StoreID, func() error {
			_, err := uses.RefundOrder(ctx, staff, service.RefundOrder{Order: paid("pi_3"), AmountCents: 200}, service.Once[commerce.Refund]{})
			return err
		}, `"pending_cents":0`, `"pending_cents":200`},
		{"adjust_inventory", fixture.StoreID, func() error {
			_, err := uses.AdjustInventory(ctx, staff, []service.Adjustment{{Product: commerce.ProductKey{ProductID: fixture.ProductID(0)}, Delta: 3}}, service.Once[[]service.Adjusted]{})
			return err
		}, `"quantity":`, `"quantity":`},
		{"count_stock", fixture.StoreID, func() error {
			_, err := uses.CountStock(ctx, staff, service.CountStock{Product: fixture.ProductKey(0), Counted: 7, Reason: "shelf"}, service.Once[service.Counted]{})
			return err
		}, `"quantity":`, `"quantity":7`},
		{"create_category", "", func() error {
			_, err := uses.CreateCategory(ctx, staff, "Cakes", service.Once[commerce.Category]{})
			return err
		}, nothing, `"categories":\{"cat_\w+":\{"active":true,"name":"Cakes"`},
		{"update_category", "", func() error {
			_, err := uses.UpdateCategory(ctx, staff.Actor, service.UpdateCategory{ID: fixture.CategoryID, Name: "Loaves", Active: true})
			return err
		}, `"name":"Bread"`, `"name":"Loaves"`},
		{"upsert_product", fixture.StoreID, func() error { // and again, which is a repeat
			for range 2 {
				if _, err := uses.UpsertProduct(ctx, staff, service.UpsertProduct{ID: fixture.ProductID(1), Name: "Rye", StoreID: fixture.StoreID, CategoryID: fixture.CategoryID, PriceCents: &price}, key); err != nil {
					return err
				}
			}
			return nil
		}, `"price_cents":1250`, `"price_cents":99`},
		{"bulk_upsert_products", "", func() error {
			_, err := uses.BulkUpsertProducts(ctx, staff, []service.BulkItem{{UpsertProduct: service.UpsertProduct{ID: fixture.ProductID(1), Name: "Spelt", StoreID: fixture.StoreID, CategoryID: fixture.CategoryID}}}, service.Once[[]service.Upserted]{})
			return err
		}, `"name":"Rye"`, `"name":"Spelt"`},
	}
}

// audited are the entries of the shop, the newest first.
func audited(t *testing.T, s *fixture.Shop, store string) []commerce.AuditEntry {
	t.Helper()
	list, err := s.Engine.Reader().Audit(context.Background(), store, "", 100)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestAudit: each act of an operator or of staff leaves one entry, in which both sides
// stand and no secret does.
func TestAudit(t *testing.T) {
	onBoth(t, func(t *testing.T, s *fixture.Shop, uses *service.Service) {
		var tested []string
		for actor, acts := range map[commerce.Actor][]anAct{operator: operatorActs(s, uses), staff.Actor: staffActs(t, s, uses), shell: peopleActs(s, uses, shell)} {
			for _, a := range acts {
				entries := func() (n int) {
					for _, store := range []string{"", fixture.StoreID, "sto_new"} {
						n += len(audited(t, s, store))
					}
					return n
				}
				was := entries()
				if err := a.do(); err != nil {
					t.Errorf("%s: %v", a.name, err)
					continue
				}
				if n := entries() - was; n != 1 {
					t.Errorf("%s leaves %d entries", a.name, n)
					continue
				}
				checkEntry(t, a, actor, audited(t, s, a.store)[0])
				tested = append(tested, strings.ReplaceAll(a.name, "_", ""))
			}
		}
		checkComplete(t, tested)
	})
}

func checkEntry(t *testing.T, a anAct, by commerce.Actor, e commerce.AuditEntry) {
	t.Helper()
	if e.Actor != by.Name() || e.Action != a.name || e.Object == "" || e.StoreID != a.store || e.TraceID != by.TraceID || e.Address != by.Address || e.CreatedOn == 0 || !commerce.IsID(commerce.PrefixAudit, e.ID) {
		t.Errorf("%s: %+v", a.name, e)
	}
	for side, want := range map[string]string{string(e.Before): a.before, string(e.After): a.after} {
		if !json.Valid([]byte(side)) || !regexp.MustCompile(want).MatchString(side) {
			t.Errorf("%s: %s, want %s", a.name, side, want)
		}
		for _, secret := range secrets {
			if strings.Contains(side, secret) {
				t.Errorf("%s shows a secret: %s", a.name, side)
			}
		}
	}
}

// peopleActs are about users: what an operator does, and what users do with their own account.
func peopleActs(s *fixture.Shop, uses *service.Service, by commerce.Actor) []anAct {
	ctx := context.Background()
	owner := []commerce.Grant{{Role: commerce.Owner, StoreID: commerce.AllStores}}
	made := func(email string) service.Invited {
		out, err := uses.InviteUser(ctx, by, service.InviteUser{Email: email, Name: "Ann", Grants: owner})
		if err != nil {
			s.T.Fatal(err)
		}
		return out
	}
	first, second := made("first@e.example").User, made("second@e.example").User
	stays := service.AcceptLink{Token: made("stays@e.example").Token, Password: "$argon2id$secret-hash"}
	if _, err := uses.AcceptLink(ctx, by, stays); err != nil { // an owner that was only invited would not be enough
		s.T.Fatal(err)
	}
	caller := service.Caller{Actor: by, User: first}
	return []anAct{
		{"invite_user", "", func() error {
			_, err := uses.InviteUser(ctx, by, service.InviteUser{Email: "Third@e.example", Name: "Cy", Grants: owner})
			return err
		}, nothing, `"email":"third@e.example"`},
		{"grant_rights", "", func() error {
			_, err := uses.GrantRights(ctx, by, service.GrantRights{UserID: second.ID, Grants: []commerce.Grant{{Role: commerce.Clerk, StoreID: fixture.StoreID}}})
			return err
		}, `"role":"owner"`, `"role":"clerk"`},
		{"reset_user", "", func() error { _, err := uses.ResetUser(ctx, by, second.ID, true); return err }, `"rights_on":`, `"rights_on":`},
		{"suspend_user", "", func() error { _, err := uses.SuspendUser(ctx, by, second.ID, true); return err }, `"suspended":false`, `"suspended":true`},
		{"change_password", "", func() error { _, err := uses.ChangePassword(ctx, caller, "$argon2id$secret-hash", ""); return err }, `"rights_on"`, `"password":"set"`},
		{"set_second_factor", "", func() error {
			_, err := uses.SetSecondFactor(ctx, caller, service.SecondFactor{Secret: "TOTPSECRET", Step: 5, RecoveryCodes: []string{"x"}})
			return err
		}, `"rights_on"`, `"totp_secret":"set"`},
		{"end_sessions", "", func() error {
			session := commerce.Session{ID: "0123456789abcdef", UserID: first.ID, ExpiresOn: 1 << 50}
			fixture.Change(s.T, s.Engine, commerce.Needs{Sessions: []string{session.ID}}, func(*commerce.Rows, commerce.Millis) commerce.Changes {
				return commerce.Changes{Sessions: []commerce.Session{session}}
			})
			return uses.EndSessions(ctx, by, first.ID, "")
		}, `"ended_sessions":\["01234567"\]`, nothing},
		{"set_preferences", "", func() error {
			_, err := uses.SetPreferences(ctx, caller, "Anna", commerce.Preferences{Theme: "dark"})
			return err
		}, `"name":"Ann"`, `"theme":"dark"`},
	}
}

// others are the use cases with an actor that leave no entry.
var others = []string{
	"FindOrder", "FindOrderByExternal", "FindProduct", "PreviewCatalog", "PreviewProducts", "QuoteDelivery", "Preflight", "CheckAvailability", // read
	"RecordPaymentCallback", "RecordCourierUpdate", "KeepStrayCallback", // of providers
	"AcceptLink",             // of sign-ins, where they are tested
	"SaveView", "RemoveView", // of how a user likes the pages
	"RecordExport",                 // writes its entry itself, which the test of the page reads
	"ActInSandbox", "TriggerEvent", // in test mode; what is played of the merchant leaves its own entry
	"ReportOrder",   // of partners alone
	"StartCheckout", // of staff it is CreateNativeOrder
}

// checkComplete: each use case that takes an actor was tested, or is one of others.
func checkComplete(t *testing.T, tested []string) {
	t.Helper()
	of := reflect.TypeFor[*service.Service]()
	for i := range of.NumMethod() {
		m := of.Method(i)
		for k := range m.Type.NumIn() {
			in := m.Type.In(k)
			if (in == reflect.TypeFor[commerce.Actor]() || in == reflect.TypeFor[service.Caller]()) && !slices.Contains(others, m.Name) && !slices.Contains(tested, strings.ToLower(m.Name)) {
				t.Errorf("%s takes an actor, and no act of this test is one", m.Name)
			}
		}
	}
}

// TestChangesOfPartnersAreAudited: a partner that changes its key or its endpoint by
// itself leaves an entry, too. A change that changes nothing leaves none.
func TestChangesOfPartnersAreAudited(t *testing.T) {
	onBoth(t, func(t *testing.T, s *fixture.Shop, uses *service.Service) {
		ctx, by := context.Background(), fixture.Actor(commerce.Live)
		if _, err := uses.RotateKey(ctx, by, service.RotateKey{PartnerID: fixture.PartnerID, KeyID: fixture.KeyID(fixture.PartnerID, commerce.Test)}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := uses.PauseEndpoint(ctx, by, fixture.PartnerID); err != nil {
				t.Fatal(err)
			}
		}
		list := audited(t, s, "")
		if len(list) != 2 || list[0].Action != "pause_endpoint" || list[1].Action != "rotate_key" || list[1].Actor != "partner:ptn_1/key_1_live" {
			t.Errorf("%+v", list)
		}
	})
}

// TestPausesByTheSystemAreAudited: an endpoint that answers 410 is paused with an entry
// of its own. Failures that pause nothing leave none.
func TestPausesByTheSystemAreAudited(t *testing.T) {
	onBoth(t, func(t *testing.T, s *fixture.Shop, uses *service.Service) {
		attempts := func(status ...int64) {
			in := command.RecordWebhookAttempts{}
			for i, status := range status {
				in.Tries = append(in.Tries, command.WebhookTry{Job: commerce.Job{Slot: 1, ID: fmt.Sprint("job_", i)},
					Attempt: commerce.WebhookAttempt{PartnerID: fixture.PartnerID, EventID: fmt.Sprint("evt_", i), Status: status, Error: "no"}})
			}
			if _, err := uses.RecordWebhookAttempts(context.Background(), in); err != nil {
				t.Fatal(err)
			}
		}
		attempts(500, 200, 500)
		if list := audited(t, s, ""); len(list) != 0 {
			t.Errorf("%+v", list)
		}
		attempts(500, 410, 410)
		attempts(410)
		list := audited(t, s, "")
		if len(list) != 1 {
			t.Fatalf("%d entries", len(list))
		}
		checkEntry(t, anAct{name: "pause_endpoint", before: `"paused_for":""`, after: `^\{"endpoints":.*"paused_for":"gone"`}, commerce.Actor{Kind: commerce.ActorSystem}, list[0])
	})
}
