package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"
)

// entry is a file or, with a name that ends in a slash, a folder of an archive.
type entry struct {
	name string
	mode int64
	uid  int // and the group
	data []byte
}

// writeArchive writes the program with what its user reads first.
func (r release) writeArchive(p platform, program string) error {
	name, suffix, write := "purveyor", ".tar.gz", writeTarGz
	if p.os == "windows" {
		name, suffix, write = "purveyor.exe", ".zip", writeZip
	}
	entries, err := r.read([]entry{{name: "LICENSE"}, {name: "README.md"}, {name: "CHANGELOG.md"}, {name: "UPGRADING.md"}})
	if err != nil {
		return err
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	return writeFile(r.path(p, suffix), func(w io.Writer) error {
		return write(w, append([]entry{{name: name, mode: 0o755, data: data}}, entries...), r.time)
	})
}

// read fills entries from the sources.
func (r release) read(entries []entry) ([]entry, error) {
	for i, e := range entries {
		data, err := os.ReadFile(filepath.Join(r.root, e.name))
		if err != nil {
			return nil, err
		}
		entries[i].data, entries[i].mode = data, 0o644
	}
	return entries, nil
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

func writeTarGz(w io.Writer, entries []entry, at time.Time) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(writeTar(z, entries, at), z.Close())
}

func writeTar(w io.Writer, entries []entry, at time.Time) error {
	t := tar.NewWriter(w)
	for _, e := range entries {
		kind := byte(tar.TypeReg)
		if e.name[len(e.name)-1] == '/' {
			kind = tar.TypeDir
		}
		h := &tar.Header{Typeflag: kind, Name: e.name, Mode: e.mode, Uid: e.uid, Gid: e.uid, Size: int64(len(e.data)), ModTime: at, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(e.data); err != nil {
			return err
		}
	}
	return t.Close()
}

func writeZip(w io.Writer, entries []entry, at time.Time) error {
	z := zip.NewWriter(w)
	for _, e := range entries {
		f, err := z.CreateHeader(&zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: at})
		if err != nil {
			return err
		}
		if _, err := f.Write(e.data); err != nil {
			return err
		}
	}
	return z.Close()
}
