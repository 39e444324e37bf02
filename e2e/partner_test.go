package e2e_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// freshness is how long a key may be accepted after it was changed.
const freshness = 5 * time.Second

func TestPartnerCreate(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	_, c := s.serve()
	made := s.newPartner("--name", "Made meanwhile")
	checkKeys(t, made)
	for _, key := range []string{made.Keys.Live, made.Keys.Test} {
		var health struct {
			PartnerID string `json:"partner_client_id"`
		}
		c.with(key).must(200, get("/v1/health")).decode(t, &health)
		if health.PartnerID != made.PartnerID {
			t.Errorf("the key is %s's, want %s", health.PartnerID, made.PartnerID)
		}
	}
	c.with(made.Keys.Live+"x").must(401, get("/v1/health")).refusal(t, 401, "unauthorized")

	// The output for people has the same content.
	text := s.operate("partner", "create", "--name", "In words").ok(t)
	for _, line := range strings.Split(text, "\n") {
		if fields := strings.Fields(line); len(fields) == 3 && fields[1] == "key" {
			c.with(fields[2]).must(200, get("/v1/health"))
		}
	}
	if strings.Count(text, "sk_live_") != 1 || strings.Count(text, "sk_test_") != 1 {
		t.Errorf("it does not print one key of each mode:\n%s", text)
	}
}

// Two partners with one name are mostly one that was created twice, so the second one
// is created with a warning.
func TestPartnerNamesake(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	first := s.newPartner("--name", "Twin")
	again := s.operate("partner", "create", "--name", "Twin")
	again.ok(t)
	if !strings.Contains(again.stderr, first.PartnerID) {
		t.Errorf("the warning does not name %s: %q", first.PartnerID, again.stderr)
	}
	if other := s.operate("partner", "create", "--name", "Single"); other.code != 0 || other.stderr != "" {
		t.Errorf("a name of its own: exit code %d, %q", other.code, other.stderr)
	}
}

func checkKeys(t *testing.T, made issued) {
	t.Helper()
	if !strings.HasPrefix(made.Keys.Live, "sk_live_") || !strings.HasPrefix(made.Keys.Test, "sk_test_") || made.PartnerID == "" {
		t.Errorf("not what was promised: %+v", made)
	}
	if live, test := strings.TrimPrefix(made.Keys.Live, "sk_live_"), strings.TrimPrefix(made.Keys.Test, "sk_test_"); live == test || len(live) < 24 {
		t.Errorf("the keys can be guessed: %+v", made)
	}
}

// A test key makes test orders. The partner's live key sees them, and a test key of
// another partner does not.
func TestPartnerModes(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	_, live := s.serve()
	other := s.newPartner("--name", "Other")
	test := live.with(s.partner.Keys.Test)
	id := test.must(201, report("one", "p1")).orderID(t)
	for name, c := range map[string]*client{"live": live, "test": test} {
		if got := c.order("/v1/orders/" + id); got.ID != id {
			t.Errorf("%s key reads %+v", name, got)
		}
	}
	live.with(other.Keys.Live).must(404, get("/v1/orders/"+id))
	if second := live.must(201, report("one", "p1")).orderID(t); second == id {
		t.Error("a live order and a test order share an external id, and became one")
	}
}

func TestPartnerScopesAndStores(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	_, c := s.serve()
	reader := c.with(s.newPartner("--name", "Reader", "--scope", "read_stores", "--scope", "read_products").Keys.Live)
	reader.must(200, get("/v1/stores"))
	reader.must(200, get("/v1/products/p1"))
	reader.must(403, report("no", "p1")).refusal(t, 403, "scope_missing")
	reader.must(403, get("/v1/categories")).refusal(t, 403, "scope_missing")

	made := s.newPartner("--name", "One store", "--store", "s1", "--rate-limit", "100000")
	local := c.with(made.Keys.Live)
	if got := storeIDs(local); got != "s1" {
		t.Errorf("a key for s1 lists the stores %q", got)
	}
	local.must(201, report("yes", "p1"))
	denied := []request{get("/v1/products/q1"), get("/v1/products?store_id=s2"), get("/v1/stores/s2/categories"),
		post("/v1/inventory/adjustments", "a", map[string]any{"adjustments": []map[string]any{{"product_id": "q1", "delta": 1}}}),
		post("/v1/orders/report", "b", map[string]any{"external_order_id": "b", "store_id": "s2",
			"items": []map[string]any{{"product_id": "q1", "quantity": 1, "price": 1}}})}
	for _, r := range denied {
		if message := local.must(403, r).refusal(t, 403, "store_not_allowed"); message != "Access denied to this store" {
			t.Errorf("%s: message %q", r.path, message)
		}
	}

	// Changes take effect while the service is running.
	s.operate("partner", "update", made.PartnerID, "--all-stores").ok(t)
	local.eventuallyStatus(freshness, 200, get("/v1/products/q1"))
	s.operate("partner", "update", made.PartnerID, "--store", "s2").ok(t)
	local.eventuallyStatus(freshness, 403, get("/v1/products/p1"))
	if got := storeIDs(local); got != "s2" {
		t.Errorf("a key for s2 lists the stores %q", got)
	}
	s.operate("partner", "update", made.PartnerID, "--scope", "read_stores").ok(t)
	local.eventuallyStatus(freshness, 403, get("/v1/products/q1")).refusal(t, 403, "scope_missing")
	s.operate("partner", "update", made.PartnerID, "--scope", "*", "--rate-limit", "1").ok(t)
	local.eventuallyStatus(freshness, 429, get("/v1/products/q1")).refusal(t, 429, "rate_limited")
}

