// Package models holds the nouns everybody shares: what a provider sent (Callback), what it means (Event), what we hold
// (Transaction, Order, Transition, Message) and what a daily run compares (Statement, Entry, Run, Gap), with Money.
//
// A noun enters here when two packages use it. It does no I/O, has no interface, and imports the standard library and
// decimal only; one plain struct serves as domain value and as table row (gorm tags are plain strings).
//
// Units: every …Minor field is integer minor units of the currency beside it. Times are UTC.
package models
