package main

import (
	"bytes"
	"encoding/pem"
	"io"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is the unprivileged user of the image, and its group.
const user = 65532

// writeImages writes one file for `docker load` a platform, and a layout of OCI with all of
// them. programs has the paths of the programs for linux.
func (r release) writeImages(programs map[platform]string) error {
	all := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range platforms {
		if programs[p] == "" {
			continue
		}
		image, err := r.image(p, programs[p])
		if err != nil {
			return err
		}
		tag, err := name.NewTag("purveyor:" + r.version)
		if err != nil {
			return err
		}
		if err := tarball.WriteToFile(r.path(p, ".docker.tar"), tag, image); err != nil {
			return err
		}
		all = mutate.AppendManifests(all, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.os, Architecture: p.arch}}})
	}
	path, err := layout.Write(filepath.Join(r.out, "purveyor-"+r.version+".oci"), empty.Index)
	if err != nil {
		return err
	}
	return path.AppendIndex(all, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": r.version}))
}

func (r release) image(p platform, program string) (v1.Image, error) {
	data, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	var files bytes.Buffer
	if err := writeTar(&files, rootFiles(data), r.time); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files.Bytes())), nil }
	layer, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	created := v1.Time{Time: r.time}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.Append(base, mutate.Addendum{Layer: layer, History: v1.History{Created: created, CreatedBy: "packaging"}})
	if err != nil {
		return nil, err
	}
	c, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	c = c.DeepCopy()
	r.configure(p, c)
	return mutate.ConfigFile(image, c)
}

// configure says how a container of the image runs. It listens on every address, so it needs
// PURVEYOR_PUBLIC_URL.
func (r release) configure(p platform, c *v1.ConfigFile) {
	c.OS, c.Architecture, c.Created = p.os, p.arch, v1.Time{Time: r.time}
	c.Config = v1.Config{
		Entrypoint:   []string{"/purveyor"},
		Cmd:          []string{"serve"},
		Env:          []string{"PURVEYOR_DATABASE=sqlite:/data/purveyor.db", "PURVEYOR_LISTEN=0.0.0.0:8080", "TMPDIR=/tmp"},
		User:         "65532:65532",
		WorkingDir:   "/data",
		Volumes:      map[string]struct{}{"/data": {}},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}},
		Labels:       map[string]string{"org.opencontainers.image.title": "Purveyor", "org.opencontainers.image.version": r.version, "org.opencontainers.image.licenses": "Apache-2.0"},
	}
}

// rootFiles is the whole root file system.
func rootFiles(program []byte) []entry {
	passwd := "root:x:0:0:root:/:/sbin/nologin\npurveyor:x:65532:65532:purveyor:/data:/sbin/nologin\n"
	return []entry{
		{name: "data/", mode: 0o700, uid: user},
		{name: "etc/", mode: 0o755},
		{name: "etc/group", mode: 0o644, data: []byte("root:x:0:\npurveyor:x:65532:\n")},
		{name: "etc/passwd", mode: 0o644, data: []byte(passwd)},
		{name: "etc/ssl/", mode: 0o755},
		{name: "etc/ssl/certs/", mode: 0o755},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, data: authorities()},
		{name: "purveyor", mode: 0o755, data: program},
		{name: "tmp/", mode: 0o1777},
	}
}

// authorities are the certificate authorities that Mozilla trusts, by a module, so that they
// do not depend on the machine that makes the release.
func authorities() []byte {
	var all bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&all, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
		}
	}
	return all.Bytes()
}
