package config

import (
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Setting is a setting as it may be shown: without what is secret.
type Setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
}

// Settings returns the settings of the selected command, each with its value and where
// that is from.
func (s *Sources) Settings(ctx *kong.Context) []Setting {
	given := map[*kong.Flag]bool{}
	for _, path := range ctx.Path {
		if path.Flag != nil && !path.Resolved {
			given[path.Flag] = true
		}
	}
	var list []Setting
	for _, path := range ctx.Path {
		for _, flag := range path.Flags {
			if len(flag.Envs) == 0 {
				continue
			}
			origin, found := s.origins[flag.Value]
			switch {
			case given[flag]:
				origin = FromFlag
			case !found:
				origin = FromDefault
			}
			list = append(list, Setting{flag.Envs[0], shown(flag), origin})
		}
	}
	return list
}

// SecretFiles returns the files that secrets were read from.
func (s *Sources) SecretFiles() []string {
	files := map[string]bool{}
	for value, origin := range s.origins {
		switch {
		case !value.Tag.Has("secret") || origin == FromVariable:
		case s.file.path != "" && strings.HasPrefix(origin, s.file.path+":"):
			files[s.file.path] = true
		default:
			files[origin] = true
		}
	}
	return slices.Sorted(maps.Keys(files))
}

// shown returns the value of a flag. Of a secret it says only that there is one, and of a URL it
// leaves the password out.
func shown(flag *kong.Flag) string {
	text := fmt.Sprint(flag.Target.Interface())
	if flag.Target.Kind() == reflect.Slice {
		parts := make([]string, flag.Target.Len())
		for i := range parts {
			parts[i] = fmt.Sprint(flag.Target.Index(i).Interface())
		}
		text = strings.Join(parts, ",")
	}
	switch {
	case text == "" || !isSecret(flag):
		return text
	case flag.Tag.Get("secret") == "url":
		return redacted(text)
	}
	return "set"
}

// redacted returns a URL without its password.
func redacted(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		scheme, _, _ := strings.Cut(text, ":")
		return scheme + ":..."
	}
	query := u.Query() // PostgreSQL takes a password there, too
	if query.Has("password") {
		query.Set("password", "xxxxx")
		u.RawQuery = query.Encode()
	}
	return u.Redacted()
}
