// Package simulation holds a test that runs whole services with their customers,
// faults and crashes in a simulated world (testkit/sim), where one seed gives one
// history.
package simulation
