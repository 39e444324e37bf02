package scenario

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// memory holds the values that a transcript has bound: <order_id:a> stands for one
// value from its first mention on. Without a name only the form is checked.
type memory struct {
	clock  *clock
	values map[string]string // "order_id:a" -> value
}

// forms are the kinds of values that a test cannot know in advance.
var forms = map[string]*regexp.Regexp{
	"order_id":    regexp.MustCompile(`^ord_[0-9a-z]+_[0-9a-z]{26}$`),
	"product_id":  regexp.MustCompile(`^prd_[0-9a-z]{26}$`),
	"customer_id": regexp.MustCompile(`^cus_[0-9a-z]{26}$`),
	"event_id":    regexp.MustCompile(`^tev_[0-9a-z]+_[0-9a-z]{26}_[0-9a-z]+$`),
	"webhook_id":  regexp.MustCompile(`^evt_[0-9a-z]{26}$`),
	"refund_id":   regexp.MustCompile(`^rfd_[0-9a-z]+_[0-9a-z]{26}$`),
	"session_id":  regexp.MustCompile(`^cs_test_[0-9a-f]{40}$`),
	"payment_id":  regexp.MustCompile(`^pi_test_[0-9a-f]{24}$`),
	"fault_id":    regexp.MustCompile(`^flt_[0-9a-z]{26}$`),
	"run_id":      regexp.MustCompile(`^run_[0-9a-z]{26}$`),
	"request_id":  regexp.MustCompile(`^req_[0-9a-z]{26}$`),
	"trace_id":    regexp.MustCompile(`^[0-9a-f]{32}$`),
	"delivery_id": regexp.MustCompile(`^del_test_[0-9a-f]{40}$`),
	"quote_id":    regexp.MustCompile(`^dqt_test_[0-9a-z]+_[0-9a-f]{40}$`),
	"courier":     regexp.MustCompile(`^[A-Z][a-z]+ [A-Z]\.$`),
	"phone":       regexp.MustCompile(`^\+120255501\d\d$`),
	"vehicle":     regexp.MustCompile(`^(bicycle|car|scooter|van|walker|motorcycle|truck)$`),
	"picture":     regexp.MustCompile(`^https://purveyor\.example/sandbox/couriers/\d+\.svg$`),
	"degrees":     regexp.MustCompile(`^-?\d{1,3}(\.\d+)?$`),
	"tracking":    regexp.MustCompile(`^https://purveyor\.example/track/[0-9a-z]+_[0-9a-z]{26}_[0-9a-z]{26}$`),
	"cursor":      regexp.MustCompile(`^[A-Za-z0-9_-]+$`),
	"iso":         regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`),
	"time":        regexp.MustCompile(`^\d{13}$`),
	"millis":      regexp.MustCompile(`^\d{13}$`), // a time in a text
	"any":         regexp.MustCompile(``),
}

var placeholder = regexp.MustCompile(`<([a-z_]+)(?::([a-z0-9_]+))?>`)

// match compares an answer with the expected one, and says where they differ.
func (m *memory) match(path string, want, got *node) error {
	switch {
	case want.isScalar():
		return m.matchScalar(path, want, got)
	case got.isScalar() || want.object != got.object:
		return fmt.Errorf("%s: want %s, got %s", path, want.line(), got.line())
	case want.object:
		return m.matchObject(path, want, got)
	case len(want.members) != len(got.members):
		return fmt.Errorf("%s: want %d elements, got %d: %s", path, len(want.members), len(got.members), got.line())
	}
	for i := range want.members {
		if err := m.match(fmt.Sprintf("%s[%d]", path, i), want.members[i], got.members[i]); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) matchObject(path string, want, got *node) error {
	for _, name := range got.names {
		if want.member(name) == nil {
			return fmt.Errorf("%s.%s: not expected, got %s", path, name, got.member(name).line())
		}
	}
	for i, name := range want.names {
		value := got.member(name)
		if value == nil {
			return fmt.Errorf("%s.%s: missing, want %s", path, name, want.members[i].line())
		}
		if err := m.match(path+"."+name, want.members[i], value); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) matchScalar(path string, want, got *node) error {
	if !got.isScalar() {
		return fmt.Errorf("%s: want %s, got %s", path, want.line(), got.line())
	}
	parts := placeholder.FindStringSubmatch(want.text())
	if parts == nil || parts[0] != want.text() || forms[parts[1]] == nil {
		if text := m.fill(want.scalar); text != got.scalar {
			return fmt.Errorf("%s: want %s, got %s", path, text, got.scalar)
		}
		return nil
	}
	kind, name := parts[1], parts[2]
	if err := m.fits(kind, got); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if name == "" {
		return nil
	}
	return m.bind(path, kind, name, got.text())
}

// fits checks the form. Times are numbers close to the world's clock: the stamps of
// batches may be ahead of it by a millisecond each.
func (m *memory) fits(kind string, got *node) error {
	if !forms[kind].MatchString(got.text()) {
		return fmt.Errorf("%s is no %s", got.scalar, kind)
	}
	isText := strings.HasPrefix(got.scalar, `"`)
	if (kind == "time" || kind == "degrees") == isText && kind != "any" {
		return fmt.Errorf("%s has the wrong JSON type for %s", got.scalar, kind)
	}
	if kind == "time" {
		ms, err := strconv.ParseInt(got.scalar, 10, 64)
		if err != nil {
			return err
		}
		if at := time.UnixMilli(ms); at.After(m.clock.Now().Add(time.Second)) || at.Before(m.clock.Now().Add(-48*time.Hour)) {
			return fmt.Errorf("%s is not a time of this story", got.scalar)
		}
	}
	return nil
}

