package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
)

// TLS says where the service has its certificate from. Without one it speaks plain HTTP,
// and a proxy in front of it does TLS.
type TLS struct {
	TLSDomain      string `help:"Public name of the service. Its certificate is fetched from Let's Encrypt, whose terms you accept by this, and renewed; the service listens on ports 443 and 80." env:"PURVEYOR_TLS_DOMAIN" name:"tls-domain" placeholder:"NAME"`
	StateDir       string `help:"Folder that keeps the certificate of --tls-domain, and its key; several processes share one. Default: PATH-tls, beside the SQLite file." env:"PURVEYOR_STATE_DIR" placeholder:"DIR"`
	RedirectListen string `help:"Where the service answers HTTP with --tls-domain: the certificate authority's questions, and a redirect to HTTPS." default:":80" env:"PURVEYOR_REDIRECT_LISTEN" placeholder:"HOST:PORT"`
	ACMEDirectory  string `help:"Directory of the certificate authority of --tls-domain." default:"https://acme-v02.api.letsencrypt.org/directory" env:"PURVEYOR_ACME_DIRECTORY" name:"acme-directory" placeholder:"URL"`

	TLSCert string `help:"PEM file with the certificate of the service, and those of the authorities between; read again when it changes." env:"PURVEYOR_TLS_CERT" name:"tls-cert" placeholder:"FILE"`
	TLSKey  string `help:"PEM file with the key of --tls-cert." env:"PURVEYOR_TLS_KEY" name:"tls-key" placeholder:"FILE"`
}

// Encrypts reports whether the service speaks TLS by itself.
func (t TLS) Encrypts() bool { return t.TLSDomain != "" || t.TLSCert != "" }

// The address to serve on where none is given: reached through a proxy, or by its own name.
const (
	defaultListen = "127.0.0.1:8080"
	tlsListen     = ":443"
)

// With returns the settings of a server with the defaults that a domain brings: its port
// and its URL.
func (s Server) With(t TLS) Server {
	if t.TLSDomain == "" {
		return s
	}
	if s.Listen == defaultListen {
		s.Listen = tlsListen
	}
	s.PublicURL = cmp.Or(s.PublicURL, "https://"+strings.ToLower(t.TLSDomain))
	return s
}

// aDomain matches a name that an authority certifies. Names in other scripts come in the form xn--.
var aDomain = regexp.MustCompile(`^([a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?\.)+[a-zA-Z]([a-zA-Z0-9-]*[a-zA-Z0-9])?$`)

// CheckTLS returns an error for settings that cannot work, for a service at a public URL.
func (t TLS) CheckTLS(publicURL string) error {
	switch {
	case (t.TLSCert == "") != (t.TLSKey == ""):
		return errors.New("--tls-cert and --tls-key need each other")
	case t.TLSCert != "" && t.TLSDomain != "":
		return errors.New("--tls-domain fetches a certificate, and --tls-cert names one: choose one of them")
	case t.Encrypts() && strings.HasPrefix(publicURL, "http://"):
		return fmt.Errorf("--public-url %s must begin with https://, because the service speaks TLS", publicURL)
	case t.TLSDomain == "":
		return nil
	case !aDomain.MatchString(t.TLSDomain):
		return fmt.Errorf("--tls-domain %q is not the public name of a service, such as shop.example.com", t.TLSDomain)
	}
	if _, _, err := net.SplitHostPort(t.RedirectListen); err != nil {
		return fmt.Errorf("--redirect-listen %q is not HOST:PORT", t.RedirectListen)
	}
	return HTTPURL("--acme-directory", t.ACMEDirectory)
}

// StateFolder returns the folder that keeps the certificate of the domain.
func (t TLS) StateFolder(d Database) (string, error) {
	if t.StateDir != "" {
		return t.StateDir, nil
	}
	if d.PostgreSQL() {
		return "", errors.New("--tls-domain needs --state-dir on PostgreSQL: a folder that keeps the certificate, one for all processes")
	}
	path, err := d.SQLitePath()
	if err != nil {
		return "", errors.New("--tls-domain needs --state-dir here: a folder that keeps the certificate")
	}
	return path + "-tls", nil
}
