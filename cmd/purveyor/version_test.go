package main

import (
	"runtime"
	"runtime/debug"
	"testing"

	"purveyor/internal/storage/sqlite"
)

func TestBuildOf(t *testing.T) {
	settings := []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}}
	changed := append(settings[:2:2], debug.BuildSetting{Key: "vcs.modified", Value: "true"})
	platform := runtime.GOOS + "/" + runtime.GOARCH
	for _, c := range []struct {
		version string
		info    debug.BuildInfo
		want    build
	}{
		{"", debug.BuildInfo{}, build{"unknown", "unknown", "unknown", runtime.Version(), sqlite.Schema(), platform}},
		{"", debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: settings}, build{"(devel)", "abc", "2026-01-02T03:04:05Z", runtime.Version(), sqlite.Schema(), platform}},
		{"1.2.3", debug.BuildInfo{Main: debug.Module{Version: "v0.0.0"}, Settings: changed}, build{"1.2.3", "abc-dirty", "2026-01-02T03:04:05Z", runtime.Version(), sqlite.Schema(), platform}},
	} {
		version = c.version
		if got := buildOf(&c.info); got != c.want {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}
	version = ""
}
