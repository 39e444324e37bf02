// Package commerce holds the nouns and rules of the service: orders and their
// lifecycle, products and stock, stores, partners, money, and the rows that a
// command asks for and changes. Everything here is pure: no clock, no
// randomness, no I/O. Time comes in as Unix milliseconds, ids as values.
package commerce
