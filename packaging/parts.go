package main

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"time"
)

// bill is a list of parts in the form of CycloneDX 1.6.
type bill struct {
	Format     string   `json:"bomFormat"`
	Spec       string   `json:"specVersion"`
	Version    int      `json:"version"`
	Metadata   metadata `json:"metadata"`
	Components []part   `json:"components"`
}

type metadata struct {
	Timestamp string `json:"timestamp"`
	Component part   `json:"component"`
}

type part struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	URL     string `json:"purl,omitempty"`
}

// writeParts lists the modules that the program says it is made of.
func (r release) writeParts(p platform, program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(r.parts(info), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(r.path(p, ".cdx.json"), append(data, '\n'), 0o644)
}

func (r release) parts(info *buildinfo.BuildInfo) bill {
	list := []part{module("stdlib", info.GoVersion)}
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		list = append(list, module(d.Path, d.Version))
	}
	return bill{"CycloneDX", "1.6", 1, metadata{r.time.Format(time.RFC3339), part{Type: "application", Ref: "purveyor", Name: "purveyor", Version: r.version}}, list}
}

func module(path, version string) part {
	url := "pkg:golang/" + path + "@" + version
	return part{"library", url, path, version, url}
}
