package site

import "embed"

// Parts are templates that pages of the office and of the portal show: "requests", "request" and
// "use", for the data Requests, Request and Use.
//
//go:embed parts/*.html
var Parts embed.FS
