package ledger

// SetRepairBunch makes bunches of another size, until the function it returns is called.
func SetRepairBunch(n int) (back func()) {
	was := repairBunch
	repairBunch = n
	return func() { repairBunch = was }
}
