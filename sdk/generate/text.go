package main

import (
	"regexp"
	"strings"
	"unicode"
)

// initialisms are written in capitals in names of Go.
var initialisms = map[string]string{"id": "ID", "ids": "IDs", "url": "URL", "urls": "URLs", "sku": "SKU", "eta": "ETA", "ok": "OK", "api": "API", "json": "JSON"}

// exported returns a name of the document as an exported name of Go.
func exported(name string) string {
	var b strings.Builder
	for _, word := range words(name) {
		if all, ok := initialisms[strings.ToLower(word)]; ok {
			b.WriteString(all)
			continue
		}
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// words splits a name at other characters than letters and digits, and before capitals.
func words(name string) (list []string) {
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			list = append(list, word.String())
			word.Reset()
		}
	}
	for _, c := range strings.ReplaceAll(name, "*", " any ") {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			end()
			continue
		case unicode.IsUpper(c):
			end()
		}
		word.WriteRune(c)
	}
	end()
	return list
}

// meanings matches the rows of a table of values in a description.
var meanings = regexp.MustCompile("(?m)^\\| (?:\\d+ \\| )?`([^`]+)` \\| (.*) \\|$")

// table takes the table of values out of a description: a meaning belongs to its value.
func table(description string) (rest string, of map[string]string) {
	of = map[string]string{}
	for _, row := range meanings.FindAllStringSubmatch(description, -1) {
		of[row[1]] = row[2]
	}
	var kept []string
	for _, line := range strings.Split(description, "\n") {
		if !strings.HasPrefix(line, "|") {
			kept = append(kept, line)
		}
	}
	return strings.TrimSpace(strings.Join(kept, "\n")), of
}

// wrap breaks the paragraphs of a text into lines. Lines of lists and tables stay.
func wrap(text string, width int) (lines []string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			lines = append(lines, "")
		}
		line := ""
		for _, part := range strings.Split(paragraph, "\n") {
			if strings.HasPrefix(part, "|") || strings.HasPrefix(part, "- ") {
				lines, line = appendLine(lines, line), ""
			}
			for _, word := range strings.Fields(part) {
				if line != "" && len(line)+1+len(word) > width {
					lines, line = appendLine(lines, line), ""
				}
				line = strings.TrimPrefix(line+" "+word, " ")
			}
			if strings.HasPrefix(part, "|") {
				lines, line = appendLine(lines, line), ""
			}
		}
		lines = appendLine(lines, line)
	}
	return lines
}

func appendLine(lines []string, line string) []string {
	if line == "" {
		return lines
	}
	return append(lines, line)
}
