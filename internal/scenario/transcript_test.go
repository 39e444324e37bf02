package scenario

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"purveyor/internal/outside/sandbox"
)

// A transcript consists of blocks with blank lines between them. A block has
// comment lines, then either directives, one per line,
//
//	catalog small                     import a catalog (fixture_test.go)
//	order a paid pickup 2*prd_loaf    store an order as <order_id:a> (seed_test.go)
//	clock +1m                         move the clock
//	suspend other                     suspend a partner
//	restrict other sto_south          limit a partner to some stores
//
// and those of couriers_test.go, or an exchange: the request with its headers
// and body, then the expected status, the expected headers, and the whole
// expected body. signed=yes signs the body as the sandboxes do. "same as NAME"
// instead of a body expects the same bytes as in the answer to the request with
// as=NAME. Idempotent-Replayed must be absent unless it is listed. For a page that
// people see, the expected body lists lines that the page has to contain; its path
// may be a URL of the service, such as <tracking:a>.
//
// Before the next block, all jobs run that are due by the clock.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			onEveryEngine(t, func(t *testing.T, w *world) { play(t, w, file) })
		})
	}
}

func play(t *testing.T, w *world, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pl := &player{w: w, memory: &memory{clock: w.clock, values: map[string]string{}}, answers: map[string][]byte{}}
	blocks := strings.Split(strings.TrimSpace(string(data)), "\n\n")
	line := 1
	for i, block := range blocks {
		ok := t.Run(fmt.Sprintf("line%d", line), func(t *testing.T) {
			blocks[i] = pl.block(t, block)
			w.finishJobs(t)
		})
		if !ok {
			t.Logf("%s:%d", file, line)
			break // the following blocks depend on this one
		}
		line += strings.Count(block, "\n") + 2
	}
	w.moneyAddsUp(t)
	if text := []byte(strings.Join(blocks, "\n\n") + "\n"); *update && !t.Failed() && !bytes.Equal(text, data) {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

type player struct {
	w       *world
	memory  *memory
	answers map[string][]byte // by as=NAME
}

var requestLine = regexp.MustCompile(`^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) `)

// block plays one block and returns its text, rewritten with -update.
func (pl *player) block(t *testing.T, text string) string {
	lines := strings.Split(text, "\n")
	start := slices.IndexFunc(lines, func(l string) bool { return !strings.HasPrefix(l, "#") })
	if start < 0 {
		return text
	}
	if !requestLine.MatchString(lines[start]) {
		for _, l := range lines[start:] {
			pl.directive(t, strings.Fields(l))
		}
		return text
	}
	ex, err := parseExchange(lines[start:])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines[:start+ex.statusAt], "\n") + "\n" + pl.exchange(t, ex)
}

func (pl *player) directive(t *testing.T, words []string) {
	t.Helper()
	switch {
	case pl.courierDirective(t, words):
	case len(words) == 2 && words[0] == "catalog":
		pl.w.importCatalog(t, words[1])
	case len(words) == 2 && words[0] == "suspend":
		pl.w.suspend(t, words[1])
	case len(words) > 2 && words[0] == "restrict":
		pl.w.restrict(t, words[1], words[2:]...)
	case len(words) == 2 && words[0] == "clock":
		d, err := time.ParseDuration(words[1])
		if err != nil {
			t.Fatal(err)
		}
		pl.w.clock.move(d)
	case len(words) > 2 && words[0] == "order":
		if err := pl.memory.bind("order", "order_id", words[1], pl.w.seedOrder(t, words[1:])); err != nil {
			t.Fatal(err)
		}
	default:
		t.Fatalf("what is %q?", strings.Join(words, " "))
	}
}

// exchange is a request and its expected answer, as written.
type exchange struct {
	request  string
	options  map[string]string // key, idem, trace, as, lenient, signed
	headers  []string
	body     string
	statusAt int // index of the status line in the block
	status   int
	expected []string // headers
	reply    string
}

var statusLine = regexp.MustCompile(`^[1-5]\d\d$`)

func parseExchange(lines []string) (ex exchange, err error) {
	ex.statusAt = slices.IndexFunc(lines, statusLine.MatchString)
	if ex.statusAt < 0 {
		return ex, fmt.Errorf("no status line under %s", lines[0])
	}
	ex.status, _ = strconv.Atoi(lines[ex.statusAt])
	words := strings.Fields(lines[0])
	ex.request = words[0] + " " + words[1]
	ex.options = map[string]string{}
	for _, word := range words[2:] {
		name, value, _ := strings.Cut(word, "=")
		if !slices.Contains([]string{"key", "idem", "trace", "as", "lenient", "signed"}, name) {
			return ex, fmt.Errorf("what is %q?", word)
		}
		ex.options[name] = value
	}
	ex.headers, ex.body = splitMessage(lines[1:ex.statusAt])
	ex.expected, ex.reply = splitMessage(lines[ex.statusAt+1:])
	return ex, nil
}

var headerLine = regexp.MustCompile(`^[A-Za-z-]+: `)

func splitMessage(lines []string) (headers []string, body string) {
	n := 0
	for n < len(lines) && headerLine.MatchString(lines[n]) {
		n++
	}
	return lines[:n], strings.Join(lines[n:], "\n")
}

// exchange sends the request, compares the answer, and returns the text that follows
// the request.
func (pl *player) exchange(t *testing.T, ex exchange) string {
	c, err := pl.call(ex)
	if err != nil {
		t.Fatal(err)
	}
	a := pl.w.do(t, c)
	if name := ex.options["as"]; name != "" {
		pl.answers[name] = a.body
	}
	if a.status != ex.status {
		t.Fatalf("%s\nwant status %d, got %d %s", ex.request, ex.status, a.status, a.body)
	}
	pl.compareHeaders(t, ex, a)
	reply, err := pl.compareBody(ex, a)
	if err != nil {
		t.Fatalf("%s\n%v\nwhole answer: %d %s", ex.request, err, a.status, a.body)
	}
	out := append([]string{strconv.Itoa(a.status)}, ex.expected...)
	if reply != "" {
		out = append(out, reply)
	}
	return strings.Join(out, "\n")
}

func (pl *player) call(ex exchange) (c call, err error) {
	request, err := pl.memory.recall(ex.request)
	if err != nil {
		return c, err
	}
	c = call{key: ex.options["key"], idem: ex.options["idem"], header: http.Header{}, lenient: ex.options["lenient"] != ""}
	c.method, c.path, _ = strings.Cut(request, " ")
	c.path = strings.TrimPrefix(c.path, publicURL)
	if trace := ex.options["trace"]; trace != "" {
		c.header["X-Trace-Id"] = []string{trace}
	}
	for _, h := range ex.headers {
		name, value, _ := strings.Cut(h, ": ")
		c.header[http.CanonicalHeaderKey(name)] = append(c.header[http.CanonicalHeaderKey(name)], value)
	}
	if c.body, err = pl.memory.recall(ex.body); err == nil && ex.options["signed"] != "" {
		c.header[sandbox.SignatureHeader], err = pl.w.signatures(c.body)
	}
	return c, err
}

func (pl *player) compareHeaders(t *testing.T, ex exchange, a *answer) {
	t.Helper()
	replayed := false
	for _, h := range ex.expected {
		name, want, _ := strings.Cut(pl.memory.fill(h), ": ")
		replayed = replayed || name == "Idempotent-Replayed"
		if got := a.header.Get(name); got != want {
			t.Errorf("%s\nheader %s: want %q, got %q", ex.request, name, want, got)
		}
	}
	if got := a.header.Get("Idempotent-Replayed"); got != "" && !replayed {
		t.Errorf("%s\nIdempotent-Replayed: %s was not expected", ex.request, got)
	}
}

// compareBody returns the expected body as it should be in the file.
func (pl *player) compareBody(ex exchange, a *answer) (string, error) {
	if name, ok := strings.CutPrefix(ex.reply, "same as "); ok {
		if !bytes.Equal(pl.answers[name], a.body) {
			return "", fmt.Errorf("want the bytes of %s: %s", name, pl.answers[name])
		}
		return ex.reply, nil
	}
	if len(a.body) == 0 && ex.reply == "" {
		return "", nil
	}
	if strings.Contains(ex.request, " "+pagePrefix) || strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
		for line := range strings.Lines(ex.reply) {
			if !pageSays(a, strings.TrimSuffix(line, "\n")) {
				return "", fmt.Errorf("the page does not say %q", line)
			}
		}
		return ex.reply, nil
	}
	got, err := parseJSON(a.body)
	if err != nil {
		return "", err
	}
	want, err := parseJSON([]byte(pl.memory.moments(ex.reply)))
	if err == nil {
		err = pl.memory.match("body", want, got)
	}
	if err != nil && *update {
		return pl.memory.describe(got).String(), nil
	}
	return ex.reply, err
}
