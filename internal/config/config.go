// Package config holds the settings of an operator. Every zero value works, or is
// refused with a reason.
package config

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"runtime"
	"strings"
)

// Database names the database.
type Database struct {
	Database string `help:"Where the data is: sqlite:PATH, or postgres://USER:PASSWORD@HOST/NAME." default:"sqlite:purveyor.db" env:"PURVEYOR_DATABASE" secret:"url" placeholder:"URL"`
	// Batches is how many batches PostgreSQL writes at a time; 0: one.
	Batches int `kong:"-"`
}

// PostgreSQL reports whether the database is on a PostgreSQL server.
func (d Database) PostgreSQL() bool {
	return strings.HasPrefix(d.Database, "postgres://") || strings.HasPrefix(d.Database, "postgresql://")
}

// SQLitePath returns the file of a sqlite: URL.
func (d Database) SQLitePath() (string, error) {
	path, ok := strings.CutPrefix(d.Database, "sqlite:")
	switch {
	case path == ":memory:":
		return "", fmt.Errorf("--database %q: the data must be in a file; give it as sqlite:PATH", d.Database)
	case ok && path != "":
		return path, nil
	case ok:
		return "", fmt.Errorf("--database %q names no file; give it as sqlite:PATH", d.Database)
	}
	return "", fmt.Errorf("--database %q is not understood; give it as sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME", d.Database)
}

// Check returns an error for a database that cannot be meant.
func (d Database) Check() error {
	if d.PostgreSQL() {
		return nil
	}
	_, err := d.SQLitePath()
	return err
}

// String is for logs and people: it leaves the password out.
func (d Database) String() string { return redacted(d.Database) }

// Server configures how the service is reached.
type Server struct {
	Listen    string `help:"Address to serve on; with --tls-domain, default :443." default:"127.0.0.1:8080" env:"PURVEYOR_LISTEN" placeholder:"HOST:PORT"`
	PublicURL string `help:"The service's address from outside; default: https and the name of --tls-domain, or the address it listens on." env:"PURVEYOR_PUBLIC_URL" placeholder:"URL"`
	// MetricsListen is for operators alone.
	MetricsListen string `help:"Address to serve metrics, profiles and the state of the process on, for operators alone; it must not be reached from outside." env:"PURVEYOR_METRICS_LISTEN" placeholder:"HOST:PORT"`
	BackupDir     string `help:"The folder of purveyor backup --to: metrics tell how old the newest backup is, and whether it is sound." env:"PURVEYOR_BACKUP_DIR" placeholder:"DIR"`
	CacheMiB      int    `help:"Memory for answers about products and for stores, in MiB." default:"16" env:"PURVEYOR_CACHE_MIB" name:"cache-mib"`
	Writers       int    `help:"How many batches are written to PostgreSQL at a time; SQLite has one writer. 0: one for each processor core but one." default:"0" env:"PURVEYOR_WRITERS"`

	RepliesMiB    int64  `help:"Storage for the replies to a partner's calls with an Idempotency-Key, in MiB, at a rate limit of 240; proportionally more at a higher one. Beyond it, new calls with a key get 429." default:"1024" env:"PURVEYOR_REPLIES_MIB" name:"replies-mib"`
	RequestLogMiB int64  `help:"Storage for the log of partners' requests, in MiB: when it is full, the oldest days go early. 0: no log." default:"10240" env:"PURVEYOR_REQUEST_LOG_MIB" name:"request-log-mib"`
	Sandbox       string `help:"on, or off: then test orders need configured providers, and the sandbox's pages are gone." enum:"on,off" default:"on" env:"PURVEYOR_SANDBOX"`

	NoOffice         bool `help:"Leave the back office and the portal of partners out." env:"PURVEYOR_NO_OFFICE"`
	RequireCertified bool `help:"Give live keys to partners alone whose integration has passed the certification." env:"PURVEYOR_REQUIRE_CERTIFIED"`

	TrustedProxy []string `help:"Network of a reverse proxy whose X-Forwarded-For is trusted; may be repeated." env:"PURVEYOR_TRUSTED_PROXY" placeholder:"CIDR"`
}

// maxWriters keeps the writers below the connections that a server usually has.
const maxWriters = 32

// Batches returns how many batches are written to PostgreSQL at a time.
func (s Server) Batches() int {
	return cmp.Or(s.Writers, min(max(runtime.GOMAXPROCS(0)-1, 1), maxWriters))
}

// Check returns an error for settings that cannot work.
func (s Server) Check() error {
	host, port, err := net.SplitHostPort(s.Listen)
	if err != nil {
		return fmt.Errorf("--listen %q is not HOST:PORT", s.Listen)
	}
	if s.PublicURL == "" && everyAddress(host) {
		return fmt.Errorf("--listen %s accepts connections on every address of this machine, so --public-url must say how the outside reaches the service, such as --public-url http://localhost:%s", s.Listen, port)
	}
	if _, err := s.TrustedProxies(); err != nil {
		return err
	}
	if s.Writers < 0 || s.Writers > maxWriters {
		return fmt.Errorf("--writers %d must be from 0 to %d", s.Writers, maxWriters)
	}
	if s.CacheMiB < 1 || s.CacheMiB > 1<<20 {
		return fmt.Errorf("--cache-mib %d must be 1 or more", s.CacheMiB)
	}
	if s.RepliesMiB < 1 || s.RepliesMiB > 1<<30 {
		return fmt.Errorf("--replies-mib %d must be from 1 to %d", s.RepliesMiB, 1<<30)
	}
	if s.RequestLogMiB < 0 || s.RequestLogMiB > 1<<30 {
		return fmt.Errorf("--request-log-mib %d must be from 0 to %d", s.RequestLogMiB, 1<<30)
	}
	if s.PublicURL == "" {
		return nil
	}
	return HTTPURL("--public-url", s.PublicURL)
}

// SandboxOff reports whether new test orders are kept out of the sandbox.
func (s Server) SandboxOff() bool { return s.Sandbox == "off" }

// TestOrdersBy names what serves new test orders if no provider is configured for
// them.
func (s Server) TestOrdersBy() string {
	if s.SandboxOff() {
		return "none"
	}
	return "sandbox"
}

// everyAddress reports whether a host stands for all addresses of the machine: the
// service can listen on it, but no client can connect to it.
func everyAddress(host string) bool {
	if host == "" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsUnspecified()
}

// TrustedProxies returns the networks of --trusted-proxy.
func (s Server) TrustedProxies() ([]netip.Prefix, error) {
	networks := make([]netip.Prefix, len(s.TrustedProxy))
	for i, text := range s.TrustedProxy {
		network, err := netip.ParsePrefix(text)
		if err != nil || network.Addr().Is4In6() {
			return nil, fmt.Errorf("--trusted-proxy %q is not a network; give it as 10.0.0.0/8, or 192.0.2.7/32 for one address", text)
		}
		networks[i] = network.Masked()
	}
	return networks, nil
}

// HTTPURL returns an error if text is not an absolute http or https URL.
func HTTPURL(flag, text string) error {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return fmt.Errorf("%s %q is not an http or https URL", flag, text)
	}
	return nil
}

// Log configures the log.
type Log struct {
	LogFormat string `help:"text or json." enum:"text,json" default:"text" env:"PURVEYOR_LOG_FORMAT"`
	LogLevel  string `help:"debug, info, warn or error." enum:"debug,info,warn,error" default:"info" env:"PURVEYOR_LOG_LEVEL"`
}