func (m *memory) bind(path, kind, name, value string) error {
	key := kind + ":" + name
	if bound, ok := m.values[key]; ok {
		if bound != value {
			return fmt.Errorf("%s: want <%s> = %s, got %s", path, key, bound, value)
		}
		return nil
	}
	for other, bound := range m.values {
		if bound == value && kind != "time" && strings.HasPrefix(other, kind+":") {
			return fmt.Errorf("%s: <%s> is the same as <%s>: %s", path, key, other, value)
		}
	}
	m.values[key] = value
	return nil
}

var moment = regexp.MustCompile(`"?<now(?:([+-]\d+)([smhd]))?>"?`)

// instant is a time in ISO 8601: "<iso+90s>", "<iso-0.25s>".
var instant = regexp.MustCompile(`<iso([+-]\d+(?:\.\d+)?s)>`)

const isoMillis = "2006-01-02T15:04:05.000Z"

// recall puts bound values and times into a request: "<now+30d>" is a number of Unix
// ms.
func (m *memory) recall(text string) (string, error) {
	text = m.moments(text)
	var missing error
	text = placeholder.ReplaceAllStringFunc(text, func(s string) string {
		value, ok := m.values[strings.Trim(s, "<>")]
		if !ok {
			missing = fmt.Errorf("%s is not bound yet", s)
		}
		return value
	})
	return text, missing
}

// fill puts bound values into a text.
func (m *memory) fill(text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(s string) string {
		if value, ok := m.values[strings.Trim(s, "<>")]; ok {
			return value
		}
		return s
	})
}

// moments replaces "<now>", "<now+30d>" and the like by Unix ms.
func (m *memory) moments(text string) string {
	units := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}
	text = instant.ReplaceAllStringFunc(text, func(s string) string {
		d, _ := time.ParseDuration(instant.FindStringSubmatch(s)[1]) // the pattern allows valid durations only
		return m.clock.Now().Add(d).Format(isoMillis)
	})
	return moment.ReplaceAllStringFunc(text, func(s string) string {
		at := m.clock.Now()
		if parts := moment.FindStringSubmatch(s); parts[1] != "" {
			n, _ := strconv.Atoi(parts[1]) // the pattern allows digits only
			at = at.Add(time.Duration(n) * units[parts[2]])
		}
		return strconv.FormatInt(at.UnixMilli(), 10)
	})
}