func storeIDs(c *client) string {
	c.t.Helper()
	var body struct {
		Stores []struct {
			ID string `json:"id"`
		} `json:"stores"`
	}
	c.must(200, get("/v1/stores")).decode(c.t, &body)
	ids := make([]string, len(body.Stores))
	for i, store := range body.Stores {
		ids[i] = store.ID
	}
	return strings.Join(ids, " ")
}

func TestPartnerRotateAndSuspend(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p, c := s.serve()
	health := get("/v1/health")
	made := s.newPartner("--name", "Rotating", "--callback-secret", "whsec_not_to_be_shown", "--callback-url", "https://shop.example.com/hook",
		"--rate-limit", "1000000")
	old, test := c.with(made.Keys.Live), c.with(made.Keys.Test)
	old.must(200, health)
	test.must(200, health)

	rotated := parseIssued(t, s.operate("partner", "rotate-key", made.PartnerID, "--mode", "live", "--json").ok(t))
	if rotated.PartnerID != made.PartnerID || rotated.Keys.Test != "" || rotated.Keys.Live == made.Keys.Live {
		t.Errorf("rotated %+v, had %+v", rotated, made)
	}
	fresh := c.with(rotated.Keys.Live)
	fresh.must(200, health) // at once
	old.eventuallyStatus(freshness, 401, health).refusal(t, 401, "unauthorized")
	test.must(200, health)
	fresh.must(200, health)

	s.operate("partner", "suspend", made.PartnerID).ok(t)
	test.eventuallyStatus(freshness, 401, health)
	fresh.eventuallyStatus(freshness, 401, health)
	c.must(200, health) // other partners are not affected
	if text := s.operate("partner", "show", made.PartnerID).ok(t); !strings.Contains(text, "suspended") {
		t.Errorf("show does not say that it is suspended:\n%s", text)
	}
	s.operate("partner", "suspend", made.PartnerID, "--lift").ok(t)
	test.eventuallyStatus(freshness, 200, health)
	fresh.eventuallyStatus(freshness, 200, health)
	old.must(401, health)

	list, show := s.operate("partner", "list").ok(t), s.operate("partner", "show", made.PartnerID).ok(t)
	for _, id := range []string{made.PartnerID, s.partner.PartnerID} {
		if !strings.Contains(list, id) {
			t.Errorf("list lacks %s:\n%s", id, list)
		}
	}
	if strings.Contains(show, "whsec_") || !strings.Contains(show, "https://shop.example.com/hook") {
		t.Errorf("show must print the callback URL and not its secret:\n%s", show)
	}
	secrets := []string{made.Keys.Live, made.Keys.Test, rotated.Keys.Live, s.partner.Keys.Live, s.partner.Keys.Test}
	checkNowhere(t, secrets, map[string][]byte{"the log": []byte(p.stderr.String()), "list": []byte(list), "show": []byte(show)})
	checkNowhere(t, secrets, s.files())
}

// files returns the current bytes of the database's files.
func (s *shop) files() map[string][]byte {
	s.t.Helper()
	files := map[string][]byte{}
	for _, suffix := range []string{"", "-wal", "-shm", "-rates", "-rates-wal", "-requests", "-requests-journal"} {
		data, err := os.ReadFile(s.path() + suffix)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			s.t.Fatal(err)
		}
		files[s.path()+suffix] = data
	}
	if !bytes.Contains(files[s.path()+"-wal"], []byte(s.partner.PartnerID)) && !bytes.Contains(files[s.path()], []byte(s.partner.PartnerID)) {
		s.t.Fatal("the partner is not in the file, so looking for its keys proves nothing")
	}
	return files
}

// checkNowhere looks for keys, with and without their prefix.
func checkNowhere(t *testing.T, keys []string, places map[string][]byte) {
	t.Helper()
	for _, key := range keys {
		body := key[len("sk_live_"):]
		if len(body) < 16 {
			t.Fatalf("%q is no key", key)
		}
		for place, data := range places {
			if bytes.Contains(data, []byte(body)) || bytes.Contains(bytes.ToLower(data), []byte(strings.ToLower(body))) {
				t.Errorf("a key is in clear in %s", place)
			}
		}
	}
}

