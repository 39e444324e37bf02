package main

import (
	"os"
	"regexp"
	"testing"

	"github.com/alecthomas/kong"
)

var (
	namesSecret = regexp.MustCompile(`SECRET|PASSWORD|TOKEN|_KEY$|DATABASE|PROXY|COPY_(FROM|TO)`)
	isNoSecret  = map[string]bool{
		"PURVEYOR_DOORDASH_KEY":  true, // the id of a key
		"PURVEYOR_TRUSTED_PROXY": true, // a network
		"PURVEYOR_TLS_KEY":       true, // the path of a file
	}
)

// Every secret has the tag, so that it can be in a file of its own and is not shown.
func TestSecretsHaveTheirTag(t *testing.T) {
	found := 0
	_ = kong.Visit(kong.Must(&cli{}).Model.Node, func(v kong.Visitable, next kong.Next) error {
		flag, ok := v.(*kong.Flag)
		if !ok || len(flag.Envs) == 0 {
			return next(nil)
		}
		name := flag.Envs[0]
		if want := namesSecret.MatchString(name) && !isNoSecret[name]; want != flag.Tag.Has("secret") {
			t.Errorf("--%s (%s) is a secret: %v, and has the tag: %v", flag.Name, name, want, flag.Tag.Has("secret"))
		}
		if flag.Tag.Has("secret") {
			found++
		}
		return next(nil)
	})
	if found < 20 {
		t.Errorf("%d secrets", found)
	}
}

// The unit of systemd passes each secret of serve, if there is one, and no other.
func TestUnitPassesSecrets(t *testing.T) {
	text, err := os.ReadFile("../../deploy/systemd/purveyor.service")
	if err != nil {
		t.Fatal(err)
	}
	passed := map[string]bool{}
	for _, name := range regexp.MustCompile(`(?m)^LoadCredential=(\w+)$`).FindAllStringSubmatch(string(text), -1) {
		passed[name[1]] = true
	}
	for _, flag := range kong.Must(&serveCommand{}).Model.Flags {
		if !flag.Tag.Has("secret") {
			continue
		}
		if !passed[flag.Envs[0]] {
			t.Errorf("the unit lacks LoadCredential=%s", flag.Envs[0])
		}
		delete(passed, flag.Envs[0])
	}
	for name := range passed {
		t.Errorf("the unit passes %s, which is no secret of serve", name)
	}
}
