// Package scenario holds the tests that see the service as a partner does: over HTTP.
// The transcripts in testdata read like stories that a merchant could check. The
// other tests cover every route and every kind of invalid input. All of them run on
// each storage engine, every exchange is checked against openapi.yaml, and a promise
// of the document that no test has exercised fails the run.
package scenario
