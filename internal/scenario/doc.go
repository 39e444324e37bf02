// Package scenario holds the tests that see the service as a partner does:
// over HTTP. The transcripts in testdata read like stories that a merchant
// could check; the other tests sweep over every route and every kind of wrong
// input. All of them run on each storage engine, every exchange is checked
// against openapi.yaml, and what the document promises and no test has met
// fails the run.
package scenario
