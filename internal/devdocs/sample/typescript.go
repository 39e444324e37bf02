package sample

import (
	"regexp"
	"strings"

	"purveyor/internal/devdocs/openapi"
)

// TypeScript returns the call as a program for the SDK; empty: the SDK has no method for it.
func TypeScript(c Call) string {
	method := methods[c.Operation.ID]
	if method == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString("import { Purveyor } from \"purveyor-sdk\";\n\n")
	b.WriteString("const purveyor = new Purveyor({\n  baseUrl: " + tsText(c.Base) + ",\n  apiKey: process.env.PURVEYOR_KEY!,\n});\n\n")
	var args []string
	for _, p := range c.in("path") {
		args = append(args, tsText(value(p)))
	}
	if query := c.query(); len(query) > 0 {
		args = append(args, "{ "+tsName(query[0].Name)+": "+tsScalar(query[0].Example)+" }")
	}
	body := c.unwrapped()
	if !body.IsZero() {
		args = append(args, tsValue(body, ""))
	}
	if key := c.IdempotencyKey(); key != "" {
		if body.IsZero() && c.bodySchema() != nil {
			args = append(args, "{}")
		}
		args = append(args, "{ idempotencyKey: "+tsText(key)+" }")
	}
	call := "purveyor." + tsMethod(method) + "(" + strings.Join(args, ", ") + ")"
	if c.streams() {
		b.WriteString("for await (const update of " + call + ") {\n  console.log(update.kind, update.data);\n}\n")
	} else {
		b.WriteString("const reply = await " + call + ";\nconsole.log(reply);\n")
	}
	return b.String()
}

func tsText(s string) string { return openapi.Text(s).Line() }

var tsPlain = regexp.MustCompile(`^[A-Za-z_$][\w$]*$`)

func tsName(name string) string {
	if tsPlain.MatchString(name) {
		return name
	}
	return tsText(name)
}

func tsScalar(v openapi.Value) string {
	if v.IsText() {
		return tsText(v.Text())
	}
	return v.Text()
}

// tsValue writes a value in lines, or a short one in one line.
func tsValue(v openapi.Value, indent string) string {
	if !v.IsObject() && !v.IsArray() {
		return tsScalar(v)
	}
	if line := tsLine(v); len(indent)+len(line) <= 76 {
		return line
	}
	var lines []string
	for _, m := range v.Members() {
		lines = append(lines, indent+"  "+tsName(m.Name)+": "+tsValue(m.Value, indent+"  ")+",\n")
	}
	for _, item := range v.Items() {
		lines = append(lines, indent+"  "+tsValue(item, indent+"  ")+",\n")
	}
	if v.IsObject() {
		return "{\n" + strings.Join(lines, "") + indent + "}"
	}
	return "[\n" + strings.Join(lines, "") + indent + "]"
}

func tsLine(v openapi.Value) string {
	var list []string
	switch {
	case v.IsObject():
		for _, m := range v.Members() {
			list = append(list, tsName(m.Name)+": "+tsLine(m.Value))
		}
		if len(list) == 0 {
			return "{}"
		}
		return "{ " + strings.Join(list, ", ") + " }"
	case v.IsArray():
		for _, item := range v.Items() {
			list = append(list, tsLine(item))
		}
		return "[" + strings.Join(list, ", ") + "]"
	}
	return tsScalar(v)
}