// Mistakes are reported with what to do instead, and nothing is changed.
func TestPartnerMistakes(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	const usage = 2 // exit code for an invalid command line
	create := func(args ...string) []string { return append([]string{"partner", "create", "--name", "X"}, args...) }
	mine := s.partner.PartnerID
	cases := []struct {
		args  []string
		code  int
		words []string
	}{
		{create("--scope", "read_everything"), 1, []string{"--scope", "read_everything", "read_orders", "write_inventory"}},
		{create("--scope", "read_stores,read_orders"), 1, []string{"--scope", "read_stores,read_orders"}},
		{create("--store", "s1", "--store", "s9"), 1, []string{"--store", "s9"}},
		{create("--rate-limit", "0"), 1, []string{"--rate-limit", "1 or more"}},
		{create("--rate-limit=-5"), 1, []string{"--rate-limit", "1 or more"}},
		{create("--rate-limit", "many"), usage, []string{"--rate-limit", "many"}},
		{create("--callback-url", "shop.example.com"), 1, []string{"--callback-url", "http"}},
		{create("--callback-url", "ftp://shop.example.com"), 1, []string{"--callback-url", "http"}},
		{create("--scop", "x"), usage, []string{"--scop", "--scope"}},
		{[]string{"partner", "create"}, usage, []string{"--name"}},
		{[]string{"partner", "create", "--name="}, 1, []string{"--name"}},
		{[]string{"partner", "show", "ptn_none"}, 1, []string{"ptn_none", "partner list"}},
		{[]string{"partner", "update", "ptn_none", "--name", "X"}, 1, []string{"ptn_none", "partner list"}},
		{[]string{"partner", "rotate-key", "ptn_none", "--mode", "live"}, 1, []string{"ptn_none", "partner list"}},
		{[]string{"partner", "suspend", "ptn_none"}, 1, []string{"ptn_none", "partner list"}},
		{[]string{"partner", "update", mine, "--scope", "nope"}, 1, []string{"--scope", "nope", "read_orders"}},
		{[]string{"partner", "update", mine, "--store", "s9"}, 1, []string{"--store", "s9"}},
		{[]string{"partner", "update", mine, "--store", "s1", "--all-stores"}, usage, []string{"--store", "--all-stores"}},
		{[]string{"partner", "rotate-key", mine}, usage, []string{"--mode"}},
		{[]string{"partner", "rotate-key", mine, "--mode", "both"}, usage, []string{"--mode", "live", "test"}},
	}
	before := s.rows("SELECT * FROM partners")
	keys := s.rows("SELECT partner_id, mode, hex(hash) FROM api_keys")
	for _, tc := range cases {
		t.Run(strings.ReplaceAll(strings.Join(tc.args, " "), mine, "ID"), func(t *testing.T) { s.operate(tc.args...).refused(t, tc.code, tc.words...) })
	}
	if after := s.rows("SELECT * FROM partners"); strings.Join(before, "\n") != strings.Join(after, "\n") {
		t.Errorf("partners were changed:\n%v\n%v", before, after)
	}
	if after := s.rows("SELECT partner_id, mode, hex(hash) FROM api_keys"); strings.Join(keys, "\n") != strings.Join(after, "\n") {
		t.Errorf("keys were changed:\n%v\n%v", keys, after)
	}
}

// Where live keys need a certification, neither the API nor a command gives one to a partner that has not passed it,
// until the operator insists.
func TestLiveKeysNeedCertification(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	_, c := s.serve("--require-certified")
	newKey := func(mode string) request {
		return post("/v1/keys", "", map[string]any{"name": "Another", "mode": mode})
	}
	c.must(409, newKey("live")).refusal(t, 409, "not_certified")
	c.must(201, newKey("test"))

	made := s.newPartner("--name", "Fresh", "--require-certified")
	if made.Keys.Live != "" || made.Keys.Test == "" {
		t.Errorf("a new partner has %+v", made.Keys)
	}
	if text := s.operate("partner", "create", "--name", "In words", "--require-certified").ok(t); !strings.Contains(text, "none before the certification") {
		t.Error(text)
	}
	checkKeys(t, s.newPartner("--name", "Trusted", "--require-certified", "--force"))
	for _, command := range [][]string{{"add-key", made.PartnerID, "--name", "Live", "--mode", "live", "--json"}, {"rotate-key", made.PartnerID, "--mode", "live", "--json"}} {
		command = append([]string{"partner"}, command...)
		if r := s.operate(append(command, "--require-certified")...); r.code != 1 || !strings.Contains(r.stderr, "--force") || strings.Contains(r.stdout, "sk_live_") {
			t.Errorf("%v: exit code %d, %q", command, r.code, r.stderr)
		}
	}
	live := parseIssued(t, s.operate("partner", "rotate-key", made.PartnerID, "--mode", "live", "--json", "--require-certified", "--force").ok(t))
	c.with(live.Keys.Live).must(200, get("/v1/health"))
	s.operate("partner", "rotate-key", made.PartnerID, "--mode", "live", "--json", "--require-certified").ok(t) // one in place of another
}
